// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/frame_mutator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace starling::fuzz {

template <class T>
void FrameMutator::store(std::size_t at, T value) {
  if (at + sizeof value <= now_.size()) std::memcpy(now_.data() + at, &value, sizeof value);
}

template <class T>
T FrameMutator::load(std::size_t at) const {
  T out{};
  if (at + sizeof out <= now_.size()) std::memcpy(&out, now_.data() + at, sizeof out);
  return out;
}

void FrameMutator::add(std::span<const std::byte> frame) {
  if (!frame.empty() && frame.size() <= kMost) pool_.emplace_back(frame);
}

std::span<const std::byte> FrameMutator::next() {
  base_ = below(pool_.size());
  now_ = pool_[base_].bytes;
  const std::uint32_t many = rng_.next();  // one half of the times, or two, three, four
  for (int n = 1 + std::min(std::countr_one(many), 3); n > 0 && !now_.empty(); --n) change();
  return now_;
}

void FrameMutator::keep() {
  if (now_.size() <= kMost) pool_[below(pool_.size())] = BaseFrame(now_);
}

void FrameMutator::change() {
  const std::vector<BaseFrame::Spot>& spots = pool_[base_].spots;
  const std::uint32_t what = rng_.next() % 16;
  if (what < 8 && !spots.empty()) {
    const BaseFrame::Spot spot = spots[below(spots.size())];
    // What holds the frame together is bent one time in four: the verifier refuses most of that.
    if (spot.kind == BaseFrame::Kind::value || what < 2) return bend(spot);
  }
  if (what < 15) return bytes_at_random();
  move_parts();
}

void FrameMutator::bend(BaseFrame::Spot spot) {
  using Kind = BaseFrame::Kind;
  const auto left =
      static_cast<std::uint32_t>(now_.size() - std::min<std::size_t>(spot.at, now_.size()));
  const auto small = static_cast<std::uint32_t>(rng_.next() % 17) - 8U;
  const std::vector<BaseFrame::Spot>& spots = pool_[base_].spots;
  const std::uint32_t other = spots[below(spots.size())].at;
  if (spot.kind == Kind::entry) {
    const auto was = load<std::uint16_t>(spot.at);
    const std::array<std::uint16_t, 6> values = {0,
                                                 static_cast<std::uint16_t>(was + small),
                                                 load<std::uint16_t>(other & ~1U),
                                                 static_cast<std::uint16_t>(left),
                                                 static_cast<std::uint16_t>(rng_.next() & 63U),
                                                 0xffff};
    return store(spot.at, values[rng_.next() % values.size()]);
  }
  const auto was = load<std::uint32_t>(spot.at);
  constexpr std::uint32_t kMostInt = std::numeric_limits<std::int32_t>::max();
  const std::array<std::uint32_t, 8> values = {was + small,
                                               was + 4 * small,
                                               other - spot.at,  // to where something else stands
                                               load<std::uint32_t>(other & ~3U),
                                               left + small,
                                               rng_.next() & 1023U,
                                               kMostInt + (small & 1U),
                                               small & 1U ? 0xffff'ffffU : 0U};
  store(spot.at, values[rng_.next() % values.size()]);
}

void FrameMutator::bytes_at_random() {
  const std::size_t at = below(now_.size());
  const std::uint32_t random = rng_.next();
  switch (random % 8) {
    case 0:
    case 1:
      now_[at] ^= static_cast<std::byte>(1U << (random >> 8U & 7U));
      break;
    case 2:
    case 3:
      now_[at] = static_cast<std::byte>(random >> 8U);
      break;
    case 4:
      now_[at] = static_cast<std::byte>(random >> 8U & 63U);  // kinds, states
      break;
    case 5:
      store(at & ~std::size_t{3}, random >> 8U & 63U);
      break;
    case 6:  // the greatest, the least, the first negative
      store(at & ~std::size_t{7}, std::array<std::uint64_t, 4>{
                                      ~0ULL, 0, 1ULL << 63U, (1ULL << 61U) + 1}[random >> 8U & 3U]);
      break;
    default:  // infinities and what is no number
      store(at & ~std::size_t{7},
            std::array<double, 4>{std::numeric_limits<double>::infinity(), -0.0, 1e300,
                                  std::numeric_limits<double>::quiet_NaN()}[random >> 8U & 3U]);
  }
}

void FrameMutator::move_parts() {
  const std::size_t at =
      below(now_.size() + 1) & (rng_.next() & 1U ? ~std::size_t{0} : ~std::size_t{3});
  const auto here = [this](std::size_t where) {
    return now_.begin() + static_cast<std::ptrdiff_t>(where);
  };
  switch (rng_.next() % 4) {
    case 0:
      now_.resize(at);
      break;
    case 1: {
      const std::size_t count = std::min<std::size_t>(4 * (1 + below(8)), now_.size() - at);
      now_.erase(here(at), here(at + count));
      break;
    }
    case 2:
      if (now_.size() + 64 <= kMost)
        now_.insert(here(at), 4 * (1 + below(16)), static_cast<std::byte>(rng_.next()));
      break;
    default: {  // the end of another one
      const FrameBytes& other = pool_[below(pool_.size())].bytes;
      const std::size_t from = std::min(at, other.size());
      now_.resize(at);
      now_.insert(now_.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
    }
  }
}

}  // namespace starling::fuzz
