// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/codec.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "bus/wire/roles.h"
#include "tests/fuzz/random_message.h"

namespace starling {
namespace {

using Bytes = std::vector<std::byte>;

Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// Frames are equal exactly when what they say is: encoding is deterministic.
Bytes frame_of(Codec& codec, const Message& message) {
  return copy(codec.encode({kNewestProtocol, Incarnation{7}, 9}, message));
}

TEST_CASE("every kind of message comes back as it was sent") {
  Codec codec;
  testing::RandomMessage random{Rng(1)};
  for (std::size_t kind = 0; kind < testing::RandomMessage::kinds; ++kind) {
    CAPTURE(kind_name(kind));
    for (int i = 0; i < 200; ++i) {
      const Message sent = random.make(kind);
      REQUIRE(sent.index() == kind);
      const Bytes bytes = frame_of(codec, sent);
      const Result<Frame> got = codec.decode(bytes);
      REQUIRE_MESSAGE(got.ok(), (got.ok() ? "" : got.error().message));
      CHECK(got.value().header.incarnation == Incarnation{7});
      CHECK(got.value().header.sequence == 9);
      REQUIRE(got.value().message.index() == kind);
      REQUIRE(frame_of(codec, got.value().message) == bytes);
    }
  }
}

TEST_CASE("fields land where they belong") {
  Codec codec;
  JobSpec spec;
  spec.id = {1, 2};
  spec.name = "bert";
  spec.workers = 2;
  spec.gpus_per_worker = 4;
  spec.cpus_per_worker = 0.3;
  spec.gpu_types = {"V100", "A100"};
  spec.command = {"python3", "train.py"};
  const Launch sent{{{1, 2}, Epoch{3}, 4},
                    {PartitionId{5}, Epoch{6}},
                    spec,
                    {{PartitionId{5}, {GpuId{8}, GpuId{9}}}, {PartitionId{2}, {GpuId{1}}}},
                    {GpuId{8}},
                    std::chrono::milliseconds(1500)};
  const Result<Frame> frame = codec.decode(frame_of(codec, sent));
  REQUIRE(frame.ok());
  const auto& got = std::get<Launch>(frame.value().message);
  CHECK(got.attempt == sent.attempt);
  CHECK(got.fence == sent.fence);
  CHECK(got.gang == sent.gang);
  CHECK(got.here == sent.here);
  CHECK(got.served == sent.served);
  CHECK(got.spec.id == spec.id);
  CHECK(got.spec.name == spec.name);
  CHECK(got.spec.gpus() == 8);
  CHECK(got.spec.cpus_per_worker == spec.cpus_per_worker);
  CHECK(got.spec.gpu_types == spec.gpu_types);
  CHECK(got.spec.command == spec.command);
}

TEST_CASE("a frame of any alignment is read") {
  Codec codec;
  testing::RandomMessage random{Rng(2)};
  for (int i = 0; i < 200; ++i) {
    const Bytes bytes = frame_of(codec, random.any());
    Bytes shifted(bytes.size() + 8);
    const auto offset = static_cast<std::size_t>(i % 8);
    std::memcpy(shifted.data() + offset, bytes.data(), bytes.size());
    CHECK(codec.decode({shifted.data() + offset, bytes.size()}).ok());
  }
}

/// The reason why a peer that sends `message` is refused.
std::string reason(const Message& message, const Limits& limits = {}) {
  Limits generous;
  generous.log_tail_bytes =
      1U << 20U;  // so that the sender does not cut what the receiver should refuse
  Codec sender(generous), receiver(limits);
  const Result<Frame> got = receiver.decode(frame_of(sender, message));
  return got.ok() ? "" : got.error().message;
}

TEST_CASE("what makes no sense is refused, with the reason") {
  const AttemptId a{{1, 2}, Epoch{1}, 1};
  const Fence f{PartitionId{0}, Epoch{1}};
  const std::vector<Share> gang{{PartitionId{0}, {GpuId{1}}}};
  JobSpec spec;
  spec.id = a.job;
  const auto with = [&](auto change) {
    JobSpec s = spec;
    change(s);
    return reason(Submit{s, {}, {}, {}, 0});
  };

  CHECK(reason(Submit{spec, {}, {}, {}, 0}).empty());
  CHECK(reason(Hello{Role::unknown, 1, 1, ""}) == "Hello: role: unknown");
  CHECK(reason(Hello{static_cast<Role>(9), 1, 1, ""}) == "Hello: role: unknown");
  CHECK(reason(Hello{Role::agent, 2, 1, ""}) == "Hello: protocol: not a range from 1");
  CHECK(reason(Hello{Role::agent, 1, 1, std::string(257, 'x')}) == "Hello: a name is too long");
  CHECK(reason(Goodbye{std::string(5000, 'x')}) == "Goodbye: a text is too long");
  CHECK(reason(Digest{f, 1, 8, 9, 0, 0, 0, 0}) == "Digest: free: more than gpus");
  CHECK(reason(Digest{f, 1, 8, 4, 5, 0, 0, 0}) == "Digest: largest_free_server: more than free");
  CHECK(reason(Digest{f, 1, 1U << 30U, 4, 1, 0, 0, 0}) ==
        "Digest: gpus: more than a data centre may have");
  CHECK(reason(Digest{f, 1, 8, 4, 4, 0, 0, 0, {}, {}, 9}) ==
        "Digest: out_of_service: more than gpus");
  CHECK(reason(Digests{{{Digest{f, 1, 8, 9, 0, 0, 0, 0}, 5}}}) == "Digests: free: more than gpus");
  CHECK(reason(Digests{std::vector<Digests::Word>(Digests::kMost + 1)}) ==
        "Digests: words: too many");
  const auto digest = [&](std::vector<TypeRoom> types, std::vector<float> summary) {
    return reason(Digest{f, 1, 8, 4, 4, 0, 0, 0, std::move(types), std::move(summary)});
  };
  const GpuTypeId v100{0}, p100{1};
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
    return reason(Digest{f, 1, 8, 4, 4, 0, 0, 0, {}, {}, 0, std::move(told)});
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
    return reason(Digest{f, 1, 8, 4, 4, 0, 0, 0, {}, {}, 0, {}, std::move(told)});
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
  CHECK(reason(Welcome{{PartitionId{4096}, Epoch{1}}}) == "Welcome: partition: out of range");
  CHECK(reason(Accepted{a.job, AgentId{99'999}}) == "Accepted: agent: out of range");
  CHECK(reason(Rejected{a.job, static_cast<Refusal>(200), ""}) == "Rejected: why: unknown");
  CHECK(reason(ListJobs{{}, 0}) == "ListJobs: limit: not in 1..1000");
  CHECK(reason(ListJobs{{}, 5000}) == "ListJobs: limit: not in 1..1000");
  CHECK(reason(JobList{{{}, {}}, false}) == "JobList: jobs: not ascending");
  CHECK(reason(BidRequest{a, 0, 1, {}}) == "BidRequest: gpus: none, or more than a job may have");
  CHECK(reason(BidRequest{a, 4, 8, {}}) == "BidRequest: gpus_per_worker: not in 1..gpus");
  CHECK(reason(Reserve{a, f, {}, 1}) == "Reserve: gpus: none");
  CHECK(reason(Reserve{a, f, {GpuId{2}, GpuId{2}}, 1}) == "Reserve: gpus: not ascending");
  CHECK(reason(Reserve{a, f, {GpuId{3}, GpuId{2}}, 1}) == "Reserve: gpus: not ascending");
  CHECK(reason(Reserve{a, f, {GpuId{1U << 20U}}, 1}) == "Reserve: gpus: id out of range");
  CHECK(reason(Reserve{a, f, {GpuId{1}}, 86'400'001}) == "Reserve: hold: longer than a day");
  CHECK(reason(Commit{a, f, spec, {}, {}}) == "Commit: gang: empty");
  CHECK(reason(Commit{a, f, spec, {gang[0], gang[0]}, {}}) == "Commit: gang: a partition twice");
  CHECK(reason(Commit{{{9, 9}, Epoch{1}, 1}, f, spec, gang, {}}) ==
        "Commit: spec: of another job than the attempt");
  CHECK(reason(Launch{a, f, spec, gang, {}, {}}) == "Launch: gpus: none");
  CHECK(reason(AttemptAnswer{a, AttemptLife::unknown}) == "AttemptAnswer: life: unknown");
  CHECK(reason(Killed{a, Duration{-1}}) == "Killed: duration: negative, or longer than 73 years");
  CHECK(reason(Killed{a, Duration::max()}) ==
        "Killed: duration: negative, or longer than 73 years");
  CHECK(reason(Exited{a, PartitionId{0}, {1, false, std::string(4097, 'x')}, {}}) ==
        "Exited: log_tail: too long");
  CHECK(reason(ProbeFor{client_node(1)}) == "ProbeFor: node: neither an agent nor an executor");
  CHECK(reason(GpuHealth{1, {GpuId{2}, GpuId{1}}}) == "GpuHealth: gpus: not ascending");
  CHECK(reason(SetDrain{ServerId{1U << 20U}, true, false}) == "SetDrain: server: out of range");
  CHECK(reason(Progress{a, {}, std::nan("")}) == "Progress: rate: not in 0..1e6");
  CHECK(reason(Progress{a, {}, -1}) == "Progress: rate: not in 0..1e6");
  CHECK(reason(Submit{spec, agent_node(AgentId{0}), {}, {}, 0}) == "Submit: client: not a client");

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

TEST_CASE("limits bind both ways") {
  Limits tight;
  tight.gpus_per_job = 2;
  tight.participants_per_job = 1;
  CHECK(reason(Reserve{{}, {}, {GpuId{1}, GpuId{2}, GpuId{3}}, 1}, tight) ==
        "Reserve: gpus: more than a job may have");

  tight.frame_bytes = 100;
  Codec codec(tight);
  CHECK(codec.encode({}, Goodbye{std::string(200, 'x')}).empty());
  CHECK(codec.decode(Bytes(101)).error().message == "frame: 101 bytes, the limit is 100");
}

TEST_CASE("text for people is cut, the end of a log is kept") {
  Codec codec;
  const Result<Frame> reply = codec.decode(frame_of(codec, Goodbye{"A" + std::string(9000, 'x')}));
  REQUIRE(reply.ok());
  CHECK(std::get<Goodbye>(reply.value().message).reason.size() == 4096);
  const Exited sent{{}, {}, {1, false, std::string(9000, 'x') + "the error"}, {}};
  const Result<Frame> exited = codec.decode(frame_of(codec, sent));
  REQUIRE(exited.ok());
  const std::string& tail = std::get<Exited>(exited.value().message).exit.log_tail;
  CHECK(tail.size() == 4096);
  CHECK(tail.ends_with("the error"));
}

TEST_CASE("malformed bytes are refused, with the reason") {
  Codec codec;
  const auto why = [&](const Bytes& bytes) {
    const Result<Frame> got = codec.decode(bytes);
    return got.ok() ? std::string() : got.error().message;
  };
  const Bytes good = frame_of(codec, Ping{1});
  REQUIRE(why(good).empty());
  CHECK(why({}) == "frame: shorter than 8 bytes");
  CHECK(why(Bytes(7)) == "frame: shorter than 8 bytes");
  CHECK(why(Bytes(8)) == "frame: not of this protocol");
  CHECK(why(Bytes(2U << 20U)) == "frame: 2097152 bytes, the limit is 1048576");

  Bytes other = good;
  other[4] = std::byte{'X'};
  CHECK(why(other) == "frame: not of this protocol");
  for (std::size_t cut = 8; cut < good.size(); ++cut) {
    CHECK_FALSE(codec.decode({good.data(), cut}).ok());
  }
  Bytes wild = good;
  std::memset(wild.data(), 0xff, 4);
  CHECK(why(wild) == "frame: malformed");
  Codec next({}, kNewestProtocol + 1);
  CHECK(why(copy(next.encode({kNewestProtocol + 1, Incarnation{1}, 1}, Ping{1}))) ==
        "frame: protocol " + std::to_string(kNewestProtocol + 1) + ", only 1 to " +
            std::to_string(kNewestProtocol) + " are spoken");
}

TEST_CASE("an earlier version is left alone with what it does not know") {
  Codec old({}, 1), present;
  testing::RandomMessage random{Rng(4)};
  for (std::size_t kind = 0; kind < testing::RandomMessage::kinds; ++kind) {
    CAPTURE(kind_name(kind));
    const Message message = random.make(kind);
    const Bytes first = copy(present.encode({1, Incarnation{1}, 1}, message));
    if (least_protocol_of(message) > 1) {
      CHECK(first.empty());
      const std::uint16_t since = least_protocol_of(message);
      const Bytes later = copy(present.encode({since, Incarnation{1}, 1}, message));
      CHECK(old.decode(later).error().message ==
            "frame: protocol " + std::to_string(since) + ", only 1 is spoken");
      continue;
    }
    // Both ways: what the present version says in protocol 1 is what the old one says.
    const Result<Frame> heard = old.decode(first);
    REQUIRE(heard.ok());
    CHECK(heard.value().header.speaks == kNewestProtocol);
    const Bytes said = copy(old.encode({1, Incarnation{1}, 1}, heard.value().message));
    const Result<Frame> back = present.decode(said);
    REQUIRE(back.ok());
    CHECK(back.value().header.speaks == 1);
    CHECK(copy(present.encode({1, Incarnation{1}, 1}, back.value().message)) == first);
  }
}

TEST_CASE("what servers have left is said in the third protocol, and nothing of it before") {
  Codec codec;
  const ServerRoom room{GpuTypeId{1}, 3, 2, {5'000'000, ServerRoom::kAnyAmount}};
  const Digest told{{PartitionId{1}, Epoch{2}}, 3, 8, 8, 4, 1, 0, 0, {}, {}, 0, {room}};
  for (std::uint16_t protocol = 1; protocol <= kNewestProtocol; ++protocol) {
    CAPTURE(protocol);
    const Bytes bytes = copy(codec.encode({protocol, Incarnation{7}, 9}, told));
    const Result<Frame> heard = codec.decode(bytes);
    REQUIRE(heard.ok());
    const auto& digest = std::get<Digest>(heard.value().message);
    CHECK(digest.free == 8);
    CHECK(digest.rooms == (protocol < 3 ? std::vector<ServerRoom>{} : std::vector{room}));
  }
}

TEST_CASE("what a GPU costs is said in the fifth protocol, and nothing of it before") {
  Codec codec;
  const std::vector<TypePrice> prices{{GpuTypeId{0}, 0.25F}, {GpuTypeId{2}, 0}};
  const Digest told{{PartitionId{1}, Epoch{2}}, 3, 8, 8, 4, 1, 0, 0, {}, {}, 0, {}, prices};
  for (std::uint16_t protocol = 1; protocol <= kNewestProtocol; ++protocol) {
    CAPTURE(protocol);
    const Bytes bytes = copy(codec.encode({protocol, Incarnation{7}, 9}, told));
    const Result<Frame> heard = codec.decode(bytes);
    REQUIRE(heard.ok());
    const auto& digest = std::get<Digest>(heard.value().message);
    CHECK(digest.free == 8);
    CHECK(digest.prices == (protocol < 5 ? std::vector<TypePrice>{} : prices));
  }
}

TEST_CASE("an attempt with an allocation is said in the fourth protocol, and not at all before") {
  Codec codec;
  Allocation how{4, 2, 64, 1, true};
  const JobId job{1, 2};
  const AttemptId attempt{job, Epoch{3}, 4};
  const Fence fence{PartitionId{0}, Epoch{1}};
  JobSpec spec;
  spec.id = job;
  spec.workers = 4;
  const Placement gpus = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  const std::vector<Share> gang = {{PartitionId{0}, gpus}};
  for (std::uint16_t protocol = 1; protocol <= kNewestProtocol; ++protocol) {
    CAPTURE(protocol);
    const auto said = [&](const Message& message) {
      return copy(codec.encode({protocol, Incarnation{7}, 9}, message));
    };
    const Bytes commit = said(Commit{attempt, fence, spec, gang, {}, how});
    const Bytes launch = said(Launch{attempt, fence, spec, gang, gpus, {}, how});
    CHECK(commit.empty() == (protocol < 4));
    CHECK(launch.empty() == (protocol < 4));
    CHECK(!said(Commit{attempt, fence, spec, gang, {}}).empty());
    CHECK(!said(Launch{attempt, fence, spec, gang, gpus, {}}).empty());
    if (protocol < 4) continue;
    CHECK(std::get<Commit>(codec.decode(commit).value().message).allocation == how);
    CHECK(std::get<Launch>(codec.decode(launch).value().message).allocation == how);
  }
  Bytes older =
      copy(codec.encode({4, Incarnation{7}, 9}, Commit{attempt, fence, spec, gang, {}, how}));
  std::size_t refused = 0;
  for (std::size_t i = 8; i + 1 < older.size(); ++i) {  // wherever the frame says its protocol
    if (older[i] != std::byte{4} || older[i + 1] != std::byte{0}) continue;
    Bytes changed = older;
    changed[i] = std::byte{3};
    const auto heard = codec.decode(changed);
    if (!heard.ok() &&
        heard.error().message == "Commit: allocation: in a frame of an older protocol")
      ++refused;
  }
  CHECK(refused == 1);
  how.local_batch = Allocation::kMost + 1;
  const Bytes wild =
      copy(codec.encode({4, Incarnation{7}, 9}, Commit{attempt, fence, spec, gang, {}, how}));
  CHECK(codec.decode(wild).error().message == "Commit: allocation: more than 10,000,000");
}

TEST_CASE("GPUs to share are asked for, offered and held in the fourth protocol, not before") {
  Codec codec;
  const AttemptId gang{JobId{1, 2}, Epoch{3}, 4}, tenant{JobId{5, 6}, Epoch{7}, 8};
  BidRequest asks{gang, 8, 2, {}};
  asks.gang = 16;
  asks.model = "resnet50";
  const Offer offers{gang, {PartitionId{1}, {GpuId{3}}}, 100, {{tenant, {GpuId{4}}, 900'000, 17}}};
  const Reserve holds{gang, {PartitionId{1}, Epoch{2}}, {GpuId{3}, GpuId{4}}, 100, {}, {tenant}};
  for (std::uint16_t protocol = 1; protocol <= 4; ++protocol) {
    CAPTURE(protocol);
    const auto said = [&](const Message& message) {
      const Bytes bytes = copy(codec.encode({protocol, Incarnation{7}, 9}, message));
      auto heard = codec.decode(bytes);
      REQUIRE(heard.ok());
      return heard.value().message;
    };
    const auto asked = std::get<BidRequest>(said(asks));
    CHECK(asked.gpus == 8);
    CHECK(asked.gang == (protocol < 4 ? 0U : 16U));
    CHECK(asked.model == (protocol < 4 ? "" : "resnet50"));
    const auto offered = std::get<Offer>(said(offers));
    CHECK(offered.share.gpus == offers.share.gpus);
    REQUIRE(offered.shared.size() == (protocol < 4 ? 0U : 1U));
    if (protocol == 4) {
      CHECK(offered.shared[0].tenant == tenant);
      CHECK(offered.shared[0].gpus == Placement{GpuId{4}});
      CHECK(offered.shared[0].speed == 900'000);
      CHECK(offered.shared[0].loss == 17);
    }
    const auto held = std::get<Reserve>(said(holds));
    CHECK(held.gpus == holds.gpus);
    CHECK(held.beside == (protocol < 4 ? std::vector<AttemptId>{} : std::vector{tenant}));
  }
}

TEST_CASE("what a job says of its gradients is said in the fifth protocol, not before") {
  Codec codec;
  const Progress told{{JobId{1, 2}, Epoch{3}, 4}, std::chrono::seconds(5), 0.5, 312.5, 256};
  CHECK(wholly_said_in(told) == 5);
  CHECK(wholly_said_in(Progress{told.attempt, told.served, 0.5}) == 1);
  for (std::uint16_t protocol = 1; protocol <= kNewestProtocol; ++protocol) {
    CAPTURE(protocol);
    const Bytes bytes = copy(codec.encode({protocol, Incarnation{7}, 9}, told));
    const auto heard = codec.decode(bytes);
    REQUIRE(heard.ok());
    const auto& progress = std::get<Progress>(heard.value().message);
    CHECK(progress.served == told.served);
    CHECK(progress.rate == 0.5);
    CHECK(progress.noise == (protocol < 5 ? 0 : 312.5));
    CHECK(progress.batch == (protocol < 5 ? 0U : 256U));
  }
  const auto wrong = [&](double noise, std::uint32_t batch) {
    return reason(Progress{told.attempt, told.served, 0.5, noise, batch});
  };
  CHECK(wrong(-1, 1) == "Progress: noise: not in 0..1e15");
  CHECK(wrong(std::nan(""), 1) == "Progress: noise: not in 0..1e15");
  CHECK(wrong(1, Progress::kMostBatch + 1) == "Progress: batch: more than 1,000,000,000");
}

TEST_CASE("an offer of shared GPUs alone has no free ones, and its figures are within bounds") {
  const SharedRoom room{{JobId{5, 6}, Epoch{7}, 8}, {GpuId{4}}, 900'000, 17};
  const auto wrong = [&](auto change) {
    Offer offer{{JobId{1, 2}, Epoch{3}, 4}, {PartitionId{1}, {}}, 100, {room}};
    change(offer);
    return reason(offer);
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

TEST_CASE("the oldest protocol that is said to say a message wholly does") {
  Codec codec;
  testing::RandomMessage random{Rng(6)};
  for (std::size_t kind = 0; kind < testing::RandomMessage::kinds; ++kind) {
    CAPTURE(kind_name(kind));
    bool same_in_the_first = true, said_in_the_first = true;
    for (int i = 0; i < 50; ++i) {
      const Message message = random.make(kind);
      const auto said_in = [&](std::uint16_t protocol) {
        const Bytes bytes = copy(codec.encode({protocol, Incarnation{7}, 9}, message));
        return frame_of(codec, codec.decode(bytes).value().message);
      };
      const Bytes whole = said_in(kNewestProtocol);
      REQUIRE(said_in(wholly_said_in(message)) == whole);
      if (least_protocol_of(message) > 1) continue;
      if (said_in(1) != whole) same_in_the_first = false;
      if (wholly_said_in(message) != 1) said_in_the_first = false;
    }
    CHECK(same_in_the_first == said_in_the_first);
  }
}

TEST_CASE("a kind must not come in a frame of an older protocol") {
  Codec codec;
  Bytes bytes = copy(codec.encode({2, Incarnation{1}, 1}, ProbeFor{agent_node(AgentId{1})}));
  REQUIRE(codec.decode(bytes).ok());
  int refused = 0;
  for (std::size_t i = 8; i + 1 < bytes.size(); ++i) {
    Bytes changed = bytes;
    if (changed[i] != std::byte{2} || changed[i + 1] != std::byte{0}) continue;
    changed[i] = std::byte{1};
    const Result<Frame> got = codec.decode(changed);
    if (!got.ok() && got.error().message == "unknown: unknown kind of message") ++refused;
  }
  CHECK(refused == 1);
}

TEST_CASE("an unknown kind of message is refused") {
  Codec codec;
  const Bytes good = frame_of(codec, Ping{1});
  // The one byte that holds the kind: changing it to a kind beyond the last must be noticed.
  int unknown = 0;
  for (std::size_t i = 8; i < good.size(); ++i) {
    if (good[i] != std::byte{4}) continue;  // Ping is the fourth kind
    Bytes changed = good;
    changed[i] = std::byte{200};
    const Result<Frame> got = codec.decode(changed);
    if (!got.ok() && got.error().message == "unknown: unknown kind of message") ++unknown;
  }
  CHECK(unknown == 1);
}

}  // namespace
}  // namespace starling
