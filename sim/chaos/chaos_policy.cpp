// SPDX-License-Identifier: Apache-2.0
// Agents that decide and tell nonsense, or change sizes at random: F21, F22 and F35.
#include <limits>

#include "sim/chaos/chaos_faults.h"
#include "sim/chaos/faulty_policy.h"
#include "sim/chaos/sizing_policy.h"

namespace starling {

std::unique_ptr<Policy> ChaosFaults::faulty_policy(AgentId agent, std::unique_ptr<Policy> good,
                                                   std::function<void(Duration)> stall) {
  if (State& sizes = state("F35-sizes"); sizes.dose != Dose::off) {
    const Duration mean = std::chrono::seconds(sizes.dose == Dose::extreme ? 5 : 40);
    good = std::make_unique<SizingPolicy>(
        std::move(good), mean, sizes.rng.fork(agent.value), [this] { return !healed_; },
        [this] { ++counts_["F35-sizes"]; });
  }
  State& bad = state("F21-brain");
  if (bad.dose == Dose::off) return good;
  ++counts_["F21-brain"];
  Rng own = bad.rng.fork(agent.value);
  const bool extreme = bad.dose == Dose::extreme;
  const double share = (extreme ? 0.8 : 0.1) * own.uniform();
  return std::make_unique<FaultyPolicy>(
      std::move(good), share, extreme, own.fork(1), [this] { return !healed_; }, std::move(stall));
}

void ChaosFaults::lie(World&, Rng& rng, Dose dose) {
  for (std::uint32_t a = 0; a < agents_; ++a) {
    if (dose == Dose::extreme || rng.chance(0.3)) liars_.insert(agent_node(AgentId{a}));
  }
}

namespace {

/// Something else of what the servers have beside free GPUs, or nothing.
std::vector<ServerRoom> untrue_rooms(Rng& rng, std::uint32_t free) {
  if (free == 0 || rng.chance(0.5)) return {};
  const std::uint32_t each = 1 + rng.below(free);
  const Demand left{std::int64_t{rng.below(100'000)} * 1000,
                    std::int64_t{rng.below(100'000)} * 1000};
  return {{GpuTypeId{}, each, free / each, left}};
}

/// Nothing, anything, or so much that sums of it overflow.
float untrue_price(Rng& rng) {
  if (rng.chance(0.3)) return 0;
  if (rng.chance(0.2)) return std::numeric_limits<float>::max();
  return static_cast<float>(rng.uniform());
}

void say_other_counts(Rng& rng, Digest& digest) {
  digest.free = rng.below(digest.gpus + 1);
  digest.largest_free_server = rng.below(digest.free + 1);
  digest.whole_free_servers = rng.below(digest.free + 1);
  digest.out_of_service = rng.below(digest.gpus + 1);
  if (!digest.rooms.empty()) digest.rooms = untrue_rooms(rng, digest.free);
  digest.waiting = rng.below(100);
  digest.waiting_gpus = digest.waiting > 0 ? rng.below(10'000) : 0;
  for (TypePrice& price : digest.prices) price.value = untrue_price(rng);
}

/// Of any partition, perhaps as what it says much later.
void say_other_words(Rng& rng, Digests& digests) {
  Digest& digest =
      digests.words[rng.below(static_cast<std::uint32_t>(digests.words.size()))].digest;
  say_other_counts(rng, digest);
  if (rng.chance(0.3)) digest.version += 1 + rng.below(1000);
}

}  // namespace

/// Another count of free GPUs, an older digest under a new version, or an old one as it was.
Network::Tampered ChaosFaults::untrue(Rng& rng, std::vector<std::byte>& frame) {
  auto decoded = codec_.decode(frame);
  if (!decoded) return Network::Tampered::no;
  const auto say = [&] {
    const auto bytes = codec_.encode(decoded.value().header, decoded.value().message);
    frame.assign(bytes.begin(), bytes.end());
    return Network::Tampered::lie;
  };
  if (auto* digests = std::get_if<Digests>(&decoded.value().message)) {
    if (digests->words.empty()) return Network::Tampered::no;
    say_other_words(rng, *digests);
    return say();
  }
  auto* digest = std::get_if<Digest>(&decoded.value().message);
  if (digest == nullptr) return Network::Tampered::no;
  const std::vector<std::byte> before = frame;
  switch (rng.below(3)) {
    case 0:
      say_other_counts(rng, *digest);
      break;
    case 1: {
      const auto old = codec_.decode(old_digest_);
      if (!old) break;
      const Digest& then = std::get<Digest>(old.value().message);
      digest->free = std::min(then.free, digest->gpus);
      digest->rooms.clear();
      if (digest->free == then.free) digest->rooms = then.rooms;
      digest->waiting = then.waiting;
      digest->waiting_gpus = then.waiting_gpus;
      break;
    }
    default:
      if (old_digest_.empty()) break;
      frame = old_digest_;
      old_digest_ = before;
      return Network::Tampered::lie;
  }
  if (rng.chance(0.1) || old_digest_.empty()) old_digest_ = before;
  return say();
}

}  // namespace starling
