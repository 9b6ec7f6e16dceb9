#include "interference/speed_choice.h"

#include "interference/learned/interference_net.h"
#include "interference/learned/learned_speed.h"

namespace starling {
namespace {

constexpr std::string_view kLearnedFrom = "learned:";

}  // namespace

Result<SpeedChoice> parse_speed(const std::string& text) {
  if (text == "analytic") return SpeedChoice{};
  if (text == "learned") return SpeedChoice{SpeedKind::learned, ""};
  if (text == "physics") return SpeedChoice{SpeedKind::physics, ""};
  if (text.starts_with(kLearnedFrom) && text.size() > kLearnedFrom.size())
    return SpeedChoice{SpeedKind::learned, text.substr(kLearnedFrom.size())};
  return {Errc::invalid,
          "'" + text + "' is wrong; give analytic, learned, learned:FILE or physics"};
}

std::string text_of(const SpeedChoice& choice) {
  if (choice.kind == SpeedKind::analytic) return "analytic";
  if (choice.kind == SpeedKind::physics) return "physics";
  return choice.file.empty() ? "learned" : std::string(kLearnedFrom) + choice.file;
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
  auto model = make_learned_speed(topology, weights.value());
  if (!model) {
    const std::string file = choice.file.empty() ? "" : choice.file + ": ";
    return Error{model.error().code, file + model.error().message};
  }
  return std::unique_ptr<SpeedModel>(std::move(model).value());
}

}  // namespace starling
