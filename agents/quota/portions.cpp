// SPDX-License-Identifier: Apache-2.0
#include "agents/quota/portions.h"

#include <algorithm>
#include <utility>

#include "base/planted.h"

namespace starling {
namespace {

/// No more than there is.
void take_off(std::uint32_t& from, std::uint32_t gpus) { from -= std::min(from, gpus); }

std::uint64_t needed(const Portions::Account& account) {
  return std::uint64_t{account.used} + account.let + account.back;
}

std::uint32_t clamped(std::uint64_t gpus) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(gpus, QueueSpec::kNoLimit));
}

}  // namespace

bool Portions::set_tree(QueueTree tree) {
  if (tree.version <= tree_.version) return false;
  tree_ = std::move(tree);
  begin();
  return true;
}

void Portions::begin() {
  answered_ = tree_.version == 0;
  for (auto& [name, account] : accounts_) {
    account.may = account.used;
    account.bound.clear();
    account.scarce = account.over = true;
    account.recalled = false;
    account.returned = 0;
    account.told = 0;
  }
}

void Portions::run(const QuotaAccount& account, std::uint32_t gpus) {
  accounts_[account].used += gpus;
}

void Portions::run_no_more(const QuotaAccount& account, std::uint32_t gpus, bool waits) {
  Account& of = accounts_[account];
  take_off(of.used, gpus);
  if (!of.over && (!of.scarce || waits)) return;
  const std::uint32_t back = std::min(gpus, of.may - std::min(of.may, of.used + of.let));
  of.may -= back;
  of.returned += back;
}

void Portions::let(const QuotaAccount& account, std::uint32_t gpus) {
  accounts_[account].let += gpus;
}

void Portions::let_no_more(const QuotaAccount& account, std::uint32_t gpus) {
  take_off(accounts_[account].let, gpus);
}

void Portions::keep_back(const QuotaAccount& account, std::uint32_t gpus) {
  accounts_[account].back += gpus;
}

void Portions::keep_back_no_more(const QuotaAccount& account, std::uint32_t gpus) {
  take_off(accounts_[account].back, gpus);
}

bool Portions::may_wait(const QuotaAccount& account, std::uint32_t gpus) const {
  if (!limits()) return true;
  const auto at = accounts_.find(account);
  if (at == accounts_.end()) return false;
  return std::uint64_t{at->second.used} + at->second.let + gpus <= at->second.may;
}

bool Portions::may_start(const QuotaAccount& account, std::uint32_t gpus,
                         std::uint32_t now_used) const {
  if (!limits() || gpus <= now_used) return true;
  const auto at = accounts_.find(account);
  if (at == accounts_.end()) return false;
  return std::uint64_t{at->second.used} + gpus - std::min(at->second.used, now_used) <=
         at->second.may;
}

std::uint32_t Portions::asked_by(const JobSpec& spec) const {
  if (!limits() || !spec.elastic()) return spec.gpus();
  const std::uint32_t most = most_of(tree_, account_of(tree_, spec));
  const std::uint32_t workers = std::min(spec.workers, most / std::max(spec.gpus_per_worker, 1U));
  return workers < std::max(spec.min_workers, 1U) ? spec.gpus() : workers * spec.gpus_per_worker;
}

bool Portions::has_to_ask() const {
  if (!answered_) return true;
  if (!limits()) return false;
  return std::any_of(accounts_.begin(), accounts_.end(), [](const auto& one) {
    const Account& of = one.second;
    const std::uint64_t needs = needed(of);
    if (needs > of.may && needs > of.told) return true;
    return of.recalled || of.returned > 0 || (of.scarce && of.may > of.used + of.let);
  });
}

bool Portions::keeps_back() const {
  return limits() && std::any_of(accounts_.begin(), accounts_.end(),
                                 [](const auto& one) { return one.second.back > 0; });
}

std::vector<QuotaAccount> Portions::recalled() const {
  std::vector<QuotaAccount> names;
  for (const auto& [name, account] : accounts_) {
    if (account.recalled && account.let > 0) names.push_back(name);
  }
  return names;
}

QuotaAsk Portions::ask(const std::map<QuotaAccount, Front>& front) {
  ++stamp_.number;
  answered_ = false;
  QuotaAsk ask{stamp_, tree_.version, {}};
  std::erase_if(accounts_, [](const auto& one) { return needed(one.second) == 0; });
  if (!limits()) return ask;
  for (auto& [name, account] : accounts_) {
    const std::uint64_t needs = needed(account);
    // What waits up for decision counts within the portion alone: it was let in by it.
    const std::uint32_t keep =
        std::max(account.used, std::min(account.may, account.used + account.let));
    if (!planted(Bug::quota_kept_in_ask)) account.may = keep;
    account.told = needs;
    account.recalled = false;
    account.returned = 0;
    QuotaWant row{.account = name, .keep = keep, .used = account.used};
    row.want = clamped(needs - keep);
    if (const auto first = front.find(name); first != front.end() && row.want > 0) {
      row.first = std::min(first->second.gpus, row.want);
      row.priority = first->second.priority;
      row.waited = first->second.waited;
    } else {
      row.first = row.want;
    }
    // One that only wants waits until others have what they need; what is used is never left out.
    if (row.keep > 0 || ask.rows.size() < QuotaAsk::kMost) ask.rows.push_back(std::move(row));
  }
  return ask;
}

bool Portions::catch_up(const QuotaStamp& heard) {
  if (heard <= stamp_) return false;
  stamp_ = heard;
  answered_ = tree_.version == 0;
  return true;
}

std::vector<QuotaAccount> Portions::heed(const QuotaGrant& grant) {
  std::vector<QuotaAccount> more;
  if (grant.stamp != stamp_ && !planted(Bug::quota_of_any_ask)) return more;
  if (grant.tree != tree_.version || stamp_.number == 0) return more;
  answered_ = true;
  for (const QuotaMay& row : grant.rows) {
    const auto at = accounts_.find(row.account);
    if (at == accounts_.end()) continue;  // nothing of it is there any more: the next ask says so
    Account& account = at->second;
    account.bound = row.bound;
    account.recalled = account.recalled || (row.scarce && !account.scarce);
    account.scarce = row.scarce;
    account.over = row.over;
    const std::uint32_t may = row.may - std::min(row.may, account.returned);
    if (may <= account.may) continue;
    account.may = may;
    more.push_back(row.account);
  }
  return more;
}

}  // namespace starling
