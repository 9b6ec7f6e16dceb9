// SPDX-License-Identifier: Apache-2.0
#include "policies/variants.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

/// "MAY; KNOWS" by default, "?" if the option changes nothing.
std::string told(const std::string& name, const std::string& option = "",
                 const std::string& value = "") {
  const PolicyRegistry registry = make_policy_registry();
  for (const PolicyVariant& variant : variants_of(registry.entries().at(name))) {
    if (variant.option == option && variant.value == value)
      return text_of(variant.may) + "; " + text_of(variant.knows);
  }
  return "?";
}

TEST_CASE("every policy declares what it may and what it knows, whatever its options") {
  const PolicyRegistry registry = make_policy_registry();
  for (const auto& [name, entry] : registry.entries()) {
    CAPTURE(name);
    const std::vector<PolicyVariant> variants = variants_of(entry);
    REQUIRE_FALSE(variants.empty());
    // An option may forbid what the policy does without it.
    CHECK(variants.front().option.empty());
    CHECK(variants.front().may.has(Power::resize) == entry.facts.elastic);
    if (entry.facts.preemptive) CHECK(variants.front().may.has(Power::order));
    for (const PolicyVariant& variant : variants) {
      CHECK(variant.may.has(Power::place));
      CHECK_FALSE(text_of(variant.knows).empty());
      if (variant.may.has(Power::resize)) CHECK((entry.facts.elastic || variant.option == "may"));
    }
  }
}

TEST_CASE("what is declared depends on the options") {
  CHECK(told("consolidate") == "place; nothing");
  CHECK(told("lif") == "place; nothing");
  CHECK(told("lif", "order", "forecast") == "place, order; estimates or forecasts");
  CHECK(told("lif", "share", "no") == "?");
  CHECK(told("lif", "may", "order") == "place, order; nothing");
  CHECK(told("consolidate", "may", "resize") == "place, order, resize; nothing");
  CHECK(told("smart-greedy") == "place; estimates or forecasts");
  CHECK(told("fifo") == "place, order; nothing");
  CHECK(told("srtf") == "place, order; estimates");
  CHECK(told("tiresias-las") == "place, order; nothing");
  CHECK(told("tiresias-gittins") == "place, order; forecasts");
  CHECK(told("gavel") == "place, order; nothing");
  CHECK(told("gavel", "objective", "makespan") == "place, order; estimates");
  CHECK(told("drf") == "place, order, resize; nothing");
  CHECK(told("optimus") == "place, order, resize; estimates");
  CHECK(told("optimus", "batch", "free") == "place, order, resize, rebatch; estimates");
  CHECK(told("rank") == "place, order, resize; forecasts");
  CHECK(told("rank", "lengths", "exact") == "place, order, resize; estimates or forecasts");
  CHECK(told("pollux") == "place, order, resize, rebatch; nothing");
  CHECK(told("pollux", "batch", "fixed") == "place, order, resize; nothing");
}

}  // namespace
}  // namespace starling
