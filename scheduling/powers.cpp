// SPDX-License-Identifier: Apache-2.0
#include "scheduling/powers.h"

#include <array>
#include <utility>

namespace starling {
namespace {

constexpr std::array kPowers{
    std::pair{Power::place, std::string_view("place")},
    std::pair{Power::order, std::string_view("order")},
    std::pair{Power::resize, std::string_view("resize")},
    std::pair{Power::rebatch, std::string_view("rebatch")},
};

std::string joined(const std::vector<std::string_view>& words, std::string_view between) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

}  // namespace

Powers powers_of(const PolicyFacts& facts) {
  Powers powers;
  powers.add(Power::place);
  if (facts.family != Family::placement || facts.orders || facts.preemptive)
    powers.add(Power::order);
  if (facts.elastic) powers.add(Power::resize);
  if (facts.rebatches) powers.add(Power::rebatch);
  return powers;
}

std::vector<std::string_view> words(Powers powers) {
  std::vector<std::string_view> out;
  for (const auto& [power, word] : kPowers) {
    if (powers.has(power)) out.push_back(word);
  }
  return out;
}

std::string text_of(Powers powers) { return joined(words(powers), ", "); }

std::optional<Power> read_power(std::string_view word) {
  for (const auto& [power, name] : kPowers) {
    if (name == word) return power;
  }
  return std::nullopt;
}

std::vector<std::string_view> words(LengthSource source) {
  switch (source) {
    case LengthSource::none:
      return {"nothing"};
    case LengthSource::past:
      return {"forecasts"};
    case LengthSource::estimates:
      return {"estimates"};
    case LengthSource::estimates_or_past:
      return {"estimates", "forecasts"};
    case LengthSource::truth:
      return {"everything"};
  }
  return {};
}

std::string text_of(LengthSource source) { return joined(words(source), " or "); }

}  // namespace starling
