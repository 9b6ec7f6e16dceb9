// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "interference/speed.h"
#include "policies/gavel/gavel.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"
#include "workload/job.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"

namespace starling {

/// For tests: the numbers that Python's random module gives for a small seed. Gavel's agnostic
/// policies draw from it, and a single draw decides whether a long job gets a slow GPU.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed) {
    ByArray state{seed};
    engine_.seed(state);
  }
  /// randrange(n)
  std::uint32_t below(std::uint32_t n) {
    std::uint32_t bits = 0;
    while ((n >> bits) != 0) ++bits;
    std::uint32_t r = n;
    while (r >= n) r = static_cast<std::uint32_t>(engine_()) >> (32 - bits);
    return r;
  }

 private:
  // init_by_array of the reference implementation with one word of key.
  struct ByArray {
    using result_type = std::uint32_t;
    std::uint32_t key;
    template <class It>
    void generate(It begin, It end) const {
      std::array<std::uint32_t, 624> mt{};
      mt[0] = 19650218U;
      for (std::uint32_t i = 1; i < 624; ++i)
        mt[i] = 1812433253U * (mt[i - 1] ^ (mt[i - 1] >> 30)) + i;
      std::uint32_t i = 1;
      const auto step = [&] {
        if (++i < 624) return;
        mt[0] = mt[623];
        i = 1;
      };
      for (int k = 0; k < 624; ++k, step())
        mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30)) * 1664525U)) + key;
      for (int k = 0; k < 623; ++k, step())
        mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30)) * 1566083941U)) - i;
      mt[0] = 0x80000000U;
      for (std::size_t at = 0; begin != end; ++begin) *begin = mt[at++];
    }
  };
  std::mt19937 engine_;
};

/// Agnostic FIFO as the published code has it, which is not what it means to do: the type that it
/// draws is not used. A job gets the last type by name that has any GPU left, even if too few, and
/// when that is then used up exactly, the drawn type is struck off the list instead. A successor of
/// a finished job is checked against those before it in order alone. The rounds absorb what is
/// given out twice.
class PublishedFifo {
 public:
  explicit PublishedFifo(std::uint32_t seed) : random_(seed) {}
  GavelAllocation allocate(const GavelProblem& problem) {
    std::vector<std::int64_t> left(problem.gpus.begin(), problem.gpus.end());
    std::map<JobId, std::size_t> row_of;
    std::vector<std::size_t> queue;
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      row_of.emplace(problem.rows[i].job, i);
      if (!held_.contains(problem.rows[i].job)) queue.push_back(i);
    }
    const auto give = [&](const GavelProblem::Row& row, std::size_t type) {
      held_[row.job] = {type, row.gpus};
      left[type] -= row.gpus;
    };
    std::size_t head = 0;
    const auto before = held_;
    for (const auto& [job, held] : before) {
      if (row_of.contains(job)) {
        left[held.first] -= held.second;
        continue;
      }
      held_.erase(job);
      if (head == queue.size()) continue;
      const GavelProblem::Row& next = problem.rows[queue[head]];
      if (next.gpus > left[held.first] || next.speed[held.first] <= 0) continue;
      give(next, held.first);
      ++head;
    }
    std::vector<std::size_t> types;
    for (std::size_t t = 0; t < left.size(); ++t) {
      if (left[t] > 0) types.push_back(t);
    }
    for (; head < queue.size() && !types.empty(); ++head) {
      const GavelProblem::Row& row = problem.rows[queue[head]];
      std::vector<std::size_t> room;
      for (std::size_t i = 0; i < types.size(); ++i) {
        if (left[types[i]] >= row.gpus) room.push_back(i);
      }
      if (room.empty()) break;
      const std::size_t drawn = room[random_.below(static_cast<std::uint32_t>(room.size()))];
      const std::size_t type = types.back();
      if (row.speed[type] <= 0) continue;
      give(row, type);
      if (left[type] == 0) types.erase(types.begin() + static_cast<std::ptrdiff_t>(drawn));
    }
    GavelAllocation out(problem.rows.size(), std::vector<double>(left.size(), 0.0));
    for (const auto& [job, held] : held_) out[row_of.at(job)][held.first] = 1;
    return out;
  }

 private:
  PythonRandom random_;
  std::map<JobId, std::pair<std::size_t, std::uint32_t>> held_;  // type, GPUs
};

/// Speeds alone on one type, from Gavel's isolated.csv (campaign 2020_sim, consolidated): steps per
/// second by job type and gang. `relative` is to the fastest of the three types, wherever the
/// gang's GPUs are.
class GavelSpeed final : public SpeedModel {
 public:
  GavelSpeed(const std::string& isolated_csv, const Topology& topology) : topology_(topology) {
    const std::string text = read_text_file(isolated_csv).value();
    CsvReader reader(text);
    std::vector<std::string_view> f;
    while (reader.next(f)) {
      if (f[0] != "2020_sim" || f[2] != "consolidated") continue;
      std::string type(f[1]);
      std::transform(type.begin(), type.end(), type.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      steps_[{name(f[3], f[4]), number(f[5]), type}] = real(f[6]);
    }
  }
  static std::string name(std::string_view model, std::string_view batch) {
    return std::string(model) + " (batch size " + std::string(batch) + ")";
  }
  static std::uint32_t number(std::string_view text) {
    return static_cast<std::uint32_t>(real(text));
  }
  static double real(std::string_view text) {
    double x = 0;
    return parse_number(text, x) ? x : 0;
  }
  [[nodiscard]] double steps_per_s(const std::string& model, std::uint32_t gpus,
                                   const std::string& type) const {
    const auto found = steps_.find({model, gpus, type});
    return found == steps_.end() ? 0 : found->second;
  }
  [[nodiscard]] double best(const std::string& model, std::uint32_t gpus) const {
    double most = 0;
    for (const GpuType& type : topology_.gpu_types())
      most = std::max(most, steps_per_s(model, gpus, type.name));
    return most;
  }
  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours&) const override {
    double slowest = 1;
    for (const GpuId gpu : placement) {
      const std::string& type = topology_.gpu_types()[topology_.type_of(gpu).value].name;
      slowest =
          std::min(slowest, steps_per_s(job.model, job.gpus, type) / best(job.model, job.gpus));
    }
    return {slowest, 0};
  }

 private:
  Topology topology_;
  std::map<std::tuple<std::string, std::uint32_t, std::string>, double> steps_;
};

/// Gavel's simulator runs whole steps, as many as fit into 360 s, and begins the next round when
/// the last job of this one is through.
inline Duration gavel_round(const TestWorld& world, const GavelSpeed& speed) {
  Duration longest{0};
  for (const TestWorld::Job& job : world.jobs) {
    if (job.placement.empty()) continue;
    const double steps = speed.best(job.spec.model, job.spec.workers) * job.progress.rate();
    const Duration runs = from_seconds(std::floor(steps * 360) / steps);
    longest = std::max(longest, std::min(runs, job.ends - world.now()));
  }
  return longest > Duration::zero() ? longest : std::chrono::seconds(360);
}

/// A trace of gavel/traces, each job as long as its steps take on its fastest type.
inline Trace gavel_trace(const std::string& file, const GavelSpeed& speed) {
  const std::string text = read_text_file(file).value();
  CsvReader reader(text);
  std::vector<std::string_view> f;
  Trace trace;
  reader.next(f);
  while (reader.next(f)) {
    TraceJob job;
    job.spec.id = JobId{1, trace.jobs.size() + 1};
    job.spec.model = GavelSpeed::name(f[0], f[1]);
    job.spec.workers = GavelSpeed::number(f[3]);
    job.submit = from_seconds(GavelSpeed::real(f[8]));
    job.spec.duration =
        from_seconds(GavelSpeed::real(f[2]) / speed.best(job.spec.model, job.spec.workers));
    trace.jobs.push_back(job);
  }
  return trace;
}

}  // namespace starling
