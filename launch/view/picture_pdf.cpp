// SPDX-License-Identifier: Apache-2.0
#include "launch/view/picture_pdf.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <pugixml.hpp>
#include <string_view>
#include <vector>

namespace starling {
namespace {

std::string number(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f ", x);
  return text.data();
}

/// #rrggbb and the operator that sets it.
std::string colour(const char* hex, const char* set) {
  const unsigned long rgb = std::strtoul(hex + (*hex == '#' ? 1 : 0), nullptr, 16);
  std::array<char, 64> text{};
  std::snprintf(
      text.data(), text.size(), "%.3f %.3f %.3f %s\n", static_cast<double>(rgb >> 16U & 255U) / 255,
      static_cast<double>(rgb >> 8U & 255U) / 255, static_cast<double>(rgb & 255U) / 255, set);
  return text.data();
}

/// Bytes of Latin-1 in a PDF's string; what is beyond it is a '?'.
std::string latin(std::string_view utf8) {
  std::string out = "(";
  for (std::size_t i = 0; i < utf8.size();) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (length == 1) {
      if (byte == '(' || byte == ')' || byte == '\\') out += '\\';
      out += static_cast<char>(byte);
    } else if ((byte == 0xc2 || byte == 0xc3) && i + 1 < utf8.size()) {
      std::array<char, 8> octal{};
      const auto low = static_cast<unsigned char>(utf8[i + 1]);
      std::snprintf(octal.data(), octal.size(), "\\%03o", (byte & 3U) << 6U | (low & 63U));
      out += octal.data();
    } else {
      out += '?';
    }
    i += length;
  }
  return out + ")";
}

/// A box with round corners as lines and Bezier curves.
std::string outline(double x, double y, double w, double h, double r) {
  if (r <= 0) return number(x) + number(y) + number(w) + number(h) + "re ";
  r = std::min(r, std::min(w, h) / 2);
  const double k = 0.4477 * r;  // what of the corner lies before a control point
  const auto curve = [](double a, double b, double c, double d, double e, double f) {
    return number(a) + number(b) + number(c) + number(d) + number(e) + number(f) + "c ";
  };
  const double right = x + w, low = y + h;
  return number(x + r) + number(y) + "m " + number(right - r) + number(y) + "l " +
         curve(right - k, y, right, y + k, right, y + r) + number(right) + number(low - r) + "l " +
         curve(right, low - k, right - k, low, right - r, low) + number(x + r) + number(low) +
         "l " + curve(x + k, low, x, low - k, x, low - r) + number(x) + number(y + r) + "l " +
         curve(x, y + k, x + k, y, x + r, y) + "h ";
}

std::string stroked(const pugi::xml_node& node) {
  const pugi::xml_attribute dashes = node.attribute("stroke-dasharray");
  return colour(node.attribute("stroke").value(), "RG") +
         number(node.attribute("stroke-width").as_double(1)) + "w [" + dashes.value() + "] 0 d\n";
}

std::string drawn(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const auto get = [&](const char* key) { return node.attribute(key).as_double(); };
  if (name == "g") {
    double x = 0, y = 0;
    static_cast<void>(
        std::sscanf(node.attribute("transform").value(), "translate(%lf %lf)", &x, &y));
    std::string out = "q 1 0 0 1 " + number(x) + number(y) + "cm\n";
    for (const pugi::xml_node& inner : node.children()) out += drawn(inner);
    return out + "Q\n";
  }
  if (name == "rect") {
    const bool edge = node.attribute("stroke");
    return colour(node.attribute("fill").value(), "rg") + (edge ? stroked(node) : "") +
           outline(get("x"), get("y"), get("width"), get("height"), get("rx")) +
           (edge ? "B\n" : "f\n");
  }
  if (name == "text") {
    return colour(node.attribute("fill").value(), "rg") + "BT /F1 " + number(get("font-size")) +
           "Tf 1 0 0 -1 " + number(get("x")) + number(get("y")) + "Tm " +
           latin(node.child_value()) + " Tj ET\n";
  }
  if (name != "path") return {};
  std::string out = stroked(node);
  for (const char* at = node.attribute("d").value(); *at != 0;) {
    const char step = *at++;
    char* rest = nullptr;
    const double x = std::strtod(at, &rest), y = std::strtod(rest, &rest);
    if (rest == at) break;
    at = rest;
    out += number(x) + number(y) + (step == 'M' ? "m " : "l ");
  }
  return out + "S\n";
}

}  // namespace

std::string picture_pdf(const std::string& svg) {
  pugi::xml_document document;
  document.load_buffer(svg.data(), svg.size());
  const pugi::xml_node root = document.child("svg");
  double x = 0, y = 0, w = 1, h = 1;
  static_cast<void>(
      std::sscanf(root.attribute("viewBox").value(), "%lf %lf %lf %lf", &x, &y, &w, &h));
  // In a PDF y goes up.
  std::string content = "1 0 0 -1 " + number(-x) + number(h + y) + "cm\n";
  for (const pugi::xml_node& node : root.children()) content += drawn(node);
  const std::vector<std::string> objects{
      "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 " + number(w) + number(h) +
          "] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
      "<< /Length " + std::to_string(content.size()) + " >>\nstream\n" + content + "endstream",
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"};
  std::string pdf = "%PDF-1.4\n% a picture of starling view\n";
  std::string places;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    std::array<char, 32> place{};
    std::snprintf(place.data(), place.size(), "%010zu 00000 n \n", pdf.size());
    places += place.data();
    pdf += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const std::string count = std::to_string(objects.size() + 1);
  return pdf + "xref\n0 " + count + "\n0000000000 65535 f \n" + places + "trailer\n<< /Size " +
         count + " /Root 1 0 R >>\nstartxref\n" + std::to_string(pdf.size()) + "\n%%EOF\n";
}

}  // namespace starling
