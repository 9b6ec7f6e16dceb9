// SPDX-License-Identifier: Apache-2.0
#include "launch/history/usage.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <time.h>

#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology four_gpus() {
  GeneratorOptions options;
  options.servers = 1;
  options.gpus_per_server = 4;
  return generate_flat(options).value();
}

/// Submitted at `at`, waits an hour, holds `gpus` GPUs for `held`.
JobState job(std::uint64_t id, const char* user, Date at, Duration held, std::uint32_t gpus) {
  JobState state;
  state.job = JobId{1, id};
  state.phase = JobPhase::finished;
  state.submitted = std::chrono::duration_cast<Duration>(at.time_since_epoch());
  state.queued = 1h;
  state.elapsed = 1h + held;
  state.begun = true;
  state.attempts = 1;
  for (std::uint32_t g = 0; g < gpus; ++g) state.placement.push_back(GpuId{g});
  JobAsk ask;
  ask.user = user;
  ask.queue = "q";
  ask.gpus_per_worker = gpus;
  state.ask = std::make_shared<const JobAsk>(ask);
  return state;
}

struct InUtc {
  InUtc() { ::setenv("TZ", "UTC", 1), ::tzset(); }
  ~InUtc() { ::unsetenv("TZ"), ::tzset(); }
};

Date day(int year, unsigned month, unsigned of_month) {
  return std::chrono::sys_days(std::chrono::year(year) / static_cast<int>(month) /
                               static_cast<int>(of_month));
}

TEST_CASE("a job's GPU hours are those between its first start and its end, without requeues") {
  const Date at = day(2026, 3, 1), now = day(2026, 4, 1);
  JobState state = job(1, "ann", at, 10h, 4);
  state.requeued = 2h;
  const auto all = usage_of({state}, four_gpus(), {{state.job, 3.6e6}}, {}, now);
  REQUIRE(all.size() == 1);
  CHECK(all[0].gpu_h == doctest::Approx(8 * 4));
  CHECK(all[0].waited_h == doctest::Approx(3));
  CHECK(all[0].energy_kwh == doctest::Approx(1));
  CHECK(all[0].exact);
  CHECK(all[0].type == "V100");
}

TEST_CASE("an elastic job that was tried again may have had other GPUs before") {
  const Date at = day(2026, 3, 1), now = day(2026, 4, 1);
  JobState state = job(1, "ann", at, 10h, 2);
  JobAsk ask = *state.ask;
  ask.min_workers = 1, ask.max_workers = 4;
  state.ask = std::make_shared<const JobAsk>(ask);
  CHECK(usage_of({state}, four_gpus(), {}, {}, now)[0].exact);
  JobState again = state;  // it waits for its second attempt
  again.placement.clear();
  again.phase = JobPhase::waiting;
  CHECK_FALSE(usage_of({again}, four_gpus(), {}, {}, now)[0].exact);
  state.attempts = 2;
  const auto all = usage_of({state}, four_gpus(), {}, {}, now);
  CHECK_FALSE(all[0].exact);
  CHECK(usage_text(all, now).find("~20.00") != std::string::npos);
}

TEST_CASE("what falls into a period counts, and nothing else") {
  const Date at = day(2026, 3, 1), now = day(2026, 4, 1);
  const std::vector<JobState> jobs{job(1, "ann", at, 10h, 1), job(2, "bob", at + 24h, 1h, 1)};
  const auto part = usage_of(jobs, four_gpus(), {}, {at + 6h, at + 9h}, now);
  REQUIRE(part.size() == 1);
  CHECK(part[0].gpu_h == doctest::Approx(3));
  CHECK(part[0].waited_h == doctest::Approx(0));
  // Periods that follow one another add up to the whole.
  double sum = 0, waited = 0;
  for (int hour = 0; hour < 30; ++hour) {
    const Period one{at + std::chrono::hours(hour), at + std::chrono::hours(hour + 1)};
    for (const Usage& u : usage_of(jobs, four_gpus(), {}, one, now))
      sum += u.gpu_h, waited += u.waited_h;
  }
  CHECK(sum == doctest::Approx(11));
  CHECK(waited == doctest::Approx(2));
}

TEST_CASE("jobs that run count until now, those that wait have used nothing") {
  const Date at = day(2026, 3, 1), now = at + 5h;
  JobState runs = job(1, "ann", at, 4h, 2);
  runs.phase = JobPhase::running;
  JobState waits = job(2, "ann", at, 0h, 2);
  waits.phase = JobPhase::waiting;
  waits.begun = false;
  waits.queued = waits.elapsed = 5h;
  const auto all = usage_of({runs, waits}, four_gpus(), {}, {}, now);
  REQUIRE(all.size() == 2);
  CHECK(all[0].gpu_h == doctest::Approx(8));
  CHECK(all[1].gpu_h == 0);
  CHECK(all[1].waited_h == doctest::Approx(5));
}

TEST_CASE("hours of waiting count in the month in which they were") {
  const InUtc utc;
  JobState state = job(1, "ann", day(2026, 1, 31) + 23h, 4h, 1);
  state.queued = 3h;  // two of them on the first of February
  state.requeued = 2h;
  state.elapsed = 3h + 2h + 4h;
  const Date now = day(2026, 4, 1);
  const auto sums_in = [&](const Period& period) {
    return sums_of(usage_of({state}, four_gpus(), {}, period, now), {"month"}, period, now).value();
  };
  const auto sums = sums_in({});
  REQUIRE(sums.size() == 2);
  CHECK(sums[0].keys == std::vector<std::string>{"2026-01"});
  CHECK(sums[0].waited_h == doctest::Approx(1));
  CHECK(sums[0].gpu_h == 0);
  CHECK(sums[1].waited_h == doctest::Approx(4));
  CHECK(sums[1].gpu_h == doctest::Approx(4));
  const auto january = sums_in({std::nullopt, day(2026, 2, 1)});
  REQUIRE(january.size() == 1);
  CHECK(january[0].waited_h == doctest::Approx(1));
  const auto later = sums_in({day(2026, 2, 1), std::nullopt});
  REQUIRE(later.size() == 1);
  CHECK(later[0].keys == std::vector<std::string>{"2026-02"});
  CHECK(later[0].waited_h == doctest::Approx(4));
}

TEST_CASE("sums by user and month: a job over the end of a month counts in both") {
  const InUtc utc;
  const Date eve = day(2026, 1, 31) + 19h, now = day(2026, 4, 1);
  const std::vector<JobState> jobs{job(1, "ann", eve, 10h, 2), job(2, "bob", eve, 1h, 1)};
  const auto usages = usage_of(jobs, four_gpus(), {{JobId{1, 1}, 3.6e6}}, {}, now);
  const auto sums = sums_of(usages, {"month", "user"}, {}, now);
  REQUIRE(sums.ok());
  REQUIRE(sums.value().size() == 3);
  CHECK(sums.value()[0].keys == std::vector<std::string>{"2026-01", "ann"});
  CHECK(sums.value()[0].gpu_h == doctest::Approx(8));
  CHECK(sums.value()[0].waited_h == doctest::Approx(1));
  CHECK(sums.value()[1].keys == std::vector<std::string>{"2026-01", "bob"});
  CHECK(sums.value()[2].keys == std::vector<std::string>{"2026-02", "ann"});
  CHECK(sums.value()[2].gpu_h == doctest::Approx(12));
  CHECK(sums.value()[2].waited_h == 0);
  CHECK(sums.value()[0].energy_kwh + sums.value()[2].energy_kwh == doctest::Approx(1));
  CHECK(sums_csv(sums.value(), {"month", "user"}) ==
        "month,user,jobs,finished,failed,cancelled,gpu_h,exact,waited_h,longest_wait_h,energy_kwh\n"
        "2026-01,ann,1,1,0,0,8.000000,true,1.000000,1.000000,0.400000\n"
        "2026-01,bob,1,1,0,0,1.000000,true,1.000000,1.000000,\n"
        "2026-02,ann,1,1,0,0,12.000000,true,0.000000,0.000000,0.600000\n");
  CHECK(sums_of(usages, {"colour"}, {}, now).error().message ==
        "--by: 'colour' is wrong; give some of user, queue, type, state, month");
}

}  // namespace
}  // namespace starling
