// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/set_variables.h"

#include <doctest/doctest.h>

#include "sim/run/physics_choice.h"

namespace starling {
namespace {

const std::set<std::string> kUsed = {"DATA", "SPEED", "WORLD"};

std::string refusal(const std::string& set, const std::set<std::string>& used = kUsed) {
  const auto split = split_variables(set, used);
  return split.ok() ? "" : split.error().message;
}

TEST_CASE("variables are those of the text, not of its comments") {
  CHECK(variables_of("# ${A}\nphysics: ${WORLD} # or ${B}\ntraces: [${DATA}/x#${C}, \"${D}\"]\n") ==
        std::set<std::string>{"WORLD", "DATA", "C", "D"});
  CHECK(variables_of("physics: ${WORLD").empty());
}

TEST_CASE("a value keeps its commas, up to the next variable of the file") {
  const auto one = split_variables("WORLD=full:goodput,network=flows,phases", kUsed);
  REQUIRE(one.ok());
  CHECK(one.value() == Variables{{"WORLD", "full:goodput,network=flows,phases"}});
  CHECK(parse_physics(one.value().at("WORLD")).value().network == NetworkKind::phases);
  const auto all = split_variables(
      "DATA=a folder,WORLD=full:pairs=p.csv@2019_raw,stragglers=1,SPEED=adaptive", kUsed);
  REQUIRE(all.ok());
  CHECK(all.value() == Variables{{"DATA", "a folder"},
                                 {"WORLD", "full:pairs=p.csv@2019_raw,stragglers=1"},
                                 {"SPEED", "adaptive"}});
  CHECK(split_variables("", kUsed).value().empty());
}

TEST_CASE("what is no variable of the file is refused, and those there are are named") {
  CHECK(refusal("WRLD=full").find("no variable ${WRLD}; it has: DATA, SPEED, WORLD") !=
        std::string::npos);
  CHECK(refusal("DATA=x,WRLD=full").find("${WRLD}") != std::string::npos);
  CHECK(refusal("network=flows").find("${network}") != std::string::npos);
  CHECK(refusal("phases").find("give NAME=VALUE") != std::string::npos);
  CHECK(refusal("=x").find("give NAME=VALUE") != std::string::npos);
  CHECK(refusal("DATA=x", {}).find("no variable") != std::string::npos);
}

}  // namespace
}  // namespace starling
