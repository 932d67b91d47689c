# Asio, oneTBB, Tokio and Go, from Debian's packages. One that is not installed is not built, and tools/peers.py says so.

find_package(Threads REQUIRED)
find_path(CALM_ASIO asio.hpp PATHS /usr/include NO_DEFAULT_PATH)
if(CALM_ASIO)
  calm_peer(asio Threads::Threads)
  # Asio 1.22 asks clang for coroutines by a name of before C++20; it is no code of ours to warn about.
  target_compile_definitions(bench_peers_asio PRIVATE ASIO_STANDALONE ASIO_HAS_CO_AWAIT=1 ASIO_HAS_STD_COROUTINE=1)
  target_compile_options(bench_peers_asio PRIVATE -w)
endif()

find_package(TBB QUIET)
if(TBB_FOUND)
  calm_peer(tbb TBB::tbb)
endif()

# Debian's own compilers: another one on the PATH may not know Debian's registry.
find_program(CALM_CARGO cargo PATHS /usr/bin NO_DEFAULT_PATH)
find_program(CALM_RUSTC rustc PATHS /usr/bin NO_DEFAULT_PATH)
file(GLOB tokio_crate /usr/share/cargo/registry/tokio-1.*)
if(CALM_CARGO AND CALM_RUSTC AND tokio_crate)
  set(package ${CMAKE_CURRENT_BINARY_DIR}/tokio)
  configure_file(peers/tokio/Cargo.toml.in ${package}/Cargo.toml @ONLY)
  configure_file(peers/tokio/config.toml ${package}/.cargo/config.toml COPYONLY)
  file(GLOB tokio_sources CONFIGURE_DEPENDS peers/tokio/*.rs */tokio.rs)
  add_custom_command(
    OUTPUT bench_peers_tokio
    COMMAND ${CMAKE_COMMAND} -E env RUSTC=${CALM_RUSTC} CARGO_HOME=${package}/home ${CALM_CARGO} build --quiet --release
            --offline --manifest-path ${package}/Cargo.toml
    COMMAND ${CMAKE_COMMAND} -E copy ${package}/target/release/bench_peers_tokio
            ${CMAKE_CURRENT_BINARY_DIR}/bench_peers_tokio
    # The same program, which sees by its name that the multi-threaded runtime is meant.
    COMMAND ${CMAKE_COMMAND} -E create_symlink bench_peers_tokio ${CMAKE_CURRENT_BINARY_DIR}/bench_peers_tokio_multi
    DEPENDS ${tokio_sources} ${package}/Cargo.toml
    WORKING_DIRECTORY ${package}
    COMMENT "Building bench_peers_tokio" VERBATIM)
  add_custom_target(bench_tokio DEPENDS bench_peers_tokio)
  add_dependencies(calm_benchmarks bench_tokio)
endif()

# The go tool wants all files of a program in one directory.
find_program(CALM_GO go PATHS /usr/bin NO_DEFAULT_PATH)
if(CALM_GO)
  file(GLOB go_files CONFIGURE_DEPENDS */go.go)
  set(copies main.go)
  set(copying COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/peers/main.go go/main.go)
  foreach(file ${go_files})
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(workload ${folder} NAME)
    list(APPEND copies ${workload}.go)
    list(APPEND copying COMMAND ${CMAKE_COMMAND} -E copy ${file} go/${workload}.go)
  endforeach()
  add_custom_command(
    OUTPUT bench_peers_go
    COMMAND ${CMAKE_COMMAND} -E make_directory go
    ${copying}
    COMMAND ${CMAKE_COMMAND} -E chdir go ${CMAKE_COMMAND} -E env GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/go/cache GO111MODULE=off
            ${CALM_GO} build -o ${CMAKE_CURRENT_BINARY_DIR}/bench_peers_go ${copies}
    DEPENDS ${go_files} peers/main.go
    COMMENT "Building bench_peers_go" VERBATIM)
  add_custom_target(bench_go DEPENDS bench_peers_go)
  add_dependencies(calm_benchmarks bench_go)
endif()
