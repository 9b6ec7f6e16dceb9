# `cmake --install` leaves the program, the libraries' headers and a package that find_package(starling) reads.
include(CMakePackageConfigHelpers)
install(EXPORT starling NAMESPACE starling:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling FILE starlingTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/starlingConfig.cmake.in
  ${PROJECT_BINARY_DIR}/starlingConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/starlingConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/starlingConfig.cmake ${PROJECT_BINARY_DIR}/starlingConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
