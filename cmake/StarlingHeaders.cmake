# SPDX-License-Identifier: Apache-2.0
# What other programs may include. What these include is installed with them; every other header is this tree's own and
# may change with any commit.
set(starling_public_headers
  launch/client/flock_client.h      # a running flock: submit, list, explain, cancel, drain, members
  launch/client/output_of_job.h     # what its jobs print
  launch/wiring/wiring.h            # every policy
  launch/wiring/plugin.h            # a policy or a trace reader as a shared library
  scheduling/policy.h               # a policy of one's own
  policies/registry.h
  sim/simulate.h                    # a trace in simulated time
  topology/file/load.h
  topology/generate/generate.h
  workload/generate/generate.h
  workload/traces/trace.h)

# starling_headers_of(OUT header...): these, paths below the source, and all of this tree's that they include.
function(starling_headers_of out)
  set(left ${ARGN})
  set(closed "")
  while(left)
    list(POP_FRONT left header)
    if(NOT header IN_LIST closed AND EXISTS ${PROJECT_SOURCE_DIR}/${header})
      list(APPEND closed ${header})
      file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
      foreach(line ${lines})
        string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
        list(APPEND left ${included})
      endforeach()
    endif()
  endwhile()
  set(${out} ${closed} PARENT_SCOPE)
endfunction()
