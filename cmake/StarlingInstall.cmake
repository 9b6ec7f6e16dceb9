# SPDX-License-Identifier: Apache-2.0
# `cmake --install` leaves the program, the libraries, their public headers and a package that find_package(starling)
# reads.
include(CMakePackageConfigHelpers)

starling_headers_of(closed ${starling_public_headers})
foreach(header ${closed})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/starling/${folder})
endforeach()

install(FILES ${PROJECT_BINARY_DIR}/generated/launch/wiring/plugin_abi.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/starling/launch/wiring)
# Plug-ins have these headers alone: what they call is in the program that loads them.
add_library(starling_plugin INTERFACE)
target_include_directories(starling_plugin INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/starling>)
target_compile_features(starling_plugin INTERFACE cxx_std_20)
set_target_properties(starling_plugin PROPERTIES EXPORT_NAME plugin)
install(TARGETS starling_plugin EXPORT starling)

install(EXPORT starling NAMESPACE starling:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling FILE starlingTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/starlingConfig.cmake.in
  ${PROJECT_BINARY_DIR}/starlingConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/starlingConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/starlingConfig.cmake ${PROJECT_BINARY_DIR}/starlingConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
# A unit for systemd, with the path that the program has where it is installed.
install(CODE "set(bindir \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
configure_file(\"${PROJECT_SOURCE_DIR}/launch/starling@.service.in\" \"${PROJECT_BINARY_DIR}/starling@.service\" @ONLY)"
  COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/starling@.service DESTINATION lib/systemd/system COMPONENT runtime)
# The program's own words: pages of the manual, and completion for the shells that look there.
set(said ${PROJECT_BINARY_DIR}/said)
install(CODE "file(REMOVE_RECURSE ${said})
execute_process(COMMAND $<TARGET_FILE:starling> manual ${said}/man1 OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(shell bash zsh fish)
  execute_process(COMMAND $<TARGET_FILE:starling> completion \${shell} OUTPUT_FILE ${said}/\${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()" COMPONENT runtime)
install(DIRECTORY ${said}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT runtime)
install(FILES ${said}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME starling COMPONENT runtime)
install(FILES ${said}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _starling COMPONENT runtime)
install(FILES ${said}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME starling.fish COMPONENT runtime)
# Slurm's names, in a folder that is on no PATH by itself.
install(CODE "file(MAKE_DIRECTORY ${said}/slurm)
foreach(name sbatch srun squeue sinfo scancel sacct scontrol)
  file(CREATE_LINK ../../../${CMAKE_INSTALL_BINDIR}/starling ${said}/slurm/\${name} SYMBOLIC)
endforeach()" COMPONENT runtime)
install(DIRECTORY ${said}/slurm DESTINATION libexec/starling COMPONENT runtime)
