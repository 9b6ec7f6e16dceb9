// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "interference/profile.h"
#include "policies/registry.h"
#include "policies/testing/test_state.h"

namespace starling {

/// For tests of policies: K partitions at one instant after another, without messages, delays or
/// faults. At each event time jobs finish, then arrive, then every policy decides until none has
/// anything more to say. A policy with rounds also decides at every multiple of its round. Whatever
/// a decision does that it may not is a line in `faults`.
///
/// A job runs as fast as the speed model says of its placement, beside what is on its servers
/// where the policy shares GPUs and there is a model, else beside none. Without a model
/// every placement is as good as any other, and n GPUs do n / (1 + 0.02 (n - 1)) times what one
/// does. As with the real agents, JobView::served is work where attempts are over and wall time
/// where one runs.
class TestWorld {
 public:
  struct Options {
    std::uint32_t agents = 1;
    std::uint64_t seed = 1;
    double blocked = 0;  ///< chance that a waiting job is shown as blocked at a decision
    const SpeedModel* model = nullptr;  ///< nullptr: every placement is as good as any other
    /// How long the round lasts that has just begun, instead of facts().round.
    std::function<Duration(const TestWorld&)> round_length = {};
    std::function<std::unique_ptr<Policy>()> make = {};  ///< instead of the registry's
  };
  using Job = TestJob;
  std::vector<std::string> faults;
  std::vector<Job> jobs;
  std::uint64_t decisions = 0, calls = 0, forwards = 0, spreads = 0, spread_starts = 0,
                preemptions = 0, resizes = 0;
  double decide_s = 0;
  double gpu_s = 0;  ///< that jobs have occupied, of attempts that are over
  TraceHash hash;

  TestWorld(const Topology& topology, const PolicyRegistry& registry, const std::string& policy,
            Options options)
      : topology_(topology), options_(options), rng_(options.seed, 7) {
    const std::vector<Partition> parts = partition(topology, options.agents).value();
    for (const Partition& p : parts) {
      auto made = options.make ? options.make() : registry.make(policy).value();
      const std::uint32_t tenants = jobs_per_gpu(made->facts(), options.model != nullptr);
      sharing_ = tenants > 1;
      Home home{p,
                Occupancy(topology, p.servers, tenants),
                {},
                {},
                std::move(made),
                Rng(options.seed, p.id.value)};
      homes_.push_back(std::move(home));
    }
  }

  /// Runs until every job has finished, or until nothing moves any more.
  void run(const Trace& trace) {
    std::size_t arrived = 0;
    int quiet = 0;
    while ((arrived < trace.jobs.size() || !ends_.empty() || waiting() > 0) && faults.size() < 10) {
      Instant next = ends_.empty() ? kNever : ends_.top().first;
      if (arrived < trace.jobs.size())
        next = std::min(next, Instant{} + trace.jobs[arrived].submit);
      // What waits for its patience or for a hint gets another look now and then.
      if (waiting() > 0 && (next == kNever || options_.agents > 1)) {
        next = std::min(next, now_ + std::chrono::seconds(next == kNever ? 60 : 600));
      }
      if (active() > 0) next = std::min(next, next_round_);
      quiet = ends_.empty() && arrived == trace.jobs.size() ? quiet + 1 : 0;
      if (quiet > 200) return;
      now_ = next;
      TriggerKind kind = TriggerKind::round;
      const bool at_round = now_ == next_round_;
      while (!ends_.empty() && ends_.top().first == now_) {
        kind = TriggerKind::departure;
        finish(ends_.top().second);
        ends_.pop();
      }
      for (; arrived < trace.jobs.size() && Instant{} + trace.jobs[arrived].submit == now_;
           ++arrived) {
        kind = TriggerKind::arrival;
        Job job;
        job.spec = trace.jobs[arrived].spec;
        job.submitted = now_;
        job.work = job.spec.duration;
        jobs.push_back(job);
        enter(jobs.size() - 1, static_cast<std::uint32_t>(arrived % homes_.size()));
      }
      settle(at_round ? TriggerKind::round : kind);
      if (at_round || next_round_ <= now_ || next_round_ == kNever) plan_next_round();
    }
  }

  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] std::size_t waiting() const {
    std::size_t n = 0;
    for (const Home& home : homes_) n += home.waiting.size();
    return n;
  }
  [[nodiscard]] std::size_t active() const {
    std::size_t n = waiting();
    for (const Home& home : homes_) n += home.running.size();
    return n;
  }
  [[nodiscard]] double mean_jct_s() const {
    double sum = 0;
    for (const Job& job : jobs) sum += seconds(job.finished - job.submitted);
    return sum / static_cast<double>(jobs.size());
  }
  [[nodiscard]] double makespan_s() const {
    Instant last{};
    for (const Job& job : jobs) last = std::max(last, job.finished);
    return seconds(last - Instant{});
  }

 private:
  using Home = TestHome;
  using End = std::pair<Instant, std::size_t>;

  void plan_next_round() {
    const Duration round = homes_.front().policy->facts().round;
    if (round == Duration::zero()) return;
    next_round_ = Instant{} + (now_.time_since_epoch() / round + 1) * round;
    if (options_.round_length) next_round_ = now_ + options_.round_length(*this);
  }

  void fault(const std::string& text) { faults.push_back(text); }

  void enter(std::size_t j, std::uint32_t h) {
    jobs[j].home = h;
    jobs[j].order = homes_[h].next_order++;
    homes_[h].waiting.emplace(jobs[j].order, j);
  }

  void occupy(const Placement& placement, Demand each, bool take) {
    for (Home& home : homes_) {
      Placement part;
      for (const GpuId gpu : placement) {
        if (home.partition.gpus.contains(gpu.value)) part.push_back(gpu);
      }
      if (take) {
        home.gpus.take(part, each);
      } else {
        home.gpus.give_back(part, each);
      }
    }
  }

  void stop(std::size_t j) {
    Job& job = jobs[j];
    job.progress.account(now_);
    job.served += job.progress.done();
    job.work = job.progress.left();
    job.ends = kNever;
    gpu_s += seconds(now_ - job.started) * static_cast<double>(job.placement.size());
    occupy(job.placement, demand_of(job.spec), false);
    const Placement left = std::exchange(job.placement, {});
    job.allocation = {};
    std::erase(homes_[job.home].running, j);
    rerate_beside(left);
  }

  void finish(std::size_t j) {
    if (jobs[j].placement.empty() || jobs[j].ends != now_) return;
    stop(j);
    jobs[j].finished = now_;
  }

  void start(std::size_t j, const Placement& placement, const Allocation& how) {
    Job& job = jobs[j];
    occupy(placement, demand_of(job.spec), true);
    job.placement = placement;
    job.allocation = how;
    job.started = now_;
    job.progress = WorkProgress(job.work, now_);
    ++job.starts;
    homes_[job.home].waiting.erase(job.order);
    homes_[job.home].running.push_back(j);
    if (sharing_) {
      rerate_beside(placement);
    } else {
      rerate(j);
    }
  }

  void rerate(std::size_t j) {
    Job& job = jobs[j];
    job.progress.set_rate(now_, rate(job));
    job.ends = std::max(job.progress.end(), now_ + Duration(1));
    ends_.emplace(job.ends, j);
  }

  [[nodiscard]] bool beside(const Placement& a, const Placement& b) const {
    return std::any_of(a.begin(), a.end(), [&](GpuId x) {
      return std::any_of(b.begin(), b.end(),
                         [&](GpuId y) { return topology_.server_of(x) == topology_.server_of(y); });
    });
  }

  /// Everybody on a server of `placement`; only where jobs share GPUs.
  void rerate_beside(const Placement& placement) {
    if (!sharing_) return;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (!jobs[j].placement.empty() && beside(jobs[j].placement, placement)) rerate(j);
    }
  }

  [[nodiscard]] double rate(const Job& job) const {
    const auto profile = profile_of(job.spec, static_cast<std::uint32_t>(job.placement.size()));
    Neighbours neighbours;
    if (sharing_) {
      for (const Job& other : jobs) {
        if (&other == &job || other.placement.empty() || !beside(other.placement, job.placement)) {
          continue;
        }
        neighbours.push_back({profile_of(other.spec), other.placement});
      }
    }
    return progress_rate(speed(), profile, job.placement, neighbours, job.allocation);
  }

  void settle(TriggerKind kind) {
    for (int rounds = 0; rounds < 2000; ++rounds) {
      bool moved = false;
      for (std::uint32_t h = 0; h < homes_.size(); ++h) moved = decide(h, kind) || moved;
      if (!moved) return;
      kind = TriggerKind::digest;
    }
    fault("decisions without end at one instant");
  }

  bool decide(std::uint32_t h, TriggerKind kind) {
    Home& home = homes_[h];
    TestViews v(homes_, jobs, h, now_);
    std::set<JobId> blocked;
    for (JobView& job : v.waiting) {
      job.blocked = options_.blocked > 0 && rng_.chance(options_.blocked);
      if (job.blocked) blocked.insert(job.spec->id);
    }
    const View view{topology_, home.gpus, v.waiting, v.running,
                    v.others,  speed(),   now_,      AgentId{h}};
    const auto before = std::chrono::steady_clock::now();
    const std::vector<Decision> decisions_made = home.policy->decide(view, {kind}, home.rng);
    decide_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    ++calls;
    decisions += decisions_made.size();
    bool moved = false;
    for (const Decision& decision : decisions_made) {
      hash.add(decision.index());
      std::visit([&](const auto& d) { moved = apply(h, d, blocked) || moved; }, decision);
    }
    return moved;
  }

  std::size_t waiting_job(std::uint32_t h, JobId id, const std::set<JobId>& blocked) {
    for (const auto& [order, j] : homes_[h].waiting) {
      if (jobs[j].spec.id != id) continue;
      if (blocked.contains(id)) fault("touched a blocked job");
      return j;
    }
    fault("named a job that does not wait here: " + to_string(id));
    return jobs.size();
  }

  bool passes(const std::string& fault_text) {
    if (!fault_text.empty()) fault(fault_text);
    return fault_text.empty();
  }
  bool placement_is_good(std::uint32_t h, const JobSpec& spec, const Placement& placement) {
    return passes(placement_fault(homes_[h], spec, placement));
  }
  bool size_is_good(std::uint32_t h, const JobSpec& spec, const Placement& placement,
                    const Allocation& how) {
    return passes(size_fault(homes_[h], spec, placement, how));
  }

  bool apply(std::uint32_t h, const Start& d, const std::set<JobId>& blocked) {
    const std::size_t j = waiting_job(h, d.job, blocked);
    if (j == jobs.size() || !placement_is_good(h, jobs[j].spec, d.placement)) return false;
    if (!size_is_good(h, jobs[j].spec, d.placement, d.allocation)) return false;
    for (const GpuId gpu : d.placement) hash.add(gpu.value);
    start(j, d.placement, d.allocation);
    return true;
  }

  bool apply(std::uint32_t h, const Preempt& d, const std::set<JobId>&) {
    if (!homes_[h].policy->facts().preemptive) fault("preempts, but its facts deny it");
    for (const std::size_t j : homes_[h].running) {
      if (jobs[j].spec.id != d.job) continue;
      ++preemptions;
      stop(j);
      homes_[h].waiting.emplace(jobs[j].order, j);
      return true;
    }
    fault("preempts a job that does not run here");
    return false;
  }

  bool apply(std::uint32_t h, const Forward& d, const std::set<JobId>& blocked) {
    const std::size_t j = waiting_job(h, d.job, blocked);
    if (j == jobs.size()) return false;
    if (d.to.value >= homes_.size() || d.to.value == h) return fault("forwards to none"), false;
    std::vector<AgentId>& offered = jobs[j].offered[h];
    if (std::ranges::find(offered, d.to) != offered.end())
      return fault("offers a job to the same home twice"), false;
    offered.push_back(d.to);
    jobs[j].offered.erase(d.to.value);  // a new stay
    ++forwards, ++jobs[j].forwards;
    hash.add(d.to.value);
    homes_[h].waiting.erase(jobs[j].order);
    enter(j, d.to.value);
    return true;
  }

  bool apply(std::uint32_t h, const Spread& d, const std::set<JobId>& blocked) {
    const std::size_t j = waiting_job(h, d.job, blocked);
    if (j == jobs.size() || !placement_is_good(h, jobs[j].spec, d.local)) return false;
    if (homes_.size() == 1) fault("spreads a job, but is alone");
    ++spreads;
    if (spread(h, j, d.local, d.allocation, gang_gpus(jobs[j].spec, d.allocation))) return true;
    ++jobs[j].failed_rounds;
    return false;
  }

  /// Starts it on `gpus` GPUs, `local` of them here. False: the others have not enough.
  bool spread(std::uint32_t h, std::size_t j, const Placement& local, const Allocation& how,
              std::size_t gpus) {
    if (!may_have_size(jobs[j].spec, gpus, how)) return fault("not the gang's size"), false;
    std::string wrong;
    const auto all =
        gather({topology_, speed(), now_}, homes_, jobs, h, jobs[j].spec, local, gpus, wrong);
    if (!passes(wrong) || !all) return false;
    ++spread_starts;
    start(j, *all, says_size_alone(how) ? Allocation{} : how);
    return true;
  }

  /// The job stops and becomes a gang of that size; where the others have not enough it waits.
  bool spread_again(std::uint32_t h, std::size_t j, const Resize& d, std::size_t gpus) {
    if (homes_.size() == 1) fault("spreads a job, but is alone");
    stop(j);
    ++resizes;
    if (!placement_is_good(h, jobs[j].spec, d.placement) ||
        !spread(h, j, d.placement, d.allocation, gpus))
      homes_[h].waiting.emplace(jobs[j].order, j);
    return true;
  }

  bool apply(std::uint32_t h, const Resize& d, const std::set<JobId>&) {
    if (!homes_[h].policy->facts().elastic) fault("resizes, but its facts deny it");
    for (const std::size_t j : homes_[h].running) {
      if (jobs[j].spec.id != d.job) continue;
      if (const std::size_t gang = gpus_said(jobs[j].spec, d.allocation); gang > d.placement.size())
        return spread_again(h, j, d, gang);
      if (!size_is_good(h, jobs[j].spec, d.placement, d.allocation)) return false;
      const Placement before = jobs[j].placement;
      const Allocation before_by = jobs[j].allocation;
      stop(j);
      if (!placement_is_good(h, jobs[j].spec, d.placement)) {
        start(j, before, before_by);
        return false;
      }
      ++resizes;
      for (const GpuId gpu : d.placement) hash.add(gpu.value);
      start(j, d.placement, d.allocation);
      return before != d.placement || before_by != d.allocation;
    }
    fault("resizes a job that does not run here");
    return false;
  }

  [[nodiscard]] const SpeedModel& speed() const {
    return options_.model != nullptr ? *options_.model : equal_;
  }

  Topology topology_;
  Options options_;
  bool sharing_ = false;
  EqualTestSpeed equal_;
  Rng rng_;
  std::vector<Home> homes_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  Instant now_{};
  Instant next_round_ = kNever;
};

}  // namespace starling
