// SPDX-License-Identifier: Apache-2.0
#include "interference/speed_choice.h"

#include "interference/learned/interference_net.h"
#include "interference/learned/learned_speed.h"

namespace starling {
namespace {

constexpr std::string_view kLearned = "learned", kFrozen = "frozen", kAdaptive = "adaptive";

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
  return {
      Errc::invalid,
      "'" + text + "' is wrong; give analytic, learned, learned:FILE, frozen, adaptive or physics"};
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
  const auto weights = choice.file.empty() ? shipped_interference() : load_weights(choice.file);
  if (!weights) return weights.error();
  const auto prior = choice.adaptive ? shipped_shift_prior() : Result<ShiftPrior>(ShiftPrior{});
  if (!prior) return prior.error();
  auto model =
      make_learned_speed(topology, weights.value(), choice.adaptive ? &prior.value() : nullptr);
  if (!model) {
    const std::string file = choice.file.empty() ? "" : choice.file + ": ";
    return Error{model.error().code, file + model.error().message};
  }
  return std::unique_ptr<SpeedModel>(std::move(model).value());
}

}  // namespace starling
