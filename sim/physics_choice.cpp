#include "sim/physics_choice.h"

#include <charconv>
#include <cstdio>

namespace starling {

Result<PhysicsChoice> parse_physics(const std::string& text) {
  if (text == "trace") return PhysicsChoice{};
  if (text == "full") return PhysicsChoice{PhysicsKind::full, 0};
  const std::string prefix = "full:stragglers=";
  if (text.starts_with(prefix)) {
    PhysicsChoice choice{PhysicsKind::full, 0};
    const char* const end = text.data() + text.size();
    const auto [last, error] =
        std::from_chars(text.data() + prefix.size(), end, choice.straggler_sigma);
    if (error == std::errc{} && last == end && choice.straggler_sigma >= 0 &&
        choice.straggler_sigma <= 10) {
      return choice;
    }
  }
  return {
      Errc::invalid,
      "'" + text + "' is wrong; give trace, full or full:stragglers=SIGMA with SIGMA from 0 to 10"};
}

std::string text_of(const PhysicsChoice& choice) {
  if (choice.kind == PhysicsKind::trace) return "trace";
  if (choice.straggler_sigma == 0) return "full";
  char number[32];
  std::snprintf(number, sizeof number, "%g", choice.straggler_sigma);
  return std::string("full:stragglers=") + number;
}

}  // namespace starling
