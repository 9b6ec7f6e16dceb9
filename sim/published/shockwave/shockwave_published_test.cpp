// SPDX-License-Identifier: Apache-2.0
// Shockwave's published runs: the world alone, and the policies that nothing is left open in.
// `starling reproduce shockwave` holds all seven.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/test_data.h"
#include "sim/published/shockwave/allox_shares.h"
#include "sim/published/shockwave/published_runs.h"
#include "sim/published/shockwave/replay.h"
#include "sim/published/shockwave/time_shares.h"

using namespace starling;

namespace {

constexpr std::uint32_t kGpus = 32;

struct Published {
  std::vector<ShockwaveJob> jobs;
  std::map<std::string, PublishedRounds> runs;
};

/// Empty where the data is absent.
Published published() {
  Published out;
  const auto runs = test_data("conformance/shockwave_120.json.gz");
  const auto schedule = test_data("conformance/shockwave_120_schedule.csv.gz");
  const auto trace = test_data("shockwave_traces/shockwave_120_100.csv");
  if (!runs || !schedule || !trace) return out;
  const auto data = runs->parent_path().parent_path();
  auto jobs = read_shockwave_jobs(data);
  REQUIRE(jobs.ok());
  out.jobs = std::move(jobs).value();
  auto read = read_published_rounds(data, out.jobs.size());
  REQUIRE(read.ok());
  out.runs = std::move(read).value();
  return out;
}

void check_equal(const RoundRun& ours, const PublishedRounds& theirs) {
  CHECK(ours.makespan_s == doctest::Approx(theirs.makespan_s).epsilon(1e-9));
  for (std::size_t j = 0; j < theirs.jct_s.size(); ++j) {
    CAPTURE(j);
    CHECK(std::abs(ours.jct_s[j] - theirs.jct_s[j]) < 1e-6);
  }
}

}  // namespace

TEST_CASE("under their schedules each job takes as long as it took them" *
          doctest::test_suite("published data")) {
  const Published data = published();
  if (data.jobs.empty()) return;
  CHECK(data.jobs.size() == 120);
  CHECK(data.runs.size() == 9);
  for (const auto& [name, theirs] : data.runs) {
    CAPTURE(name);
    CHECK(misplaced(theirs.rounds, data.jobs, kGpus) == 0);
    ReplayedRounds replay(theirs.rounds);
    check_equal(run_rounds(data.jobs, kGpus, replay), theirs);
    // What the authors derived from the JCTs.
    const auto ratios = finish_time_ratios(data.jobs, theirs.jct_s, kGpus);
    CHECK(*std::max_element(ratios.begin(), ratios.end()) ==
          doctest::Approx(theirs.worst_ratio).epsilon(1e-9));
  }
}

TEST_CASE("even shares and AlloX choose the same jobs and GPUs in every round" *
          doctest::test_suite("published data")) {
  const Published data = published();
  if (data.jobs.empty()) return;
  ShareRounds even(kGpus, [](const RoundView& view) { return even_shares(view, kGpus); });
  const RoundRun by_even = run_rounds(data.jobs, kGpus, even);
  CHECK(by_even.rounds == data.runs.at("gandiva_fair").rounds);
  check_equal(by_even, data.runs.at("gandiva_fair"));
  ShareRounds allox(kGpus, AlloxShares(kGpus));
  const RoundRun by_allox = run_rounds(data.jobs, kGpus, allox);
  CHECK(by_allox.rounds == data.runs.at("allox").rounds);
  check_equal(by_allox, data.runs.at("allox"));
}

TEST_CASE("the interior-point method leaves Gavel's rounds as they were" *
          doctest::test_suite("published data")) {
  const Published data = published();
  if (data.jobs.empty()) return;
  ShareRounds max_min(kGpus, [](const RoundView& view) { return max_min_shares(view, kGpus); });
  const RoundRun run = run_rounds(data.jobs, kGpus, max_min);
  const PublishedRounds& theirs = data.runs.at("max_min_fairness");
  CHECK(std::equal(run.rounds.begin(), run.rounds.end(), theirs.rounds.begin(), theirs.rounds.end(),
                   same_jobs));
  check_equal(run, theirs);
}
