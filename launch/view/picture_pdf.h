// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace starling {

/// What still_picture() makes, as a PDF of one page of its size, a point for each of its units:
/// boxes, lines and words, these in Helvetica, which every reader has. Words beyond Latin-1 read
/// '?'. Only for what still_picture() makes: other SVG is drawn in part.
[[nodiscard]] std::string picture_pdf(const std::string& svg);

}  // namespace starling
