// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/run_grid.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "launch/experiment/bounds.h"
#include "launch/experiment/run_record.h"
#include "launch/report/run_curves.h"
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

Status run_one(const Experiment& experiment, const Inputs& inputs, const RunPoint& point,
               const PolicyRegistry& policies, const RunFunction& run, const CurveLimits& limits,
               const fs::path& out) {
  const Topology& topology = inputs.topologies[point.topology_index].front();
  const auto jobs = jobs_of(experiment, inputs, point);
  if (!jobs) return jobs.error();
  auto result = run(topology, jobs.value(), policies, sim_options(experiment, point, topology));
  if (!result) return result.error();
  if (experiment.jobs_csv) {
    if (Status csv = write_jobs_csv(out / "jobs" / (point.id + ".csv"), result.value()); !csv)
      return csv;
  }
  const RunCurves curves = run_curves(result.value(), topology, limits);
  return write_record(out / "runs" / (point.id + ".json"), point, std::move(result).value(),
                      curves);
}

/// Removes what runs have left in a folder, and nothing else: files named by the id of a run.
void forget(const fs::path& dir, const char* extension) {
  std::error_code error;
  std::vector<fs::path> ours;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    if (entry.path().extension() == extension && is_run_id(entry.path().stem().string()))
      ours.push_back(entry.path());
  }
  for (const fs::path& file : ours) fs::remove(file, error);
}

Status make_folders(const Experiment& experiment, const GridOptions& options) {
  std::error_code error;
  const fs::path runs = options.out / "runs";
  fs::create_directories(runs, error);
  if (!error && experiment.jobs_csv) fs::create_directories(options.out / "jobs", error);
  if (error)
    return {Errc::conflict, runs.string() + ": " + error.message() +
                                "; name a folder by --out that you may write to"};
  if (options.resume) return done();
  if (options.force) {
    forget(runs, ".json");
    forget(options.out / "jobs", ".csv");
    return done();
  }
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

Manifest manifest_of(const Experiment& experiment, const std::vector<RunPoint>& points) {
  return {experiment.name,
          experiment.description,
          experiment.split,
          experiment.baseline,
          text_of(PhysicsChoice{experiment.physics, experiment.straggler_sigma, experiment.pairs,
                                experiment.goodput, experiment.links}),
          points,
          notes_of(experiment, points),
          experiment.together};
}

/// What the threads share.
class Pool {
 public:
  Pool(std::vector<const RunPoint*> todo, const GridOptions& options)
      : todo_(std::move(todo)), options_(options) {}

  /// The next run; null when there is none.
  const RunPoint* take() {
    const std::scoped_lock lock(mutex_);
    return next_ < todo_.size() ? todo_[next_++] : nullptr;
  }
  void report(const RunPoint& point, const Status& status) {
    const std::scoped_lock lock(mutex_);
    ++done_;
    if (!status) {
      ++failed_;
      if (options_.failed) options_.failed(point, status.error());
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
    const auto left = static_cast<double>(todo_.size() - done_);
    if (options_.progress)
      options_.progress(done_, todo_.size(), spent.count() / static_cast<double>(done_) * left);
  }
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

 private:
  std::mutex mutex_;
  std::vector<const RunPoint*> todo_;
  const GridOptions& options_;
  std::size_t next_ = 0;
  std::uint64_t done_ = 0, failed_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<GridOutcome> run_grid(const Experiment& experiment, const Inputs& inputs,
                             const std::vector<RunPoint>& points, const PolicyRegistry& policies,
                             const RunFunction& run, const GridOptions& options) {
  if (Status made = make_folders(experiment, options); !made) return made.error();
  const std::size_t machine =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<RunPoint> told = points;
  if (experiment.bound) {
    if (Status found = find_bounds(experiment, inputs, machine, told); !found) return found.error();
  }
  if (Status written =
          write_manifest(options.out / "experiment.json", manifest_of(experiment, told));
      !written) {
    return written.error();
  }
  GridOutcome outcome;
  std::vector<const RunPoint*> todo;
  for (const RunPoint& point : points) {
    if (options.resume && read_record(options.out / "runs" / (point.id + ".json"), point)) {
      ++outcome.skipped;
    } else {
      todo.push_back(&point);
    }
  }
  const std::size_t count = std::min(machine, todo.size());
  const CurveLimits limits = curve_limits(points);
  Pool pool(std::move(todo), options);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&] {
        while (const RunPoint* point = pool.take()) {
          Status status = done();
          try {
            status = run_one(experiment, inputs, *point, policies, run, limits, options.out);
          } catch (const std::exception& error) {  // bad_alloc: one run's, not the experiment's
            status = {Errc::io, error.what()};
          }
          pool.report(*point, status);
        }
      });
    }
  }
  outcome.failed = pool.failed();
  outcome.ran = points.size() - outcome.skipped - outcome.failed;
  return outcome;
}

}  // namespace starling
