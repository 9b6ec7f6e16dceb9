// SPDX-License-Identifier: Apache-2.0
#include "interference/models/speed_choice.h"

#include <optional>

#include "interference/adapt/shift_prior.h"
#include "interference/learned/interference_net.h"
#include "interference/models/learned_speed.h"
#include "interference/models/speed_file.h"

namespace starling {
namespace {

constexpr std::string_view kLearned = "learned", kFrozen = "frozen", kAdaptive = "adaptive";

/// What a learned model is made of.
struct LearnedParts {
  Weights network;
  std::optional<ShiftPrior> prior;  ///< it adapts
};

Error in_file(const SpeedChoice& choice, const Error& error) {
  return {error.code, (choice.file.empty() ? "" : choice.file + ": ") + error.message};
}

Result<LearnedParts> learned_parts(const SpeedChoice& choice) {
  auto given = choice.file.empty() ? shipped_interference() : load_weights(choice.file);
  if (!given) return given.error();
  const bool is_prior = ShiftPrior::is_one(given.value());
  if (is_prior && !choice.adaptive)
    return in_file(choice, {Errc::invalid,
                            "this is a prior of shifts and no interference model; give adaptive:" +
                                choice.file + ", or weights of a model"});
  if (!choice.adaptive) return LearnedParts{std::move(given).value(), std::nullopt};
  auto prior = is_prior ? ShiftPrior::load(given.value()) : shipped_shift_prior();
  if (!prior) return is_prior ? in_file(choice, prior.error()) : prior.error();
  auto network = is_prior ? shipped_interference() : std::move(given);
  if (!network) return network.error();
  return LearnedParts{std::move(network).value(), std::move(prior).value()};
}

}  // namespace

Result<SpeedChoice> parse_speed(const std::string& text) {
  if (text == "analytic") return SpeedChoice{};
  if (text == "physics") return SpeedChoice{SpeedKind::physics};
  for (const std::string_view word : {kLearned, kFrozen, kAdaptive}) {
    if (!text.starts_with(word)) continue;
    const std::string rest = text.substr(word.size());
    if (rest.empty() || (rest[0] == ':' && rest.size() > 1))
      return SpeedChoice{SpeedKind::learned, rest.empty() ? rest : rest.substr(1), word == kFrozen,
                         word == kAdaptive};
  }
  return {Errc::invalid,
          "'" + text +
              "' is wrong; give analytic, learned, learned:FILE, frozen, frozen:FILE, adaptive, "
              "adaptive:FILE or physics"};
}

std::string text_of(const SpeedChoice& choice) {
  if (choice.kind == SpeedKind::analytic) return "analytic";
  if (choice.kind == SpeedKind::physics) return "physics";
  const std::string word(choice.frozen ? kFrozen : choice.adaptive ? kAdaptive : kLearned);
  return choice.file.empty() ? word : word + ":" + choice.file;
}

Result<std::unique_ptr<SpeedModel>> make_speed(const SpeedChoice& choice, const Topology& topology,
                                               const Physics* physics) {
  if (choice.kind == SpeedKind::analytic) return make_analytic_speed(topology);
  if (choice.kind == SpeedKind::physics) {
    if (physics == nullptr)
      return {Errc::unsupported, "speed: only a simulation knows the physics; give learned"};
    return make_true_speed(*physics);
  }
  const auto parts = learned_parts(choice);
  if (!parts) return parts.error();
  const ShiftPrior* prior = parts.value().prior ? &*parts.value().prior : nullptr;
  auto model = make_learned_speed(topology, parts.value().network, prior);
  if (!model) return in_file(choice, model.error());
  return std::unique_ptr<SpeedModel>(std::move(model).value());
}

Status check_speed_file(const SpeedChoice& choice) {
  const auto parts = learned_parts(choice);
  if (!parts) return parts.error();
  const auto net = InterferenceNet::make(parts.value().network);
  if (!net) return in_file(choice, net.error());
  return done();
}

}  // namespace starling
