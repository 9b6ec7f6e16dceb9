// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agents/quota/keeper.h"

namespace starling {

// For tests of the keeper of queues: one with homes that know its tree.

using Agents = std::vector<AgentId>;

constexpr std::uint32_t kFree = QueueSpec::kNoLimit;

inline QueueSpec row_of(std::string name, std::uint32_t guaranteed = 0, std::uint32_t most = kFree,
                        std::uint32_t weight = 1) {
  QueueSpec q;
  q.name = std::move(name), q.guaranteed = guaranteed, q.most = most, q.weight = weight;
  return q;
}

inline QuotaWant want_of(std::string queue, std::uint32_t keep, std::uint32_t want,
                         std::uint32_t first = 1, std::int32_t priority = 0, Duration waited = {}) {
  return {{std::move(queue), ""}, keep, keep, want, first, priority, waited};
}

/// A keeper of 16 GPUs, of which 20 may be given out, and homes that know its tree.
struct KeptQueues {
  explicit KeptQueues(std::vector<QueueSpec> queues, std::size_t homes = 2)
      : keeper(homes, 16), count(homes) {
    set(std::move(queues));
    for (std::uint32_t i = 0; i < homes; ++i) ask(i, {});
    (void)share();
  }
  void set(std::vector<QueueSpec> queues) {
    QueueTree tree;
    tree.version = keeper.tree().version + 1;
    tree.queues = std::move(queues);
    bool changed = false;
    REQUIRE(keeper.set(tree, changed) == "");
    REQUIRE(changed);
  }
  QuotaAsk ask(std::uint32_t home, std::vector<QuotaWant> rows) {
    QuotaAsk said{{Incarnation{1}, ++numbers[home]}, keeper.tree().version, std::move(rows)};
    REQUIRE(keeper.heard(AgentId{home}, said, now));
    return said;
  }
  Agents share() { return keeper.share_out(now); }
  [[nodiscard]] std::uint32_t may(std::uint32_t home, const std::string& queue,
                                  const std::string& user = {}) const {
    for (const QuotaMay& row : keeper.grant_for(AgentId{home}).rows) {
      if (row.account == QuotaAccount{queue, user}) return row.may;
    }
    return 0;
  }
  [[nodiscard]] QuotaMay row(std::uint32_t home, const std::string& queue) const {
    for (const QuotaMay& one : keeper.grant_for(AgentId{home}).rows) {
      if (one.account.queue == queue) return one;
    }
    return {};
  }
  QuotaKeeper again() const {
    QuotaKeeper next(count, 16);
    for (const Record& record : keeper.records()) {
      if (const auto* tree = std::get_if<QueuesSet>(&record)) next.replay(*tree);
      if (const auto* of = std::get_if<QuotaPortions>(&record)) next.replay(*of);
    }
    return next;
  }
  QuotaKeeper keeper;
  std::size_t count;
  Instant now{};
  std::map<std::uint32_t, std::uint64_t> numbers;
};

}  // namespace starling
