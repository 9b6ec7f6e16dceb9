// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "launch/guardian/spare_bytes.h"

namespace starling {

/// What a part says on its standard output and error: taken from a pipe for each worker, its end
/// kept in memory, written to a file that is rotated (FILE, and FILE.1 before it; FILE.from says
/// how much was printed before each, log_starts.h). Of several workers each line begins with
/// "[RANK] ", so that they can be told apart, and is written whole; what has no end for 4 KiB is a
/// line, too. One worker alone is written as it speaks. Neither the part nor the caller ever
/// waits for a disk: a thread of its own writes, which begins with the first words, so that it
/// takes nothing from a start. What it cannot write in time, or would take the room that daemons
/// need (spare_bytes.h), is left out, with a line that says how much.
class JobOutput {
 public:
  struct Options {
    std::string file;
    std::vector<std::string> ranks = {"0"};    ///< of the workers
    std::uint64_t file_bytes = 0;              ///< at most, in both files
    std::size_t tail_bytes = 4096;             ///< of the end
    std::size_t waiting_bytes = 1U << 20U;     ///< not written yet
    std::chrono::milliseconds patience{1000};  ///< a disk that takes none for so long is left alone
    std::uint64_t (*spare)(int fd) = spare_bytes;  ///< what the file's disk has room for
  };
  explicit JobOutput(Options options) : options_(std::move(options)) {}
  /// Waits until all is written. A process that cannot wait ends after finish() instead.
  ~JobOutput();
  JobOutput(const JobOutput&) = delete;
  JobOutput& operator=(const JobOutput&) = delete;

  [[nodiscard]] Status open();
  /// For a worker, by its place among them; close_doors() once all have theirs.
  [[nodiscard]] int door(std::size_t worker) const noexcept { return voices_[worker].door; }
  void close_doors();
  /// To be polled for reading; none: everything has been said, or there is no room for more now.
  [[nodiscard]] std::vector<int> ears();
  /// Takes what there is to hear.
  void take();
  [[nodiscard]] const std::string& tail() const noexcept { return tail_; }
  /// Writes what is left; false: the disk does not take it.
  bool finish(std::chrono::milliseconds patience);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Voice {
    int door = -1, ear = -1;
    std::string mark;   // before each line; empty: it is alone
    std::string begun;  // a line without its end
  };
  void hear(Voice& voice, const char* bytes, std::size_t size);
  void end_line(Voice& voice);
  void say(const char* bytes, std::size_t size);
  [[nodiscard]] bool has_room();
  void begin_to_write();
  void write_all();
  bool put(const std::string& bytes);
  void rotate();

  Options options_;
  std::vector<Voice> voices_;
  int file_ = -1;
  std::uint64_t written_ = 0;  // to the present file
  std::uint64_t before_ = 0;   // to those before it
  std::string tail_;
  int niceness_ = 0;  // of the thread; whose guardian is quicker than that (guardian.cpp)
  std::thread thread_;

  std::mutex mutex_;  // over what follows
  std::condition_variable changed_;
  std::string waiting_;
  std::uint64_t dropped_ = 0;
  bool over_ = false, ended_ = false;
  Time took_;  // the last time that the thread took something, or had nothing to do
};

}  // namespace starling
