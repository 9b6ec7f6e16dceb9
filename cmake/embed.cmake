# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# cmake -DIN=x.weights -DOUT=shipped.cpp -DNAME=kShippedX -P embed.cmake: the weights as an array of bytes.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "#include <cstddef>\n\nnamespace starling {\nextern const unsigned char ${NAME}[];\nextern const std::size_t ${NAME}Bytes;\nconst unsigned char ${NAME}[] = {${bytes}};\nconst std::size_t ${NAME}Bytes = sizeof ${NAME};\n}  // namespace starling\n")
