// SPDX-License-Identifier: Apache-2.0
#include "policies/testing/battery.h"

#include <algorithm>

#include "policies/variants.h"

namespace starling {
namespace {

/// That the policy has it, for "key=value" with that value.
bool takes(const PolicyRegistry::Entry& entry, const std::string& option) {
  const std::size_t equals = option.find('=');
  for (const PolicyOption& known : entry.options()) {
    if (known.name != option.substr(0, equals)) continue;
    return std::ranges::find(known.values, option.substr(equals + 1)) != known.values.end();
  }
  return false;
}

TEST_CASE("every policy of the library passes the battery") {
  const PolicyRegistry registry = make_policy_registry();
  for (const auto& [name, entry] : registry.entries()) {
    run_policy_battery(registry, quick_form(name));
    if (!takes(entry, "queue=skip")) continue;
    for (const char* options :
         {":queue=skip,fit=count", ":queue=strict,fit=server", ":queue=strict,fit=count"}) {
      run_policy_battery(registry, name + options);
    }
  }
}

TEST_CASE("every policy that has a queue runs the most urgent first") {
  const PolicyRegistry registry = make_policy_registry();
  for (const auto& [name, entry] : registry.entries()) {
    run_priority_battery(registry, name);
    for (const char* options : {"queue=skip", "queue=strict", "order=forecast", "fit=count"}) {
      if (!takes(entry, options)) continue;
      run_priority_battery(registry, name + ":" + options);
    }
  }
  run_priority_battery(registry, "sia:knows=model");
  for (const char* objective : {"fifo", "finish-time-fairness", "makespan", "throughput"}) {
    for (const char* aware : {"yes", "no"}) {
      run_priority_battery(registry,
                           std::string("gavel:objective=") + objective + ",aware=" + aware);
    }
  }
}

TEST_CASE("every policy says of its own why a job waits that finds no room") {
  const PolicyRegistry registry = make_policy_registry();
  for (const auto& [name, entry] : registry.entries())
    run_explain_battery(registry, quick_form(name));
  for (const char* text :
       {"fifo:queue=skip", "gavel:objective=fifo", "gavel:objective=fifo,aware=no",
        "gavel:sharing=yes", "dl2:learn=yes", "dl2:actor=incumbent"})
    run_explain_battery(registry, text);
}

TEST_CASE("a policy that says nothing is found") {
  struct Silent final : Policy {
    const PolicyFacts& facts() const noexcept override { return facts_; }
    std::vector<Decision> decide(const View&, const Trigger&, Rng&) override { return {}; }
    PolicyFacts facts_{.name = "silent", .summary = "starts nothing and says nothing"};
  };
  CHECK(why_it_waits(std::make_unique<Silent>()).empty());
}

// Those who may stop jobs stop the less urgent for the more urgent, and never the other way round.
TEST_CASE("a preemptive policy stops the less urgent alone") {
  GeneratorOptions options;
  options.groups = {{1, "V100"}};
  const Topology topology = generate_flat(options).value();
  const PolicyRegistry registry = make_policy_registry();
  for (const char* policy : {"srtf", "tiresias-las", "tiresias-gittins"}) {
    CAPTURE(policy);
    Trace trace;
    // One that runs, an urgent one that is longer, and the shortest of all, which is not urgent.
    for (const auto& [priority, hours] : {std::pair{0, 3}, {5, 10}, {0, 1}}) {
      TraceJob job;
      job.submit = std::chrono::minutes(20 * trace.jobs.size());
      job.spec.id = JobId{1, trace.jobs.size() + 1};
      job.spec.gpus_per_worker = 8;
      job.spec.priority = priority;
      job.spec.duration = std::chrono::hours(hours);
      trace.jobs.push_back(job);
    }
    TestWorld world(topology, registry, policy, {});
    world.run(trace);
    CHECK(world.faults.empty());
    for (const TestWorld::Job& job : world.jobs) REQUIRE(job.finished != kNever);
    CHECK(world.jobs[1].finished - world.jobs[1].submitted < std::chrono::minutes(10 * 60 + 2));
    CHECK(world.jobs[1].starts == 1);
    CHECK(world.jobs[0].starts > 1);
  }
}

TEST_CASE("every objective of Gavel, and the options of others, pass the battery") {
  const PolicyRegistry registry = make_policy_registry();
  for (const char* objective :
       {"fifo", "finish-time-fairness", "makespan", "throughput", "max-min-fairness"}) {
    for (const char* aware : {"yes", "no"}) {
      run_policy_battery(registry, std::string("gavel:objective=") + objective + ",aware=" + aware);
    }
  }
  for (const char* text :
       {"optimus:round=60", "drf:round=60", "sia:round=600,batch=asked,p=-1,lambda=2",
        "smd:round=60,menu=yes", "smd:utility=sigmoid", "smd:inner=grid,limit=most",
        "hadar:utility=throughput", "hadar:round=60", "hadare:round=60", "dl2:window=4,round=600",
        "dl2:learn=yes,round=600", "dl2:actor=incumbent,incumbent=optimus", "elasticflow:round=60",
        "elasticflow:deadline=0.5,between=wait"})
    run_policy_battery(registry, text);
  run_policy_battery(registry, "sia:round=600,knows=model", true);
}

TEST_CASE("the placement policies pass the battery, one job on a GPU and two") {
  const PolicyRegistry registry = make_policy_registry();
  for (const char* text : {"load-balance", "load-balance:share=first", "tetris", "tetris:score=fit",
                           "tetris:fit=count", "consolidate", "consolidate:variant=spread",
                           "consolidate:variant=share", "lif", "lif:threshold=0.3",
                           "lif:threshold=0.9", "lif:share=no,threshold=0.3", "smart-greedy",
                           "smart-greedy:wait=no", "smart-greedy:threshold=0.3",
                           "smart-greedy:queue=strict", "meta-rl", "meta-rl:budget=1,bonus=10"}) {
    run_policy_battery(registry, text);
    run_policy_battery(registry, text, true);
  }
}

// Two long jobs hold the cluster when many short ones arrive. Who may stop jobs lets the short ones
// pass.
TEST_CASE("Tiresias lets newcomers pass jobs that have had much service") {
  GeneratorOptions options;
  options.groups = {{2, "V100"}};
  const Topology topology = generate_flat(options).value();
  Trace trace;
  const auto add = [&](double submit, std::uint32_t gpus, double duration) {
    TraceJob job;
    job.submit = from_seconds(submit);
    job.spec.id = JobId{1, trace.jobs.size() + 1};
    job.spec.gpus_per_worker = gpus;
    job.spec.duration = from_seconds(duration);
    trace.jobs.push_back(job);
  };
  add(0, 8, 50'000);
  add(0, 8, 50'000);
  for (int i = 0; i < 20; ++i) add(10'000 + i, 4, 100);
  const PolicyRegistry registry = make_policy_registry();
  const auto short_jct = [&](const std::string& policy) {
    TestWorld world(topology, registry, policy, {});
    world.run(trace);
    CHECK(world.faults.empty());
    double sum = 0;
    for (std::size_t i = 2; i < world.jobs.size(); ++i) {
      sum += seconds(world.jobs[i].finished - world.jobs[i].submitted);
    }
    return sum / 20;
  };
  CHECK(short_jct("fifo") > 40'000);
  CHECK(short_jct("tiresias-las") < 1'000);
  CHECK(short_jct("tiresias-gittins") < 1'000);
}

// 16 GPUs: one job of 8 runs for 1,000 s, one of 16 waits for it. A job of 100 s may slip in before
// it.
TEST_CASE("EASY starts a later job exactly when that does not delay the first one") {
  GeneratorOptions options;
  options.groups = {{2, "V100"}};
  const Topology topology = generate_flat(options).value();
  const PolicyRegistry registry = make_policy_registry();
  for (const double backfill : {100.0, 5'000.0}) {
    CAPTURE(backfill);
    Trace trace;
    for (const auto& [gpus, duration] : {std::pair{8U, 1000.0}, {16U, 1000.0}, {8U, backfill}}) {
      TraceJob job;
      job.submit = std::chrono::seconds(trace.jobs.size());
      job.spec.id = JobId{1, trace.jobs.size() + 1};
      job.spec.workers = gpus / 8;
      job.spec.gpus_per_worker = 8;
      job.spec.duration = from_seconds(duration);
      trace.jobs.push_back(job);
    }
    TestWorld world(topology, registry, "easy", {});
    world.run(trace);
    CHECK(world.faults.empty());
    CHECK(seconds(world.jobs[1].finished - Instant{}) == 2000);
    const double last = seconds(world.jobs[2].finished - Instant{});
    CHECK(last == (backfill < 1000 ? 2 + backfill : 2000 + backfill));
  }
}

}  // namespace
}  // namespace starling
