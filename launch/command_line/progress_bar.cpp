// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "launch/system/text.h"

namespace starling {

ProgressBar::ProgressBar(std::string label, bool quiet)
    : label_(std::move(label)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {
  if (!terminal_) last_ = began_;
}

void ProgressBar::finish() {
  if (drawn_) std::fputs("\n", stderr);
  drawn_ = false;
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total, const std::string& note) {
  if (quiet_) return;
  const auto now = Wall::now();
  const bool end = done >= total;
  const auto every = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000);
  if (!(end && terminal_) && now - last_ < every) return;
  last_ = now;
  const double fraction =
      total == 0 ? 1 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const std::string counts = with_commas(done) + " of " + with_commas(total);
  const double spent = std::chrono::duration<double>(now - began_).count();
  const std::string tail = (note.empty() ? "" : ", " + note) + ", " + human_seconds(spent);
  if (!terminal_) {
    std::fprintf(stderr, "%s: %s%s\n", label_.c_str(), counts.c_str(), tail.c_str());
    return;
  }
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(fraction * kWidth);
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kWidth - filled), '.');
  std::fprintf(stderr, "\r%s [%s] %s%s\033[K", label_.c_str(), bar.c_str(), counts.c_str(),
               tail.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace starling
