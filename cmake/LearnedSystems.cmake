# SPDX-License-Identifier: Apache-2.0
# starling_learned_list(TARGET FUNCTION TYPE HEADER SUFFIX folder...): FUNCTION() returns what FOLDER_SUFFIX() does for
# each of the folders, one after the other; HEADER declares FUNCTION.
function(starling_learned_list target function type header suffix)
  set(declared "")
  set(calls "")
  foreach(folder ${ARGN})
    string(APPEND declared "std::vector<${type}> ${folder}_${suffix}();\n")
    string(APPEND calls "  std::ranges::move(${folder}_${suffix}(), std::back_inserter(all));\n")
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  file(CONFIGURE OUTPUT ${out} CONTENT "#include <algorithm>\n#include <iterator>\n
#include \"${header}\"\n\nnamespace starling {\n${declared}
std::vector<${type}> ${function}() {\n  std::vector<${type}> all;\n${calls}  return all;\n}\n}  // namespace starling\n" @ONLY)
  target_sources(${target} PRIVATE ${out})
endfunction()

# starling_learned_weights(LIBRARY folder...): the program carries every FOLDER/weights/NAME.weights;
# weights_bytes_of(NAME) gives the bytes, none where there are none of that name.
function(starling_learned_weights library)
  set(declared "")
  set(cases "")
  foreach(folder ${ARGN})
    file(GLOB files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/weights/*.weights)
    foreach(file ${files})
      get_filename_component(stem ${file} NAME_WE)
      string(MAKE_C_IDENTIFIER ${stem} id)
      starling_embed_weights(${library} ${file} kShippedWeights_${id})
      string(APPEND declared "extern const unsigned char kShippedWeights_${id}[];\nextern const std::size_t kShippedWeights_${id}Bytes;\n")
      string(APPEND cases "  if (name == \"${stem}\") return {kShippedWeights_${id}, kShippedWeights_${id}Bytes};\n")
    endforeach()
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/weights_bytes_of.cpp)
  file(CONFIGURE OUTPUT ${out} CONTENT "#include <cstddef>\n#include <span>\n#include <string_view>\n
namespace starling {\n${declared}std::span<const unsigned char> weights_bytes_of(std::string_view name);
std::span<const unsigned char> weights_bytes_of(std::string_view name) {\n${cases}  (void)name;\n  return {};\n}\n}  // namespace starling\n" @ONLY)
  target_sources(starling_${library} PRIVATE ${out})
endfunction()
