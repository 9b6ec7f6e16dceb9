cmake_minimum_required(VERSION 3.25)
# cmake -DTEMPLATE=report.html -DCSS=.. -DJS=.. -DOUT=report_template.cpp -P embed.cmake
# One C++ string out of three files, so that the program carries its report with it.
file(READ ${TEMPLATE} page)
file(READ ${CSS} css)
file(READ ${JS} js)
string(REPLACE "@@CSS@@" "${css}" page "${page}")
string(REPLACE "@@JS@@" "${js}" page "${page}")
file(WRITE ${OUT} "#include \"launch/report.h\"\n\nnamespace starling {\nconst char* const kReportTemplate = R\"STARLING~(${page})STARLING~\";\n}  // namespace starling\n")
