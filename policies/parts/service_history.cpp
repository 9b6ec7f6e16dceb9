// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/service_history.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace starling {

void ServiceHistory::add(double total) {
  if (recent_.size() < kWindow) {
    recent_.push_back(total);
  } else {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), recent_[next_]));
    recent_[next_] = total;
    next_ = (next_ + 1) % kWindow;
  }
  sums_.clear();
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), total), total);
}

void ServiceHistory::save(MemoryWriter& out) const {
  // Oldest first, so that it does not matter where the ring began.
  out.word(recent_.size());
  for (std::size_t i = 0; i < recent_.size(); ++i)
    out.number(recent_[(next_ + i) % recent_.size()]);
}

void ServiceHistory::restore(MemoryReader& in) {
  constexpr double kLongest = 1e15;
  *this = {};
  recent_ = in.numbers(kWindow, 0, kLongest);
  sorted_ = recent_;
  std::sort(sorted_.begin(), sorted_.end());
}

double ServiceHistory::index(double attained, double d) const {
  if (!knows()) return 0;
  if (sums_.empty()) {
    sums_.resize(sorted_.size() + 1);
    std::partial_sum(sorted_.begin(), sorted_.end(), sums_.begin() + 1);
  }
  const auto position = [&](double total) {
    return static_cast<std::size_t>(std::upper_bound(sorted_.begin(), sorted_.end(), total) -
                                    sorted_.begin());
  };
  const std::size_t alive = position(attained);
  const std::size_t over = position(attained + d);  // from there on they use all of d
  const auto finish = static_cast<double>(over - alive);
  const double use = (sums_[over] - sums_[alive]) - finish * attained +
                     (over < sorted_.size() ? static_cast<double>(sorted_.size() - over) * d : 0);
  return use > 0 ? finish / use : 0;
}

std::size_t ServiceHistory::above(double attained) const {
  return static_cast<std::size_t>(sorted_.end() -
                                  std::upper_bound(sorted_.begin(), sorted_.end(), attained));
}

double ServiceHistory::left(double attained, double u) const {
  const std::size_t longer = above(attained);
  STARLING_CHECK(longer > 0 && u >= 0 && u < 1);
  const auto which = static_cast<std::size_t>(u * static_cast<double>(longer));
  return sorted_[sorted_.size() - longer + which] - attained;
}

double ServiceHistory::median_left(double attained) const {
  const std::size_t longer = above(attained);
  if (longer == 0) return 0;
  return sorted_[sorted_.size() - longer + (longer - 1) / 2] - attained;
}

}  // namespace starling
