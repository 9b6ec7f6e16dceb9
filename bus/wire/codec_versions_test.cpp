// SPDX-License-Identifier: Apache-2.0
// Frames of older protocols: what is said in them, what is left out, and what is not said at all.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bus/wire/roles.h"
#include "bus/wire/test_frames.h"
#include "tests/fuzz/random_message.h"

namespace starling {
namespace {

using testing::Bytes, testing::copy, testing::frame_of;

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

/// Fields that came with a later protocol.
struct Later {
  const char* what;
  std::uint16_t since;
  Message said;
  Message before;  ///< what is heard of it in the protocols before
};

std::vector<Later> later_fields() {
  const JobId job{1, 2};
  const AttemptId attempt{job, Epoch{3}, 4}, tenant{JobId{5, 6}, Epoch{7}, 8};
  const Digest digest{{PartitionId{1}, Epoch{2}}, 3, 8, 8, 4, 1, 0, 0};
  Digest rooms = digest, prices = digest;
  rooms.rooms = {{GpuTypeId{1}, 3, 2, {5'000'000, ServerRoom::kAnyAmount}}};
  prices.prices = {{GpuTypeId{0}, 0.25F}, {GpuTypeId{2}, 0}};
  const BidRequest asks{attempt, 8, 2, {}};
  BidRequest of_a_gang = asks;
  of_a_gang.gang = 16;
  of_a_gang.model = "resnet50";
  const Offer offer{attempt, {PartitionId{1}, {GpuId{3}}}, 100};
  Offer shared = offer;
  shared.shared = {{tenant, {GpuId{4}}, 900'000, 17}};
  const Reserve hold{attempt, {PartitionId{1}, Epoch{2}}, {GpuId{3}, GpuId{4}}, 100, {}};
  Reserve beside = hold;
  beside.beside = {tenant};
  const Progress rate{attempt, std::chrono::seconds(5), 0.5};
  Progress gradients = rate;
  gradients.noise = 312.5;
  gradients.batch = 256;
  JobState waits, kept_back;
  waits.job = job;
  kept_back = waits;
  kept_back.reason = JobReason::quota;
  return {{"what servers have left", 3, rooms, digest},
          {"whom GPUs are asked for", 4, of_a_gang, asks},
          {"GPUs to share are offered", 4, shared, offer},
          {"GPUs to share are held", 4, beside, hold},
          {"what a GPU costs", 5, prices, digest},
          {"what a job says of its gradients", 5, gradients, rate},
          {"which offer is accepted", 7, Accepted{job, AgentId{1}, 3}, Accepted{job, AgentId{1}}},
          {"which offer is refused", 7, Rejected{job, Refusal::invalid, "no", 3},
           Rejected{job, Refusal::invalid, "no"}},
          {"a queue that is full", 8, kept_back, waits},
          {"one in a list", 8, JobList{{kept_back}, true}, JobList{{waits}, true}}};
}

TEST_CASE("what came with a later protocol is said in it, and nothing of it before") {
  Codec codec;
  for (const Later& field : later_fields()) {
    CAPTURE(field.what);
    for (std::uint16_t protocol = 1; protocol <= kNewestProtocol; ++protocol) {
      CAPTURE(protocol);
      const Result<Frame> heard = codec.decode(frame_of(codec, field.said, protocol));
      REQUIRE(heard.ok());
      const Message& expected = protocol < field.since ? field.before : field.said;
      CHECK(frame_of(codec, heard.value().message) == frame_of(codec, expected));
    }
    CHECK(frame_of(codec, field.said) != frame_of(codec, field.before));
  }
}

TEST_CASE("a job that says nothing of gradients says all in the first protocol") {
  const Progress told{{JobId{1, 2}, Epoch{3}, 4}, std::chrono::seconds(5), 0.5, 312.5, 256};
  CHECK(wholly_said_in(told) == 5);
  CHECK(wholly_said_in(Progress{told.attempt, told.served, 0.5}) == 1);
}

/// Whether `frame`, with the number before its protocol written where it says it, is refused with
/// `why`. Where that is only the schema knows, so every place with that number is tried.
bool refused_as_older(Codec& codec, const Bytes& frame, std::uint8_t protocol, const char* why) {
  std::size_t refused = 0;
  for (std::size_t i = 8; i + 1 < frame.size(); ++i) {
    if (frame[i] != std::byte{protocol} || frame[i + 1] != std::byte{0}) continue;
    Bytes changed = frame;
    changed[i] = static_cast<std::byte>(protocol - 1);
    const Result<Frame> got = codec.decode(changed);
    if (!got.ok() && got.error().message == why) ++refused;
  }
  return refused == 1;
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
    const auto said = [&](const Message& message) { return frame_of(codec, message, protocol); };
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
  const Bytes commit = frame_of(codec, Commit{attempt, fence, spec, gang, {}, how}, 4);
  CHECK(refused_as_older(codec, commit, 4, "Commit: allocation: in a frame of an older protocol"));
  how.local_batch = Allocation::kMost + 1;
  const Bytes wild = frame_of(codec, Commit{attempt, fence, spec, gang, {}, how}, 4);
  CHECK(codec.decode(wild).error().message == "Commit: allocation: more than 10,000,000");
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
        return frame_of(codec, codec.decode(frame_of(codec, message, protocol)).value().message);
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
  const Bytes probe = frame_of(codec, ProbeFor{agent_node(AgentId{1})}, 2);
  REQUIRE(codec.decode(probe).ok());
  CHECK(refused_as_older(codec, probe, 2, "unknown: unknown kind of message"));
}

TEST_CASE("a node of before queues is told nothing of them") {
  Codec codec, before({}, kQueuesProtocol - 1);
  testing::RandomMessage random{Rng(8)};
  std::size_t kinds = 0;
  for (std::size_t kind = 0; kind < testing::RandomMessage::kinds; ++kind) {
    if (protocol_of(kind) != kQueuesProtocol) continue;
    CAPTURE(kind_name(kind));
    ++kinds;
    const Message message = random.make(kind);
    CHECK(wholly_said_in(message) == kQueuesProtocol);
    CHECK(frame_of(codec, message, kQueuesProtocol - 1).empty());
    const Bytes said = frame_of(codec, message, kQueuesProtocol);
    REQUIRE(codec.decode(said).ok());
    CHECK_FALSE(before.decode(said).ok());
  }
  CHECK(kinds == 5);
  CHECK(refused_as_older(codec, frame_of(codec, QueuesQuery{}), kQueuesProtocol,
                         "unknown: unknown kind of message"));
  JobState kept_back;
  kept_back.reason = JobReason::quota;
  CHECK(refused_as_older(codec, frame_of(codec, kept_back), kQueuesProtocol,
                         "JobState: reason: unknown"));
}

}  // namespace
}  // namespace starling
