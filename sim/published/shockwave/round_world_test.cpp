// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/round_world.h"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/published/shockwave/allox_shares.h"
#include "sim/published/shockwave/finish_time_shares.h"
#include "sim/published/shockwave/published_runs.h"
#include "sim/published/shockwave/replay.h"
#include "sim/published/shockwave/shockwave_rounds.h"
#include "sim/published/shockwave/time_shares.h"

using namespace starling;

namespace {

/// A ResNet-18 of batch 32 that does 10 steps/s, or 5 of the largest batch.
ShockwaveJob job(std::uint32_t gpus, std::int64_t steps, double arrival_s,
                 BatchMode mode = BatchMode::fixed) {
  ShockwaveJob out{DynamicBatches(*shockwave_model("ResNet-18"), mode, 32, gpus),
                   gpus,
                   steps,
                   arrival_s,
                   {{32, 10}, {256, 5}},
                   {}};
  const std::int64_t per_epoch = out.batches.steps_per_epoch(32);
  for (const std::uint32_t batch : out.batches.profile((steps + per_epoch - 1) / per_epoch))
    out.profile.push_back({batch, 50'000.0 / batch / out.steps_per_s.at(batch)});
  return out;
}

RoundPlaces at(std::size_t job, std::vector<std::uint32_t> gpus) {
  return {{job, std::move(gpus)}};
}

}  // namespace

TEST_CASE(
    "a job that did not run in the round before loses 20 s, but not in the first nor in its last") {
  const std::vector<ShockwaveJob> jobs = {job(1, 2'500, 0), job(1, 1'500, 0)};
  // 0 runs 120, 120 and 10 s; 1 starts in round 1 and does 100 s of work there, then 50 s.
  const std::vector<RoundPlaces> rounds = {at(0, {0}), {{0, {0}}, {1, {1}}}, {{0, {0}}, {1, {1}}}};
  ReplayedRounds replay(rounds);
  const RoundRun run = run_rounds(jobs, 2, replay);
  CHECK(run.jct_s[0] == doctest::Approx(250));
  CHECK(run.jct_s[1] == doctest::Approx(290));
  CHECK(run.makespan_s == doctest::Approx(290));
}

TEST_CASE("a batch changes at the end of the next round, and done epochs are rounded up") {
  // 10 epochs of 1,563 steps are critical, 156.3 s each; then batch 256, 196 steps and 39.2 s.
  const std::vector<ShockwaveJob> jobs = {job(1, 20 * 1'563, 0, BatchMode::accordion)};
  const std::vector<RoundPlaces> rounds(60, at(0, {0}));
  ReplayedRounds replay(rounds);
  const RoundRun run = run_rounds(jobs, 1, replay);
  // After 12 rounds 9.2 epochs count as 10, so the job asks for 256. It has it after round 13, when
  // 15,600 steps are 9.98 epochs: 10 * 196 of 31,260 / 8 steps are done then.
  CHECK(run.jct_s[0] == doctest::Approx(13 * 120 + (3'908 - 1'960) / 5.0));
}

TEST_CASE("where a policy runs no job for good, the world ends") {
  const std::vector<RoundPlaces> none;
  ReplayedRounds replay(none);
  const RoundRun run = run_rounds({job(1, 100, 0)}, 1, replay);
  CHECK(run.jct_s[0] == 0);
}

TEST_CASE("every policy runs gangs whole, on GPUs of their own, to the end") {
  std::vector<ShockwaveJob> jobs;
  for (int i = 0; i < 24; ++i)
    jobs.push_back(job(1U << (i % 3), 3'000 + 2'500 * (i % 7), 150.0 * i,
                       i % 2 == 0 ? BatchMode::fixed : BatchMode::accordion));
  const auto check = [&](const char* name, RoundPolicy& policy) {
    CAPTURE(name);
    const RoundRun run = run_rounds(jobs, 8, policy);
    CHECK(misplaced(run.rounds, jobs, 8) == 0);
    for (const double jct : run.jct_s) CHECK(jct > 0);
  };
  ShareRounds even(8, [](const RoundView& view) { return even_shares(view, 8); });
  check("even", even);
  ShareRounds max_min(8, [](const RoundView& view) { return max_min_shares(view, 8); });
  check("max-min", max_min);
  ShareRounds most(8, [](const RoundView& view) { return most_steps_shares(view, 8); });
  check("most steps", most);
  ShareRounds makespan(8, [](const RoundView& view) { return least_makespan_shares(view, 8); });
  check("makespan", makespan);
  ShareRounds finish(8, FinishTimeShares(8));
  check("finish time", finish);
  ShareRounds allox(8, AlloxShares(8));
  check("allox", allox);
  ShockwaveRounds shockwave(8);
  check("shockwave", shockwave);
}
