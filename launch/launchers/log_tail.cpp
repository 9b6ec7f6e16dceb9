#include "launch/launchers/log_tail.h"

#include <algorithm>
#include <fstream>

namespace starling {
namespace {

unsigned char at(const std::string& text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}
bool continues(unsigned char c) { return (c & 0xc0U) == 0x80; }

/// Length of the well-formed character at `i`, or 0.
std::size_t character(const std::string& text, std::size_t i) {
  const unsigned char first = at(text, i);
  if (first < 0x80)
    return first >= 0x20 || first == '\n' || first == '\t' ? (first == 0x7f ? 0 : 1) : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || i + size > text.size()) return 0;
  for (std::size_t k = 1; k < size; ++k) {
    if (!continues(at(text, i + k))) return 0;
  }
  const unsigned char second = at(text, i + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || beyond ? 0 : size;
}

}  // namespace

std::string log_tail(const std::filesystem::path& file, std::size_t limit) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const auto size = static_cast<std::size_t>(std::max<std::streamoff>(in.tellg(), 0));
  std::string text(std::min(size, limit), '\0');
  in.seekg(static_cast<std::streamoff>(size - text.size()));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));

  std::size_t i = 0;
  // The cut may have gone through a character.
  while (size > limit && i < std::min<std::size_t>(3, text.size()) && continues(at(text, i))) ++i;
  text.erase(0, i);
  for (i = 0; i < text.size();) {
    const std::size_t step = character(text, i);
    if (step == 0) text[i] = '?';
    i += std::max<std::size_t>(step, 1);
  }
  return text;
}

}  // namespace starling
