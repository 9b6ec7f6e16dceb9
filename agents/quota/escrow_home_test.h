// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "agents/quota/portions.h"

namespace starling {

struct EscrowJob {
  JobSpec spec;
  std::uint64_t order = 0;
  Instant since{};
  QuotaAccount account{};  ///< that it is counted in
  enum class Where : std::uint8_t { back, let, runs } where = Where::back;
};

/// A home as far as quotas go. Durable: its tree, its life and which jobs there are and run.
struct EscrowHome {
  std::uint64_t life = 1;
  Portions portions{Incarnation{1}};
  QueueTree tree;
  std::vector<EscrowJob> jobs;  ///< by priority, then age
  Instant asked = Instant(-std::chrono::hours(1));

  /// Where it stands now: there, or there no more.
  void count(EscrowJob& job, bool more) {
    const std::uint32_t gpus = job.spec.gpus();
    using enum EscrowJob::Where;
    if (more) job.account = account_of(portions.tree(), job.spec);
    const auto say = [&](auto up, auto down) { (portions.*(more ? up : down))(job.account, gpus); };
    if (job.where == back) say(&Portions::keep_back, &Portions::keep_back_no_more);
    if (job.where == let) say(&Portions::let, &Portions::let_no_more);
    if (job.where == runs && more) portions.run(job.account, gpus);
    if (job.where == runs && !more) portions.run_no_more(job.account, gpus);
  }
  /// It ran, and waits again.
  void stop(EscrowJob& job) {
    portions.run_no_more(job.account, job.spec.gpus(), true);
    job.where = portions.may_wait(job.account, job.spec.gpus()) ? EscrowJob::Where::let
                                                                : EscrowJob::Where::back;
    count(job, true);
  }
  void put(EscrowJob& job, EscrowJob::Where where) {
    count(job, false);
    job.where = where;
    count(job, true);
  }
  /// Strictly in order within an account.
  void let_in() {
    std::vector<QuotaAccount> full;
    for (EscrowJob& job : jobs) {
      if (job.where != EscrowJob::Where::back) continue;
      const bool waits = std::find(full.begin(), full.end(), job.account) != full.end();
      if (!waits && portions.may_wait(job.account, job.spec.gpus()))
        put(job, EscrowJob::Where::let);
      else if (!waits)
        full.push_back(job.account);
    }
  }
  void begin_life() {
    portions = Portions(Incarnation{++life});
    for (EscrowJob& job : jobs) {
      if (job.where == EscrowJob::Where::let) job.where = EscrowJob::Where::back;
    }
    portions.set_tree(tree);
    for (EscrowJob& job : jobs) count(job, true);
    portions.begin();
    let_in();
  }
  void set(const QueueTree& newer) {
    if (newer.version <= tree.version) return;
    for (EscrowJob& job : jobs) {
      count(job, false);
      if (job.where == EscrowJob::Where::let) job.where = EscrowJob::Where::back;
    }
    tree = newer;
    REQUIRE(portions.set_tree(newer));
    for (EscrowJob& job : jobs) count(job, true);
    portions.begin();
    let_in();
  }
  void add(EscrowJob job) {
    count(job, true);
    const auto later = [](const EscrowJob& a, const EscrowJob& b) {
      return a.spec.priority != b.spec.priority ? a.spec.priority > b.spec.priority
                                                : a.order < b.order;
    };
    jobs.insert(std::upper_bound(jobs.begin(), jobs.end(), job, later), job);
    let_in();
  }
  QuotaAsk ask(Instant now) {
    const std::vector<QuotaAccount> recalled = portions.recalled();
    for (EscrowJob& job : jobs) {
      const bool of = std::find(recalled.begin(), recalled.end(), job.account) != recalled.end();
      if (of && job.where == EscrowJob::Where::let) put(job, EscrowJob::Where::back);
    }
    std::map<QuotaAccount, Portions::Front> front;
    for (const EscrowJob& job : jobs) {
      if (job.where == EscrowJob::Where::back)
        front.try_emplace(job.account,
                          Portions::Front{job.spec.gpus(), job.spec.priority, now - job.since});
    }
    asked = now;
    return portions.ask(front);
  }
};

}  // namespace starling
