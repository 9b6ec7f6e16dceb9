// SPDX-License-Identifier: Apache-2.0
#include "base/visible.h"

#include <cstddef>
#include <cstdint>

namespace starling {
namespace {

/// A character and its length; 0 for a byte that begins none.
struct Character {
  std::uint32_t code = 0;
  std::size_t size = 0;
};

Character character_at(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[i + k]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || i + size > text.size()) return {};
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t k = 1; k < size; ++k) {
    if ((byte(k) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte(k) & 0x3fU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x1'0000);
  const bool beyond = (code >= 0xd800 && code <= 0xdfff) || code > 0x10'ffff;
  if (overlong || beyond) return {};
  return {code, size};
}

bool within(std::uint32_t code, std::uint32_t first, std::uint32_t last) {
  return code >= first && code <= last;
}

bool is_harmless(std::uint32_t code) {
  if (code < 0x20 || within(code, 0x7f, 0x9f)) return false;
  if (code < 0x300) return code != 0xad;
  return code != 0x061c && code != 0x180e && !within(code, 0x200b, 0x200f) &&
         !within(code, 0x2028, 0x202e) && !within(code, 0x2060, 0x206f) && code != 0xfeff &&
         !within(code, 0xfff9, 0xfffb) && !within(code, 0xe'0000, 0xe'007f);
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    if (c.size > 0 && (is_harmless(c.code) || c.code == '\n' || c.code == '\t')) {
      out.append(text.substr(i, c.size));
    } else {
      out += '?';
    }
    i += c.size == 0 ? 1 : c.size;
  }
  return out;
}

std::string visible_line(std::string_view text) {
  std::string line = visible(text);
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return line;
}

bool is_visible_line(std::string_view text) { return visible_line(text) == text; }

}  // namespace starling
