// SPDX-License-Identifier: Apache-2.0
#include "agents/step/home_quota.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace starling {
namespace {

QuotaPlace place_of(const Job& job) { return {job.spec->priority, job.order, job.spec->id}; }

std::uint32_t gpus_of(const Job& job) { return static_cast<std::uint32_t>(job.placement.size()); }

}  // namespace

void HomeQuota::let(const Job& job) {
  if (!portions.limits()) return;
  const QuotaAccount account = account_of(job);
  portions.let(account, asked_by(*job.spec));
  lines_[account].let.insert(place_of(job));
}

void HomeQuota::let_no_more(const Job& job) {
  if (!portions.limits()) return;
  const auto line = lines_.find(account_of(job));
  if (line == lines_.end() || line->second.let.erase(place_of(job)) == 0) return;
  portions.let_no_more(line->first, asked_by(*job.spec));
  changed.insert(line->first);
  look = true;
  drop_if_empty(line);
}

void HomeQuota::keep_back(const Job& job) {
  if (!can_ever(job)) return;  // in no line: those behind it would wait in vain
  const QuotaAccount account = account_of(job);
  portions.keep_back(account, asked_by(*job.spec));
  lines_[account].back.insert(place_of(job));
  changed.insert(account);  // it may go before some that are up for decision
  look = true;
}

void HomeQuota::keep_back_no_more(const Job& job) {
  if (!portions.limits()) return;
  const auto line = lines_.find(account_of(job));
  if (line == lines_.end() || line->second.back.erase(place_of(job)) == 0) return;
  portions.keep_back_no_more(line->first, asked_by(*job.spec));
  changed.insert(line->first);  // a smaller one may be the first now
  look = true;
  drop_if_empty(line);
}

void HomeQuota::run(const Job& job) {
  if (portions.limits()) portions.run(account_of(job), gpus_of(job));
}

void HomeQuota::run_no_more(const Job& job, bool waits) {
  if (!portions.limits()) return;
  const QuotaAccount account = account_of(job);
  portions.run_no_more(account, gpus_of(job), waits);
  const auto known = portions.accounts().find(account);
  if (known != portions.accounts().end() && known->second.scarce) say(Urge::now);
  changed.insert(account);
  look = true;
}

const JobSpec* HomeQuota::shown(Job& job) const {
  const JobSpec& spec = *job.spec;
  if (!portions.limits() || (!spec.elastic() && !spec.run.copies)) return &spec;
  const std::uint32_t workers = asked_by(spec) / std::max(spec.gpus_per_worker, 1U);
  if (job.within_quota == nullptr || job.within_quota->workers != workers) {
    JobSpec less = spec;
    less.workers = workers;
    if (less.elastic()) less.max_workers = workers;
    less.run.copies = false;
    job.within_quota = std::make_shared<const JobSpec>(std::move(less));
  }
  return job.within_quota.get();
}

std::uint32_t HomeQuota::asked_by(const JobSpec& spec) const {
  return sizes_ ? portions.asked_by(spec) : spec.gpus();
}

bool HomeQuota::can_ever(const Job& job) const {
  return !portions.limits() || asked_by(*job.spec) <= most_of(portions.tree(), account_of(job));
}

bool HomeQuota::lets(const Job& job) const {
  if (!portions.limits()) return true;
  if (!can_ever(job)) return false;
  const QuotaAccount account = account_of(job);
  const Line* line = line_of(account);
  if (line != nullptr && !line->back.empty() && *line->back.begin() < place_of(job)) return false;
  return portions.may_wait(account, asked_by(*job.spec));
}

bool HomeQuota::may_start(const Job& job, std::size_t gpus, std::size_t now_used) const {
  return !portions.limits() || portions.may_start(account_of(job), static_cast<std::uint32_t>(gpus),
                                                  static_cast<std::uint32_t>(now_used));
}

bool HomeQuota::is_over(const QuotaAccount& account) const {
  const auto known = portions.accounts().find(account);
  if (known == portions.accounts().end()) return false;
  const Portions::Account& has = known->second;
  return std::uint64_t{has.used} + has.let > has.may;
}

bool HomeQuota::holds_scarce() const {
  return portions.limits() && std::ranges::any_of(portions.accounts(), [](const auto& one) {
           return one.second.scarce && one.second.let > 0;
         });
}

bool HomeQuota::holds_idle() const {
  return portions.limits() && std::ranges::any_of(portions.accounts(), [](const auto& one) {
           return std::uint64_t{one.second.used} + one.second.let < one.second.may;
         });
}

bool HomeQuota::has_idle_room(const QuotaAccount& account) const {
  const auto known = portions.accounts().find(account);
  if (known == portions.accounts().end()) return false;
  const Portions::Account& has = known->second;
  return has.back > 0 && std::uint64_t{has.used} + has.let < has.may;
}

const HomeQuota::Line* HomeQuota::line_of(const QuotaAccount& account) const {
  const auto line = lines_.find(account);
  return line == lines_.end() ? nullptr : &line->second;
}

void HomeQuota::drop_if_empty(std::map<QuotaAccount, Line>::iterator line) {
  if (line->second.let.empty() && line->second.back.empty()) lines_.erase(line);
}

}  // namespace starling
