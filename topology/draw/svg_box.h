// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace starling {

/// A piece of SVG with its size; drawn from its own (0, 0).
struct SvgBox {
  double width = 0;
  double height = 0;
  std::string svg;
  std::string up;  ///< label of the line upwards; empty: no line
};

[[nodiscard]] std::string svg_text(double x, double y, const char* style, const std::string& text);
[[nodiscard]] std::string svg_rect(double x, double y, double width, double height,
                                   const char* style);
[[nodiscard]] std::string svg_line(double x1, double y1, double x2, double y2);
/// `box` at that place.
[[nodiscard]] std::string svg_at(const SvgBox& box, double x, double y);
/// Pixels that a text of 11 pixels' height takes, about.
[[nodiscard]] double svg_text_width(const std::string& text);
/// The text, shortened to `most` characters with a dot in the middle.
[[nodiscard]] std::string svg_short(const std::string& text, std::size_t most);

/// Boxes side by side, in rows of at most `width`; those with a label hang on lines from the top.
[[nodiscard]] SvgBox svg_flow(const std::vector<SvgBox>& boxes, double width);

}  // namespace starling
