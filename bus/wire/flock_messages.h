// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bus/wire/may_say.h"
#include "bus/wire/part_reader.h"
#include "bus/wire/part_writer.h"

namespace starling::wire {

// Messages between the nodes of a flock: which they are, whether they hear each other, what their
// partitions have.
template <>
inline constexpr MaySay kMaySay<starling::Hello>{kAll};
template <>
inline constexpr MaySay kMaySay<starling::Welcome>{kAA | kAE | kAC, InName::of_fence};
template <>
inline constexpr MaySay kMaySay<starling::Goodbye>{kAll};
template <>
inline constexpr MaySay kMaySay<starling::Ping>{kAll};
template <>
inline constexpr MaySay kMaySay<starling::Pong>{kAll};
template <>
inline constexpr MaySay kMaySay<starling::Digest>{kAA, InName::of_fence};
template <>
inline constexpr MaySay kMaySay<starling::Digests>{kAA};
template <>
inline constexpr MaySay kMaySay<starling::Fenced>{kEA | kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::ProbeFor>{kAA};
template <>
inline constexpr MaySay kMaySay<starling::ProbeResult>{kAA};

using FlockKinds =
    Kinds<Hello, Welcome, Goodbye, Ping, Pong, Digest, Digests, Fenced, ProbeFor, ProbeResult>;

/// Writes them, and those of the headers before: one overload of body() for each. Absent means
/// empty or 0.
class FlockWriter : public PartWriter {
 public:
  using PartWriter::PartWriter;

  auto body(const starling::Hello& m) {
    return CreateHello(b_, as<Role>(m.role), m.protocol_min, m.protocol_max, name(m.build),
                       m.topology);
  }
  auto body(const starling::Welcome& m) {
    const Fence f = fence(m.fence);
    return CreateWelcome(b_, &f, m.topology);
  }
  auto body(const starling::Goodbye& m) {
    return CreateGoodbye(b_, head(m.reason), m.life.value, m.written, m.of_life.value, m.of_born);
  }
  auto body(const starling::Ping& m) { return CreatePing(b_, m.sequence); }
  auto body(const starling::Pong& m) { return CreatePong(b_, m.sequence, m.loop_lag_us); }
  auto body(const starling::Digest& m) { return digest(m); }
  auto body(const starling::Digests& m) {
    std::vector<fb::Offset<DigestWord>> words;
    words.reserve(m.words.size());
    for (const starling::Digests::Word& word : m.words)
      words.push_back(CreateDigestWord(b_, digest(word.digest), word.age_ms));
    return CreateDigests(b_, b_.CreateVector(words));
  }
  auto body(const starling::Fenced& m) {
    return CreateFenced(b_, m.partition.value, m.epoch.value);
  }
  auto body(const starling::ProbeFor& m) { return CreateProbeFor(b_, m.node.value); }
  auto body(const starling::ProbeResult& m) {
    return CreateProbeResult(b_, m.node.value, m.reached);
  }
};

/// Reads them, and those of the headers before: one overload of read() for each, which checks
/// what every field means.
class FlockReader : public PartReader {
 public:
  using PartReader::PartReader;

  starling::Hello read(const Hello& t) {
    starling::Hello m;
    m.role = known<starling::Role>(t.role(), Role::MAX, "role: unknown");
    if (m.role == starling::Role::unknown) fail("role: unknown");
    m.protocol_min = t.protocol_min();
    m.protocol_max = t.protocol_max();
    if (m.protocol_min == 0 || m.protocol_min > m.protocol_max)
      fail("protocol: not a range from 1");
    m.build = name(t.build());
    m.topology = t.topology();
    return m;
  }
  starling::Welcome read(const Welcome& t) { return {fence(t.fence()), t.topology()}; }
  starling::Goodbye read(const Goodbye& m) {
    return {text(m.reason()), Incarnation{m.life()}, m.written(), Incarnation{m.of_life()},
            m.of_born()};
  }
  starling::Ping read(const Ping& t) { return {t.sequence()}; }
  starling::Pong read(const Pong& t) { return {t.sequence(), t.loop_lag_us()}; }
  starling::Digest read(const Digest& t) { return digest(t); }
  starling::Digests read(const Digests& t) {
    starling::Digests m;
    if (t.words() == nullptr) return m;
    if (t.words()->size() > starling::Digests::kMost) return fail("words: too many"), m;
    m.words.reserve(t.words()->size());
    for (const DigestWord* word : *t.words())
      m.words.push_back({digest(*word->digest()), word->age_ms()});
    return m;
  }
  starling::Fenced read(const Fenced& t) { return {partition(t.partition()), Epoch{t.epoch()}}; }
  starling::ProbeFor read(const ProbeFor& t) { return {watched(t.node())}; }
  starling::ProbeResult read(const ProbeResult& t) { return {watched(t.node()), t.reached()}; }
};

}  // namespace starling::wire
