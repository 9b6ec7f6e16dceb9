// SPDX-License-Identifier: Apache-2.0
// What a peer may not say: each is refused with the kind, the field and what would be right.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "agents/config.h"
#include "bus/wire/test_frames.h"

namespace starling {
namespace {

using testing::refusal;

const AttemptId a{{1, 2}, Epoch{1}, 1};
const Fence f{PartitionId{0}, Epoch{1}};
constexpr GpuTypeId v100{0}, p100{1};

JobSpec spec_of(JobId job) {
  JobSpec spec;
  spec.id = job;
  return spec;
}

TEST_CASE("a node that greets with what makes no sense is refused, with the reason") {
  CHECK(refusal(Hello{Role::unknown, 1, 1, ""}) == "Hello: role: unknown");
  CHECK(refusal(Hello{static_cast<Role>(9), 1, 1, ""}) == "Hello: role: unknown");
  CHECK(refusal(Hello{Role::agent, 2, 1, ""}) == "Hello: protocol: not a range from 1");
  CHECK(refusal(Hello{Role::agent, 1, 1, std::string(257, 'x')}) == "Hello: a name is too long");
  CHECK(refusal(Goodbye{std::string(5000, 'x')}) == "Goodbye: a text is too long");
}

TEST_CASE("a digest of more than there is is refused") {
  CHECK(refusal(Digest{f, 1, 8, 9, 0, 0, 0, 0}) == "Digest: free: more than gpus");
  CHECK(refusal(Digest{f, 1, 8, 4, 5, 0, 0, 0}) == "Digest: largest_free_server: more than free");
  CHECK(refusal(Digest{f, 1, 1U << 30U, 4, 1, 0, 0, 0}) ==
        "Digest: gpus: more than a data centre may have");
  CHECK(refusal(Digest{f, 1, 8, 4, 4, 0, 0, 0, {}, {}, 9}) ==
        "Digest: out_of_service: more than gpus");
  CHECK(refusal(Digests{{{Digest{f, 1, 8, 9, 0, 0, 0, 0}, 5}}}) == "Digests: free: more than gpus");
  CHECK(refusal(Digests{std::vector<Digests::Word>(Digests::kMost + 1)}) ==
        "Digests: words: too many");
}

TEST_CASE("a digest says of each type, server and price what there may be") {
  const auto digest = [&](std::vector<TypeRoom> types, std::vector<float> summary) {
    return refusal(Digest{f, 1, 8, 4, 4, 0, 0, 0, std::move(types), std::move(summary)});
  };
  CHECK(digest({{v100, 3, 2, 8}, {p100, 1, 1, 0}}, {1.5F, -2}).empty());
  CHECK(digest({{p100, 3, 2, 0}, {v100, 1, 1, 0}}, {}) == "Digest: types: not ascending");
  CHECK(digest({{v100, 5, 2, 0}}, {}) == "Digest: types: more than is free");
  CHECK(digest({{v100, 1, 2, 0}}, {}) == "Digest: types: more than is free");
  CHECK(digest({{v100, 1, 1, 9}}, {}) == "Digest: types: more than gpus");
  CHECK(digest({}, {1, std::numeric_limits<float>::quiet_NaN()}) == "Digest: summary: not numbers");
  CHECK(digest({}, {std::numeric_limits<float>::infinity()}) == "Digest: summary: not numbers");
  CHECK(digest({}, std::vector<float>(kMostSummary + 1)) == "Digest: summary: too many");
  CHECK(digest(std::vector<TypeRoom>(kMostTypeRooms + 1), {}) == "Digest: types: too many");
  const auto rooms = [&](std::vector<ServerRoom> told) {
    return refusal(Digest{f, 1, 8, 4, 4, 0, 0, 0, {}, {}, 0, std::move(told)});
  };
  const Demand some{1, ServerRoom::kAnyAmount};
  CHECK(rooms({{v100, 1, 2, some}, {p100, 2, 1, {0, ServerRoom::kMostAmount}}}).empty());
  CHECK(rooms({{v100, 2, 2, some}, {p100, 1, 1, some}}) == "Digest: rooms: more than is free");
  CHECK(rooms({{v100, ~0U, ~0U, some}}) == "Digest: rooms: more than is free");
  CHECK(rooms({{v100, 0, 1, some}}) == "Digest: rooms: nothing is free there");
  CHECK(rooms({{v100, 1, 0, some}}) == "Digest: rooms: nothing is free there");
  CHECK(rooms({{v100, 1, 1, {-1, 0}}}) == "Digest: rooms: an amount is negative or too large");
  CHECK(rooms({{v100, 1, 1, {0, ServerRoom::kMostAmount + 1}}}) ==
        "Digest: rooms: an amount is negative or too large");
  CHECK(rooms(std::vector<ServerRoom>(kMostServerRooms + 1, {v100, 1, 1, some})) ==
        "Digest: rooms: too many");
  const auto prices = [&](std::vector<TypePrice> told) {
    return refusal(Digest{f, 1, 8, 4, 4, 0, 0, 0, {}, {}, 0, {}, std::move(told)});
  };
  CHECK(prices({{v100, 0}, {p100, 0.5F}}).empty());
  CHECK(prices({{p100, 0}, {v100, 0.5F}}) == "Digest: prices: not ascending");
  CHECK(prices({{v100, 1}, {v100, 1}}) == "Digest: prices: not ascending");
  CHECK(prices({{v100, -1}}) == "Digest: prices: not finite, or below zero");
  CHECK(prices({{v100, std::numeric_limits<float>::infinity()}}) ==
        "Digest: prices: not finite, or below zero");
  CHECK(prices({{v100, std::numeric_limits<float>::quiet_NaN()}}) ==
        "Digest: prices: not finite, or below zero");
  CHECK(prices(std::vector<TypePrice>(kMostTypeRooms + 1)) == "Digest: prices: too many");
}

TEST_CASE("ids, amounts and order that make no sense are refused, with the reason") {
  const JobSpec spec = spec_of(a.job);
  const std::vector<Share> gang{{PartitionId{0}, {GpuId{1}}}};
  CHECK(refusal(Welcome{{PartitionId{4096}, Epoch{1}}}) == "Welcome: partition: out of range");
  CHECK(refusal(Accepted{a.job, AgentId{99'999}}) == "Accepted: agent: out of range");
  CHECK(refusal(Rejected{a.job, static_cast<Refusal>(200), ""}) == "Rejected: why: unknown");
  CHECK(refusal(ListJobs{{}, 0}) == "ListJobs: limit: not in 1..1000");
  CHECK(refusal(ListJobs{{}, 5000}) == "ListJobs: limit: not in 1..1000");
  CHECK(refusal(JobList{{{}, {}}, false}) == "JobList: jobs: not ascending");
  CHECK(refusal(BidRequest{a, 0, 1, {}}) == "BidRequest: gpus: none, or more than a job may have");
  CHECK(refusal(BidRequest{a, 4, 8, {}}) == "BidRequest: gpus_per_worker: not in 1..gpus");
  CHECK(refusal(Reserve{a, f, {}, 1}) == "Reserve: gpus: none");
  CHECK(refusal(Reserve{a, f, {GpuId{2}, GpuId{2}}, 1}) == "Reserve: gpus: not ascending");
  CHECK(refusal(Reserve{a, f, {GpuId{3}, GpuId{2}}, 1}) == "Reserve: gpus: not ascending");
  CHECK(refusal(Reserve{a, f, {GpuId{1U << 20U}}, 1}) == "Reserve: gpus: id out of range");
  CHECK(refusal(Reserve{a, f, {GpuId{1}}, 86'400'001}) == "Reserve: hold: longer than a day");
  CHECK(refusal(Commit{a, f, spec, {}, {}}) == "Commit: gang: empty");
  CHECK(refusal(Commit{a, f, spec, {gang[0], gang[0]}, {}}) == "Commit: gang: a partition twice");
  CHECK(refusal(Commit{{{9, 9}, Epoch{1}, 1}, f, spec, gang, {}}) ==
        "Commit: spec: of another job than the attempt");
  CHECK(refusal(Launch{a, f, spec, gang, {}, {}}) == "Launch: gpus: none");
  CHECK(refusal(AttemptAnswer{a, AttemptLife::unknown}) == "AttemptAnswer: life: unknown");
  CHECK(refusal(Killed{a, Duration{-1}}) == "Killed: duration: negative, or longer than 73 years");
  CHECK(refusal(Killed{a, Duration::max()}) ==
        "Killed: duration: negative, or longer than 73 years");
  CHECK(refusal(Exited{a, PartitionId{0}, {1, false, std::string(4097, 'x')}, {}}) ==
        "Exited: log_tail: too long");
  CHECK(refusal(ProbeFor{client_node(1)}) == "ProbeFor: node: neither an agent nor an executor");
  CHECK(refusal(GpuHealth{1, {GpuId{2}, GpuId{1}}}) == "GpuHealth: gpus: not ascending");
  CHECK(refusal(SetDrain{ServerId{1U << 20U}, true, false}) == "SetDrain: server: out of range");
  CHECK(refusal(Progress{a, {}, std::nan("")}) == "Progress: rate: not in 0..1e6");
  CHECK(refusal(Progress{a, {}, -1}) == "Progress: rate: not in 0..1e6");
  CHECK(refusal(Progress{a, {}, 0.5, -1, 1}) == "Progress: noise: not in 0..1e15");
  CHECK(refusal(Progress{a, {}, 0.5, std::nan(""), 1}) == "Progress: noise: not in 0..1e15");
  CHECK(refusal(Progress{a, {}, 0.5, 1, Progress::kMostBatch + 1}) ==
        "Progress: batch: more than 1,000,000,000");
  CHECK(refusal(Submit{spec, agent_node(AgentId{0}), {}, {}, 0}) == "Submit: client: not a client");
}

TEST_CASE("a job that makes no sense is refused, with the reason") {
  const auto with = [&](auto change) {
    JobSpec s = spec_of(a.job);
    change(s);
    return refusal(Submit{s, {}, {}, {}, 0});
  };

  CHECK(with([](JobSpec&) {}).empty());
  CHECK(with([](JobSpec& s) { s.workers = 0; }) == "Submit: spec: no workers or no GPUs");
  CHECK(with([](JobSpec& s) { s.workers = s.gpus_per_worker = 1U << 16U; }) ==
        "Submit: spec: more GPUs than a job may have");
  CHECK(with([](JobSpec& s) { s.min_workers = 2, s.max_workers = 4; }) ==
        "Submit: spec: needs min_workers <= workers <= max_workers");
  CHECK(with([](JobSpec& s) { s.cpus_per_worker = std::numeric_limits<double>::infinity(); }) ==
        "Submit: cpus_per_worker: not in 0..1e6");
  CHECK(with([](JobSpec& s) {
          s.command = {std::string(40'000, 'x'), std::string(40'000, 'x')};
        }) == "Submit: spec: command and environment too long");
  CHECK(with([](JobSpec& s) { s.gpu_types.resize(300); }) ==
        "Submit: gpu_types: too many or too long");
}

TEST_CASE("a tree of queues that makes no sense is refused, with the reason") {
  const auto with = [&](auto change) {
    constexpr std::uint32_t kAny = QueueSpec::kNoLimit;
    QueueTree tree{
        3,
        {{"a", 8, 16, kAny, 1, {}}, {"a/b", 4, kAny, kAny, 1, {}}, {"a/c", 4, 8, 2, 3, {"ann"}}},
        "a/b"};
    change(tree);
    return refusal(SetQueues{tree});
  };
  CHECK(with([](QueueTree&) {}).empty());
  CHECK(with([](QueueTree& t) { t.version = 0; }) == "SetQueues: tree: queues of no version");
  CHECK(refusal(SetQueues{}) == "SetQueues: tree: of no version");
  CHECK(with([](QueueTree& t) { t.queues[1].weight = 0; }) ==
        "SetQueues: tree: a queue without weight");
  CHECK(with([](QueueTree& t) { t.queues[1].name = std::string(257, 'x'); }) ==
        "SetQueues: a name is too long");
  CHECK(with([](QueueTree& t) { t.queues[1].users = {std::string(257, 'x')}; }) ==
        "SetQueues: tree: users: too many or too long");
  CHECK(with([](QueueTree& t) { t.queues[1].users.resize(4097); }) ==
        "SetQueues: tree: users: too many or too long");
  CHECK(with([](QueueTree& t) { t.queues.resize(QueueTree::kMost + 1); }) ==
        "SetQueues: tree: too many queues");
  // What check_queues() says.
  const auto makes_no_sense = [&](auto change) {
    return with(change).starts_with("SetQueues: tree: ");
  };
  CHECK(makes_no_sense([](QueueTree& t) { std::swap(t.queues[1], t.queues[2]); }));
  CHECK(makes_no_sense([](QueueTree& t) { t.queues.erase(t.queues.begin()); }));
  CHECK(makes_no_sense([](QueueTree& t) { t.queues[1].guaranteed = 5; }));
  CHECK(makes_no_sense([](QueueTree& t) { t.fallback = "a"; }));
  CHECK(refusal(QueuesState{}).empty());
  CHECK(refusal(QueuesState{{0, {}, "a"}, {}, {}, Refusal::unknown, {}}) ==
        "QueuesState: tree: queues of no version");
}

TEST_CASE("what is used of queues is by account, each once, and no more than there may be") {
  const auto state = [](std::vector<QueueUse> uses, std::vector<AgentId> unaware) {
    return refusal(QueuesState{{}, std::move(uses), std::move(unaware), Refusal::unknown, {}});
  };
  const QuotaAccount all{"a", ""}, ann{"a", "ann"}, other{"b", ""};
  CHECK(state({{all}, {ann}, {other}}, {AgentId{0}, AgentId{2}}).empty());
  CHECK(state({{ann}, {all}}, {}) == "QueuesState: rows: not ascending");
  CHECK(state({{all}, {all}}, {}) == "QueuesState: rows: not ascending");
  CHECK(state({{{"", "ann"}}}, {}) == "QueuesState: rows: a queue without a name");
  CHECK(state({}, {AgentId{2}, AgentId{2}}) == "QueuesState: unaware: not ascending");
  CHECK(state({}, {AgentId{4096}}) == "QueuesState: agent: out of range");
  CHECK(refusal(QueuesState{{}, {}, {}, static_cast<Refusal>(200), {}}) ==
        "QueuesState: why: unknown");

  constexpr std::uint32_t kMost = 2U << 20U;  // twice what a data centre may have
  const auto ask = [](auto change) {
    QuotaAsk m{{Incarnation{2}, 3}, 4, {{{"a", "ann"}, 5, 4, 3, 2, -1, Duration{6}}, {{"b", ""}}}};
    change(m);
    return refusal(m);
  };
  CHECK(ask([](QuotaAsk& m) { m.rows[0].keep = kMost; }).empty());
  CHECK(ask([](QuotaAsk& m) { m.stamp.life = {}; }) == "QuotaAsk: stamp: of no life");
  CHECK(ask([](QuotaAsk& m) { m.tree = 0; }) == "QuotaAsk: tree: of no version");
  CHECK(ask([](QuotaAsk& m) { m.rows[0].keep = 3; }) == "QuotaAsk: rows: keeps less than it uses");
  CHECK(ask([](QuotaAsk& m) { m.rows[0].keep = kMost + 1; }) ==
        "QuotaAsk: rows: more GPUs than a data centre may have");
  CHECK(ask([](QuotaAsk& m) { m.rows[0].account.queue = "c"; }) == "QuotaAsk: rows: not ascending");
  CHECK(ask([](QuotaAsk& m) { m.rows[0].account.user = std::string(257, 'x'); }) ==
        "QuotaAsk: a name is too long");
  CHECK(ask([](QuotaAsk& m) { m.rows[0].waited = Duration{-1}; }) ==
        "QuotaAsk: duration: negative, or longer than 73 years");
  CHECK(ask([](QuotaAsk& m) { m.rows.resize(QuotaAsk::kMost + 1); }) == "QuotaAsk: rows: too many");

  const auto grant = [](auto change) {
    QuotaGrant m{{Incarnation{2}, 3}, 4, {{{"a", "ann"}, 5, "a", true}, {{"b", ""}, 6, {}, false}}};
    change(m);
    return refusal(m);
  };
  CHECK(grant([](QuotaGrant&) {}).empty());
  CHECK(grant([](QuotaGrant& m) { m.stamp.life = {}; }) == "QuotaGrant: stamp: of no life");
  CHECK(grant([](QuotaGrant& m) { m.tree = 0; }) == "QuotaGrant: tree: of no version");
  CHECK(grant([](QuotaGrant& m) { m.rows[1].account = m.rows[0].account; }) ==
        "QuotaGrant: rows: not ascending");
  CHECK(grant([](QuotaGrant& m) { m.rows[1].may = kMost + 1; }) ==
        "QuotaGrant: rows: more GPUs than a data centre may have");
  CHECK(grant([](QuotaGrant& m) { m.rows[0].bound = std::string(257, 'x'); }) ==
        "QuotaGrant: a name is too long");
}

TEST_CASE("an offer of shared GPUs alone has no free ones, and its figures are within bounds") {
  const SharedRoom room{{JobId{5, 6}, Epoch{7}, 8}, {GpuId{4}}, 900'000, 17};
  const auto wrong = [&](auto change) {
    Offer offer{{JobId{1, 2}, Epoch{3}, 4}, {PartitionId{1}, {}}, 100, {room}};
    change(offer);
    return refusal(offer);
  };
  CHECK(wrong([](Offer&) {}).empty());
  CHECK(wrong([](Offer& o) { o.shared.clear(); }) == "Offer: gpus: none");
  CHECK(wrong([](Offer& o) { o.shared[0].gpus.clear(); }) == "Offer: gpus: none");
  CHECK(wrong([](Offer& o) { o.shared[0].speed = 0; }) ==
        "Offer: shared: speed: not in 1..1000000");
  CHECK(wrong([](Offer& o) { o.shared[0].speed = 1'000'001; }) ==
        "Offer: shared: speed: not in 1..1000000");
  CHECK(wrong([](Offer& o) { o.shared[0].loss = ~0ULL; }) ==
        "Offer: shared: loss: more than a data centre has");
}

}  // namespace
}  // namespace starling
