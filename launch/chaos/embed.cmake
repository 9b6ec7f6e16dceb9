# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE.cpp -DFILES=a.yaml;b.yaml -P embed.cmake: the scenarios as C++ strings.
set(text "#include \"launch/chaos/scenario/load_scenario.h\"\n\nnamespace starling::chaos_live {\n\nconst std::vector<BuiltIn>& built_in_scenarios() {\n  static const std::vector<BuiltIn> all{\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(APPEND text "      {\"${name}\", R\"yaml(${content})yaml\"},\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n\n}  // namespace starling::chaos_live\n")
file(WRITE ${OUT} "${text}")
