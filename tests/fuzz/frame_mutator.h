// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"

namespace starling::fuzz {

using FrameBytes = std::vector<std::byte>;

/// A frame, and where in it the words stand on which a reader of FlatBuffers relies: offsets,
/// lengths and what tables say of themselves. They are found without the schema, by following
/// whatever points into the frame, so some are plain values; those count as values.
struct BaseFrame {
  enum class Kind : std::uint8_t { offset, length, table, entry, value };
  struct Spot {
    std::uint32_t at;
    Kind kind;  ///< entry: two bytes; the others: four
  };
  explicit BaseFrame(std::span<const std::byte> frame);

  FrameBytes bytes;
  std::vector<Spot> spots;  ///< at most kMostSpots
  static constexpr std::size_t kMostSpots = 256;
};

/// Makes frames that are almost right: one to four changes to one of a pool. Same pool, same
/// numbers from `rng`, same frames.
class FrameMutator {
 public:
  explicit FrameMutator(Rng rng) : rng_(rng) {}

  /// Frames longer than `kMost` are left out.
  void add(std::span<const std::byte> frame);
  /// The next one; valid until the next call. Needs a pool.
  [[nodiscard]] std::span<const std::byte> next();
  /// The last one was of use: it takes the place of a frame of the pool that was kept earlier, or
  /// of one that was added, so that changes add up.
  void keep();
  Rng& rng() { return rng_; }
  static constexpr std::size_t kMost = 4096;

 private:
  void change();
  void bend(BaseFrame::Spot spot);  ///< a word that others rely on
  void bytes_at_random();
  void move_parts();  ///< cut, grow, splice
  std::uint32_t below(std::size_t n) { return rng_.below(static_cast<std::uint32_t>(n)); }
  template <class T>
  void store(std::size_t at, T value);
  template <class T>
  [[nodiscard]] T load(std::size_t at) const;

  Rng rng_;
  std::vector<BaseFrame> pool_;
  std::size_t base_ = 0;
  FrameBytes now_;
};

}  // namespace starling::fuzz
