# Install rules: headers, library, tool, find_package(calm), pkg-config and the script for gdb.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS calm calm_graded EXPORT calm-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS calm_fail_new EXPORT calm-targets OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/calm)
if(CALM_APPS)
  if(BUILD_SHARED_LIBS)  # the tool finds its library beside it, wherever the package is moved
    file(RELATIVE_PATH calm_lib_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(calm_tool PROPERTIES INSTALL_RPATH "\$ORIGIN/${calm_lib_from_bin}")
  endif()
  install(TARGETS calm_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT calm-targets NAMESPACE calm:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/calm)

configure_package_config_file(cmake/calm-config.cmake.in ${PROJECT_BINARY_DIR}/calm-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/calm)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/calm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/calm-config.cmake ${PROJECT_BINARY_DIR}/calm-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/calm)

foreach(choice CALM_SLOW_CHECKS CALM_NO_TRACE)  # made once for the whole program, so users must make the same
  if(${choice})
    string(APPEND calm_pkgconfig_cflags " -D${choice}=1")
  endif()
endforeach()
file(RELATIVE_PATH calm_pkgconfig_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # the package may be moved after installation
configure_file(cmake/calm.pc.in ${PROJECT_BINARY_DIR}/calm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/calm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES gdb/calm.py DESTINATION ${CMAKE_INSTALL_DATADIR}/calm/gdb)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
