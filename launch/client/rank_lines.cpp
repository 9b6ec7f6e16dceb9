// SPDX-License-Identifier: Apache-2.0
#include "launch/client/rank_lines.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace starling {
namespace {

// Of a line longer than RankLines::kLineMost: where it is cut, not within a character.
std::size_t cut_of(const std::string& text, std::size_t begin) {
  const std::size_t at = begin + RankLines::kLineMost;
  for (std::size_t back = 0; back < 4; ++back) {
    if ((static_cast<unsigned char>(text[at - back]) & 0xc0U) != 0x80U) return at - back;
  }
  return at;
}

}  // namespace

std::string RankLines::take(const std::string& bytes) {
  if (workers_ == 1 && (gang_ == 1 || only_)) return bytes;
  begun_ += bytes;
  std::string text;
  std::size_t begin = 0;
  for (std::size_t end = begun_.find('\n'); end != begun_.npos; end = begun_.find('\n', begin)) {
    text += shown(begun_.substr(begin, end + 1 - begin));
    begin = end + 1;
  }
  begun_.erase(0, begin);
  return text;
}

std::string RankLines::rest() {
  if (begun_.empty()) return {};
  return shown(std::exchange(begun_, {}));
}

std::vector<RankLine> RankLines::lines(const std::string& bytes) {
  begun_ += bytes;
  std::vector<RankLine> out;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t newline = begun_.find('\n', begin);
    const std::size_t end = std::min(newline, begun_.size());
    const bool cut = end - begin > kLineMost;
    if (!cut && newline == begun_.npos) break;
    const std::size_t last = cut ? cut_of(begun_, begin) : newline;
    add(begun_.substr(begin, last - begin), cut, out);
    begin = cut ? last : last + 1;
  }
  begun_.erase(0, begin);
  return out;
}

std::vector<RankLine> RankLines::rest_of_lines() {
  std::vector<RankLine> out;
  if (!begun_.empty()) add(std::exchange(begun_, {}), true, out);
  return out;
}

void RankLines::add(std::string text, bool cut, std::vector<RankLine>& out) {
  if (!std::exchange(goes_on_, cut)) {
    rank_ = workers_ == 1 ? std::optional(first_) : std::nullopt;
    const std::size_t close = workers_ > 1 && text.starts_with('[') ? text.find("] ") : text.npos;
    std::uint32_t rank = 0;
    if (close != text.npos) {
      const char* end = text.data() + close;
      const auto read = std::from_chars(text.data() + 1, end, rank);
      if (read.ec == std::errc{} && read.ptr == end && rank >= first_ && rank - first_ < workers_) {
        rank_ = rank;
        text.erase(0, close + 2);
      }
    }
  }
  if (only_ && rank_ != only_) return;
  out.push_back({rank_, std::move(text), cut});
}

std::string RankLines::shown(const std::string& line) const {
  if (workers_ == 1) return "[" + std::to_string(first_) + "] " + line;
  if (!only_) return line;
  const std::string mark = "[" + std::to_string(*only_) + "] ";
  return line.rfind(mark, 0) == 0 ? line.substr(mark.size()) : "";
}

}  // namespace starling
