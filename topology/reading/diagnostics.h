// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace starling {

/// Where in a text file, from 1; 0 where there is no telling.
struct SourcePlace {
  int line = 0;
  int column = 0;
};

/// The mistakes of one file, in order of discovery: "file:line:column: what is wrong; what would be
/// right".
class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  /// What is told already, in the same place, is not told again.
  void add(SourcePlace place, const std::string& message);
  [[nodiscard]] bool any() const noexcept { return found_ > 0; }
  /// One line each; past 20 only their number is said.
  [[nodiscard]] Error error() const;

  /// From here on keys with hyphens are read as those in snake_case, and the words of `renamed` as
  /// what stands beside them. `notes` (which outlives this) gets a line about each:
  /// "file:line:column: 'scale-h' is written scale_h now".
  void accept_old_spellings(std::vector<std::string>& notes,
                            std::map<std::string, std::string> renamed = {});
  /// How `key` is written now: itself unless earlier spellings are accepted.
  [[nodiscard]] std::string present_spelling(const std::string& key) const;
  void note(SourcePlace place, const std::string& message);

 private:
  [[nodiscard]] std::string line_of(SourcePlace place, const std::string& message) const;

  std::string file_;
  std::vector<std::string>* notes_ = nullptr;
  std::map<std::string, std::string> renamed_;
  std::vector<std::string> lines_;
  std::size_t found_ = 0;
};

/// "; did you mean 'x'?" for a near miss, else "; there are a, b and c" (shortened), else nothing.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace starling
