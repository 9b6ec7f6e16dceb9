// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2.h"

#include <span>
#include <utility>

#include "policies/builtin.h"
#include "policies/drf/drf.h"
#include "policies/elastic/elastic.h"
#include "policies/optimus/optimus.h"
#include "scheduling/policy_memory.h"

namespace starling {

extern const unsigned char kShippedDl2[];
extern const std::size_t kShippedDl2Bytes;

namespace {

constexpr PolicyFacts kFacts{
    .name = "dl2",
    .summary =
        "elastic: a net gives workers and parameter servers one by one, as DL2; it may learn "
        "while it decides",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .lengths = LengthSource::estimates,
    .round = kDl2Slot};

constexpr std::uint64_t kSeed = 1;
/// Gradients that one call of learn() may take time for.
constexpr std::size_t kLiveBatch = 64, kLiveReplay = 2048;
/// Updates before the critic is believed.
constexpr std::uint64_t kLiveCriticFirst = 500;

Result<Weights> weights_of(const std::string& file) {
  return file.empty() ? shipped_dl2() : load_weights(file);
}

Result<Dl2Division::Parts> read_parts(OptionReader& reader) {
  const std::string file = reader.file("weights", "a net's; without: the ones shipped");
  Dl2Division::Parts parts;
  parts.window = static_cast<std::size_t>(
      reader.number("window", 0, 0, 10'000, "jobs that it sees, the first ones; 0: all"));
  const std::string actor = reader.choice(
      "actor", {"net", "incumbent"}, "incumbent: it gives what that would, as before any training");
  parts.temperature = reader.number(
      "temperature", 0, 0, 10, "0: the likeliest action is taken; 1: drawn as likely as it is");
  parts.incumbent = dl2_incumbent(
      reader.choice("incumbent", {"drf", "optimus"}, "who decides where the net does not"));
  const bool learns = reader.choice("learn", {"no", "yes"},
                                    "yes: it explores, and goes on learning from what its slots "
                                    "bring") == "yes";
  const bool explores =
      reader.choice("explore", {"yes", "no"}, "of learn=yes: job-aware exploration") == "yes";
  const double rate =
      reader.number("rate", 1e-4, 1e-6, 0.1, "of learn=yes: of Adam, as its paper has it");
  if (actor == "incumbent") return parts;
  const auto weights = weights_of(file);
  const std::string where = file.empty() ? "the shipped weights: " : file + ": ";
  if (!weights) return weights.error();
  auto net = Dl2Net::make(weights.value());
  if (!net) return {Errc::invalid, where + net.error().message};
  parts.shape = net.value().shape();
  if (!learns) {
    parts.net = std::move(net).value();
    return parts;
  }
  Dl2LearnOptions options;
  options.rate = rate;
  options.explore = explores ? options.explore : 0;
  options.marginal = true;
  options.discounted = false;
  options.entropy = 0.01;
  options.critic_first = kLiveCriticFirst;
  options.batch = kLiveBatch;
  options.replay = kLiveReplay;
  parts.learner = std::make_shared<Dl2Learner>(
      parts.shape, dl2_head_of(weights.value(), parts.shape, Dl2Head::Kind::actor).value(), options,
      kSeed);
  return parts;
}

}  // namespace

Result<Weights> shipped_dl2() {
  return parse_weights(std::as_bytes(std::span(kShippedDl2, kShippedDl2Bytes)));
}

const PolicyFacts& dl2_facts() noexcept { return kFacts; }

std::unique_ptr<Division> dl2_incumbent(const std::string& name) {
  return name == "optimus" ? make_optimus_division() : make_drf_division();
}

std::unique_ptr<Policy> make_dl2(Duration round, Dl2Division::Parts parts) {
  parts.slot_s = seconds(round);
  ElasticOptions elastic;
  elastic.round = round;
  return std::make_unique<ElasticPolicy>(kFacts, elastic,
                                         std::make_unique<Dl2Division>(std::move(parts)));
}

void add_dl2(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const ElasticOptions elastic = read_elastic(reader, seconds(kDl2Slot));
    auto parts = read_parts(reader);
    if (!parts) return parts.error();
    Dl2Division::Parts read = std::move(parts).value();
    read.slot_s = seconds(elastic.round);
    std::unique_ptr<Policy> policy = std::make_unique<ElasticPolicy>(
        kFacts, elastic, std::make_unique<Dl2Division>(std::move(read)));
    // What is too large is not kept at all, and would be lost at every restart.
    if (const std::size_t bytes = policy->save(Instant{}).size(); bytes > kMostPolicyMemory)
      return {Errc::invalid, "learn=yes keeps " + std::to_string(bytes) + " bytes, more than " +
                                 std::to_string(kMostPolicyMemory) +
                                 "; give a net with fewer weights or head shared"};
    return policy;
  });
}

}  // namespace starling
