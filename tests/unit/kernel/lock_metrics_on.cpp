// The half of lock metrics that is compiled, for lock_metrics_test.cpp: the library has it only when its build says so.
#undef CALM_LOCK_METRICS
#define CALM_LOCK_METRICS 1
#include "calm/kernel/lock_metrics.cpp"  // NOLINT(bugprone-suspicious-include): the same source under another choice
