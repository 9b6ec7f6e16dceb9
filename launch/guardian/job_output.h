#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"

namespace starling {

/// What a part says on its standard output and error: taken from a pipe, its end kept in memory,
/// written to a file that is rotated (FILE, and FILE.1 before it). Neither the part nor who calls
/// this ever waits for a disk: a thread of its own writes, and what it cannot write in time is left
/// out, with a line that says how much.
class JobOutput {
 public:
  struct Options {
    std::string file;
    std::uint64_t file_bytes = 0;    ///< at most, in both files
    std::size_t tail_bytes = 4096;   ///< of the end
    std::size_t waiting_bytes = 1U << 20U;  ///< not written yet
    std::chrono::milliseconds patience{1000};  ///< a disk that takes none for so long is left alone
  };
  explicit JobOutput(Options options) : options_(std::move(options)) {}
  /// Waits until all is written. Who cannot wait, after finish(), ends its process instead.
  ~JobOutput();
  JobOutput(const JobOutput&) = delete;
  JobOutput& operator=(const JobOutput&) = delete;

  [[nodiscard]] Status open();
  /// For the part; close_door() once all its workers have it.
  [[nodiscard]] int door() const noexcept { return door_; }
  void close_door();
  /// To be polled for reading; -1: everything has been said, or there is no room for more now.
  [[nodiscard]] int ear();
  /// Takes what there is to hear.
  void take();
  [[nodiscard]] const std::string& tail() const noexcept { return tail_; }
  /// Writes what is left; false: the disk does not take it.
  bool finish(std::chrono::milliseconds patience);

 private:
  using Time = std::chrono::steady_clock::time_point;
  void write_all();
  bool put(const std::string& bytes);
  void rotate();

  Options options_;
  int door_ = -1, ear_ = -1, file_ = -1;
  std::uint64_t written_ = 0;  // to the present file
  std::string tail_;
  std::thread thread_;

  std::mutex mutex_;  // over what follows
  std::condition_variable changed_;
  std::string waiting_;
  std::uint64_t dropped_ = 0;
  bool busy_ = false, over_ = false, ended_ = false;
  Time took_;  // the last time that the thread took something, or had nothing to do
};

}  // namespace starling
