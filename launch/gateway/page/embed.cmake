# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# cmake -DPARTS=launch/gateway/page -DSHARED=launch/report -DOUT=gateway_page.cpp -P embed.cmake
# The page of the gateway as three C++ strings: HTML, CSS after that of all pages, and the scripts after what all share.
file(READ ${PARTS}/gateway.html html)
file(READ ${SHARED}/page.css css)
file(READ ${PARTS}/gateway.css own_css)
file(READ ${SHARED}/figures.js js)
foreach(script connection cluster jobs gateway)
  file(READ ${PARTS}/${script}.js text)
  string(APPEND js "${text}")
endforeach()
file(WRITE ${OUT} "#include \"launch/gateway/gateway_page.h\"\n\nnamespace starling {\n"
  "const char* const kGatewayPage = R\"STARLING~(${html})STARLING~\";\n"
  "const char* const kGatewayStyle = R\"STARLING~(${css}${own_css})STARLING~\";\n"
  "const char* const kGatewayScript = R\"STARLING~(${js})STARLING~\";\n}  // namespace starling\n")
