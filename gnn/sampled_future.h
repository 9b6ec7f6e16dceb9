#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "gnn/rollout_start.h"

namespace starling {

/// What past jobs used in all, to draw from. Remembers the last kWindow.
class PastTotals {
 public:
  static constexpr std::size_t kWindow = 2048;

  void add(double total_s);
  [[nodiscard]] std::size_t size() const noexcept { return sorted_.size(); }
  /// How many had more than that.
  [[nodiscard]] std::size_t above(double attained_s) const;
  /// What those that had more still used from there on, at quantile `u` in [0, 1); there must be
  /// some.
  [[nodiscard]] double left_s(double attained_s, double u) const;

 private:
  std::vector<double> recent_;  // ring, in order of arrival
  std::size_t next_ = 0;
  std::vector<double> sorted_;
};

/// Guesses the future of one partition from its past, as a home sees it: how long jobs ran that
/// have ended, of about the same size where enough have, and who came lately and how soon after one
/// another. Where users give estimates these say what is left.
class FutureSampler {
 public:
  /// Fewer ended jobs are no past to draw from.
  static constexpr std::size_t kEnough = 32;
  static constexpr std::size_t kArrivals = 256;

  /// Before each draw, and whenever there is something to see. One partition only. Needs
  /// View::running.
  void observe(const View& view);
  /// Enough has been seen to guess.
  [[nodiscard]] bool knows() const noexcept { return all_.size() >= kEnough && came_.size() >= 2; }
  /// Number `sample` of `of` futures that belong together: over all of them every job's time left
  /// takes each part of its distribution once, so that their mean has less noise. For the jobs of a
  /// view, and at most `most` arrivals within `horizon`. Deterministic.
  struct Which {
    std::uint32_t sample = 0, of = 1;
    std::uint64_t seed = 0;  ///< of all `of`
  };
  [[nodiscard]] RolloutFuture draw(const View& view, Duration horizon, std::size_t most,
                                   const Which& which) const;

 private:
  struct Seen {
    std::uint64_t order = 0;
    Duration served{0};
    std::uint32_t gpus = 0;
  };
  struct Came {
    double gap_s = 0;  // after the one before
    JobSpec spec;
  };
  [[nodiscard]] double left_s(const JobSpec& spec, Duration served, double u) const;
  void add_arrivals(double horizon_s, std::size_t most, Rng& rng, RolloutFuture& out) const;

  std::vector<Seen> running_;  // by order
  std::vector<Seen> next_;     // scratch
  Instant seen_;
  PastTotals all_;
  std::array<PastTotals, 8> by_size_;  // by log2 of the gang, the last and larger
  std::vector<Came> came_;             // a ring
  std::size_t next_came_ = 0;
  bool any_came_ = false;
  std::uint64_t last_order_ = 0;
  Instant last_came_;
};

}  // namespace starling
