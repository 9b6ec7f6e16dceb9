cmake_minimum_required(VERSION 3.25)
# cmake -DTEMPLATE=page.html -DCSS=a.css -DMORE_CSS=b.css -DJS=page.js -DOUT=page_template.cpp -P embed.cmake
# One C++ string out of four files, so that the program carries its page with it.
file(READ ${TEMPLATE} page)
file(READ ${CSS} css)
file(READ ${MORE_CSS} more_css)
file(READ ${JS} js)
string(REPLACE "@@CSS@@" "${css}${more_css}" page "${page}")
string(REPLACE "@@JS@@" "${js}" page "${page}")
file(WRITE ${OUT} "#include \"launch/experiment/page_template.h\"\n\nnamespace starling {\nconst char* const kExperimentPage = R\"STARLING~(${page})STARLING~\";\n}  // namespace starling\n")
