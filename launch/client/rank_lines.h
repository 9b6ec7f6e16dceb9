// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace starling {

/// A line without its end, or a piece of one.
struct RankLine {
  std::optional<std::uint32_t> rank;  ///< none: of several workers, and the line names none
  std::string text;
  bool cut = false;  ///< it goes on in the next piece, or has no end yet
};

/// What workers of one server have printed, for a reader that looks at the whole gang or at one of
/// them. Where several workers share a server their guardian writes "[RANK] " before each line
/// (launch/guardian/job_output.h); a worker alone is written as it is.
class RankLines {
 public:
  /// `gang`: workers in all; `first` and `workers`: those here; `only`: the one that is looked at.
  RankLines(std::uint32_t gang, std::uint32_t first, std::uint32_t workers,
            std::optional<std::uint32_t> only)
      : gang_(gang), first_(first), workers_(workers), only_(only) {}

  /// What is to be shown of it: whole lines, but where one worker alone is looked at.
  [[nodiscard]] std::string take(const std::string& bytes);
  /// What is left of a line without end.
  [[nodiscard]] std::string rest();
  /// The same line by line, without marks, in pieces of at most kLineMost bytes. A reader that
  /// takes lines takes nothing else.
  static constexpr std::size_t kLineMost = 64 * 1024;
  [[nodiscard]] std::vector<RankLine> lines(const std::string& bytes);
  [[nodiscard]] std::vector<RankLine> rest_of_lines();

 private:
  void add(std::string text, bool cut, std::vector<RankLine>& out);
  [[nodiscard]] std::string shown(const std::string& line) const;

  std::uint32_t gang_, first_, workers_;
  std::optional<std::uint32_t> only_;
  std::string begun_;
  bool goes_on_ = false;               // what comes is the rest of a line
  std::optional<std::uint32_t> rank_;  // whose
};

}  // namespace starling
