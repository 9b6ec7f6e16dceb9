// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/counted.h"
#include "base/short_number.h"
#include "policies/builtin.h"
#include "policies/elastic/elastic.h"
#include "policies/elasticflow/deadline_shares.h"
#include "policies/parts/restart.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr PolicyFacts kElasticFlowFacts{
    .name = "elasticflow",
    .summary = "elastic: the fewest GPUs by which deadlines are met, then where more cost least",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .lengths = LengthSource::estimates,
    .round = std::chrono::seconds(240)};

/// ElasticFlow (ASPLOS 2023). A job is due `deadline` times its duration after it was submitted, as
/// in its experiments; job files have no deadlines of their own. At its first round a job is
/// admitted or not, for good (divide_by_deadlines). ElasticFlow drops those that are not; here
/// they, and those of unknown duration, have what the others leave. Workers are the fewest that a
/// job can have and powers of two above, and what it runs on now.
///
/// Beyond the paper: no job is stopped to gain less than `restart`, unless its deadline wants that;
/// deadlines are planned with one restart to come; more urgent priorities are planned first.
/// Between rounds what is free goes to jobs as if they had no deadlines, and none is admitted.
///
/// Limits: a round plans for the kMostPlanned jobs with the most urgent priority and the earliest
/// deadlines, and asks about kMostAsked newcomers; others are as without a deadline until a later
/// round. What was admitted does not outlive the process: then everybody is asked about anew.
class ElasticFlow final : public Division {
 public:
  struct Options {
    double deadline = 0, restart_s = 0, slot_s = 0;
    Unpromised unpromised = Unpromised::by_deadline;
  };
  explicit ElasticFlow(const Options& options) : options_(options) {}

  static constexpr std::size_t kMostPlanned = 1024, kMostAsked = 64;

  void observe(const View& view) override {
    in_round_ = false;
    const std::size_t jobs = view.waiting.size() + view.running.size();
    if (notes_.size() <= 2 * jobs + 64) return;
    std::set<JobId> here;
    for (const auto side : {view.waiting, view.running}) {
      for (const JobView& job : side) here.insert(job.spec->id);
    }
    std::erase_if(notes_, [&](const auto& note) { return !here.contains(note.first); });
  }
  void begin_round(const ElasticCall&) override { in_round_ = true; }

  void divide(const ElasticCall& call, const ElasticCapacity& all, ElasticCapacity left,
              std::vector<ElasticShare>& shares) override {
    // Jobs that are sure of something have been planned: what is left to give is none's.
    const bool plans = in_round_ && std::ranges::none_of(shares, [](const ElasticShare& share) {
                         return share.workers > 0;
                       });
    std::vector<Planned> planned;
    double gpus = left.gpus;
    for (ElasticShare& share : shares) {
      gpus += static_cast<double>(share.workers) * share.job->spec->gpus_per_worker;
      if (share.least <= share.most) planned.push_back(planned_of(call, share, plans));
    }
    std::ranges::stable_sort(planned, [](const Planned& a, const Planned& b) {
      return std::tie(b.share->job->spec->priority, a.job.due_s) <
             std::tie(a.share->job->spec->priority, b.job.due_s);
    });
    set_limits(planned);
    std::vector<DeadlineJob> jobs;
    jobs.reserve(planned.size());
    for (const Planned& one : planned) jobs.push_back(one.job);
    const auto given = divide_by_deadlines(jobs, gpus, options_.slot_s, options_.unpromised);
    for (std::size_t i = 0; i < planned.size(); ++i) {
      take(all, planned[i], given[i], left);
      if (plans) note(planned[i], given[i]);
    }
  }
  [[nodiscard]] std::optional<Placement> find_workers(const ElasticCall& call,
                                                      const Occupancy& gpus, const JobSpec& job,
                                                      std::uint32_t workers) const override {
    return place_on_fastest(call, gpus, job, workers);
  }
  [[nodiscard]] bool worth_a_restart(const ElasticCall& call, const ElasticShare& share) override {
    const auto noted = notes_.find(share.job->spec->id);
    if (noted != notes_.end() && noted->second.least > share.now) return true;
    return speeds_.rest_s(*this, call, share, share.now) -
               speeds_.rest_s(*this, call, share, share.workers) >
           restart_s(*share.job->spec);
  }
  [[nodiscard]] bool knows_speeds() const override { return true; }
  [[nodiscard]] bool no_sooner(const ElasticCall& call, const ElasticShare& share) override {
    return speeds_.rest_s(*this, call, share, share.workers) >=
           speeds_.rest_s(*this, call, share, share.now);
  }
  [[nodiscard]] bool worth_a_move(const ElasticCall& call, const ElasticShare& share,
                                  const Placement& to) const override {
    const JobView& job = *share.job;
    return ElasticSpeeds::rest_on_s(call.view, share, job.placement, job.allocation) -
               ElasticSpeeds::rest_on_s(call.view, share, to, {}) >
           restart_s(*job.spec);
  }
  [[nodiscard]] double restart_s(const JobSpec& job) const override {
    return restart_cost_s(job, options_.restart_s);
  }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override {
    const auto noted = notes_.find(job);
    if (noted == notes_.end()) return {};
    const Note& note = noted->second;
    if (!note.has_deadline) return {"it has no deadline, since it is not known how long it takes"};
    const std::string due = "its deadline was in " + short_number(note.due_s) + " s at the round";
    if (note.fate == Fate::new_here) return {due + "; it has not been asked about yet"};
    if (note.fate == Fate::declined)
      return {due + ", which could not be met beside those of the others: it has what they leave"};
    return {due + "; admitted: with at most " + counted(note.least, "worker") + " it is done in " +
            short_number(note.end_s) + " s"};
  }

 private:
  enum class Fate : std::uint8_t { new_here, admitted, declined };
  struct Note {  // of the last round
    Fate fate = Fate::new_here;
    bool has_deadline = false;
    std::uint32_t least = 0;  // workers, at most so many at a time
    double due_s = 0, end_s = 0;
  };
  struct Planned {
    ElasticShare* share = nullptr;
    std::vector<std::uint32_t> workers;  // by size
    DeadlineJob job;
    bool asks = false;
  };

  [[nodiscard]] Planned planned_of(const ElasticCall& call, ElasticShare& share, bool plans) {
    const JobSpec& spec = *share.job->spec;
    Planned out;
    out.share = &share;
    const std::uint32_t least = std::max(share.least, share.workers);
    std::set<std::uint32_t> workers = {least};
    for (std::uint32_t n = 1; n <= share.most && n > 0; n *= 2) {
      if (n > least) workers.insert(n);
    }
    if (share.now > least && share.now <= share.most) workers.insert(share.now);
    for (const std::uint32_t n : workers) {
      const double speed = share.left_s / speeds_.rest_s(*this, call, share, n);
      if (!out.workers.empty() && !(speed > out.job.sizes.back().speed)) continue;
      out.workers.push_back(n);
      out.job.sizes.push_back({static_cast<double>(n) * spec.gpus_per_worker, speed});
    }
    out.job.left = share.left_s;
    out.job.priority = spec.priority;
    if (!plans || spec.duration <= Duration{0}) return out;
    const Fate fate = notes_[spec.id].fate;
    out.job.due_s = options_.deadline * seconds(spec.duration) -
                    seconds(share.job->age(call.view.now)) - restart_s(spec);
    out.asks = fate == Fate::new_here;
    out.job.admitted = fate == Fate::admitted;
    if (out.job.admitted)
      out.job.promised_gpus = static_cast<double>(notes_[spec.id].least) * spec.gpus_per_worker;
    return out;
  }

  /// `planned` in order.
  static void set_limits(std::vector<Planned>& planned) {
    std::size_t plans = 0, asked = 0;
    std::vector<Planned*> asking;
    for (Planned& one : planned) {
      if (!one.job.admitted && !one.asks) continue;
      if (plans == kMostPlanned) {
        one.job.admitted = one.asks = false;
        continue;
      }
      ++plans;
      if (one.asks) asking.push_back(&one);
    }
    std::ranges::sort(asking, [](const Planned* a, const Planned* b) {
      const JobView &x = *a->share->job, &y = *b->share->job;
      return std::tie(x.submitted, x.order) < std::tie(y.submitted, y.order);
    });
    for (Planned* one : asking) {
      one->asks = asked < kMostAsked;
      if (one->asks) one->job.asks = asked++;
    }
  }

  static void take(const ElasticCapacity& all, const Planned& one, const DeadlineShare& given,
                   ElasticCapacity& left) {
    if (!given.size) return;
    for (std::size_t size = *given.size + 1; size > 0; --size) {
      const std::uint32_t workers = one.workers[size - 1];
      const std::uint32_t sure = one.share->workers;
      if (workers <= sure || left.take(all, *one.share->job->spec, workers - sure)) {
        one.share->workers = std::max(workers, sure);
        return;
      }
    }
  }

  void note(const Planned& one, const DeadlineShare& given) {
    Note& note = notes_[one.share->job->spec->id];
    note.has_deadline = std::isfinite(one.job.due_s);
    note.due_s = one.job.due_s;
    if (given.admitted)
      note.fate = Fate::admitted;
    else if (one.asks || one.job.admitted)
      note.fate = Fate::declined;
    note.least = given.least ? one.workers[*given.least] : 0;
    note.end_s = given.end_s;
  }

  Options options_;
  ElasticSpeeds speeds_;
  std::map<JobId, Note> notes_;
  bool in_round_ = false;
};

}  // namespace

void add_elasticflow(PolicyRegistry& registry) {
  registry.add(kElasticFlowFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const ElasticOptions elastic = read_elastic(reader, 240);
    ElasticFlow::Options options;
    options.slot_s = seconds(elastic.round);
    options.deadline = reader.number("deadline", 1.5, 0.01, 1e6,
                                     "a job is due so many times its duration after it came");
    options.restart_s =
        reader.number("restart", 60, 0, 86'400,
                      "seconds that a change of size costs a job that does not say it itself");
    options.unpromised =
        reader.choice("others", {"deadline", "least-left"},
                      "which job has first what those with a promise leave: by deadline, or "
                      "the one that needs the least GPU time on its smallest size") == "least-left"
            ? Unpromised::least_left
            : Unpromised::by_deadline;
    return std::unique_ptr<Policy>(std::make_unique<ElasticPolicy>(
        kElasticFlowFacts, elastic, std::make_unique<ElasticFlow>(options)));
  });
}

}  // namespace starling
