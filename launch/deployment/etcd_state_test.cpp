// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/etcd_state.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/rng.h"
#include "store/etcd/test_etcd.h"

namespace starling {
namespace {

TEST_CASE("of founders of one name at the same instant one has it") {
  TestEtcd* etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  constexpr std::size_t kFounders = 3;
  constexpr std::uint32_t kMostApart = 4000;  // microseconds; each takes about as long
  Rng rng(1);
  int answered = 0;
  for (int round = 0; round < 100; ++round) {
    const std::string state = etcd->flock("founded-" + std::to_string(round)).url();
    std::array<bool, kFounders> has{};
    std::array<Errc, kFounders> why;
    why.fill(Errc::conflict);
    {
      std::array<std::jthread, kFounders> founders;
      for (std::size_t i = 0; i < kFounders; ++i) {
        const std::chrono::microseconds after(rng.below(kMostApart));
        founders[i] = std::jthread([&, i, after] {
          std::this_thread::sleep_for(after);
          const auto name = new_etcd_state(state, {}, {"founder " + std::to_string(i)});
          has[i] = static_cast<bool>(name);
          if (!name) why[i] = name.error().code;
        });
      }
    }
    CAPTURE(round);
    CHECK(std::ranges::count(has, true) <= 1);
    // On a busy machine etcd may not answer in time, and then it is not known who has it.
    if (std::ranges::count(why, Errc::io) > 0) continue;
    ++answered;
    CHECK(std::ranges::count(has, true) == 1);
    for (std::size_t i = 0; i < kFounders; ++i) CHECK((has[i] || why[i] == Errc::conflict));
  }
  CHECK(answered > 50);
}

}  // namespace
}  // namespace starling
