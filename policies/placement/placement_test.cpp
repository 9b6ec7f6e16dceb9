// SPDX-License-Identifier: Apache-2.0
// The placement policies, each in the situation that defines it; figures by hand.
#include <doctest/doctest.h>

#include "policies/registry.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

/// Speeds of made-up models. Beside others on one of its GPUs a job has the least of pair(), over
/// several servers besides half of that; on a K80 a tenth.
struct Speeds final : SpeedModel {
  Topology topology;
  explicit Speeds(const Topology& t) : topology(t) {}

  static double pair(const std::string& own, const std::string& other) {
    if (own == "brute" || other == "brute") return 0.05;
    if (other == "calm") return 0.9;
    if (other == "loud") return own == "loud" ? 0.3 : 0.4;
    return 0.8;
  }
  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    double relative = 1;
    for (const Neighbour& other : beside) {
      for (const GpuId gpu : placement) {
        if (std::binary_search(other.placement.begin(), other.placement.end(), gpu)) {
          relative = std::min(relative, pair(job.model, other.job.model));
        }
      }
    }
    if (topology.server_of(placement.front()) != topology.server_of(placement.back())) {
      relative /= 2;
    }
    const GpuTypeId type = topology.type_of(placement.front());
    if (topology.gpu_types()[type.value].name == "K80") relative /= 10;
    return {relative, 0};
  }
};

struct Scene {
  Topology topology;
  Occupancy gpus;
  std::vector<JobSpec> specs;
  std::vector<JobView> waiting, running;
  Speeds speed;

  Scene(std::vector<ServerGroup> groups, std::uint32_t gpus_per_server)
      : topology(make(std::move(groups), gpus_per_server)),
        gpus(topology, {0, topology.server_count()}, 2),
        speed(topology) {
    specs.reserve(16);
  }
  static Topology make(std::vector<ServerGroup> groups, std::uint32_t gpus_per_server) {
    GeneratorOptions options;
    options.groups = std::move(groups);
    options.gpus_per_server = gpus_per_server;
    return generate_flat(options).value();
  }
  JobSpec& add(const std::string& model, std::uint32_t count, Placement runs = {}) {
    JobSpec spec;
    spec.id = JobId{1, specs.size() + 1};
    spec.workers = count;
    spec.model = model;
    specs.push_back(spec);
    JobView view;
    view.spec = &specs.back();
    view.order = specs.size();
    if (!runs.empty()) gpus.take(runs);
    view.placement = std::move(runs);
    (view.placement.empty() ? waiting : running).push_back(view);
    return specs.back();
  }
  std::vector<Start> starts(const std::string& policy) const {
    const auto made = make_policy_registry().make(policy);
    REQUIRE_MESSAGE(made.ok(), policy);
    const View view{topology, gpus, waiting, running, {}, speed, Instant{}, AgentId{0}};
    Rng rng(1);
    std::vector<Start> out;
    for (const Decision& d : made.value()->decide(view, {}, rng)) out.push_back(std::get<Start>(d));
    return out;
  }
  /// Where the only waiting job starts; empty: it waits.
  Placement place(const std::string& policy) const {
    const auto all = starts(policy);
    REQUIRE(all.size() <= 1);
    return all.empty() ? Placement{} : all.front().placement;
  }
};

Placement at(std::initializer_list<std::uint32_t> gpus) {
  Placement out;
  for (const std::uint32_t gpu : gpus) out.push_back(GpuId{gpu});
  return out;
}

const std::vector<std::string> kSharing = {"load-balance",
                                           "load-balance:share=first",
                                           "tetris",
                                           "tetris:score=fit",
                                           "lif",
                                           "lif:threshold=0.3",
                                           "smart-greedy",
                                           "smart-greedy:wait=no",
                                           "smart-greedy:threshold=0.3",
                                           "consolidate:variant=share"};

// Beside loud: 0.4 for itself and 0.9 for loud. Beside calm: 0.9 each.
TEST_CASE("lif prefers the harmless partner") {
  Scene scene({{2, "V100"}}, 1);
  scene.add("loud", 1, at({0}));
  scene.add("calm", 1, at({1}));
  scene.add("calm", 1);
  CHECK(scene.place("lif") == at({1}));
  CHECK(scene.place("lif:share=no").empty());
}

TEST_CASE("lif takes a free GPU rather than share one") {
  Scene scene({{2, "V100"}}, 1);
  scene.add("calm", 1, at({0}));
  scene.add("calm", 1);
  CHECK(scene.place("lif") == at({1}));
}

// Beside loud a job adds 0.4 and takes 0.1: 0.3 in all. Beside brute 0.05 - 0.95 < 0.
TEST_CASE("the threshold makes a job wait for a bad pair and not for a good one") {
  for (const std::string partner : {"calm", "loud", "brute"}) {
    Scene scene({{1, "V100"}}, 1);
    scene.add(partner, 1, at({0}));
    scene.add("calm", 1);
    CAPTURE(partner);
    CHECK(scene.place("lif") == at({0}));
    CHECK(scene.place("lif:threshold=0.25").empty() == (partner == "brute"));
    CHECK(scene.place("lif:threshold=0.35").empty() == (partner != "calm"));
    CHECK(scene.place("lif:threshold=0.85").empty());
  }
}

// One GPU of a gang of eight: 0.9 for itself, and eight GPUs lose 0.1 each.
TEST_CASE("what a gang loses counts for each of its GPUs") {
  Scene scene({{1, "V100"}}, 8);
  scene.add("calm", 8, at({0, 1, 2, 3, 4, 5, 6, 7}));
  scene.add("calm", 1);
  CHECK(scene.place("lif:threshold=0.05") == at({0}));
  CHECK(scene.place("lif:threshold=0.15").empty());
}

TEST_CASE("the threshold also refuses to spread, and slow GPU types, but not for ever") {
  Scene spread({{2, "V100"}}, 2);
  spread.add("calm", 1, at({0}));
  spread.add("calm", 1, at({2}));
  spread.add("calm", 2);
  CHECK(spread.place("lif:share=no") == at({1, 3}));
  CHECK(spread.place("lif:share=no,threshold=0.6").empty());

  Scene slow({{1, "V100"}, {1, "K80"}}, 1);
  slow.add("brute", 1, at({0}));
  slow.add("calm", 1);
  CHECK(slow.place("lif") == at({1}));
  CHECK(slow.place("lif:threshold=0.3").empty());

  Scene idle({{1, "K80"}, {1, "V100"}}, 1);
  idle.add("calm", 1).gpu_types = {"K80"};
  CHECK(idle.place("lif:threshold=0.9") == at({0}));
}

TEST_CASE("a gang goes beside a gang of its size, or into what a larger one leaves") {
  Scene equal({{2, "V100"}}, 4);
  equal.add("calm", 4, at({0, 1, 2, 3}));
  equal.add("calm", 2, at({4, 5}));
  equal.add("calm", 2, at({6, 7}));
  equal.add("calm", 2);
  // 0.9 and 0.9 either way; the gang of four comes first but is not its equal.
  CHECK(equal.place("lif") == at({4, 5}));

  Scene larger({{1, "V100"}}, 4);
  larger.add("calm", 4, at({0, 1, 2, 3}));
  larger.add("calm", 1, at({0}));
  larger.add("calm", 2);
  CHECK(larger.place("lif") == at({1, 2}));

  Scene several({{1, "V100"}}, 4);
  several.add("calm", 2, at({0, 1}));
  several.add("calm", 1, at({2}));
  several.add("calm", 4);
  CHECK(several.place("lif") == at({0, 1, 2, 3}));
}

TEST_CASE("jobs of one call see where the earlier ones went") {
  Scene scene({{2, "V100"}}, 1);
  for (int i = 0; i < 5; ++i) scene.add("calm", 1);
  for (const std::string& policy : kSharing) {
    CAPTURE(policy);
    const auto starts = scene.starts(policy);
    REQUIRE(starts.size() == 4);
    int on[2] = {0, 0};
    for (const Start& start : starts) ++on[start.placement.front().value];
    CHECK(on[0] == 2);
    CHECK(on[1] == 2);
  }
}

TEST_CASE("consolidate shares only when it would wait, and where others lose least") {
  Scene scene({{2, "V100"}}, 2);
  scene.add("calm", 1, at({0}));
  scene.add("loud", 1, at({2}));
  scene.add("calm", 2);
  CHECK(scene.place("consolidate").empty());  // waits for a server
  CHECK(scene.place("consolidate:variant=spread") == at({1, 3}));
  CHECK(scene.place("consolidate:variant=share") == at({1, 3}));
  scene.add("brute", 1, at({1}));
  scene.add("loud", 1, at({3}));
  CHECK(scene.place("consolidate:variant=spread").empty());
  // Loses: calm 0.1 and brute 0.95; on the other server the two louds 0.1 each.
  CHECK(scene.place("consolidate:variant=share") == at({2, 3}));
}

TEST_CASE("load balancing spreads before it shares, or shares before it spreads") {
  Scene scene({{2, "V100"}}, 4);
  scene.add("calm", 3, at({0, 1, 2}));
  scene.add("calm", 2, at({4, 5}));
  JobSpec& job = scene.add("calm", 2);
  CHECK(scene.place("load-balance") == at({6, 7}));  // the emptier server
  job.workers = 3;
  CHECK(scene.place("load-balance") == at({3, 6, 7}));
  CHECK(scene.place("load-balance:share=first") == at({4, 6, 7}));
  job.workers = 4;
  CHECK(scene.place("load-balance") == at({4, 5, 6, 7}));
}

// Pressure by hand: a job of Gavel's types loses 0.1 beside calm, 0.6 beside loud and 0.2 beside
// one of its own; scaled so that these are a half: 0.25, 1 (cut) and 0.5.
TEST_CASE("Tetris never puts more pressure on a GPU than it bears") {
  for (const auto& [partner, model, fits] : {std::tuple{"calm", "calm", true},
                                             {"other", "other", true},
                                             {"calm", "other", true},
                                             {"loud", "calm", false},
                                             {"calm", "loud", false}}) {
    CAPTURE(partner);
    CAPTURE(model);
    Scene scene({{1, "V100"}}, 1);
    scene.add(partner, 1, at({0}));
    scene.add(model, 1);
    for (const char* policy : {"tetris", "tetris:score=fit"}) {
      CHECK(scene.place(policy).empty() == !fits);
    }
  }
}

TEST_CASE("Tetris takes the emptiest server by dot product, the fullest by tightest fit") {
  Scene scene({{2, "V100"}}, 2);
  scene.add("calm", 1, at({0}));
  scene.add("calm", 1);
  CHECK(scene.place("tetris") == at({2}));
  CHECK(scene.place("tetris:score=fit") == at({0}));
}

// Beside brute it takes 1,000 s / 0.05 until brute ends, and adds as much.
TEST_CASE("smart greedy waits when a GPU is about to come free and shares when not") {
  Scene scene({{1, "V100"}}, 1);
  JobSpec& partner = scene.add("brute", 1, at({0}));
  partner.duration = std::chrono::seconds(10);
  scene.add("calm", 1).duration = std::chrono::seconds(1000);
  // Waits 10 s; sharing: 200 s together for 10 s of work each, and brute loses 190 s.
  CHECK(scene.place("smart-greedy").empty());
  CHECK(scene.place("smart-greedy:wait=no") == at({0}));
  partner.duration = std::chrono::hours(100);
  partner.model = "loud";
  // Sharing: 1,000 / 0.4 = 2,500 s for itself and 250 s that loud loses; waiting: 100 hours.
  CHECK(scene.place("smart-greedy") == at({0}));
  CHECK(scene.place("smart-greedy:threshold=0.35").empty());
}

TEST_CASE("smart greedy waits for a faster type unless others are ahead for it") {
  Scene scene({{1, "V100"}, {1, "K80"}}, 1);
  scene.add("brute", 1, at({0})).duration = std::chrono::seconds(3100);
  JobSpec& job = scene.add("calm", 1);
  job.duration = std::chrono::seconds(1000);
  // On the K80 10,000 s, on the V100 3,100 + 1,000 s.
  CHECK(scene.place("smart-greedy").empty());
  CHECK(scene.place("smart-greedy:wait=no") == at({1}));
  // Two are ahead of the third for the V100: 3 * 3,100 + 1,000 s.
  for (int i = 0; i < 3; ++i) scene.add("calm", 1).duration = std::chrono::seconds(1000);
  const auto starts = scene.starts("smart-greedy");
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].job == JobId{1, 4});
  CHECK(starts[0].placement == at({1}));
}

TEST_CASE("GPUs of unknown tenants, of two tenants and of little memory are never joined") {
  Scene scene({{1, "V100"}}, 3);
  scene.gpus.take(at({0}));  // a job of another home
  scene.add("calm", 1, at({1}));
  scene.add("calm", 1, at({1}));
  scene.add("a3c", 1, at({2}));
  JobSpec& job = scene.add("calm", 1);
  for (const std::string& policy : kSharing) {
    CAPTURE(policy);
    const Placement place = scene.place(policy);
    CHECK((place.empty() || place == at({2})));
  }
  job.workers = 2;
  for (const std::string& policy : kSharing) CHECK(scene.place(policy).empty());
}

TEST_CASE("where a GPU takes one job none shares") {
  Scene scene({{1, "V100"}}, 2);
  scene.gpus = Occupancy(scene.topology, {0, 1}, 1);
  scene.add("calm", 1, at({0}));
  JobSpec& job = scene.add("calm", 1);
  for (const std::string& policy : kSharing) CHECK(scene.place(policy) == at({1}));
  job.workers = 2;
  for (const std::string& policy : kSharing) CHECK(scene.place(policy).empty());
}

}  // namespace
}  // namespace starling
