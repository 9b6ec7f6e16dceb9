# SPDX-License-Identifier: Apache-2.0
# `cmake --install` leaves the program, the libraries, their public headers and a package that find_package(starling)
# reads.
include(CMakePackageConfigHelpers)

# What other programs may include. What these include is installed with them; every other header is this tree's own and
# may change with any commit.
set(public_headers
  launch/client/flock_client.h      # a running flock: submit, list, explain, cancel, drain, members
  launch/client/output_of_job.h     # what its jobs print
  launch/wiring/wiring.h            # every policy
  scheduling/policy.h               # a policy of one's own
  policies/registry.h
  sim/simulate.h                    # a trace in simulated time
  topology/file/load.h
  topology/generate/generate.h
  workload/generate/generate.h
  workload/traces/trace.h)
set(closed "")
while(public_headers)
  list(POP_FRONT public_headers header)
  if(NOT header IN_LIST closed)
    list(APPEND closed ${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
    foreach(line ${lines})
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      list(APPEND public_headers ${included})
    endforeach()
  endif()
endwhile()
foreach(header ${closed})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/starling/${folder})
endforeach()

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
