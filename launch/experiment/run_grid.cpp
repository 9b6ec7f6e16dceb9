// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/run_grid.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>

#include "launch/experiment/bounds.h"
#include "launch/experiment/run_locks.h"
#include "launch/experiment/run_record.h"
#include "launch/report/run_curves.h"
#include "launch/system/program_build.h"
#include "sim/summary.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

SimOptions sim_options(const Experiment& experiment, const RunPoint& point,
                       const Topology& topology) {
  SimOptions options;
  options.policy = point.policy;
  options.agents = point.agents;
  options.seed = point.seed;
  options.physics = experiment.physics;
  options.straggler_sigma = experiment.straggler_sigma;
  options.contention = experiment.contention;
  options.goodput = experiment.goodput;
  options.links = experiment.links;
  options.speed = experiment.speed;
  options.durations = experiment.policies[point.policy_index].durations;
  options.queues = experiment.queues;
  options.network = experiment.faults[point.faults_index].network;
  // As `starling sim` does: at most 16 executors, and none of them tiny.
  options.servers_per_executor = std::max(8U, (topology.server_count() + 15) / 16);
  return options;
}

/// Shorter Gantt charts where the page has many to show, so that it stays below some 15 MB.
CurveLimits curve_limits(const std::vector<RunPoint>& points) {
  using Cell = std::tuple<std::string, double, std::string, std::string, std::uint32_t>;
  std::set<Cell> cells;
  for (const RunPoint& point : points)
    cells.emplace(point.topology, point.load, point.faults, point.label, point.agents);
  CurveLimits limits;
  limits.bars =
      std::clamp<std::size_t>(120'000 / std::max<std::size_t>(1, cells.size()), 100, limits.bars);
  return limits;
}

/// In their place as a whole: another process may have done the same run, and read them now.
Status write_rows(const fs::path& file, const RunResult& run) {
  const fs::path fresh = fresh_name(file);
  std::error_code error;
  Status written = write_jobs_csv(fresh, run);
  if (written.ok()) {
    fs::rename(fresh, file, error);
    if (!error) return done();
    written = {Errc::io, file.string() + ": " + error.message()};
  }
  fs::remove(fresh, error);
  return written;
}

Status run_one(const Experiment& experiment, const Inputs& inputs, const RunPoint& point,
               const PolicyRegistry& policies, const RunFunction& run, const CurveLimits& limits,
               const GridOptions& options) {
  const Topology& topology = inputs.topologies[point.topology_index].front();
  const auto jobs = jobs_of(experiment, inputs, point);
  if (!jobs) return jobs.error();
  auto result = run(topology, jobs.value(), policies, sim_options(experiment, point, topology));
  if (!result) return result.error();
  result.value().dropped = jobs.value().dropped;
  const fs::path& out = options.out;
  if (experiment.jobs_csv) {
    if (Status rows = write_rows(out / "jobs" / (point.id + ".csv"), result.value()); !rows)
      return rows;
  }
  const RunCurves curves = run_curves(result.value(), topology, limits);
  return write_record(out / "runs" / (point.id + ".json"), point, options.program,
                      std::move(result).value(), curves);
}

/// Removes what runs have left in a folder, and nothing else: files named by the id of a run, of
/// those in `only`; null: of any.
void forget(const fs::path& dir, const char* extension, const std::set<std::string>* only) {
  std::error_code error;
  std::vector<fs::path> ours;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string id = entry.path().stem().string();
    if (entry.path().extension() == extension && is_run_id(id) &&
        (only == nullptr || only->contains(id)))
      ours.push_back(entry.path());
  }
  for (const fs::path& file : ours) fs::remove(file, error);
}

/// A folder in which some of a grid is done already, or will be by others, has to be of this grid
/// and this program.
Status same_grid(const GridOptions& options, const Manifest& manifest) {
  const fs::path file = options.out / "experiment.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return done();
  auto there = read_manifest(file);
  if (!there) return there.error();
  const std::string dir = options.out.string();
  if (there.value().program != manifest.program) {
    const std::string other = there.value().program;
    return {Errc::conflict, dir + " has runs of " +
                                (other.empty() ? "an earlier program" : "program " + other) +
                                ", and this is " + manifest.program +
                                "; go on there with that one, or give another --out"};
  }
  if (text_of(there.value()) != text_of(manifest))
    return {Errc::conflict, dir + " has runs of another experiment, '" + there.value().name +
                                "' with " + std::to_string(there.value().runs.size()) +
                                " runs; give another --out"};
  return done();
}

Status make_folders(const Experiment& experiment, const std::vector<RunPoint>& points,
                    const GridOptions& options) {
  std::error_code error;
  const fs::path runs = options.out / "runs";
  fs::create_directories(runs, error);
  if (!error && experiment.jobs_csv) fs::create_directories(options.out / "jobs", error);
  if (error)
    return {Errc::conflict, runs.string() + ": " + error.message() +
                                "; name a folder by --out that you may write to"};
  if (options.force) {
    std::set<std::string> ids;  // none of a part that has no runs
    for (const std::size_t i : runs_of(points, options.part)) ids.insert(points[i].id);
    const std::set<std::string>* const only = options.part.whole() ? nullptr : &ids;
    forget(runs, ".json", only);
    forget(options.out / "jobs", ".csv", only);
    return done();
  }
  if (options.resume || options.share || !options.part.whole()) return done();
  for (const auto& entry : fs::directory_iterator(runs, error)) {
    if (entry.path().extension() != ".json") continue;
    return {Errc::conflict, options.out.string() +
                                " has runs already; give --resume to go on with them, --force to "
                                "run all anew, or another --out"};
  }
  return done();
}

/// A pair is a workload and a seed, and of a file the jobs are the same with each seed.
std::vector<std::string> notes_of(const Experiment& experiment,
                                  const std::vector<RunPoint>& points) {
  std::vector<std::string> notes;
  if (experiment.seeds.size() < 2) return notes;
  for (const WorkloadSource& workload : experiment.workloads) {
    const bool ran = std::any_of(points.begin(), points.end(), [&](const RunPoint& point) {
      return point.workload == workload.name;
    });
    if (workload.file.empty() || !ran) continue;
    notes.push_back(
        "The seeds of " + workload.name + " share its jobs, which are a file's: they " +
        (workload.draw_models ? "draw the jobs' models anew, and " : "change nothing but ") +
        "what a policy draws. Their part of ± does not tell what another trace would "
        "give; windows of other times do.");
  }
  return notes;
}

/// Has its whole record. Where some is left to others it is this program's; what is not goes, so
/// that whether a file is there says enough from then on.
bool is_done(const RunPoint& point, const GridOptions& options) {
  const fs::path file = options.out / "runs" / (point.id + ".json");
  const auto record = read_record(file, point);
  if (!options.share && options.part.whole()) return record.ok();
  if (record.ok() && record.value().program == options.program) return true;
  // One that cannot be read now may be another process's, and good.
  std::error_code ignored;
  if (record.ok() || record.error().code == Errc::invalid) fs::remove(file, ignored);
  return false;
}

/// experiment.json. Where others may start at the same moment, only if there is none yet: all have
/// to be of one experiment and one program.
Status tell_grid(const GridOptions& options, const Manifest& manifest) {
  const fs::path file = options.out / "experiment.json";
  if (!options.share) return write_manifest(file, manifest);
  const auto first = write_first(file, text_of(manifest));
  if (!first) return first.error();
  return first.value() ? done() : same_grid(options, manifest);
}

Manifest manifest_of(const Experiment& experiment, const std::vector<RunPoint>& points,
                     const std::string& program) {
  return {experiment.name,
          experiment.description,
          experiment.split,
          experiment.baseline,
          text_of(PhysicsChoice{experiment.physics, experiment.straggler_sigma, experiment.pairs,
                                experiment.goodput, experiment.links}),
          points,
          notes_of(experiment, points),
          experiment.together,
          program};
}

/// What the threads share.
class Pool {
 public:
  Pool(std::vector<const RunPoint*> todo, const GridOptions& options, RunLocks* locks)
      : left_(todo.begin(), todo.end()), total_(todo.size()), options_(options), locks_(locks) {}

  /// The next run; null when there is none. Where other processes have those that are left it waits
  /// for them: one of them may die.
  Result<const RunPoint*> take() {
    for (;;) {
      {
        const std::scoped_lock lock(mutex_);
        auto taken = locks_ == nullptr ? Result<const RunPoint*>(first()) : take_lock();
        if (!taken || taken.value() != nullptr || left_.empty() || error_) return taken;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  }
  void report(const RunPoint& point, const Status& status) {
    const std::scoped_lock lock(mutex_);
    if (locks_ != nullptr) locks_->release(point.id);
    ++done_;
    if (!status) {
      ++failed_;
      if (options_.failed) options_.failed(point, status.error());
    }
    tell();
  }
  void stop(const Error& error) {
    const std::scoped_lock lock(mutex_);
    error_ = error;
  }
  [[nodiscard]] std::uint64_t failed() const { return failed_; }
  [[nodiscard]] std::uint64_t others() const { return others_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const RunPoint* first() {
    if (left_.empty()) return nullptr;
    const RunPoint* const point = left_.front();
    left_.pop_front();
    return point;
  }
  /// One that no process has, and now this one. Those that another has finished since are done
  /// with.
  Result<const RunPoint*> take_lock() {
    const fs::path runs = options_.out / "runs";
    const auto finished = [&](const RunPoint* point) {
      std::error_code ignored;
      return fs::exists(runs / (point->id + ".json"), ignored);
    };
    for (auto at = left_.begin(); at != left_.end();) {
      const RunPoint* const point = *at;
      if (!finished(point)) {
        const auto mine = locks_->take(point->id);
        if (!mine) return mine.error();
        if (!mine.value()) {
          ++at;
          continue;
        }
        if (!finished(point)) {  // as it was before the lock was taken
          left_.erase(at);
          return point;
        }
        locks_->release(point->id);
      }
      at = left_.erase(at);
      ++done_;
      ++others_;
      tell();
    }
    return nullptr;
  }
  void tell() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
    const auto left = static_cast<double>(total_ - done_);
    if (options_.progress)
      options_.progress(done_, total_, spent.count() / static_cast<double>(done_) * left);
  }

  std::mutex mutex_;
  std::list<const RunPoint*> left_;
  std::uint64_t total_;
  const GridOptions& options_;
  RunLocks* locks_;  ///< null: no other process does runs of this folder
  std::uint64_t done_ = 0, failed_ = 0, others_ = 0;
  std::optional<Error> error_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<GridOutcome> run_grid(const Experiment& experiment, const Inputs& inputs,
                             const std::vector<RunPoint>& points, const PolicyRegistry& policies,
                             const RunFunction& run, const GridOptions& given) {
  GridOptions options = given;
  if (options.program.empty()) options.program = program_build();
  const std::size_t machine =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<RunPoint> told = points;
  if (experiment.bound) {
    if (Status found = find_bounds(experiment, inputs, machine, told); !found) return found.error();
  }
  const Manifest manifest = manifest_of(experiment, told, options.program);
  const bool divided = options.share || !options.part.whole();
  if (divided) {
    if (Status same = same_grid(options, manifest); !same) return same.error();
  }
  if (Status made = make_folders(experiment, points, options); !made) return made.error();
  if (Status told_all = tell_grid(options, manifest); !told_all) return told_all.error();
  const bool resumes = options.resume || divided;
  GridOutcome outcome;
  std::vector<const RunPoint*> todo;
  const std::vector<std::size_t> mine = runs_of(points, options.part);
  for (const std::size_t i : mine) {
    const RunPoint& point = points[i];
    if (resumes && is_done(point, options)) {
      ++outcome.skipped;
    } else {
      todo.push_back(&point);
    }
  }
  const std::size_t count = std::min(machine, todo.size());
  const CurveLimits limits = curve_limits(points);
  std::optional<RunLocks> locks;
  if (options.share) locks.emplace(options.out / "runs");
  Pool pool(std::move(todo), options, locks ? &*locks : nullptr);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&] {
        for (;;) {
          const auto point = pool.take();
          if (!point) pool.stop(point.error());
          if (!point || point.value() == nullptr) return;
          Status status = done();
          try {
            status = run_one(experiment, inputs, *point.value(), policies, run, limits, options);
          } catch (const std::exception& error) {  // bad_alloc: one run's, not the experiment's
            status = {Errc::io, error.what()};
          }
          pool.report(*point.value(), status);
        }
      });
    }
  }
  if (pool.error()) return *pool.error();
  outcome.failed = pool.failed();
  outcome.others = pool.others();
  outcome.ran = mine.size() - outcome.skipped - outcome.failed - outcome.others;
  return outcome;
}

}  // namespace starling
