#include "launch/jobs/rank_lines.h"

#include <utility>

namespace starling {

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

std::string RankLines::shown(const std::string& line) const {
  if (workers_ == 1) return "[" + std::to_string(first_) + "] " + line;
  if (!only_) return line;
  const std::string mark = "[" + std::to_string(*only_) + "] ";
  return line.rfind(mark, 0) == 0 ? line.substr(mark.size()) : "";
}

}  // namespace starling
