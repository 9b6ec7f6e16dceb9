// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bus/wire/may_say.h"
#include "bus/wire/queue_messages.h"

namespace starling::wire {

// Messages of an attempt between its home and the owners of its GPUs.
template <>
inline constexpr MaySay kMaySay<starling::BidRequest>{kAA};
template <>
inline constexpr MaySay kMaySay<starling::Offer>{kAA, InName::of_share};
template <>
inline constexpr MaySay kMaySay<starling::NoOffer>{kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::Reserve>{kAA};
template <>
inline constexpr MaySay kMaySay<starling::Reserved>{kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::ReserveRefused>{kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::Commit>{kAA};
template <>
inline constexpr MaySay kMaySay<starling::Committed>{kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::CommitRefused>{kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::StartAttempt>{kAA};
template <>
inline constexpr MaySay kMaySay<starling::Started>{kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::Release>{kAA};
template <>
inline constexpr MaySay kMaySay<starling::Released>{kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::AttemptQuery>{kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::AttemptAnswer>{kAA | kAE};

using GangKinds =
    Kinds<BidRequest, Offer, NoOffer, Reserve, Reserved, ReserveRefused, Commit, Committed,
          CommitRefused, StartAttempt, Started, Release, Released, AttemptQuery, AttemptAnswer>;

/// Writes them, and those of the headers before: one overload of body() for each. Absent means
/// empty or 0.
class GangWriter : public QueueWriter {
 public:
  using QueueWriter::body;
  using QueueWriter::QueueWriter;

  auto body(const starling::BidRequest& m) {
    const AttemptId a = id(m.attempt);
    const Demand each{m.each.cpus, m.each.memory};
    return CreateBidRequest(b_, &a, m.gpus, m.gpus_per_worker, texts(m.gpu_types),
                            two_ ? m.claim_ms : 0, two_ ? ns(m.waited) : 0,
                            m.each.any() ? &each : nullptr, four_ ? m.gang : 0,
                            four_ ? name(m.model) : Text{}, five_ ? m.priority : 0);
  }
  auto body(const starling::Offer& m) {
    const AttemptId a = id(m.attempt);
    std::vector<fb::Offset<SharedRoom>> rooms;
    for (const starling::SharedRoom& room : m.shared) {
      if (!four_ || rooms.size() == starling::SharedRoom::kMost) break;
      const AttemptId tenant = id(room.tenant);
      rooms.push_back(CreateSharedRoom(b_, &tenant, placement(room.gpus), room.speed, room.loss));
    }
    const auto shared =
        rooms.empty() ? fb::Offset<fb::Vector<fb::Offset<SharedRoom>>>{} : b_.CreateVector(rooms);
    return CreateOffer(b_, &a, share(m.share), m.valid_ms, shared);
  }
  auto body(const starling::NoOffer& m) {
    const AttemptId a = id(m.attempt);
    return CreateNoOffer(b_, &a, m.partition.value, head(m.reason));
  }
  auto body(const starling::Reserve& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    const Demand each{m.each.cpus, m.each.memory};
    std::vector<AttemptId> tenants;
    for (const starling::AttemptId& tenant : m.beside) {
      if (four_) tenants.push_back(id(tenant));
    }
    const auto beside = tenants.empty() ? fb::Offset<fb::Vector<const AttemptId*>>{}
                                        : b_.CreateVectorOfStructs(tenants);
    return CreateReserve(b_, &a, &f, placement(m.gpus), m.hold_ms, m.each.any() ? &each : nullptr,
                         beside);
  }
  auto body(const starling::Reserved& m) {
    const AttemptId a = id(m.attempt);
    return CreateReserved(b_, &a, m.partition.value);
  }
  auto body(const starling::ReserveRefused& m) {
    const AttemptId a = id(m.attempt);
    return CreateReserveRefused(b_, &a, m.partition.value, as<Refusal>(m.why));
  }
  auto body(const starling::Commit& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    const auto s = spec(m.spec);
    const auto shares = gang(m.gang);
    return CreateCommit(b_, &a, &f, s, shares, ns(m.served), allocation(m.allocation));
  }
  auto body(const starling::Committed& m) {
    const AttemptId a = id(m.attempt);
    return CreateCommitted(b_, &a, m.partition.value);
  }
  auto body(const starling::CommitRefused& m) {
    const AttemptId a = id(m.attempt);
    return CreateCommitRefused(b_, &a, m.partition.value, as<Refusal>(m.why));
  }
  auto body(const starling::StartAttempt& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    return CreateStartAttempt(b_, &a, &f);
  }
  auto body(const starling::Started& m) {
    const AttemptId a = id(m.attempt);
    return CreateStarted(b_, &a, m.partition.value);
  }
  auto body(const starling::Release& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    return CreateRelease(b_, &a, &f);
  }
  auto body(const starling::Released& m) {
    const AttemptId a = id(m.attempt);
    return CreateReleased(b_, &a, m.partition.value, ns(m.served));
  }
  auto body(const starling::AttemptQuery& m) {
    const AttemptId a = id(m.attempt);
    return CreateAttemptQuery(b_, &a, m.partition.value, two_ ? m.token : 0);
  }
  auto body(const starling::AttemptAnswer& m) {
    const AttemptId a = id(m.attempt);
    return CreateAttemptAnswer(b_, &a, as<AttemptLife>(m.life), two_ ? m.token : 0,
                               two_ ? ns(m.age) : 0);
  }
};

/// Reads them, and those of the headers before: one overload of read() for each, which checks
/// what every field means.
class GangReader : public QueueReader {
 public:
  using QueueReader::QueueReader;
  using QueueReader::read;

  starling::BidRequest read(const BidRequest& t) {
    starling::BidRequest m{attempt(t.attempt()),
                           t.gpus(),
                           t.gpus_per_worker(),
                           names(t.gpu_types()),
                           two() ? hold(t.claim_ms()) : 0,
                           two() ? span(t.waited_ns()) : Duration{0},
                           demand(t.each())};
    if (four()) m.gang = t.gang(), m.model = name(t.model());
    if (five()) m.priority = t.priority();
    if (m.gpus == 0 || std::max(m.gpus, m.gang) > limits().gpus_per_job)
      fail("gpus: none, or more than a job may have");
    if (m.gpus_per_worker == 0 || m.gpus_per_worker > m.gpus)
      fail("gpus_per_worker: not in 1..gpus");
    return m;
  }
  starling::Offer read(const Offer& t) {
    auto rooms = shared_rooms(four() ? t.shared() : nullptr);
    return {attempt(t.attempt()), share(*t.share(), !rooms.empty()), hold(t.valid_ms()), rooms};
  }
  starling::NoOffer read(const NoOffer& t) {
    return {attempt(t.attempt()), partition(t.partition()), text(t.reason())};
  }
  starling::Reserve read(const Reserve& t) {
    return {attempt(t.attempt()), fence(t.fence()), gang_gpus(*t.gpus()),
            hold(t.hold_ms()),    demand(t.each()), tenants(four() ? t.beside() : nullptr)};
  }
  starling::Reserved read(const Reserved& t) { return about<starling::Reserved>(t); }
  starling::ReserveRefused read(const ReserveRefused& t) {
    return refusal<starling::ReserveRefused>(t);
  }
  starling::Commit read(const Commit& t) {
    return {attempt(t.attempt()), fence(t.fence()),    own_spec(*t.spec(), t.attempt()),
            gang(*t.gang()),      span(t.served_ns()), own_allocation(t.allocation())};
  }
  starling::Committed read(const Committed& t) { return about<starling::Committed>(t); }
  starling::CommitRefused read(const CommitRefused& t) {
    return refusal<starling::CommitRefused>(t);
  }
  starling::StartAttempt read(const StartAttempt& t) { return fenced<starling::StartAttempt>(t); }
  starling::Started read(const Started& t) { return about<starling::Started>(t); }
  starling::Release read(const Release& t) { return fenced<starling::Release>(t); }
  starling::Released read(const Released& t) {
    return {attempt(t.attempt()), partition(t.partition()), span(t.served_ns())};
  }
  starling::AttemptQuery read(const AttemptQuery& t) {
    return {attempt(t.attempt()), partition(t.partition()), two() ? t.token() : 0};
  }
  starling::AttemptAnswer read(const AttemptAnswer& t) {
    starling::AttemptAnswer m{
        attempt(t.attempt()),
        known<starling::AttemptLife>(t.life(), AttemptLife::MAX, "life: unknown"),
        two() ? t.token() : 0, two() ? span(t.age_ns()) : Duration{0}};
    if (m.life == starling::AttemptLife::unknown) fail("life: unknown");
    return m;
  }
};

}  // namespace starling::wire
