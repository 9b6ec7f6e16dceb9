// SPDX-License-Identifier: Apache-2.0
#include "scheduling/powers.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("a policy may do what its family may, and what it says beyond") {
  PolicyFacts facts{.name = "x", .summary = "y", .family = Family::placement};
  CHECK(text_of(powers_of(facts)) == "place");
  facts.orders = true;
  CHECK(text_of(powers_of(facts)) == "place, order");
  facts = {.name = "x", .summary = "y", .family = Family::order, .preemptive = true};
  CHECK(text_of(powers_of(facts)) == "place, order");
  facts = {.name = "x", .summary = "y", .family = Family::elastic, .elastic = true};
  CHECK(text_of(powers_of(facts)) == "place, order, resize");
  facts.rebatches = true;
  CHECK(text_of(powers_of(facts)) == "place, order, resize, rebatch");
}

TEST_CASE("every power is read by the word that tells it") {
  Powers all;
  for (const Power power : {Power::place, Power::order, Power::resize, Power::rebatch})
    all.add(power);
  Powers read;
  for (const std::string_view word : words(all)) {
    REQUIRE(read_power(word));
    CHECK_FALSE(read.has(*read_power(word)));
    read.add(*read_power(word));
  }
  CHECK(read == all);
  CHECK_FALSE(read_power("plac"));
}

TEST_CASE("what a policy can know is told best first") {
  CHECK(text_of(LengthSource::none) == "nothing");
  CHECK(text_of(LengthSource::past) == "forecasts");
  CHECK(text_of(LengthSource::estimates) == "estimates");
  CHECK(text_of(LengthSource::estimates_or_past) == "estimates or forecasts");
  CHECK(text_of(LengthSource::truth) == "everything");
}
