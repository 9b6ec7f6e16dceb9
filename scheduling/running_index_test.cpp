// SPDX-License-Identifier: Apache-2.0
#include "scheduling/running_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "interference/models.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using std::chrono::seconds;

TEST_CASE("ends come in order, with what was served until now") {
  Rng rng(1);
  std::vector<std::unique_ptr<JobSpec>> specs;
  struct Runs {
    std::uint64_t run;
    const JobSpec* spec;
    Instant since;
    Duration before;
  };
  std::vector<Runs> plain;
  RunningIndex index;
  std::uint64_t runs = 0;
  Instant now{seconds(1000)};
  for (int step = 0; step < 3000; ++step) {
    now += seconds(rng.below(5));
    if (rng.chance(0.5) || plain.empty()) {
      specs.push_back(std::make_unique<JobSpec>());
      specs.back()->id = JobId{7, ++runs};
      specs.back()->duration = seconds(rng.below(8) * 20);  // 0: nobody knows
      plain.push_back({runs, specs.back().get(), now, seconds(rng.below(60))});
      JobView view;
      view.spec = plain.back().spec;
      view.served = plain.back().before;
      index.add(runs, view, now);
    } else {
      const std::size_t at = rng.below(static_cast<std::uint32_t>(plain.size()));
      if (rng.chance(0.3)) {
        plain[at].since = now;
        index.restart(plain[at].run, now);
      } else {
        index.remove(plain[at].run);
        CHECK(index.find(plain[at].spec->id, now) == nullptr);
        plain.erase(plain.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    auto sorted = plain;
    const auto end = [](const Runs& r) {
      return r.spec->duration == Duration{0} ? kNever : r.since + (r.spec->duration - r.before);
    };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Runs& a, const Runs& b) { return end(a) < end(b); });
    REQUIRE(index.ends().size() == sorted.size());
    auto at = sorted.begin();
    for (const RunningIndex::End& e : index.ends()) {
      REQUIRE(e.run == at->run);
      REQUIRE(index.job(e, now).served == at->before + (now - at->since));
      REQUIRE(index.find(at->spec->id, now)->spec == at->spec);
      ++at;
    }
    std::size_t i = 0;
    index.each(now, [&](const JobView& job) { REQUIRE(job.spec == plain[i++].spec); });
  }
}

TEST_CASE("two runs of one job end in any order") {
  JobSpec spec;
  spec.id = JobId{7, 1};
  JobView view;
  view.spec = &spec;
  RunningIndex index;
  index.add(1, view, Instant{});
  index.add(2, view, Instant{});
  index.remove(2);
  index.remove(1);
  CHECK(index.empty());
  CHECK(index.find(spec.id, Instant{}) == nullptr);
}

/// A policy that is given the index decides as one that is given the list.
void same_with_index(const std::string& name) {
  GeneratorOptions options;
  options.groups = {{6, "V100"}};
  const Topology topology = generate_flat(options).value();
  const auto speed = make_flat_speed();
  const PolicyRegistry registry = make_policy_registry();
  std::size_t starts = 0, stops = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto with = registry.make(name).value();
    const auto without = registry.make(name).value();
    Occupancy gpus(topology, {0, 6});
    std::vector<JobSpec> specs(60);
    std::vector<JobView> running, waiting;
    std::vector<Instant> since;       // of `running`
    std::vector<std::uint64_t> runs;  // of `running`
    RunningIndex index;
    Instant now{seconds(100'000)};
    std::uint64_t next = 0, last_run = 0;
    const auto leave = [&](std::size_t i) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      gpus.give_back(running[i].placement);
      index.remove(runs[i]);
      running.erase(running.begin() + at);
      since.erase(since.begin() + at);
      runs.erase(runs.begin() + at);
    };
    const auto row = [](const std::vector<JobView>& jobs, JobId id) {
      const auto at = std::find_if(jobs.begin(), jobs.end(),
                                   [&](const JobView& job) { return job.spec->id == id; });
      REQUIRE(at != jobs.end());
      return static_cast<std::size_t>(at - jobs.begin());
    };
    for (int call = 0; call < 25; ++call) {
      now += seconds(1 + rng.below(400));
      if (!running.empty() && rng.chance(0.4)) {
        leave(rng.below(static_cast<std::uint32_t>(running.size())));
      }
      while (next < specs.size() && rng.chance(0.7)) {
        JobSpec& spec = specs[next];
        spec.id = JobId{seed, next + 1};
        spec.workers = 1 + rng.below(12);
        spec.duration = seconds(rng.chance(0.1) ? 0 : 1 + rng.below(5000));
        JobView view;
        view.spec = &spec;
        view.submitted = now;
        view.order = ++next;
        waiting.push_back(view);
      }
      for (std::size_t i = 0; i < running.size(); ++i) running[i].served = now - since[i];
      const View listed{topology, gpus, waiting, running, {}, *speed, now, AgentId{0}, nullptr};
      const View indexed{topology, gpus, waiting, {}, {}, *speed, now, AgentId{0}, &index};
      Rng a(1), b(1);
      const auto plain = without->decide(listed, {TriggerKind::round}, a);
      const auto quick = with->decide(indexed, {TriggerKind::round}, b);
      REQUIRE(plain.size() == quick.size());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        REQUIRE(plain[i].index() == quick[i].index());
        if (const auto* stop = std::get_if<Preempt>(&plain[i])) {
          ++stops;
          REQUIRE(stop->job == std::get<Preempt>(quick[i]).job);
          const std::size_t at = row(running, stop->job);
          running[at].blocked = true;
          index.find(runs[at])->blocked = true;
          if (rng.chance(0.5)) leave(at);  // or it takes its time
        } else if (const auto* start = std::get_if<Start>(&plain[i])) {
          ++starts;
          REQUIRE(start->job == std::get<Start>(quick[i]).job);
          REQUIRE(start->placement == std::get<Start>(quick[i]).placement);
          const std::size_t at = row(waiting, start->job);
          JobView view = waiting[at];
          waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(at));
          view.placement = start->placement;
          gpus.take(view.placement);
          index.add(++last_run, view, now);
          running.push_back(std::move(view));
          since.push_back(now);
          runs.push_back(last_run);
        }
      }
    }
  }
  CHECK(starts > 500);
  if (registry.entries().at(name).facts.preemptive) CHECK(stops > 20);
}

TEST_CASE("srtf with the index") { same_with_index("srtf"); }
TEST_CASE("easy with the index") { same_with_index("easy"); }
TEST_CASE("tiresias-las with the index") { same_with_index("tiresias-las"); }

}  // namespace
}  // namespace starling
