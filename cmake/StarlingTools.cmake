# SPDX-License-Identifier: Apache-2.0
# Tools that make a build faster where they are present; nothing depends on them.
find_program(STARLING_CCACHE ccache)
if(STARLING_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STARLING_CCACHE})
endif()
find_program(STARLING_LLD ld.lld)
if(STARLING_LLD)
  add_link_options(-fuse-ld=lld)
endif()
# -g0 unless asked for: debug information triples the time and memory of a build.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")  # no NDEBUG: checks stay on in every build
