// SPDX-License-Identifier: Apache-2.0
#include "sim/run/physics_choice.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace starling {
namespace {

constexpr std::string_view kFull = "full:";
constexpr std::string_view kStragglers = "stragglers=";
constexpr std::string_view kPairs = "pairs=";
constexpr std::string_view kGoodput = "goodput";
constexpr std::string_view kFlows = "network=flows";
constexpr std::string_view kPhases = "phases";

}  // namespace

Result<PhysicsChoice> parse_physics(const std::string& text) {
  if (text == "trace") return PhysicsChoice{};
  const auto wrong = [&]() -> Result<PhysicsChoice> {
    return {Errc::invalid,
            "'" + text +
                "' is wrong; give trace, measured, dl2, full, full:stragglers=SIGMA with SIGMA "
                "from 0 to 10, full:pairs=FILE, full:pairs=FILE@CAMPAIGN, full:goodput, "
                "full:network=flows "
                "or full:network=flows,phases"};
  };
  if (text == "measured") return PhysicsChoice{PhysicsKind::measured};
  if (text == "dl2") return PhysicsChoice{PhysicsKind::dl2};
  if (text == "full") return PhysicsChoice{PhysicsKind::full};
  if (!text.starts_with(kFull) || text.size() == kFull.size()) return wrong();
  PhysicsChoice choice{PhysicsKind::full};
  bool phases = false;
  std::string_view rest = std::string_view(text).substr(kFull.size());
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.starts_with(kStragglers)) {
      const std::string_view number = part.substr(kStragglers.size());
      const char* const end = number.data() + number.size();
      const auto [last, error] = std::from_chars(number.data(), end, choice.straggler_sigma);
      const bool in_range = choice.straggler_sigma >= 0 && choice.straggler_sigma <= 10;  // no NaN
      if (error != std::errc{} || last != end || !in_range) return wrong();
    } else if (part.starts_with(kPairs) && part.size() > kPairs.size()) {
      choice.pairs = part.substr(kPairs.size());
    } else if (part == kGoodput) {
      choice.goodput = true;
    } else if (part == kFlows) {
      choice.network = NetworkKind::flows;
    } else if (part == kPhases) {
      phases = true;
    } else {
      return wrong();
    }
  }
  if (phases && choice.network == NetworkKind::even)
    return {Errc::invalid, "'" + text + "': phases are those of flows; add network=flows"};
  if (phases) choice.network = NetworkKind::phases;
  return choice;
}

std::string text_of(const PhysicsChoice& choice) {
  if (choice.kind == PhysicsKind::trace) return "trace";
  if (choice.kind == PhysicsKind::measured) return "measured";
  if (choice.kind == PhysicsKind::dl2) return "dl2";
  std::string out = "full";
  const auto add = [&out](const std::string& part) { out += (out == "full" ? ":" : ",") + part; };
  if (choice.straggler_sigma != 0) {
    char number[32];
    std::snprintf(number, sizeof number, "%g", choice.straggler_sigma);
    add(std::string(kStragglers) + number);
  }
  if (!choice.pairs.empty()) add(std::string(kPairs) + choice.pairs);
  if (choice.goodput) add(std::string(kGoodput));
  if (choice.network != NetworkKind::even) add(std::string(kFlows));
  if (choice.network == NetworkKind::phases) add(std::string(kPhases));
  return out;
}

}  // namespace starling
