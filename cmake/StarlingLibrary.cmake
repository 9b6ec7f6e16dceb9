# SPDX-License-Identifier: Apache-2.0
# One folder, one library, one test program.
#
# starling_library(NAME [FOLDERS inner... [ALL] [IN_ORDER [OWN_FIRST]]] [NEEDS target...] [PRIVATE_NEEDS target...] [SLOW])
#   builds every *.cpp of the folder (tests, benchmarks and main programs excepted) as starling::NAME
#   and, where STARLING_TESTS is on, every *_test.cpp as the ctest NAME_test; SLOW: that takes more than ten seconds.
#   FOLDERS ... ALL: after those named every other inner folder that has no CMakeLists.txt of its own.
#   NEEDS is the whole list of what the folder may include; tests/layering holds it to that; where its inner folders
#   are IN_ORDER, a file of one includes only from it and from those before it, and those of ALL from one another as
#   long as no circle comes of it; the folder's own files stand after them all, or OWN_FIRST, before them.
#   Sources are globbed so that a file is in the build exactly when it is in the folder.
# starling_by_folder(TARGET file...): with STARLING_BY_FOLDER, the sources of one folder are one compilation: headers and
# templates are read once for all of them. So no two sources of a folder may call different things by one name. In
# groups of a number of files each new file would make other groups. starling_alone(file...), before the library: these
# have such names all the same.
function(starling_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
function(starling_by_folder target)
  if(NOT STARLING_BY_FOLDER)
    return()
  endif()
  foreach(file ${ARGN})
    cmake_path(GET file PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP "${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(starling_library name)
  cmake_parse_arguments(arg "IN_ORDER;OWN_FIRST;SLOW" "" "NEEDS;PRIVATE_NEEDS;TEST_NEEDS;FOLDERS" ${ARGN})
  set(patterns *.cpp)
  set(folders ${arg_FOLDERS})
  if(ALL IN_LIST folders)
    file(GLOB all CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} */*.cpp)
    list(TRANSFORM all REPLACE "/[^/]*$" "")
    list(APPEND folders ${all})
    list(REMOVE_DUPLICATES folders)
    file(GLOB others RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} */CMakeLists.txt)
    list(TRANSFORM others REPLACE "/[^/]*$" "")
    list(REMOVE_ITEM folders ALL ${others})
  endif()
  foreach(folder ${folders})
    list(APPEND patterns ${folder}/*.cpp)
  endforeach()
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  set(tests ${files})
  list(FILTER files EXCLUDE REGEX "_(test|bench|main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(kind PUBLIC)
  if(files)
    add_library(starling_${name} STATIC ${files})
    target_compile_options(starling_${name} PRIVATE ${STARLING_WARNINGS})
    target_link_libraries(starling_${name} PRIVATE ${arg_PRIVATE_NEEDS})
    starling_by_folder(starling_${name} ${files})
  else()
    add_library(starling_${name} INTERFACE)
    set(kind INTERFACE)
  endif()
  add_library(starling::${name} ALIAS starling_${name})
  target_include_directories(starling_${name} ${kind}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/starling>)
  target_compile_features(starling_${name} ${kind} cxx_std_20)
  target_link_libraries(starling_${name} ${kind} ${arg_NEEDS})
  set_target_properties(starling_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS starling_${name} EXPORT starling ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

  if(STARLING_TESTS AND tests)
    set(slow "")
    if(arg_SLOW)
      set(slow SLOW)
    endif()
    starling_test(${name}_test ${slow} FILES ${tests} NEEDS starling::${name} ${arg_PRIVATE_NEEDS} ${arg_TEST_NEEDS})
  endif()
endfunction()

# starling_test(NAME [SLOW] FILES file... NEEDS target...): one doctest program, one ctest entry; and a second one,
# NAME_data, where cases need the published data sets, which is skipped where they are absent. Every entry has one of the
# labels quick (at most ten seconds), slow, data and cluster (real processes of a flock): tests/labels looks.
function(starling_test name)
  cmake_parse_arguments(arg "SLOW" "" "FILES;NEEDS" ${ARGN})
  find_package(doctest REQUIRED)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/tests/doctest_main.cpp ${arg_FILES})
  target_compile_options(${name} PRIVATE ${STARLING_WARNINGS})
  # A call for each assertion in place of its code: a fifth less to compile.
  target_compile_definitions(${name} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  target_link_libraries(${name} PRIVATE ${arg_NEEDS} starling::base doctest::doctest)
  starling_by_folder(${name} ${arg_FILES})
  add_test(NAME ${name} COMMAND ${name} "--test-suite-exclude=published data")
  set(label quick)
  if(arg_SLOW)
    set(label slow)
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
  set(entries ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${label})
  foreach(file ${arg_FILES})
    file(STRINGS ${file} data_cases REGEX "test_suite\\(\"published data\"\\)")
    if(data_cases AND NOT TEST ${name}_data)
      add_test(NAME ${name}_data COMMAND ${name} "--test-suite=published data")
      set_tests_properties(${name}_data PROPERTIES SKIP_RETURN_CODE 77 LABELS data)
      list(APPEND entries ${name}_data)
    endif()
  endforeach()
  set_tests_properties(${entries} PROPERTIES TIMEOUT 1200 ENVIRONMENT "STARLING_SOURCE=${PROJECT_SOURCE_DIR}")
endfunction()
