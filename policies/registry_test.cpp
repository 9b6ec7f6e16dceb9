// SPDX-License-Identifier: Apache-2.0
#include "policies/registry.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

std::string refusal(const std::string& text, Errc code) {
  const auto made = make_policy_registry().make(text);
  REQUIRE(!made.ok());
  CHECK(made.error().code == code);
  return made.error().message;
}
bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

TEST_CASE("a policy is made from its name and options") {
  const PolicyRegistry registry = make_policy_registry();
  for (const char* text : {"fifo",
                           "fifo:",
                           "sjf:queue=skip,fit=count",
                           "srtf:margin=0.5",
                           "load-balance",
                           "consolidate:queue=strict",
                           "gavel:objective=fifo,aware=no",
                           "lif:threshold=0.5",
                           "tetris:score=fit",
                           "smart-greedy:wait=no",
                           "consolidate:variant=share",
                           "load-balance:share=first",
                           "optimus:round=60",
                           "sia:p=-1,lambda=2",
                           "smd:inner=grid,eps=0.2,menu=yes",
                           "hadar:utility=throughput",
                           "hadare:efficiency=0.9",
                           "pollux:knows=given,generations=10",
                           "rank:lengths=exact,patience=1",
                           "dl2:window=8,incumbent=optimus",
                           "meta-rl:budget=0.1,bonus=2"}) {
    const auto made = registry.make(text);
    REQUIRE_MESSAGE(made.ok(), text);
    CHECK(std::string(text).starts_with(made.value()->facts().name));
  }
}

TEST_CASE("an earlier spelling is read, and the present one is told") {
  CHECK(make_policy_registry().make("fifo:fit=node").ok());
  CHECK(says(refusal("fifo:fit=rack", Errc::invalid), "is one of server, count, not 'rack'"));
}

TEST_CASE("a wrong name lists the names and guesses") {
  const std::string message = refusal("fito", Errc::not_found);
  CHECK(says(message, "did you mean 'fifo'?"));
  std::string names;
  const PolicyRegistry registry = make_policy_registry();
  for (const auto& [name, entry] : registry.entries()) names += (names.empty() ? "" : ", ") + name;
  CHECK(says(names, "tiresias-gittins, tiresias-las"));
  CHECK(says(message, "there are: " + names));
  CHECK(!says(refusal("quantum-annealing", Errc::not_found), "did you mean"));
  CHECK(says(refusal("", Errc::not_found), "there are"));
}

TEST_CASE("gavel refuses to share GPUs and says what to write instead") {
  CHECK(says(refusal("gavel:sharing=yes,aware=no", Errc::invalid), "needs aware=yes"));
  CHECK(says(refusal("gavel:objective=cost", Errc::invalid), "finish-time-fairness"));
}

TEST_CASE("sia refuses an objective that would run no job") {
  CHECK(says(refusal("sia:lambda=1", Errc::invalid), "lambda"));
  CHECK(says(refusal("sia:p=0.5", Errc::invalid), "p"));
  CHECK(says(refusal("sia:knows=everything", Errc::invalid), "one of measured, model"));
}

TEST_CASE("a wrong option says what there is") {
  CHECK(says(refusal("fifo:queu=skip", Errc::invalid), "did you mean 'queue'?"));
  CHECK(says(refusal("fifo:margin=1", Errc::invalid), "its options are: queue, fit"));
  CHECK(
      says(refusal("fifo:queue=sometimes", Errc::invalid), "one of strict, skip, not 'sometimes'"));
  CHECK(says(refusal("fifo:queue", Errc::invalid), "key=value"));
  CHECK(says(refusal("fifo:=skip", Errc::invalid), "key=value"));
  CHECK(says(refusal("fifo:queue=skip,queue=skip", Errc::invalid), "given twice"));
  CHECK(says(refusal("srtf:margin=-1", Errc::invalid), "a number, 0 to 1000, not"));
  CHECK(says(refusal("srtf:margin=nan", Errc::invalid), "a number, 0 to 1000, not"));
  CHECK(says(refusal("srtf:margin=1x", Errc::invalid), "not '1x'"));
}

TEST_CASE("options are declared where they are read: name, values, default, help") {
  const PolicyRegistry registry = make_policy_registry();
  const std::vector<PolicyOption> srtf = registry.entries().at("srtf").options();
  REQUIRE(srtf.size() == 3);
  CHECK(srtf[0].name == "queue");
  CHECK(srtf[0].values == std::vector<std::string>{"skip", "strict"});
  CHECK(srtf[0].value_text() == "skip|strict");
  CHECK(srtf[2].name == "margin");
  CHECK(srtf[2].value_text() == "0.25 (0 to 1000)");
  CHECK(registry.entries().at("fifo").options()[0].value_text() == "strict|skip");
}

// What is declared by default has to be what any choice declares: help would not be complete.
TEST_CASE("every option that is declared takes its default and its bounds, and says what it does") {
  const PolicyRegistry registry = make_policy_registry();
  for (const auto& [name, entry] : registry.entries()) {
    for (const PolicyOption& option : entry.options()) {
      CAPTURE(name);
      CAPTURE(option.name);
      CHECK(option.help != "");
      for (const std::string& value : option.values)
        CHECK(registry.make(name + ":" + option.name + "=" + value).ok());
      if (option.type != PolicyOption::Type::number) continue;
      CHECK(registry.make(name + ":" + option.name + "=" + option.otherwise).ok());
      CHECK(registry.make(name + ":" + option.name + "=" + std::to_string(option.low)).ok());
      CHECK(!registry.make(name + ":" + option.name + "=" + std::to_string(option.low - 1)).ok());
    }
  }
}

}  // namespace
}  // namespace starling
