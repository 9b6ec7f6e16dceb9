# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# cmake -DNAME=run -DPARTS=.. -DOUT=run_page_template.cpp -P embed.cmake
# One C++ string out of what all pages share, page.html, page.css and the scripts of SHARED, and of NAME.html and NAME.js.
# What NAME.js names is in a block of its own, so it cannot collide with what the shared scripts name. NAME.html has the
# title and, where the page needs one, a style of its own before <header>.
file(READ ${PARTS}/page.html page)
file(READ ${PARTS}/${NAME}.html own)
file(READ ${PARTS}/page.css css)
set(shared "")
foreach(script ${SHARED})
  file(READ ${PARTS}/${script} text)
  string(APPEND shared "${text}")
endforeach()
file(READ ${PARTS}/${NAME}.js js)
string(FIND "${own}" "<header>" body)
string(SUBSTRING "${own}" 0 ${body} head)
string(SUBSTRING "${own}" ${body} -1 body)
string(REPLACE "@@HEAD@@" "${head}" page "${page}")
string(REPLACE "@@BODY@@" "${body}" page "${page}")
string(REPLACE "@@CSS@@" "${css}" page "${page}")
string(REPLACE "@@SHARED@@" "${shared}" page "${page}")
string(REPLACE "@@JS@@" "${js}" page "${page}")
string(SUBSTRING ${NAME} 0 1 first)
string(SUBSTRING ${NAME} 1 -1 rest)
string(TOUPPER ${first} first)
file(WRITE ${OUT} "#include \"launch/report/page.h\"\n\nnamespace starling {\nextern const char* const k${first}${rest}Page;\nconst char* const k${first}${rest}Page = R\"STARLING~(${page})STARLING~\";\n}  // namespace starling\n")
