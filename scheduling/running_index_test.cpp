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
      specs.back()->duration = seconds(rng.below(8) * 20);  // 0: not known
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

/// Six servers on which one policy starts and stops jobs, once shown the list of what runs and once
/// the index.
class TwoViews {
 public:
  TwoViews(const Topology& topology, const SpeedModel& speed, std::uint64_t seed)
      : topology_(topology), speed_(speed), seed_(seed), rng_(seed) {}

  std::size_t starts = 0, stops = 0;

  /// Some time goes by, some jobs end, some come, and both policies are asked.
  void ask(Policy& listed, Policy& indexed) {
    now_ += seconds(1 + rng_.below(400));
    if (!running_.empty() && rng_.chance(0.4))
      leave(rng_.below(static_cast<std::uint32_t>(running_.size())));
    while (next_ < specs_.size() && rng_.chance(0.7)) come();
    for (std::size_t i = 0; i < running_.size(); ++i) running_[i].served = now_ - since_[i];
    const View list{topology_, gpus_, waiting_, running_, {}, speed_, now_, AgentId{0}, nullptr};
    const View index{topology_, gpus_, waiting_, {}, {}, speed_, now_, AgentId{0}, &index_};
    Rng a(1), b(1);
    const auto plain = listed.decide(list, {TriggerKind::round}, a);
    const auto quick = indexed.decide(index, {TriggerKind::round}, b);
    REQUIRE(plain.size() == quick.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      REQUIRE(plain[i].index() == quick[i].index());
      if (const auto* stopped = std::get_if<Preempt>(&plain[i])) {
        REQUIRE(stopped->job == std::get<Preempt>(quick[i]).job);
        stop(stopped->job);
      } else if (const auto* started = std::get_if<Start>(&plain[i])) {
        REQUIRE(started->job == std::get<Start>(quick[i]).job);
        REQUIRE(started->placement == std::get<Start>(quick[i]).placement);
        start(*started);
      }
    }
  }

 private:
  static std::size_t row(const std::vector<JobView>& jobs, JobId id) {
    const auto at = std::find_if(jobs.begin(), jobs.end(),
                                 [&](const JobView& job) { return job.spec->id == id; });
    REQUIRE(at != jobs.end());
    return static_cast<std::size_t>(at - jobs.begin());
  }
  void come() {
    JobSpec& spec = specs_[next_];
    spec.id = JobId{seed_, next_ + 1};
    spec.workers = 1 + rng_.below(12);
    spec.duration = seconds(rng_.chance(0.1) ? 0 : 1 + rng_.below(5000));
    JobView view;
    view.spec = &spec;
    view.submitted = now_;
    view.order = ++next_;
    waiting_.push_back(view);
  }
  void leave(std::size_t i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    gpus_.give_back(running_[i].placement);
    index_.remove(runs_[i]);
    running_.erase(running_.begin() + at);
    since_.erase(since_.begin() + at);
    runs_.erase(runs_.begin() + at);
  }
  void stop(JobId job) {
    ++stops;
    const std::size_t at = row(running_, job);
    running_[at].blocked = true;
    index_.find(runs_[at])->blocked = true;
    if (rng_.chance(0.5)) leave(at);  // or it takes its time
  }
  void start(const Start& decision) {
    ++starts;
    const std::size_t at = row(waiting_, decision.job);
    JobView view = waiting_[at];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    view.placement = decision.placement;
    gpus_.take(view.placement);
    index_.add(++last_run_, view, now_);
    running_.push_back(std::move(view));
    since_.push_back(now_);
    runs_.push_back(last_run_);
  }

  const Topology& topology_;
  const SpeedModel& speed_;
  std::uint64_t seed_;
  Rng rng_;
  Occupancy gpus_{topology_, {0, 6}};
  std::vector<JobSpec> specs_ = std::vector<JobSpec>(60);
  std::vector<JobView> running_, waiting_;
  std::vector<Instant> since_;       // of running_
  std::vector<std::uint64_t> runs_;  // of running_
  RunningIndex index_;
  Instant now_{seconds(100'000)};
  std::uint64_t next_ = 0, last_run_ = 0;
};

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
    const auto with = registry.make(name).value();
    const auto without = registry.make(name).value();
    TwoViews both(topology, *speed, seed);
    for (int call = 0; call < 25; ++call) both.ask(*without, *with);
    starts += both.starts;
    stops += both.stops;
  }
  CHECK(starts > 500);
  if (registry.entries().at(name).facts.preemptive) CHECK(stops > 20);
}

TEST_CASE("srtf with the index") { same_with_index("srtf"); }
TEST_CASE("easy with the index") { same_with_index("easy"); }
TEST_CASE("tiresias-las with the index") { same_with_index("tiresias-las"); }

}  // namespace
}  // namespace starling
