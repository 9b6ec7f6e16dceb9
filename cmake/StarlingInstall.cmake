# SPDX-License-Identifier: Apache-2.0
# `cmake --install` leaves the program, the libraries' headers and a package that find_package(starling) reads.
include(CMakePackageConfigHelpers)
install(EXPORT starling NAMESPACE starling:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling FILE starlingTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/starlingConfig.cmake.in
  ${PROJECT_BINARY_DIR}/starlingConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/starlingConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/starlingConfig.cmake ${PROJECT_BINARY_DIR}/starlingConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
# A unit for systemd, with the path that the program has where it is installed.
install(CODE "set(bindir \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
configure_file(\"${PROJECT_SOURCE_DIR}/launch/starling@.service.in\" \"${PROJECT_BINARY_DIR}/starling@.service\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/starling@.service DESTINATION lib/systemd/system)
