// SPDX-License-Identifier: Apache-2.0
// What policies declare that they know of how long jobs take is what they go by.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "gnn/search/search_policy.h"
#include "gnn/wiring/registry.h"
#include "launch/experiment/values.h"
#include "policies/foresight.h"
#include "policies/variants.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/generate/generate_gavel.h"

using namespace starling;

namespace {

PolicyRegistry all_policies() {
  PolicyRegistry policies = make_policy_registry();
  add_gnn_policies(policies);
  add_clairvoyant(policies);
  return policies;
}

/// Enough of a queue that knowing how long jobs take is worth something.
Trace crowd() {
  Trace trace = generate_gavel_trace({.jobs = 80, .jobs_per_hour = 12}).value();
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    JobSpec& job = trace.jobs[i].spec;
    job.user = "user" + std::to_string(i % 7);
    job.min_workers = 1;
    job.max_workers = 2 * job.workers;
  }
  return trace;
}

using Times = std::vector<std::pair<double, double>>;  // of each job's start and end

Times times_of(const PolicyRegistry& policies, const std::string& policy,
               DurationKnowledge::Kind told) {
  GeneratorOptions shape;
  shape.servers = 2;
  shape.gpus_per_server = 8;
  SimOptions options;
  options.policy = policy;
  options.physics = PhysicsKind::full;
  options.durations = {told, 1.0};
  const auto run = simulate(generate_flat(shape).value(), crowd(), policies, options);
  REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
  Times times;
  for (const JobRow& job : run.value().jobs) times.emplace_back(job.start_s, job.finish_s);
  return times;
}

}  // namespace

TEST_CASE(
    "a policy that declares to know no estimates decides the same without; the others do not") {
  const PolicyRegistry policies = all_policies();
  for (const auto& [name, entry] : policies.entries()) {
    if (name == "external") continue;  // another process decides
    for (const PolicyVariant& variant : variants_of(entry)) {
      std::string text = name;
      if (!variant.option.empty()) text += ":" + variant.option + "=" + variant.value;
      // A few events, a short search and few rounds are enough to see it.
      const std::string more = variant.option.empty() ? ":" : ",";
      if (name == "marl-search") text += more + "events=500";
      if (name == "pollux") text += more + "population=8,generations=4,round=600";
      if (name == "sia") text += more + "round=600";
      CAPTURE(text);
      if (variant.knows == LengthSource::truth) continue;  // estimates are the least that it knows
      const bool told = variant.knows == LengthSource::estimates ||
                        variant.knows == LengthSource::estimates_or_past;
      const bool same = times_of(policies, text, DurationKnowledge::exact) ==
                        times_of(policies, text, DurationKnowledge::none);
      if (!told) CHECK(same);
      // What a net makes of what it reads is its weights' affair, and of a search over one, too.
      const bool learned = entry.facts.needs_model_file || name == "marl-search";
      if (told && !learned) CHECK_FALSE(same);
    }
  }
}

TEST_CASE("a policy that declares that it knows the future can be told") {
  const PolicyRegistry policies = all_policies();
  for (const auto& [name, entry] : policies.entries()) {
    CAPTURE(name);
    const auto made = policies.make(name == "external" ? "external:endpoint=ipc://d" : name);
    REQUIRE(made.ok());
    const bool foresees = dynamic_cast<const Foresight*>(made.value().get()) != nullptr;
    CHECK((foresees || made.value()->facts().lengths != LengthSource::truth));
    const PolicyVariant plain = variants_of(entry).front();
    CHECK_FALSE(words(plain.may).empty());
    CHECK_FALSE(words(plain.knows).empty());
  }
}

TEST_CASE("what a row knows is the better of what it reads and what it is told") {
  const DurationKnowledge exact, none{DurationKnowledge::none, 0};
  const DurationKnowledge noisy{DurationKnowledge::noisy, 0.5};
  CHECK(knows_text(LengthSource::none, exact) == "nothing");
  CHECK(knows_text(LengthSource::past, exact) == "forecasts");
  CHECK(knows_text(LengthSource::estimates, exact) == "exact");
  CHECK(knows_text(LengthSource::estimates, noisy) == "estimates (σ 0.5)");
  CHECK(knows_text(LengthSource::estimates, none) == "nothing");
  CHECK(knows_text(LengthSource::estimates_or_past, exact) == "exact");
  CHECK(knows_text(LengthSource::estimates_or_past, noisy) == "estimates (σ 0.5)");
  CHECK(knows_text(LengthSource::estimates_or_past, none) == "forecasts");
  CHECK(knows_text(LengthSource::truth, none) == "everything");
}
