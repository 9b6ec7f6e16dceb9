// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace starling {

/// How far a long piece of work is, on stderr: a bar where stderr is a terminal, otherwise a plain
/// line every ten seconds; nothing if quiet. Cheap to call often.
class ProgressBar {
 public:
  ProgressBar(std::string label, bool quiet);
  ~ProgressBar() { finish(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `note` is shown after the bar, e.g. "412 running".
  void update(std::uint64_t done, std::uint64_t total, const std::string& note = "");
  /// Ends the line of the bar, so that other output can follow.
  void finish();

 private:
  using Wall = std::chrono::steady_clock;
  std::string label_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Wall::time_point began_ = Wall::now();
  Wall::time_point last_{};
};

}  // namespace starling
