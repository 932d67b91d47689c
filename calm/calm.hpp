// calm.hpp — all of calm that a program needs, in one include.
// Laws:    spec/SPEC.md
// Threads: as each part says
// Cancel:  as each part says
#pragma once

#include "calm/cx/adapt.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/cancel_kind.hpp"
#include "calm/model/error.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/id.hpp"
#include "calm/model/ledger.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/model/obligation_replica.hpp"
#include "calm/model/obligation_state.hpp"
#include "calm/model/outcome.hpp"
#include "calm/model/reason.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"
#include "calm/model/time.hpp"
#include "calm/model/tropical.hpp"
#include "calm/model/witness.hpp"
#include "calm/runtime/run.hpp"
#include "calm/version.hpp"
