# SPDX-License-Identifier: Apache-2.0
# starling_embed_weights(LIBRARY FILE NAME): the program carries trained weights with it wherever it is installed, as
# the bytes NAME and their number NAMEBytes; the file itself is installed too.
function(starling_embed_weights library file name)
  get_filename_component(stem ${file} NAME_WE)
  set(in ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/shipped_${stem}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -DIN=${in} -DOUT=${out} -DNAME=${name} -P ${script} DEPENDS ${in} ${script})
  target_sources(starling_${library} PRIVATE ${out})
  install(FILES ${in} DESTINATION ${CMAKE_INSTALL_DATADIR}/starling/weights COMPONENT runtime)
endfunction()
