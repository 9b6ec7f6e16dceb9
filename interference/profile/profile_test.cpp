// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "interference/profile/profiled_pairs.h"

namespace starling {
namespace {

ProfilePlan small_plan() {
  return {{{"dense", 32}, {"cache", 1}, {"stream", 4}},
          {{ProfileRelation::same_core, 0, 0}, {ProfileRelation::same_cache, 0, 1}},
          4,
          7};
}

ProfileSample sample(ProfileVisit visit, double norm, double other = 0) {
  return {visit, 100, 200, 100 * norm, 200 * norm, 1, 1, 0.5, 0.5, other};
}

TEST_CASE("workloads are read by name, with their batch sizes or one that is given") {
  const auto some = parse_workloads("cache:4,dense,cache:4", false);
  REQUIRE(some.ok());
  CHECK(some.value() == std::vector<WorkloadSpec>{{"cache", 4}, {"dense", 32}, {"dense", 256}});
  CHECK(parse_workloads("", false).value().size() == 2 * workload_kinds().size());
  CHECK(parse_workloads("", true).value().size() == workload_kinds().size());
  for (const char* bad :
       {"desne", "dense,", "dense:0", "dense:x", "dense:99999", "dense:", ",", "dense:4:4"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_workloads(bad, false).ok());
  }
  CHECK(parse_workloads("desne", false).error().message.find("network") != std::string::npos);
}

TEST_CASE("a round has every pair at every place once, in an order that the seed decides") {
  const ProfilePlan plan = small_plan();
  const std::vector<ProfileVisit> round = round_of(plan, 2);
  CHECK(round.size() == 12);
  CHECK(std::set<ProfileVisit>(round.begin(), round.end()).size() == 12);
  CHECK(std::all_of(round.begin(), round.end(),
                    [](const ProfileVisit& v) { return v.repeat == 2 && v.a <= v.b && v.b < 3; }));
  CHECK(round == round_of(plan, 2));
  CHECK(round != round_of(plan, 3));
  ProfilePlan other = plan;
  other.seed = 8;
  CHECK(round != round_of(other, 2));
  // Workers are started per place, so a round does not go back and forth between places.
  CHECK(std::count_if(round.begin() + 1, round.end(),
                      [&](const ProfileVisit& v) { return v.place != (&v - 1)->place; }) == 1);
}

TEST_CASE("windows come in every order about equally often") {
  const ProfilePlan plan = small_plan();
  std::map<std::array<ProfileWindow, 3>, int> seen;
  for (std::uint32_t repeat = 0; repeat < 100; ++repeat) {
    for (const ProfileVisit& visit : round_of(plan, repeat)) ++seen[windows_of(plan, visit)];
  }
  CHECK(seen.size() == 6);
  for (const auto& [order, count] : seen) CHECK(count == doctest::Approx(200).epsilon(0.25));
}

TEST_CASE("a median's interval needs six values and cuts as many as the binomial lets it") {
  CHECK_FALSE(interval_cut(5).has_value());
  CHECK(interval_cut(6) == 0);
  CHECK(interval_cut(8) == 0);
  CHECK(interval_cut(9) == 1);
  CHECK(interval_cut(15) == 3);
  CHECK(interval_cut(25) == 7);
  const Estimate few = robust_estimate({3, 1, 2, 10});
  CHECK(few.median == 2.5);
  CHECK_FALSE(few.interval.has_value());
  const Estimate nine = robust_estimate({9, 8, 7, 6, 5, 4, 3, 2, 1000});
  CHECK(nine.median == 6);
  CHECK(nine.interval->low == 3);
  CHECK(nine.interval->high == 9);
  CHECK(robust_estimate({}).n == 0);
}

TEST_CASE("the interval holds the true median in at least 95 % of samples, skewed ones too") {
  Rng rng(5);
  for (const std::size_t n : {std::size_t{6}, std::size_t{11}, std::size_t{20}}) {
    int held = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values;
      for (std::size_t i = 0; i < n; ++i) values.push_back(rng.exponential());
      const Estimate estimate = robust_estimate(values);
      held += estimate.interval->low <= 0.693147 && estimate.interval->high >= 0.693147;
    }
    CAPTURE(n);
    CHECK(held >= 0.94 * kTrials);
  }
}

TEST_CASE("norms are the median of each repeat's own ratio, so drift between repeats cancels") {
  const ProfilePlan plan = small_plan();
  std::vector<ProfileSample> samples;
  for (std::uint32_t repeat = 0; repeat < 7; ++repeat) {
    const double drift = 1 + repeat;
    samples.push_back(
        {{repeat, 0, 0, 1}, 100 * drift, 10 * drift, 60 * drift, 8 * drift, 1, 1, 1, 0.5, 0});
  }
  const auto rows = profiled_pairs(plan, samples);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].norm_a.median == doctest::Approx(0.6));
  CHECK(rows[0].norm_a.interval->low == doctest::Approx(0.6));
  CHECK(rows[0].norm_b.interval->high == doctest::Approx(0.8));
  CHECK(rows[0].per_cpu_a.median == doctest::Approx(0.6));
  CHECK(rows[0].per_cpu_b.median == doctest::Approx(1.6));
  CHECK(rows[0].iso_a.median == doctest::Approx(400));
  CHECK_FALSE(rows[0].noisy);
}

TEST_CASE("disturbed repeats do not count, unless that leaves too few: then the row says so") {
  const ProfilePlan plan = small_plan();
  std::vector<ProfileSample> samples;
  for (std::uint32_t repeat = 0; repeat < 4; ++repeat) {
    samples.push_back(sample({repeat, 0, 0, 0}, 0.5));
    samples.push_back(sample({repeat, 0, 0, 1}, 0.5, repeat < 2 ? 0.0 : 0.4));
  }
  for (std::uint32_t repeat = 4; repeat < 7; ++repeat) {
    samples.push_back(sample({repeat, 0, 0, 0}, 0.67, 0.5));
    samples.push_back(sample({repeat, 0, 0, 1}, 0.67, 0.5));
  }
  const auto rows = profiled_pairs(plan, samples);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].norm_a.median == 0.5);
  CHECK(rows[0].norm_a.n == 4);
  CHECK(rows[0].repeats == 7);
  CHECK_FALSE(rows[0].noisy);
  CHECK(rows[1].noisy);
  CHECK(rows[1].norm_a.n == 7);
}

TEST_CASE("the table has Gavel's columns first, and one place is one gpu") {
  const ProfilePlan plan = small_plan();
  std::vector<ProfileSample> samples;
  for (std::uint32_t repeat = 0; repeat < 6; ++repeat) {
    samples.push_back(sample({repeat, 1, 1, 2}, 0.75, 0.01));
    samples.push_back(sample({repeat, 0, 0, 0}, 0.5));
  }
  const std::string csv = profiled_pairs_csv(profiled_pairs(plan, samples), "own, \"1\"", "epyc");
  CHECK(csv ==
        "campaign,gpu,model_a,batch_a,model_b,batch_b,steps_per_s_a,steps_per_s_b,iso_a,iso_b,"
        "norm_a,norm_b,flag,relation,core_a,core_b,repeats,repeats_used,norm_a_low,norm_a_high,"
        "norm_b_low,norm_b_high,per_cpu_a,per_cpu_b,other_load\n"
        "\"own, \"\"1\"\"\",epyc/same-core,dense,32,dense,32,50,100,100,200,0.5000,0.5000,,"
        "same-core,0,0,6,6,0.5000,0.5000,0.5000,0.5000,1.0000,1.0000,0.000\n"
        "\"own, \"\"1\"\"\",epyc/same-cache,cache,1,stream,4,75,150,100,200,0.7500,0.7500,,"
        "same-cache,0,1,6,6,0.7500,0.7500,0.7500,0.7500,1.5000,1.5000,0.010\n");
}

TEST_CASE("samples are read back; a cut last line is forgotten, another campaign's are refused") {
  const ProfilePlan plan = small_plan();
  const std::string mark = samples_mark(plan, "epyc", 0.4);
  std::string text = samples_head(mark);
  CHECK(parse_samples("", "f", mark, plan).value().empty());
  CHECK(parse_samples(text, "f", mark, plan).value().empty());
  text += sample_line(sample({0, 1, 0, 2}, 0.5, 0.125));
  text += sample_line(sample({1, 1, 0, 2}, 0.25));
  const auto back = parse_samples(text + "2,1,0,2,10", "f", mark, plan);
  REQUIRE(back.ok());
  REQUIRE(back.value().size() == 2);
  CHECK(back.value()[0].visit == ProfileVisit{0, 1, 0, 2});
  CHECK(back.value()[0].beside_b == 100);
  CHECK(back.value()[0].other_load == 0.125);

  const std::string another = samples_mark(plan, "epyc", 0.5);
  CHECK(parse_samples(text, "f", another, plan).error().message.find("f:1: was measured with") ==
        0);
  for (const char* bad :
       {"0,2,0,2,1,1,1,1,1,1,1,1,0\n", "0,1,2,0,1,1,1,1,1,1,1,1,0\n", "0,1,0,3,1,1,1,1,1,1,1,1,0\n",
        "0,1,0,2,1,1,1,1,1,1,1,0\n", "0,1,0,2,0,1,1,1,1,1,1,1,0\n", "0,1,0,2,nan,1,1,1,1,1,1,1,0\n",
        "0,1,0,2,1,1,1,1,1,0,1,1,0\n", "x,1,0,2,1,1,1,1,1,1,1,1,0\n",
        "-1,1,0,2,1,1,1,1,1,1,1,1,0\n"}) {
    CAPTURE(bad);
    const auto refused = parse_samples(text + bad, "f", mark, plan);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("f:5: ") == 0);
  }
}

TEST_CASE("of two samples of one visit the less disturbed one stays") {
  const std::vector<ProfileSample> twice = {
      sample({0, 0, 0, 0}, 0.6, 0.3), sample({0, 0, 0, 1}, 0.6, 0.1),
      sample({0, 0, 0, 0}, 0.5, 0.05), sample({0, 0, 0, 1}, 0.5, 0.2)};
  const auto best = least_disturbed(twice);
  REQUIRE(best.size() == 2);
  CHECK(best[0].beside_a == 50);
  CHECK(best[1].beside_a == 60);
}

}  // namespace
}  // namespace starling
