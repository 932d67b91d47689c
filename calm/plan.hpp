// plan.hpp — all of room plan that a program needs, in one include: concurrent work as data.
// Laws:    COM-4
// Threads: as each part says
// Cancel:  as each part says
#pragma once

#include "calm/plan/build.hpp"
#include "calm/plan/certificate.hpp"
#include "calm/plan/check.hpp"
#include "calm/plan/cost.hpp"
#include "calm/plan/graphviz.hpp"
#include "calm/plan/parse.hpp"
#include "calm/plan/plan.hpp"
#include "calm/plan/print.hpp"
#include "calm/plan/rewrite.hpp"
#include "calm/plan/rule.hpp"
#include "calm/plan/run.hpp"
