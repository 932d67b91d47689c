// expect: static assertion failed.*: an Outcome holds a value: no references, no const
#include "calm/model/outcome.hpp"

#ifdef MUST_NOT_COMPILE
calm::Outcome<int&> find(int key);
#else
calm::Outcome<int*> find(int key);
#endif

bool contains(int key) { return find(key).is_ok(); }
