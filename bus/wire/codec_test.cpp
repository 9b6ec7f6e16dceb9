// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/codec.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "bus/wire/roles.h"
#include "bus/wire/test_frames.h"
#include "tests/fuzz/random_message.h"

namespace starling {
namespace {

using testing::Bytes, testing::copy, testing::frame_of, testing::refusal;

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

TEST_CASE("limits bind both ways") {
  Limits tight;
  tight.gpus_per_job = 2;
  tight.participants_per_job = 1;
  CHECK(refusal(Reserve{{}, {}, {GpuId{1}, GpuId{2}, GpuId{3}}, 1}, tight) ==
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

TEST_CASE("a state of more queues than a frame has room for is cut, and what is asked is not") {
  Codec codec;
  QueuesState state;
  QuotaAsk ask{{Incarnation{1}, 1}, 1, {}};
  for (std::size_t i = 0; i < QueuesState::kMostUses; ++i) {
    const QuotaAccount account{std::to_string(100'000 + i) + std::string(200, 'x'), "ann"};
    state.uses.push_back({account, 1, 1, 0});
    ask.rows.push_back({account, 1, 1});
  }
  const Result<Frame> heard = codec.decode(frame_of(codec, state));
  REQUIRE(heard.ok());
  const auto& uses = std::get<QueuesState>(heard.value().message).uses;
  CHECK(uses.size() > 1000);
  CHECK(std::equal(uses.begin(), uses.end(), state.uses.begin()));
  CHECK(frame_of(codec, ask).empty());
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
