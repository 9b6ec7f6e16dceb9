// SPDX-License-Identifier: Apache-2.0
#include "policies/smd/task_counts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "base/rng.h"

namespace starling {
namespace {

struct Case {
  LayeredSteps steps;
  TaskLimits limits;
};

Case random_case(Rng& rng) {
  Case c;
  c.steps.batch = 1 + rng.below(256);
  c.steps.forward_s = rng.uniform();
  for (std::uint32_t l = 1 + rng.below(6); l > 0; --l)
    c.steps.layers.push_back({rng.uniform(), 20 * rng.uniform() * rng.uniform()});
  c.steps.worker_s = rng.uniform() * rng.uniform();
  c.steps.server_s = rng.uniform() * rng.uniform();
  c.limits.least = 1 + rng.below(4);
  c.limits.most = c.limits.least + rng.below(32);
  c.limits.most_servers = 1 + rng.below(32);
  c.limits.gpus_per_worker = 1 + rng.below(2);
  c.limits.cpus_per_worker = rng.below(4);
  c.limits.cpus_per_server = rng.below(4);
  c.limits.gpus = 1 + rng.below(48);
  c.limits.cpus = 1 + rng.below(120);
  return c;
}

/// Seconds of the best of all counts, in as few words as can be; infinite: none is allowed.
double brute(const Case& c) {
  double best = std::numeric_limits<double>::infinity();
  for (std::uint32_t w = c.limits.least; w <= c.limits.most; ++w) {
    for (std::uint32_t p = 1; p <= c.limits.most_servers; ++p) {
      if (w * c.limits.gpus_per_worker > c.limits.gpus) continue;
      if (w * c.limits.cpus_per_worker + p * c.limits.cpus_per_server > c.limits.cpus) continue;
      best = std::min(best, c.steps.step_s(w * c.limits.gpus_per_worker, p));
    }
  }
  return best;
}

TEST_CASE("the inner problem: exact is the best of all, the grid within 1 + eps of it") {
  Rng rng(1);
  int none = 0;
  double worst = 1;
  for (int i = 0; i < 10'000; ++i) {
    const Case c = random_case(rng);
    const double best = brute(c);
    const auto exact = best_tasks(c.steps, c.limits);
    const double eps = 0.02 + 0.5 * rng.uniform();
    const auto grid = best_tasks_on_grid(c.steps, c.limits, eps);
    REQUIRE(exact.has_value() == (best < 1e300));
    REQUIRE(grid.has_value() == exact.has_value());
    if (!exact) {
      ++none;
      continue;
    }
    REQUIRE(c.limits.allow(*exact));
    REQUIRE(c.limits.allow(*grid));
    REQUIRE(step_s(c.steps, c.limits, *exact) == doctest::Approx(best).epsilon(1e-12));
    const double off = step_s(c.steps, c.limits, *grid) / best;
    REQUIRE(off <= 1 + eps + 1e-9);
    worst = std::max(worst, (off - 1) / eps);
  }
  CHECK(none > 100);
  CHECK(none < 5000);
  CHECK(worst > 0.2);  // the bound is not an idle one
}

TEST_CASE("a larger limit never makes a job slower") {
  Rng rng(2);
  for (int i = 0; i < 2'000; ++i) {
    Case c = random_case(rng);
    const auto less = best_tasks(c.steps, c.limits);
    const double before = less ? step_s(c.steps, c.limits, *less) : 1e300;
    c.limits.gpus += rng.below(8);
    c.limits.cpus += rng.below(8);
    const auto more = best_tasks(c.steps, c.limits);
    const double after = more ? step_s(c.steps, c.limits, *more) : 1e300;
    REQUIRE(after <= before);
  }
}

TEST_CASE(
    "nothing on a menu is beaten by another entry, and it has the shortest step of the grid") {
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    const Case c = random_case(rng);
    const auto menu = task_menu(c.steps, c.limits, 0.25, 1000);
    const auto grid = best_tasks_on_grid(c.steps, c.limits, 0.25);
    REQUIRE(menu.empty() == !grid.has_value());
    if (menu.empty()) continue;
    double shortest = 1e300;
    for (const TaskCounts& a : menu) {
      shortest = std::min(shortest, step_s(c.steps, c.limits, a));
      for (const TaskCounts& b : menu) {
        if (a == b) continue;
        const bool beaten = c.limits.gpus_of(b) <= c.limits.gpus_of(a) &&
                            c.limits.cpus_of(b) <= c.limits.cpus_of(a) &&
                            step_s(c.steps, c.limits, b) < step_s(c.steps, c.limits, a);
        REQUIRE(!beaten);
      }
    }
    CHECK(shortest == step_s(c.steps, c.limits, *grid));
    const auto few = task_menu(c.steps, c.limits, 0.25, 3);
    CHECK(few.size() == std::min<std::size_t>(3, menu.size()));
    CHECK(few.back() == menu.back());
  }
}

}  // namespace
}  // namespace starling
