// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2_slot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "policies/dl2/test_dl2_rig.h"

namespace starling {
namespace {

constexpr double kSlot = 1200;
const Dl2Shape kShape{3, {"vgg-16", "wlm"}};

/// A slot of everything that the rig has.
struct Slot {
  explicit Slot(Dl2Rig& rig, std::size_t most = 100)
      : shares(rig.shares()),
        view(rig.view()),
        shape(shape_of(rig.gpus)),
        call{view, shape, rig.gpus},
        slot(kShape, call, rig.all(), rig.all(), shares, kSlot, most) {}
  std::vector<ElasticShare> shares;
  View view;
  Shape shape;
  ElasticCall call;
  Dl2Slot slot;
};

TEST_CASE("every job begins with one of each, in order, while there is room") {
  Dl2Rig rig(1);
  for (int i = 0; i < 3; ++i) rig.add("wlm", 4);
  Slot s(rig);
  s.slot.begin();
  CHECK(s.slot.members()[0].tasks == TaskCounts{1, 1});
  CHECK(s.slot.members()[1].tasks == TaskCounts{1, 1});
  CHECK(s.slot.members()[2].tasks == TaskCounts{0, 0});  // both GPUs are gone
  CHECK(!s.slot.allows_any());
}

TEST_CASE("an action is allowed while its tasks have room and the job may have them") {
  Dl2Rig rig(2);
  rig.add("wlm", 2);
  rig.add("vgg-16", 8);
  Slot s(rig);
  CHECK(!s.slot.allows({0, Dl2Kind::worker}));  // who has no worker is not added to
  s.slot.begin();
  s.slot.take({0, Dl2Kind::both});
  CHECK(!s.slot.allows({0, Dl2Kind::worker}));  // it has its two of each
  CHECK(!s.slot.allows({0, Dl2Kind::server}));
  // 16 CPUs: three pairs take 12, so two servers more, or a worker and one.
  s.slot.take({1, Dl2Kind::server});
  CHECK(!s.slot.allows({1, Dl2Kind::both}));
  CHECK(s.slot.allows({1, Dl2Kind::worker}));
  s.slot.take({1, Dl2Kind::server});
  CHECK(!s.slot.allows_any());
  CHECK(s.slot.members()[1].tasks == TaskCounts{1, 3});
}

TEST_CASE("a job without servers gets workers alone") {
  Dl2Rig rig(2);
  JobSpec& job = rig.add("wlm", 3);
  job.run = {};
  Slot s(rig);
  s.slot.begin();
  CHECK(s.slot.members()[0].tasks == TaskCounts{1, 0});
  CHECK(!s.slot.allows({0, Dl2Kind::worker}));
  CHECK(!s.slot.allows({0, Dl2Kind::server}));
  REQUIRE(s.slot.allows({0, Dl2Kind::both}));
  s.slot.take({0, Dl2Kind::both});
  CHECK(s.slot.members()[0].tasks == TaskCounts{2, 0});
}

TEST_CASE("what a net sees, by hand: type, ages, what remains, share, tasks") {
  Dl2Rig rig(4);
  rig.add("wlm", 4, 2400).duration = std::chrono::minutes(40);
  rig.add("never-heard-of", 4);
  Slot s(rig);
  s.shares[0].left_s = 1200;
  Dl2Slot slot(kShape, s.call, rig.all(), rig.all(), s.shares, kSlot, 100);
  slot.begin();
  slot.take({0, Dl2Kind::server});
  std::vector<float> seen(kShape.inputs(), -1);
  slot.encode(0, seen);
  REQUIRE(kShape.width() == 9);
  const auto row = [&](std::size_t i) {
    return std::vector<float>(seen.begin() + static_cast<std::ptrdiff_t>(9 * i),
                              seen.begin() + static_cast<std::ptrdiff_t>(9 * i + 9));
  };
  const std::vector<float> first = row(0), other = row(1), none = row(2);
  CHECK(std::vector<float>(first.begin(), first.begin() + 3) == std::vector<float>{0, 1, 0});
  CHECK(first[3] == doctest::Approx(std::log(3.0)));  // 2 slots old
  CHECK(first[4] == doctest::Approx(std::log(3.0)));  // 20 minutes of two GPUs
  CHECK(first[5] == doctest::Approx(0.5));
  CHECK(first[6] == doctest::Approx(6.0 / 32));  // CPUs of one worker and two servers
  CHECK(first[7] == doctest::Approx(0.25));
  CHECK(first[8] == doctest::Approx(0.5));
  CHECK(std::vector<float>(other.begin(), other.begin() + 3) == std::vector<float>{0, 0, 1});
  CHECK(other[6] == doctest::Approx(1.0 / 8));
  CHECK(std::ranges::all_of(none, [](float x) { return x == 0; }));
}

TEST_CASE("numbers of actions lead back to them, and masks say what is allowed, block by block") {
  Dl2Rig rig(13);
  for (int i = 0; i < 5; ++i) rig.add("wlm", i == 3 ? 1 : 4);
  Slot s(rig);
  s.slot.begin();
  REQUIRE(s.slot.blocks() == 2);
  for (std::size_t member = 0; member < 5; ++member) {
    for (const Dl2Kind kind : {Dl2Kind::worker, Dl2Kind::server, Dl2Kind::both}) {
      const Dl2Action action{member, kind};
      const std::size_t block = s.slot.block_of(action), number = s.slot.number_of(action);
      CHECK(block == member / 3);
      CHECK(s.slot.action_of(block, number) == action);
      std::vector<std::uint8_t> mask(kShape.actions());
      s.slot.mask(block, mask);
      CHECK(mask[number] == (member == 3 ? 0 : 1));
      CHECK(mask.back() == 1);
    }
  }
  std::vector<std::uint8_t> last(kShape.actions());
  s.slot.mask(1, last);
  for (std::size_t k = 6; k < 9; ++k) CHECK(last[k] == 0);  // no job is there
  CHECK(!s.slot.action_of(0, kShape.actions() - 1).has_value());
}

TEST_CASE("jobs beyond the window are not seen, and get nothing") {
  Dl2Rig rig(13);
  for (int i = 0; i < 5; ++i) rig.add("wlm", 4);
  Slot s(rig, 2);
  s.slot.begin();
  CHECK(s.slot.members().size() == 2);
}

}  // namespace
}  // namespace starling
