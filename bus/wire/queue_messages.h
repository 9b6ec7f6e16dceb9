// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bus/wire/job_messages.h"
#include "bus/wire/may_say.h"

namespace starling::wire {

// Messages of queues: operators, the keeper, and homes that ask it what they may use.
template <>
inline constexpr MaySay kMaySay<starling::SetQueues>{kCA | kAA};
template <>
inline constexpr MaySay kMaySay<starling::QueuesQuery>{kCA};
template <>
inline constexpr MaySay kMaySay<starling::QueuesState>{kAC};
template <>
inline constexpr MaySay kMaySay<starling::QuotaAsk>{kAA};
template <>
inline constexpr MaySay kMaySay<starling::QuotaGrant>{kAA};

using QueueKinds = Kinds<SetQueues, QueuesQuery, QueuesState, QuotaAsk, QuotaGrant>;

/// Writes them, and those of the headers before: one overload of body() for each. Absent means
/// empty or 0.
class QueueWriter : public JobWriter {
 public:
  using JobWriter::body;
  using JobWriter::JobWriter;

  auto body(const starling::SetQueues& m) { return CreateSetQueues(b_, tree(m.tree)); }
  auto body(const starling::QueuesQuery&) { return CreateQueuesQuery(b_); }
  auto body(const starling::QueuesState& m) {
    const fb::Offset<QueueTree> queues = tree(m.tree);
    // People read them, so a list that is too long is cut. Tree and uses have half a frame each.
    std::size_t room = limits_.frame_bytes / 2;
    std::vector<fb::Offset<QueueUse>> uses;
    for (const starling::QueueUse& use : m.uses) {
      const std::size_t bytes = kUseBytes + use.account.queue.size() + use.account.user.size();
      if (uses.size() == starling::QueuesState::kMostUses || bytes > room) break;
      room -= bytes;
      const Text queue = text(use.account.queue);
      uses.push_back(
          CreateQueueUse(b_, queue, name(use.account.user), use.may, use.used, use.want));
    }
    const auto rows = list(uses);
    const Numbers unaware = numbers(m.unaware);
    return CreateQueuesState(b_, queues, rows, unaware, as<Refusal>(m.why), head(m.reason));
  }
  // Of these nothing is cut: what has no row has no portion.
  auto body(const starling::QuotaAsk& m) {
    std::vector<fb::Offset<QuotaWant>> rows;
    rows.reserve(m.rows.size());
    for (const starling::QuotaWant& row : m.rows) {
      const Text queue = text(row.account.queue);
      rows.push_back(CreateQuotaWant(b_, queue, name(row.account.user), row.keep, row.used,
                                     row.want, row.first, row.priority, ns(row.waited)));
    }
    const QuotaStamp s{m.stamp.life.value, m.stamp.number};
    return CreateQuotaAsk(b_, &s, m.tree, list(rows));
  }
  auto body(const starling::QuotaGrant& m) {
    std::vector<fb::Offset<QuotaMay>> rows;
    rows.reserve(m.rows.size());
    for (const starling::QuotaMay& row : m.rows) {
      const Text queue = text(row.account.queue);
      const Text user = name(row.account.user);
      rows.push_back(
          CreateQuotaMay(b_, queue, user, row.may, name(row.bound), row.scarce, row.over));
    }
    const QuotaStamp s{m.stamp.life.value, m.stamp.number};
    return CreateQuotaGrant(b_, &s, m.tree, list(rows));
  }

 private:
  static constexpr std::size_t kUseBytes = 64;  ///< of one on the wire without its names, at most

  template <class Row>
  fb::Offset<fb::Vector<fb::Offset<Row>>> list(const std::vector<fb::Offset<Row>>& rows) {
    if (rows.empty()) return {};
    return b_.CreateVector(rows);
  }
  fb::Offset<QueueTree> tree(const starling::QueueTree& t) {
    std::vector<fb::Offset<QueueSpec>> queues;
    queues.reserve(t.queues.size());
    for (const starling::QueueSpec& q : t.queues) {
      const Text queue = text(q.name);
      queues.push_back(CreateQueueSpec(b_, queue, q.guaranteed, q.most, q.most_per_user, q.weight,
                                       texts(q.users)));
    }
    const auto all = list(queues);
    return CreateQueueTree(b_, t.version, all, name(t.fallback));
  }
};

/// Reads them, and those of the headers before: one overload of read() for each, which checks
/// what every field means.
class QueueReader : public JobReader {
 public:
  using JobReader::JobReader;
  using JobReader::read;

  starling::SetQueues read(const SetQueues& t) {
    starling::SetQueues m{tree(*t.tree())};
    if (m.tree.version == 0) fail("tree: of no version");
    return m;
  }
  starling::QueuesQuery read(const QueuesQuery&) { return {}; }
  starling::QueuesState read(const QueuesState& t) {
    starling::QueuesState m;
    m.tree = tree(*t.tree());
    m.uses = rows<starling::QueueUse>(
        t.uses(), starling::QueuesState::kMostUses, [this](const QueueUse& row) {
          return starling::QueueUse{account(row), row.may(), row.used(), row.want()};
        });
    m.unaware = agents(t.unaware());
    m.why = why(t.why());
    m.reason = text(t.reason());
    return m;
  }
  starling::QuotaAsk read(const QuotaAsk& t) {
    return {stamp(t.stamp()), version(t.tree()),
            rows<starling::QuotaWant>(t.rows(), starling::QuotaAsk::kMost,
                                      [this](const QuotaWant& row) { return want(row); })};
  }
  starling::QuotaGrant read(const QuotaGrant& t) {
    return {
        stamp(t.stamp()), version(t.tree()),
        rows<starling::QuotaMay>(t.rows(), starling::QuotaAsk::kMost, [this](const QuotaMay& row) {
          return starling::QuotaMay{account(row), portion(row.may()), name(row.bound()),
                                    row.scarce(), row.over()};
        })};
  }

 private:
  starling::QuotaStamp stamp(const QuotaStamp* s) {
    if (s->life() == 0) fail("stamp: of no life");
    return {Incarnation{s->life()}, s->number()};
  }
  std::uint64_t version(std::uint64_t tree) {
    if (tree == 0) fail("tree: of no version");
    return tree;
  }
  /// Two jobs may share a GPU, and portions are a quarter more than there is at most: sums over all
  /// homes cannot run over.
  std::uint32_t portion(std::uint32_t gpus) {
    if (gpus > 2 * std::uint64_t{limits().gpus_total})
      fail("rows: more GPUs than a data centre may have");
    return gpus;
  }
  template <class Row>
  starling::QuotaAccount account(const Row& row) {
    if (row.queue()->size() == 0) fail("rows: a queue without a name");
    return {name(row.queue()), name(row.user())};
  }
  starling::QuotaWant want(const QuotaWant& row) {
    if (row.keep() < row.used()) fail("rows: keeps less than it uses");
    return {account(row), portion(row.keep()), row.used(),           row.want(),
            row.first(),  row.priority(),      span(row.waited_ns())};
  }
  /// Ascending by account, each once; null: none.
  template <class To, class From, class Make>
  std::vector<To> rows(const fb::Vector<fb::Offset<From>>* in, std::size_t most, Make make) {
    std::vector<To> all;
    if (in == nullptr) return all;
    if (in->size() > most) return fail("rows: too many"), all;
    all.reserve(in->size());
    for (const From* row : *in) {
      if (failed()) break;
      all.push_back(make(*row));
      if (all.size() > 1 && !(all[all.size() - 2].account < all.back().account))
        fail("rows: not ascending");
    }
    return all;
  }
  std::vector<AgentId> agents(const fb::Vector<std::uint32_t>* in) {
    std::vector<AgentId> all;
    if (in == nullptr) return all;
    if (in->size() > limits().peers) return fail("unaware: too many"), all;
    all.reserve(in->size());
    for (const std::uint32_t a : *in) {
      if (!all.empty() && all.back().value >= a) fail("unaware: not ascending");
      all.push_back(agent(a));
    }
    return all;
  }
  starling::QueueSpec queue(const QueueSpec& t) {
    if (t.weight() == 0) fail("tree: a queue without weight");
    return {name(t.name()),
            t.guaranteed(),
            t.most(),
            t.most_per_user(),
            t.weight(),
            texts(t.users(), kUsers, limits().name_bytes, "tree: users: too many or too long")};
  }
  starling::QueueTree tree(const QueueTree& t) {
    starling::QueueTree m;
    m.version = t.version();
    m.fallback = name(t.fallback());
    if (t.queues() != nullptr) {
      if (t.queues()->size() > starling::QueueTree::kMost) return fail("tree: too many queues"), m;
      m.queues.reserve(t.queues()->size());
      for (const QueueSpec* q : *t.queues()) {
        if (failed()) break;
        m.queues.push_back(queue(*q));
      }
    }
    if (failed()) return m;
    if (m.version > 0) {
      wrong_ = check_queues(m);
      if (!wrong_.empty()) wrong_ = "tree: " + wrong_, fail(wrong_.c_str());
    } else if (!m.queues.empty() || !m.fallback.empty()) {
      fail("tree: queues of no version");
    }
    return m;
  }

  std::string wrong_;  ///< of a tree: what fail() was told
};

}  // namespace starling::wire
