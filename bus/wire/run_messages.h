// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bus/wire/gang_messages.h"
#include "bus/wire/may_say.h"

namespace starling::wire {

// Messages between an owner and the executors of its partition.
template <>
inline constexpr MaySay kMaySay<starling::Launch>{kAE, InName::of_fence};
template <>
inline constexpr MaySay kMaySay<starling::LaunchResult>{kEA};
template <>
inline constexpr MaySay kMaySay<starling::Kill>{kAE, InName::of_fence};
template <>
inline constexpr MaySay kMaySay<starling::Killed>{kEA};
template <>
inline constexpr MaySay kMaySay<starling::Exited>{kEA | kAA, InName::of_partition};
template <>
inline constexpr MaySay kMaySay<starling::ExitedAck>{kAE | kAA};
template <>
inline constexpr MaySay kMaySay<starling::Progress>{kEA | kAA};
template <>
inline constexpr MaySay kMaySay<starling::InventoryRequest>{kAE, InName::of_fence};
template <>
inline constexpr MaySay kMaySay<starling::Inventory>{kEA};
template <>
inline constexpr MaySay kMaySay<starling::GpuHealth>{kEA};
template <>
inline constexpr MaySay kMaySay<starling::GpuHealthSeen>{kAE};

using RunKinds = Kinds<Launch, LaunchResult, Kill, Killed, Exited, ExitedAck, Progress,
                       InventoryRequest, Inventory, GpuHealth, GpuHealthSeen>;

/// Writes them, and those of the headers before: one overload of body() for each. Absent means
/// empty or 0.
class RunWriter : public GangWriter {
 public:
  using GangWriter::body;
  using GangWriter::GangWriter;

  auto body(const starling::Launch& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    const auto s = spec(m.spec);
    const auto shares = gang(m.gang);
    const auto here = placement(m.here);
    return CreateLaunch(b_, &a, &f, s, shares, here, ns(m.served), allocation(m.allocation));
  }
  auto body(const starling::LaunchResult& m) {
    const AttemptId a = id(m.attempt);
    return CreateLaunchResult(b_, &a, m.ok, head(m.reason));
  }
  auto body(const starling::Kill& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    return CreateKill(b_, &a, &f);
  }
  auto body(const starling::Killed& m) {
    const AttemptId a = id(m.attempt);
    return CreateKilled(b_, &a, ns(m.served));
  }
  auto body(const starling::Exited& m) {
    const AttemptId a = id(m.attempt);
    return CreateExited(b_, &a, m.partition.value, exit(m.exit), ns(m.served));
  }
  auto body(const starling::ExitedAck& m) {
    const AttemptId a = id(m.attempt);
    return CreateExitedAck(b_, &a, m.partition.value);
  }
  auto body(const starling::Progress& m) {
    const AttemptId a = id(m.attempt);
    return CreateProgress(b_, &a, ns(m.served), m.rate, five_ ? m.noise : 0, five_ ? m.batch : 0);
  }
  auto body(const starling::InventoryRequest& m) {
    const Fence f = fence(m.fence);
    return CreateInventoryRequest(b_, &f, m.topology);
  }
  auto body(const starling::Inventory& m) {
    const Fence f = fence(m.fence);
    std::vector<fb::Offset<InventoryItem>> items;
    items.reserve(m.items.size());
    for (const starling::InventoryItem& item : m.items) {
      const AttemptId a = id(item.attempt);
      const Numbers gpus = placement(item.gpus);
      const Demand each{item.each.cpus, item.each.memory};
      items.push_back(CreateInventoryItem(b_, &a, gpus, item.exited, optional_exit(item.exit),
                                          ns(item.served), item.each.any() ? &each : nullptr));
    }
    const auto all = b_.CreateVector(items);
    const Numbers sick = two_ ? numbers(m.sick) : Numbers{};
    return CreateInventory(b_, &f, all, two_ ? m.health : 0, sick);
  }
  auto body(const starling::GpuHealth& m) {
    return CreateGpuHealth(b_, m.version, numbers(m.sick));
  }
  auto body(const starling::GpuHealthSeen& m) { return CreateGpuHealthSeen(b_, m.version); }
};

/// Reads them, and those of the headers before: one overload of read() for each, which checks
/// what every field means.
class RunReader : public GangReader {
 public:
  using GangReader::GangReader;
  using GangReader::read;

  starling::Launch read(const Launch& t) {
    return {attempt(t.attempt()),
            fence(t.fence()),
            own_spec(*t.spec(), t.attempt()),
            gang(*t.gang()),
            gang_gpus(*t.here()),
            span(t.served_ns()),
            own_allocation(t.allocation())};
  }
  starling::LaunchResult read(const LaunchResult& t) {
    return {attempt(t.attempt()), t.ok(), text(t.reason())};
  }
  starling::Kill read(const Kill& t) { return fenced<starling::Kill>(t); }
  starling::Killed read(const Killed& t) { return {attempt(t.attempt()), span(t.served_ns())}; }
  starling::Exited read(const Exited& t) {
    return {attempt(t.attempt()), partition(t.partition()), exit(*t.exit()), span(t.served_ns())};
  }
  starling::ExitedAck read(const ExitedAck& t) { return about<starling::ExitedAck>(t); }
  starling::Progress read(const Progress& t) {
    return {attempt(t.attempt()), span(t.served_ns()), amount(t.rate(), 1e6, "rate: not in 0..1e6"),
            noise(five() ? t.noise() : 0), samples(five() ? t.batch() : 0)};
  }
  starling::InventoryRequest read(const InventoryRequest& t) {
    return {fence(t.fence()), t.topology()};
  }
  starling::Inventory read(const Inventory& t) {
    starling::Inventory m{fence(t.fence()), {}, 0, {}};
    if (two()) {
      m.health = t.health();
      m.sick = optional_gpus(t.sick());
    }
    if (t.items() == nullptr) return m;
    if (t.items()->size() > kItemsPerInventory) return fail("items: too many"), m;
    m.items.reserve(t.items()->size());
    for (const InventoryItem* item : *t.items()) {
      if (failed()) break;
      m.items.push_back({attempt(item->attempt()), gang_gpus(*item->gpus()), item->exited(),
                         item->exit() == nullptr ? starling::ExitStatus{} : exit(*item->exit()),
                         span(item->served_ns()), demand(item->each())});
    }
    return m;
  }
  starling::GpuHealth read(const GpuHealth& t) { return {t.version(), optional_gpus(t.sick())}; }
  starling::GpuHealthSeen read(const GpuHealthSeen& t) { return {t.version()}; }
};

}  // namespace starling::wire
