cmake_minimum_required(VERSION 3.25)
# cmake -DNAME=run -DPARTS=.. -DOUT=run_page_template.cpp -P embed.cmake
# One C++ string out of NAME.html, the style that all pages share, and the scripts charts.js and NAME.js.
file(READ ${PARTS}/${NAME}.html page)
file(READ ${PARTS}/page.css css)
file(READ ${PARTS}/charts.js charts)
file(READ ${PARTS}/${NAME}.js js)
string(REPLACE "@@CSS@@" "${css}" page "${page}")
string(REPLACE "@@JS@@" "${charts}${js}" page "${page}")
string(SUBSTRING ${NAME} 0 1 first)
string(SUBSTRING ${NAME} 1 -1 rest)
string(TOUPPER ${first} first)
file(WRITE ${OUT} "#include \"launch/report/page.h\"\n\nnamespace starling {\nextern const char* const k${first}${rest}Page;\nconst char* const k${first}${rest}Page = R\"STARLING~(${page})STARLING~\";\n}  // namespace starling\n")
