// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace starling {

/// A program that has ended.
struct Finished {
  int status = 0;  ///< exit code, -signal, 127 if it could not be started
  std::string out, err;
  bool late = false;  ///< it was killed because it took too long, or because a stop was requested
  [[nodiscard]] bool ok() const noexcept { return status == 0 && !late; }
};

struct ProgramOptions {
  std::filesystem::path input = "/dev/null";  ///< its standard input
  std::chrono::milliseconds timeout{30'000};
  bool stop_ends_it = true;  ///< a requested stop (signals.h) kills it
};

/// Runs a program of PATH to its end; at most 1 MiB of each output is kept. It dies with the
/// calling thread. For any thread.
[[nodiscard]] Finished run_program(const std::vector<std::string>& argv,
                                   const ProgramOptions& options = {});

/// Runs a program and hands over each line of its standard output as it comes, until it ends or
/// `go_on` (asked several times a second) says no. Then its standard input, open until here, is
/// closed, and it has `grace` to end by itself. `out` stays empty.
[[nodiscard]] Finished follow_program(
    const std::vector<std::string>& argv, const std::function<void(const std::string&)>& on_line,
    const std::function<bool()>& go_on,
    std::chrono::milliseconds grace = std::chrono::milliseconds(3000));

/// The last line of what a program wrote to stderr that says something.
[[nodiscard]] std::string last_words(const Finished& program);

}  // namespace starling
