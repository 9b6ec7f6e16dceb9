// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/gang_sharing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/rng.h"

namespace starling {
namespace {

using Chosen = std::vector<std::size_t>;

CoTenant tenant(std::uint32_t gpus, double speed, double loss) {
  CoTenant out;
  for (std::uint32_t i = 0; i < gpus; ++i) out.gpus.push_back(GpuId{i});
  out.speed = speed;
  out.loss = loss;
  return out;
}

/// Eight GPUs, four of them free.
constexpr SharingGang kGang{8, 4, 1, 0.8, 0.3};

TEST_CASE("a gang shares with those that lose least, if it is worth it") {
  const CoTenant cheap = tenant(4, 0.9, 0.2), dear = tenant(4, 0.9, 2);
  CHECK(choose_co_tenants(kGang, std::vector{dear, cheap}) == Chosen{1});
  CHECK(choose_co_tenants(kGang, std::vector{dear}) == Chosen{0});
  // 8 * 0.8 * 0.9 - 3.5 = 2.26 is less than 8 * 0.3.
  CHECK(choose_co_tenants(kGang, std::vector{tenant(4, 0.9, 3.5)}).empty());
}

TEST_CASE("a gang is as fast as its slowest worker") {
  // 8 * 0.8 * 0.4 - 0.1 = 2.46 against 8 * 0.8 * 0.9 - 3 = 2.76.
  const CoTenant slow = tenant(4, 0.4, 0.1), fast = tenant(4, 0.9, 3);
  CHECK(choose_co_tenants(kGang, std::vector{slow, fast}) == Chosen{1});
  // Together with a slow one the fast one is of no use.
  const CoTenant half_fast = tenant(2, 0.9, 0.1), half_slow = tenant(2, 0.4, 0.1);
  CHECK(choose_co_tenants(kGang, std::vector{half_fast, half_slow, slow}).size() <= 2);
}

TEST_CASE("too few GPUs are none, and workers stay whole") {
  CHECK(choose_co_tenants(kGang, {}).empty());
  CHECK(choose_co_tenants(kGang, std::vector{tenant(3, 1, 0)}).empty());
  SharingGang pairs = kGang;
  pairs.worker = 2;
  CHECK(choose_co_tenants(pairs, std::vector{tenant(3, 1, 0), tenant(1, 1, 0)}).empty());
  CHECK(choose_co_tenants(pairs, std::vector{tenant(3, 1, 0), tenant(2, 1, 0)}) == Chosen{0, 1});
}

TEST_CASE("no other set of tenants that is as large as it must be adds more, where all are alike") {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<CoTenant> offered;
    for (std::uint32_t n = rng.below(8); n > 0; --n)
      offered.push_back(tenant(2, 0.2 + 0.1 * rng.below(8), 0.25 * rng.below(6)));
    std::optional<double> best;
    for (unsigned set = 0; set < 1U << offered.size(); ++set) {
      if (kGang.free + 2 * static_cast<std::uint32_t>(std::popcount(set)) < kGang.gpus) continue;
      double speed = 1, gain = 0;
      for (std::size_t i = 0; i < offered.size(); ++i) {
        if ((set >> i & 1U) == 0) continue;
        speed = std::min(speed, offered[i].speed);
        gain -= offered[i].loss;
      }
      gain += kGang.gpus * kGang.alone * speed;
      if (gain >= kGang.least * kGang.gpus && (!best || gain > *best)) best = gain;
    }
    const Chosen chosen = choose_co_tenants(kGang, offered);
    CHECK(chosen.empty() == !best.has_value());
    if (!best || chosen.empty()) continue;
    double speed = 1, gain = 0;
    for (const std::size_t i : chosen) {
      speed = std::min(speed, offered[i].speed);
      gain -= offered[i].loss;
    }
    CHECK(gain + kGang.gpus * kGang.alone * speed == doctest::Approx(*best));
  }
}

}  // namespace
}  // namespace starling
