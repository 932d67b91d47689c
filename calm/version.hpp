// version.hpp — the version of calm; the build, the package files and the tool all read it here.
// Laws:    none
// Threads: constants only
// Cancel:  not applicable
#pragma once

#define CALM_VERSION_MAJOR 0
#define CALM_VERSION_MINOR 1
#define CALM_VERSION_PATCH 0

#define CALM_VERSION_TEXT_(a, b, c) #a "." #b "." #c
#define CALM_VERSION_TEXT(a, b, c) CALM_VERSION_TEXT_(a, b, c)
#define CALM_VERSION CALM_VERSION_TEXT(CALM_VERSION_MAJOR, CALM_VERSION_MINOR, CALM_VERSION_PATCH)
