// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/short_number.h"
#include "policies/builtin.h"
#include "policies/elastic/elastic.h"
#include "policies/parts/restart.h"
#include "policies/smd/job_choices.h"
#include "policies/smd/knapsack.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "smd",
    .summary = "elastic: which jobs run, by a knapsack of what each gains in its best size",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .lengths = LengthSource::estimates,
    .round = std::chrono::seconds(600)};

/// Our reading of the abstract of SMD (INFOCOM 2021): a job has a limit of resources; within it the
/// inner problem finds the workers and parameter servers that end it first (JobChoices), and the
/// outer one the jobs whose limits fit into the partition and whose utilities sum up to most
/// (fill_knapsack). What a utility is, that limits are charged whole, rounds and restarts are ours,
/// as is menu=yes, by which each job may have any of a few sizes and is charged what that size
/// needs.
///
/// Utility of a job that would end C seconds after it was submitted: 1/C, or with utility=sigmoid
/// 1 / (1 + exp(4 (C/(target * its duration) - 1))). Less urgent jobs share what the more urgent
/// leave. Jobs that the knapsack leaves out get the fewest workers that they can have of what is
/// left all the same. A change of size costs a restart in C.
class Smd final : public Division {
 public:
  struct Options {
    JobChoices::Options sizes;
    KnapsackEffort effort;
    double restart_s = 60;
    bool sigmoid = false;
    double target = 2;
  };
  explicit Smd(const Options& options) : options_(options), choices_(options.sizes) {}

  void divide(const ElasticCall& call, const ElasticCapacity& all, ElasticCapacity left,
              std::vector<ElasticShare>& shares) override {
    for (auto first = shares.begin(); first != shares.end();) {
      const auto last = std::find_if(first, shares.end(), [&](const ElasticShare& share) {
        return share.job->spec->priority != first->job->spec->priority;
      });
      divide_class(call, all, left, std::span(first, last));
      first = last;
    }
  }
  [[nodiscard]] std::optional<Placement> find_workers(const ElasticCall& call,
                                                      const Occupancy& gpus, const JobSpec& job,
                                                      std::uint32_t workers) const override {
    return place_on_fastest(call, gpus, job, workers);
  }
  [[nodiscard]] Allocation allocation(const ElasticCall& call, const JobSpec& job,
                                      const Placement& placement) const override {
    if (job.run.max_servers == 0) return {};
    const auto workers =
        static_cast<std::uint32_t>(placement.size()) / std::max(job.gpus_per_worker, 1U);
    const auto noted = notes_.find(job.id);
    const std::uint32_t servers = noted != notes_.end() && noted->second.size.workers == workers
                                      ? noted->second.size.servers
                                      : choices_.servers_for(call, job, workers);
    if (servers == servers_at(job, workers)) return {};
    return {workers, servers, 0, 0, false};
  }
  // The knapsack has charged it.
  [[nodiscard]] bool worth_a_restart(const ElasticCall&, const ElasticShare&) override {
    return true;
  }
  void observe(const View& view) override {
    const std::size_t jobs = view.waiting.size() + view.running.size();
    if (notes_.size() <= 2 * jobs + 64) return;
    std::set<JobId> here;
    for (const auto side : {view.waiting, view.running}) {
      for (const JobView& job : side) here.insert(job.spec->id);
    }
    std::erase_if(notes_, [&](const auto& note) { return !here.contains(note.first); });
  }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override {
    const auto noted = notes_.find(job);
    if (noted == notes_.end()) return {};
    const Note& note = noted->second;
    std::string line =
        note.in ? "in the knapsack with " : "not in the knapsack, which has it with ";
    line += counted(note.size.workers, "worker");
    if (note.size.servers > 0) line += " and " + counted(note.size.servers, "parameter server");
    return {line + ": " + short_number(note.rest_s) + " s to its end by that, utility " +
            short_number(note.utility)};
  }

 private:
  struct Note {  // of the last division
    TaskCounts size;
    double rest_s = 0, utility = 0;
    bool in = false;
  };
  using Shares = std::span<ElasticShare>;

  [[nodiscard]] double utility(const View& view, const JobView& job, double rest_s) const {
    const double ends = std::max(seconds(job.age(view.now)) + rest_s, 1.0);
    if (!options_.sigmoid) return 1 / ends;
    const double due = std::max(options_.target * seconds(job.spec->duration), 60.0);
    return std::max(1 / (1 + std::exp(std::min(4 * (ends / due - 1), 500.0))), 1e-12);
  }

  /// The sizes in which the knapsack may have a job.
  [[nodiscard]] std::vector<Note> forms_of(const ElasticCall& call, const ElasticShare& share) {
    const JobView& job = *share.job;
    std::vector<Note> forms;
    const auto add = [&](TaskCounts size, double extra_s) {
      const double rest = choices_.rest_s(*this, call, share, size) + extra_s;
      forms.push_back({size, rest, utility(call.view, job, rest), false});
    };
    TaskCounts now{};
    if (share.now >= share.least && share.now <= share.most) {
      const std::uint32_t servers = job.allocation.servers;
      now = {share.now, servers > 0 ? servers : servers_at(*job.spec, share.now)};
      add(now, 0);
    }
    const double restart = share.now > 0 ? restart_cost_s(*job.spec, options_.restart_s) : 0;
    for (const TaskCounts& size : choices_.sizes(call, *job.spec)) {
      // One that keeps its workers keeps its place, and its servers with it.
      if (size.workers >= share.least && size.workers <= share.most && size.workers != now.workers)
        add(size, restart);
    }
    if (!options_.sizes.menu && forms.size() > 1) {
      std::ranges::stable_sort(forms, {}, &Note::rest_s);
      forms.resize(1);
    }
    return forms;
  }

  void divide_class(const ElasticCall& call, const ElasticCapacity& all, ElasticCapacity& left,
                    Shares shares) {
    Knapsack knapsack;
    knapsack.capacity = {left.gpus, left.cpus};
    std::vector<std::vector<Note>> forms;
    for (const ElasticShare& share : shares) {
      Knapsack::Item item;
      forms.emplace_back();
      if (share.workers == 0 && share.least <= share.most) forms.back() = forms_of(call, share);
      for (const Note& form : forms.back()) {
        const JobSpec& job = *share.job->spec;
        auto needs = options_.sizes.menu ? JobChoices::needs(job, form.size) : choices_.limit(job);
        // One that asks for more CPUs than there are gets them all, as in ElasticCapacity::take().
        needs[1] = std::min(needs[1], all.cpus);
        item.push_back({form.utility, std::move(needs)});
      }
      knapsack.items.push_back(std::move(item));
    }
    const KnapsackAnswer answer = fill_knapsack(knapsack, options_.effort);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (forms[i].empty()) continue;
      Note note = forms[i][answer[i].value_or(0)];
      note.in = answer[i] && left.take(all, *shares[i].job->spec, note.size.workers);
      if (note.in) shares[i].workers = note.size.workers;
      notes_[shares[i].job->spec->id] = note;
    }
    fill_up(all, left, shares);
  }

  /// Those with most utility first.
  void fill_up(const ElasticCapacity& all, ElasticCapacity& left, Shares shares) const {
    std::vector<std::pair<double, ElasticShare*>> rest;
    for (ElasticShare& share : shares) {
      const auto noted = notes_.find(share.job->spec->id);
      if (share.workers > 0 || share.least > share.most) continue;
      rest.emplace_back(noted == notes_.end() ? 0 : noted->second.utility, &share);
    }
    std::ranges::stable_sort(rest, std::ranges::greater{}, [](const auto& r) { return r.first; });
    for (const auto& [gain, share] : rest) {
      const JobSpec& job = *share->job->spec;
      if (left.take(all, job, share->least)) share->workers = share->least;
    }
  }

  Options options_;
  mutable JobChoices choices_;  // of what was asked, so that asking again is cheap
  std::map<JobId, Note> notes_;
};

}  // namespace

void add_smd(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const ElasticOptions elastic = read_elastic(reader);
    Smd::Options options;
    options.restart_s =
        reader.number("restart", 60, 0, 86'400,
                      "seconds that a change of size costs a job that does not say it itself");
    const bool grid = reader.choice("inner", {"exact", "grid"},
                                    "exact: all numbers of workers and parameter servers are "
                                    "looked at; grid: few, within 1 + eps of the best") == "grid";
    const double eps = reader.number("eps", 0.1, 0.001, 10, "of inner=grid");
    options.sizes.grid_eps = grid ? eps : 0;
    options.sizes.menu = reader.choice("menu", {"no", "yes"},
                                       "yes: the knapsack also chooses among sizes of a job, and "
                                       "charges what they need") == "yes";
    options.sizes.largest =
        reader.choice("limit", {"asked", "most"},
                      "resources that a job may have: of the size that it asks "
                      "for, or of its largest; menu=yes: of its largest") == "most" ||
        options.sizes.menu;
    options.effort.most_fixed = static_cast<std::size_t>(reader.number(
        "fixed", 2, 0, 4, "jobs that the knapsack tries every set of; fewer where they are many"));
    options.sigmoid =
        reader.choice("utility", {"jct", "sigmoid"},
                      "of a job that ends after C seconds: 1/C, or a step at target x its "
                      "duration") == "sigmoid";
    options.target = reader.number("target", 2, 0.01, 1000, "of utility=sigmoid");
    return std::unique_ptr<Policy>(
        std::make_unique<ElasticPolicy>(kFacts, elastic, std::make_unique<Smd>(options)));
  });
}

}  // namespace starling
