// SPDX-License-Identifier: Apache-2.0
#include "topology/draw/svg_box.h"

#include <algorithm>

#include "base/short_number.h"

namespace starling {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string svg_text(double x, double y, const char* style, const std::string& text) {
  return "<text x=\"" + short_number(x) + "\" y=\"" + short_number(y) + "\" class=\"" + style +
         "\">" + escaped(text) + "</text>\n";
}

std::string svg_rect(double x, double y, double width, double height, const char* style) {
  return "<rect x=\"" + short_number(x) + "\" y=\"" + short_number(y) + "\" width=\"" +
         short_number(width) + "\" height=\"" + short_number(height) + "\" class=\"" + style +
         "\"/>\n";
}

std::string svg_line(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + short_number(x1) + "\" y1=\"" + short_number(y1) + "\" x2=\"" +
         short_number(x2) + "\" y2=\"" + short_number(y2) + "\" class=\"link\"/>\n";
}

std::string svg_at(const SvgBox& box, double x, double y) {
  return "<g transform=\"translate(" + short_number(x) + " " + short_number(y) + ")\">\n" +
         box.svg + "</g>\n";
}

double svg_text_width(const std::string& text) { return 6.3 * static_cast<double>(text.size()); }

std::string svg_short(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t tail = most / 2;
  return text.substr(0, most - tail - 2) + ".." + text.substr(text.size() - tail);
}

SvgBox svg_flow(const std::vector<SvgBox>& boxes, double width) {
  constexpr double gap = 16;
  constexpr double row_gap = 38;  // room for the lines and their labels
  constexpr double bus = 10;      // from the top of a row's gap
  constexpr double trunk = 6;
  const bool lines =
      std::any_of(boxes.begin(), boxes.end(), [](const SvgBox& box) { return !box.up.empty(); });
  const double margin = lines ? 18 : 0;
  SvgBox flow;
  double x = margin;
  double y = lines ? row_gap : 0;
  double row_height = 0;
  double last_bus = 0;
  for (const SvgBox& box : boxes) {
    const double needed = std::max(box.width, box.width / 2 + 4 + svg_text_width(box.up));
    if (x > margin && x + needed > width) {
      y += row_height + (lines ? row_gap : gap);
      x = margin;
      row_height = 0;
    }
    flow.svg += svg_at(box, x, y);
    if (!box.up.empty()) {
      const double middle = x + box.width / 2;
      last_bus = y - row_gap + bus;
      flow.svg += svg_line(trunk, last_bus, middle, last_bus);
      flow.svg += svg_line(middle, last_bus, middle, y);
      flow.svg += svg_text(middle + 5, y - 8, "small", box.up);
    }
    x += needed + gap;
    row_height = std::max(row_height, box.height);
    flow.width = std::max(flow.width, x - gap);
  }
  if (lines) flow.svg += svg_line(trunk, 0, trunk, last_bus);
  flow.height = y + row_height;
  return flow;
}

}  // namespace starling
