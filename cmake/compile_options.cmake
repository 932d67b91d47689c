# How calm's own code is compiled. calm_options carries warnings and hardening privately: users of the library get none of it.
add_library(calm_options INTERFACE)

target_compile_options(calm_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-qual -Wnon-virtual-dtor
  -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough -Wswitch-enum -Wundef)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(calm_options INTERFACE -Wthread-safety -Wconsumed -Wextra-semi -Wunreachable-code)
else()
  # g++ 12 sees null and uninitialised values in inlined code where there are none (its bugs 105562, 106247, 107852).
  target_compile_options(calm_options INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized -Wno-restrict)
endif()
# Where sources are joined a name of another one is not hidden in earnest, and a joined source is no header.
set(joined $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
target_compile_options(calm_options INTERFACE
  $<${joined}:-Wno-shadow> $<$<AND:${joined},$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
if(CALM_WERROR)
  target_compile_options(calm_options INTERFACE -Werror)
endif()

if(CALM_SANITIZE)
  add_compile_options(-fsanitize=${CALM_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CALM_SANITIZE})
  if(CALM_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

if(CALM_COVERAGE)
  # relocated counters are written as they count: a death test that aborts keeps them
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping "SHELL:-mllvm -runtime-counter-relocation")
  add_link_options(-fprofile-instr-generate)
endif()

if(CALM_HARDEN)
  include(CheckPIESupported)
  check_pie_supported()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_compile_options(calm_options INTERFACE
    -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  target_compile_definitions(calm_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(calm_options INTERFACE -Wl,-z,relro -Wl,-z,now)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
    target_compile_options(calm_options INTERFACE -fcf-protection)
  endif()
endif()
