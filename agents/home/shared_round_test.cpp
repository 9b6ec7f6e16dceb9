// SPDX-License-Identifier: Apache-2.0
// A gang over several partitions that shares GPUs with jobs that run there: what the owner offers,
// what the home takes, message by message.
#include <doctest/doctest.h>

#include <chrono>

#include "agents/home/scripted_home_test.h"
#include "policies/testing/test_placements.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr AgentId kOne{1};
constexpr AttemptId kTheirs{JobId{9, 1}, Epoch{1}, 5}, kOther{JobId{9, 2}, Epoch{1}, 6};

AgentConfig sharing() {
  AgentConfig config;
  config.limits.jobs_per_gpu = 2;
  return config;
}

/// As owner, two of its four GPUs with a job.
struct Owner {
  explicit Owner(AgentConfig config = sharing()) : home(2, std::move(config)) {
    const JobId job = home.submit(1, 2);
    REQUIRE(home.decide(Start{job, range(0, 2)}));
    home.launched();
    tenant = home.job(1).attempt()->id;
    home.script->tenants = {{job, range(0, 2), 0.75, 0.5}};
    home.script->offers = range(2, 4);
  }
  /// The answer to a gang of six; null: it was NoOffer.
  const Offer* ask(std::uint32_t gang = 6) {
    BidRequest request{kTheirs, 6, 2, {}};
    request.gang = gang;
    request.model = "resnet50";
    home.hear(kOne, request);
    return home.last<Offer>(agent_node(kOne));
  }
  ScriptedHome home;
  AttemptId tenant;
};

TEST_CASE("an owner offers GPUs that have a job to a gang that would share them") {
  Owner owner;
  const Offer* offer = owner.ask();
  REQUIRE(offer != nullptr);
  CHECK(offer->share.gpus == range(2, 4));
  REQUIRE(offer->shared.size() == 1);
  CHECK(offer->shared[0].tenant == owner.tenant);
  CHECK(offer->shared[0].gpus == range(0, 2));
  CHECK(offer->shared[0].speed == 750'000);
  CHECK(offer->shared[0].loss == 500'000);
  CHECK(owner.home.script->asked_for.model == "resnet50");
  CHECK(owner.home.script->asked_for.gpus() == 6);
  CHECK(owner.home.script->asked_for.gpus_per_worker == 2);
}

TEST_CASE("nothing is offered to share where no home asks, a GPU takes one job, or it is not so") {
  SUBCASE("a gang that shares with no job") {
    Owner owner;
    REQUIRE(owner.ask(0) != nullptr);
    CHECK(owner.ask(0)->shared.empty());
  }
  SUBCASE("one job a GPU") {
    Owner owner{AgentConfig{}};
    CHECK(owner.ask()->shared.empty());
  }
  SUBCASE("what the policy says of a job that there is not, or of GPUs that it has not") {
    Owner owner;
    const JobId job = owner.tenant.job;
    owner.home.script->tenants = {
        {JobId{7, 7}, range(0, 2), 1, 0},  {job, range(1, 3), 1, 0},
        {job, {GpuId{1}, GpuId{0}}, 1, 0}, {job, {GpuId{0}, GpuId{0}}, 1, 0},
        {job, {GpuId{99}}, 1, 0},          {job, {}, 1, 0}};
    CHECK(owner.ask()->shared.empty());
  }
  SUBCASE("a full GPU") {
    Owner owner;
    const JobId second = owner.home.submit(2, 1);
    REQUIRE(owner.home.decide(Start{second, range(1, 2)}));
    CHECK(owner.ask()->shared.empty());
  }
  SUBCASE("a tenant that is being stopped") {
    Owner owner;
    REQUIRE(owner.home.decide(Preempt{owner.tenant.job}));
    CHECK(owner.ask()->shared.empty());
  }
  SUBCASE("a gang whose turn it is waits for free ones") {
    Owner owner;
    BidRequest request{kTheirs, 4, 1, {}};
    request.gang = 6;
    request.claim_ms = 1000;
    owner.home.hear(kOne, request);
    REQUIRE(owner.home.last<Offer>(agent_node(kOne)) != nullptr);
    CHECK(owner.home.last<Offer>(agent_node(kOne))->shared.empty());
  }
}

TEST_CASE("figures of a policy that make no sense are said within their bounds") {
  Owner owner;
  owner.home.script->tenants[0].speed = -3;
  owner.home.script->tenants[0].loss = -1;
  CHECK(owner.ask()->shared.at(0).speed == 1);
  CHECK(owner.ask()->shared.at(0).loss == 0);
  owner.home.script->tenants[0].speed = 7;
  CHECK(owner.ask()->shared.at(0).speed == 1'000'000);
}

TEST_CASE("a hold beside the tenant that was offered is had, and beside another one it is not") {
  Owner owner;
  const Fence fence = owner.home.state().fence();
  SUBCASE("the one") {
    owner.home.hear(kOne, Reserve{kTheirs, fence, range(0, 4), 1000, {}, {owner.tenant}});
    REQUIRE(owner.home.last<Reserved>(agent_node(kOne)) != nullptr);
    owner.home.tick(30s);  // it lapses as every other
    CHECK(owner.home.state().owner.ledger.find(kTheirs) == nullptr);
    CHECK(owner.home.state().owner.ledger.free_count() == 2);
  }
  SUBCASE("another, or none") {
    for (const auto& beside : {std::vector<AttemptId>{}, std::vector{kOther}}) {
      owner.home.hear(kOne, Reserve{kTheirs, fence, range(0, 4), 1000, {}, beside});
      REQUIRE(owner.home.last<ReserveRefused>(agent_node(kOne)) != nullptr);
      CHECK(owner.home.last<ReserveRefused>(agent_node(kOne))->why == Refusal::conflict);
    }
  }
}

/// As home, a gang of six on two partitions of four; the own one has two GPUs left, and has offered
/// them.
struct Gang {
  Gang() : home(2, sharing()) {
    const JobId small = home.submit(2, 2);
    REQUIRE(home.decide(Start{small, range(0, 2)}));
    home.launched();
    job = home.submit(1, 6);
    REQUIRE(home.decide(Spread{job, {}, {}, true}));
  }
  AttemptId attempt() const { return home.job(1).attempt()->id; }
  Stage stage() const { return home.job(1).stage(); }
  void their_offer(std::vector<SharedRoom> shared, Placement free = {}) {
    home.hear(kOne, Offer{attempt(), {PartitionId{1}, std::move(free)}, 1000, std::move(shared)});
  }
  ScriptedHome home;
  JobId job;
};

TEST_CASE(
    "a gang that would share asks every owner, itself too, and takes what its policy chooses") {
  Gang gang;
  const auto* asked = gang.home.last<BidRequest>(agent_node(kOne));
  REQUIRE(asked != nullptr);
  CHECK(asked->gang == 6);
  CHECK(asked->gpus == 6);
  CHECK(gang.home.state().owner.ledger.find(gang.attempt()) == nullptr);
  gang.home.script->chosen = {1};
  gang.their_offer({{kTheirs, range(4, 6), 500'000, 100'000}, {kOther, range(5, 8), 900'000, 0}},
                   range(4, 5));
  CHECK(gang.home.script->chooses_for == gang.job);
  CHECK(gang.home.script->had_free == 3);
  REQUIRE(gang.home.script->was_offered.size() == 2);
  CHECK(gang.home.script->was_offered[0].speed == doctest::Approx(0.5));
  CHECK(gang.home.script->was_offered[0].loss == doctest::Approx(0.1));
  REQUIRE(gang.stage() == Stage::reserving);
  const auto* theirs = gang.home.last<Reserve>(agent_node(kOne));
  REQUIRE(theirs != nullptr);
  CHECK(theirs->gpus == range(4, 8));
  CHECK(theirs->beside == std::vector{kOther});
  const Hold* own = gang.home.state().owner.ledger.find(gang.attempt());
  REQUIRE(own != nullptr);
  CHECK(own->gpus == range(2, 4));
}

TEST_CASE("where free GPUs are enough no owner is asked to share") {
  Gang gang;
  gang.their_offer({{kTheirs, range(4, 6), 500'000, 0}}, range(4, 8));
  CHECK(gang.stage() == Stage::reserving);
  CHECK(gang.home.script->was_offered.empty());
  CHECK(gang.home.last<Reserve>(agent_node(kOne))->beside.empty());
}

TEST_CASE("a gang whose policy chooses no job waits on, and nothing has failed") {
  Gang gang;
  gang.home.script->chosen = {0, 0, 7};  // not enough, twice the same, and one that there is not
  gang.their_offer({{kTheirs, range(4, 6), 500'000, 0}});
  CHECK(gang.stage() == Stage::waiting);
  CHECK(gang.home.job(1).failed_rounds == 0);
  CHECK(gang.home.count<Reserve>(kOne) == 0);
  CHECK(gang.home.job(1).trouble == "no job was found that it could share GPUs with");
}

TEST_CASE(
    "GPUs to share of another partition are refused, and so are those for a home that asked for "
    "none") {
  Gang gang;
  const std::uint64_t refused = gang.home.state().counters.refused_frames;
  gang.home.script->chosen = {0};
  gang.their_offer({{kTheirs, range(0, 2), 500'000, 0}});
  CHECK(gang.home.state().counters.refused_frames == refused + 1);
  CHECK(gang.stage() == Stage::waiting);
}

TEST_CASE("a gang that would share cannot hold GPUs before it knows with which jobs") {
  ScriptedHome home(2, sharing());
  const JobId job = home.submit(1, 6);
  CHECK_FALSE(home.decide(Spread{job, range(0, 4), {}, true}));
}

}  // namespace
}  // namespace starling
