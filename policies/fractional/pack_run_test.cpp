// SPDX-License-Identifier: Apache-2.0
// Who comes in which order, what leaves when, and what is told about each step.
#include "policies/fractional/pack_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "policies/fractional/test_cluster.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {

Pod pod(std::uint32_t gpus, std::uint32_t gpu_milli, Duration created = 0s,
        Duration deleted = 10s) {
  return {"p", 1000, 1024, gpus, gpu_milli, {}, created, deleted};
}

std::vector<std::uint32_t> numbers(const std::vector<PackStep>& steps) {
  std::vector<std::uint32_t> pods;
  for (const PackStep& s : steps) pods.push_back(s.pod);
  return pods;
}

std::int64_t asked(const std::vector<Pod>& pods, const std::vector<PackStep>& steps) {
  std::int64_t milli = 0;
  for (const PackStep& s : steps) milli += pods[s.pod].total_gpu_milli();
  return milli;
}

void nothing(std::size_t /*steps*/) {}

}  // namespace

TEST_CASE("pods come in the order of the list, or shuffled by the seed, each once") {
  const std::vector<Pod> pods(50, pod(1, 500));
  const auto listed = pack_arrivals(pods, 1000, {}, Rng(1));
  REQUIRE(listed.ok());
  REQUIRE(listed.value().size() == 50);
  for (std::uint32_t i = 0; i < 50; ++i) {
    CHECK(listed.value()[i].pod == i);
    CHECK(listed.value()[i].arrival == i);
  }
  const auto mixed = numbers(pack_arrivals(pods, 1000, {.shuffle = true}, Rng(1)).value());
  CHECK(mixed == numbers(pack_arrivals(pods, 1000, {.shuffle = true}, Rng(1)).value()));
  CHECK(mixed != numbers(pack_arrivals(pods, 1000, {.shuffle = true}, Rng(2)).value()));
  CHECK(mixed != numbers(listed.value()));
  CHECK(std::set(mixed.begin(), mixed.end()).size() == 50);
}

TEST_CASE("no pod comes where less than a thousandth of a GPU is asked for") {
  const auto none = pack_arrivals(std::vector<Pod>{pod(1, 500)}, 1000, {.inflate = 1e-6}, Rng(1));
  REQUIRE(none.ok());
  CHECK(none.value().empty());
}

TEST_CASE("inflated to a share of all GPUs, and no pod further") {
  std::vector<Pod> pods = {pod(1, 300), pod(0, 0), pod(2, 1000), pod(1, 1000)};
  for (const bool shuffled : {false, true}) {
    for (const double share : {0.05, 0.3, 1.3, 4.0}) {
      CAPTURE(share);
      const auto steps = pack_arrivals(pods, 10'000, {shuffled, share}, Rng(8));
      REQUIRE(steps.ok());
      const auto target = static_cast<std::int64_t>(share * 10'000);
      CHECK(asked(pods, steps.value()) >= target);
      CHECK(asked(pods, steps.value()) < target + 2000);
    }
  }
  // What the list has comes before what is drawn.
  const auto grown = numbers(pack_arrivals(pods, 10'000, {false, 1.3}, Rng(8)).value());
  REQUIRE(grown.size() > 4);
  CHECK(std::vector(grown.begin(), grown.begin() + 4) == std::vector<std::uint32_t>{0, 1, 2, 3});
  pods = {pod(0, 0)};
  CHECK(pack_arrivals(pods, 10'000, {false, 1.3}, Rng(8)).error().code == Errc::invalid);
}

TEST_CASE("at one instant pods leave first") {
  const std::vector<Pod> pods = {pod(1, 1000, 0s, 5s), pod(1, 1000, 5s, 6s), pod(1, 1000, 5s, 5s),
                                 pod(1, 1000, 1s, 9s)};
  const auto steps = pack_lifetimes(pods);
  // The third is not seen by any.
  CHECK(numbers(steps) == std::vector<std::uint32_t>{0, 3, 0, 1, 1, 3});
  CHECK(steps[2].leaves);
  CHECK_FALSE(steps[3].leaves);

  const ClusterSpec cluster = cluster_of({1});
  const Demands demands = find_demands(pods, cluster);
  const Fragmentation measure(demands.all);
  Packer packer(cluster, demands, measure, make_pack_policy("fgd", cluster, measure), Rng(1));
  const auto events = pack(packer, demands, steps, nothing);
  using What = PackEvent::What;
  std::vector<What> what;
  for (const PackEvent& e : events) what.push_back(e.what);
  // The last pod found the only GPU taken, so it does not leave either.
  CHECK(what == std::vector{What::placed, What::unscheduled, What::left, What::placed, What::left});
  CHECK(events.back().unscheduled == 1);
  CHECK(events.back().allocated_gpu_milli == 0);
  CHECK(events.back().arrived_gpu_milli == 3000);
}

TEST_CASE("each step tells what came, what is allocated and what is fragmented") {
  const std::vector<Pod> pods = {pod(1, 600), pod(1, 600), pod(1, 400), pod(1, 600)};
  const ClusterSpec cluster = cluster_of({2});
  const Demands demands = find_demands(pods, cluster);
  CHECK(demands.all.size() == 2);
  CHECK(demands.all[0].count == 3);
  const Fragmentation measure(demands.all);
  Packer packer(cluster, demands, measure, make_pack_policy("best-fit", cluster, measure), Rng(1));
  std::size_t told = 0;
  const auto events = pack(packer, demands, pack_arrivals(pods, 2000, {}, Rng(1)).value(),
                           [&](std::size_t done) { told = done; });
  CHECK(told == 4);
  REQUIRE(events.size() == 4);
  CHECK(events[0].allocated_gpu_milli == 600);
  // 400 are left on one GPU, and three of four pods take 600.
  CHECK(measure.gpus(events[0].fragments) == doctest::Approx(0.3));
  // On both GPUs 400 are left: to those three, all of it is useless.
  CHECK(measure.gpus(events[1].fragments) == doctest::Approx(0.6));
  CHECK(events[2].allocated_gpu_milli == 1600);
  CHECK(measure.gpus(events[2].fragments) == doctest::Approx(0.3));
  CHECK(events[3].what == PackEvent::What::unscheduled);
  CHECK(events[3].arrived_gpu_milli == 2200);
  CHECK(events[3].allocated_gpu_milli == 1600);
  CHECK(events[3].unscheduled == 1);
}

TEST_CASE("typical pods are the most popular ones, until 95 of 100 are covered") {
  std::vector<Pod> pods(92, pod(1, 500));
  for (int i = 0; i < 2; ++i) {
    pods.push_back(pod(1, 300));
    pods.push_back(pod(2, 1000));
  }
  pods[0].memory_mib = 9;  // does not matter
  pods.push_back(pod(1, 100));
  pods.insert(pods.end(), 3, pod(0, 0));
  REQUIRE(pods.size() == 100);
  const auto typical = typical_demands(pods, cluster_of({2}));
  REQUIRE(typical.size() == 2);
  CHECK(typical[0].gpu_milli == 500);
  CHECK(typical[0].count == 92);
  CHECK(typical[0].memory_mib == 0);
  CHECK(typical[1].gpus == 0);
  // One of them less, and of two equally popular ones the larger share is next.
  pods.pop_back();
  const auto more = typical_demands(pods, cluster_of({2}));
  REQUIRE(more.size() == 3);
  CHECK(more[1].gpu_milli == 1000);
  CHECK(more[2].gpus == 1);
  CHECK(more[2].count == 2);
}

TEST_CASE("models are matched under the names of the data centre") {
  std::vector<Pod> pods = {pod(1, 500), pod(1, 500), pod(1, 500), pod(1, 500)};
  pods[1].gpu_models = {"T4"};
  pods[2].gpu_models = {"V100M16", "A10"};
  pods[3].gpu_models = {"G9"};
  const ClusterSpec cluster = cluster_of({2});
  const Demands demands = find_demands(pods, cluster);
  REQUIRE(demands.all.size() == 4);
  CHECK(demands.all[1].models == 1);
  CHECK(demands.all[2].models == 2);
  CHECK(demands.all[3].models == 0);
  CHECK(demands.nowhere == std::vector<std::string>{"A10", "G9"});
}
