// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2_learner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "policies/dl2/dl2.h"
#include "policies/dl2/test_dl2_rig.h"

namespace starling {
namespace {

const Dl2Shape kShape{4, {"vgg-16", "wlm"}};

Dl2LearnOptions quick() {
  Dl2LearnOptions options;
  options.rate = 3e-3;
  options.critic_rate = 3e-3;
  options.entropy = 0.01;
  options.batch = 64;
  options.replay = 512;
  options.discount = 0;
  options.explore = 0;
  return options;
}

Dl2Head actor_of(Rng& rng, std::uint32_t hidden) {
  const auto widths = Dl2Head::widths(kShape, Dl2Head::Kind::actor, std::span(&hidden, 1));
  return {kShape, Dl2Head::Kind::actor, TrainableMlp(widths, rng)};
}

Dl2Learner learner_of(const Dl2LearnOptions& options) {
  Rng rng(2);
  return {kShape, actor_of(rng, 16), options, 7};
}

/// Slots of a vgg-16 and a wlm, in which only workers of the wlm bring something. The mean that the
/// last ones brought.
double play(Dl2Learner& learner, Dl2Trail& trail, int slots) {
  Dl2Rig rig(4);
  rig.add("vgg-16", 16);
  rig.add("wlm", 16);
  auto shares = rig.shares();
  const View view = rig.view();
  const Shape shape = shape_of(rig.gpus);
  const ElasticCall call{view, shape, rig.gpus};
  double sum = 0, brought = 0;
  for (int i = 0; i < slots; ++i) {
    Dl2Slot slot(kShape, call, rig.all(), rig.all(), shares, 1200, 100);
    slot.begin();
    Dl2Progress progress;
    progress.all = brought;
    progress.of[rig.specs[1].id] = brought;
    learner.begin_slot(trail, slot, progress);
    learner.learn();
    while (slot.allows_any()) {
      const auto choice = learner.choose(trail, slot);
      REQUIRE(choice.has_value());
      if (!choice->action) break;
      slot.take(*choice->action);
    }
    learner.end_slot(trail, slot);
    brought = slot.members()[1].tasks.workers / 8.0;
    if (i >= slots - 50) sum += brought / 50;
  }
  return sum;
}

TEST_CASE("it learns to give more to jobs to which that is worth something") {
  struct Way {
    bool critic, marginal;
  };
  for (const auto& [critic, marginal] : {Way{true, false}, {false, false}, {true, true}}) {
    Dl2LearnOptions options = quick();
    options.critic = critic;
    options.marginal = marginal;
    CAPTURE(marginal);
    Dl2Learner learner = learner_of(options);
    Dl2Trail trail;
    const double before = play(learner, trail, 50);
    const double after = play(learner, trail, 500);
    CAPTURE(critic);
    CHECK(before < 0.6);
    CHECK(after > 0.75);
  }
}

TEST_CASE("the same seed learns the same, and what is kept goes on from where it was") {
  Dl2Learner one = learner_of(quick()), other = learner_of(quick());
  Dl2Trail first, second;
  CHECK(play(one, first, 80) == play(other, second, 80));
  CHECK(one.weights().hash() == other.weights().hash());
  MemoryWriter out;
  one.save(out);
  Dl2Learner back = learner_of(quick());
  MemoryReader in(out.bytes());
  back.restore(in);
  CHECK(in.whole());
  CHECK(back.weights().hash() == one.weights().hash());
  CHECK(back.updates() == one.updates());

  SUBCASE("cut bytes change nothing") {
    Dl2Learner fresh = learner_of(quick());
    const auto before = fresh.weights().hash();
    MemoryReader cut(std::span(out.bytes()).first(out.bytes().size() - 8));
    fresh.restore(cut);
    CHECK(!cut.whole());
    CHECK(fresh.weights().hash() == before);
  }
  SUBCASE("nor do those of another net") {
    Rng rng(3);
    Dl2Learner wide(kShape, actor_of(rng, 17), quick(), 7);
    const auto before = wide.weights().hash();
    MemoryReader wrong(out.bytes());
    wide.restore(wrong);
    CHECK(!wrong.whole());
    CHECK(wide.weights().hash() == before);
  }
}

TEST_CASE("what is too little for a batch is no update") {
  Dl2Learner learner = learner_of(quick());
  const std::uint64_t before = learner.weights().hash();
  Dl2Trail trail;
  play(learner, trail, 2);  // of six actions at most, where a batch is of 64
  CHECK(learner.updates() == 0);
  CHECK(learner.weights().hash() == before);
  play(learner, trail, 40);
  CHECK(learner.updates() > 0);
  CHECK(learner.updates() < 40);
}

TEST_CASE("moments that Adam cannot have are not taken") {
  Dl2Learner learner = learner_of(quick());
  Dl2Trail trail;
  play(learner, trail, 40);
  MemoryWriter out;
  learner.save(out);
  std::vector<std::byte> bytes = out.bytes();
  MemoryReader head(bytes);
  for (int i = 0; i < 3; ++i) (void)head.word();
  const std::size_t moments = 2 * ((head.word() + 1) / 2);  // words
  SUBCASE("a negative square") { bytes[bytes.size() - 5] = std::byte{0xBF}; }
  SUBCASE("more steps than any job does") {
    for (std::size_t i = 1; i <= 8; ++i) bytes[bytes.size() - 8 * moments - i] = std::byte{0xFF};
  }
  Dl2Learner fresh = learner_of(quick());
  const std::uint64_t before = fresh.weights().hash();
  MemoryReader in(bytes);
  fresh.restore(in);
  CHECK(!in.whole());
  CHECK(fresh.weights().hash() == before);
}

TEST_CASE("two agents with one learner learn from both") {
  Dl2Learner learner = learner_of(quick());
  Dl2Trail one, other;
  other.agent = 1;
  play(learner, one, 40);
  const std::uint64_t alone = learner.updates();
  play(learner, other, 40);
  CHECK(alone > 0);
  CHECK(learner.updates() > alone);
  CHECK(one.slots == 40);
  CHECK(other.slots == 40);
}

TEST_CASE("in a poor state the scarce kind is added") {
  Dl2LearnOptions options = quick();
  options.explore = 1;
  Dl2Learner learner = learner_of(options);
  Dl2Rig rig(13);
  rig.add("wlm", 16);
  auto shares = rig.shares();
  const View view = rig.view();
  const Shape shape = shape_of(rig.gpus);
  const ElasticCall call{view, shape, rig.gpus};
  Dl2Slot slot(kShape, call, rig.all(), rig.all(), shares, 1200, 100);
  slot.begin();
  for (int i = 0; i < 10; ++i) slot.take({0, Dl2Kind::worker});
  Dl2Trail trail;
  learner.begin_slot(trail, slot, {});
  for (int i = 0; i < 3; ++i) {
    const auto choice = learner.choose(trail, slot);
    REQUIRE(choice.has_value());
    CHECK(choice->action == Dl2Action{0, Dl2Kind::server});
  }
}

}  // namespace
}  // namespace starling
