// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

namespace starling {

/// Room that a node has taken on its disk while there was some, in a file, for what it must write
/// when the disk is full: cancellations, ends, the number of its next life. It is given back to
/// the disk in eighths, so that others that write there get little of it. On a file system that
/// frees space late (btrfs) a piece may come too late for the write that asked for it.
class DiskReserve {
 public:
  /// At most so much, and of a small disk this part.
  static constexpr std::uint64_t kMost = 1ULL << 20U, kShare = 64;

  /// None: never whole, never short.
  DiskReserve() = default;
  /// In `file`, where an earlier life may have left one. Nothing is taken yet.
  explicit DiskReserve(std::filesystem::path file) : file_(std::move(file)) {}

  /// Takes what is missing, if the disk has that and half the reserve more. True: it is whole and
  /// the disk not full, or nothing is to be had here whatever room there is.
  bool refill();
  /// Gives a piece back to the disk, and is short from then on. False: nothing is left.
  bool release();
  [[nodiscard]] bool is_there() const noexcept { return !file_.empty(); }
  /// The disk is full, though nothing had to be given back.
  void note_short() noexcept { short_ = true; }
  /// The disk had no room, and refill() has not found any since.
  [[nodiscard]] bool is_short() const noexcept { return short_; }

 private:
  std::filesystem::path file_;
  bool short_ = false;
};

}  // namespace starling
