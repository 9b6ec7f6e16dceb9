// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/sim_etcd.h"

#include <algorithm>
#include <utility>

namespace starling {

void SimEtcd::expire() {
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    if (lease->second.ends > now_()) {
      ++lease;
      continue;
    }
    const std::set<std::string> keys = std::move(lease->second.keys);
    lease = leases_.erase(lease);
    if (keys.empty()) continue;
    ++revision_;
    for (const std::string& key : keys) put(key, nullptr, 0, revision_);
  }
}

void SimEtcd::put(const std::string& key, std::shared_ptr<const std::string> value,
                  std::int64_t lease, std::int64_t revision) {
  std::vector<Version>& versions = keys_[key];
  if (!versions.empty() && versions.back().lease != 0) {
    const auto before = leases_.find(versions.back().lease);
    if (before != leases_.end()) before->second.keys.erase(key);
  }
  if (lease != 0) leases_.at(lease).keys.insert(key);
  versions.push_back({revision, lease, std::move(value)});
}

const SimEtcd::Version* SimEtcd::as_of(const std::vector<Version>& versions,
                                       std::int64_t revision) {
  const auto behind =
      std::upper_bound(versions.begin(), versions.end(), revision,
                       [](std::int64_t r, const Version& version) { return r < version.revision; });
  if (behind == versions.begin() || std::prev(behind)->value == nullptr) return nullptr;
  return &*std::prev(behind);
}

EtcdEntry SimEtcd::entry(const std::string& key, const Version& version) const {
  return {key, *version.value, version.revision, version.lease};
}

bool SimEtcd::holds(const EtcdCompare& condition) const {
  const auto key = keys_.find(condition.key);
  const Version* now = key == keys_.end() ? nullptr : as_of(key->second, revision_);
  if (condition.by_value) return now != nullptr && *now->value == condition.value;
  return (now == nullptr ? 0 : now->revision) == condition.revision;
}

std::vector<EtcdEntry> SimEtcd::apply(const EtcdOp& op, std::int64_t revision) {
  std::vector<EtcdEntry> found;
  const auto first = keys_.lower_bound(op.key);
  switch (op.kind) {
    case EtcdOp::Kind::put:
      put(op.key, std::make_shared<const std::string>(op.value), op.lease, revision);
      break;
    case EtcdOp::Kind::get:
      if (first != keys_.end() && first->first == op.key) {
        if (const Version* now = as_of(first->second, revision))
          found.push_back(entry(op.key, *now));
      }
      break;
    case EtcdOp::Kind::erase:
      for (auto key = first; key != keys_.end(); ++key) {
        if (op.end.empty() ? key->first != op.key : key->first >= op.end) break;
        if (as_of(key->second, revision) != nullptr) put(key->first, nullptr, 0, revision);
      }
      break;
  }
  return found;
}

Result<EtcdAnswer> SimEtcd::txn(const EtcdTxn& txn) {
  expire();
  EtcdAnswer answer;
  answer.held = std::all_of(txn.conditions.begin(), txn.conditions.end(),
                            [this](const EtcdCompare& c) { return holds(c); });
  const std::vector<EtcdOp>& ops = answer.held ? txn.then : txn.otherwise;
  bool writes = false;
  for (const EtcdOp& op : ops) {
    writes = writes || op.kind != EtcdOp::Kind::get;
    if (op.lease != 0 && !leases_.contains(op.lease))
      return {Errc::not_found, "etcd: requested lease not found"};
  }
  if (writes) ++revision_;
  answer.revision = revision_;
  for (const EtcdOp& op : ops) answer.found.push_back(apply(op, revision_));
  return answer;
}

Result<EtcdPage> SimEtcd::range(const std::string& first, const std::string& end,
                                std::int64_t limit, std::int64_t revision) {
  expire();
  EtcdPage page;
  page.revision = revision_;
  const std::int64_t as = revision == 0 ? revision_ : revision;
  for (auto key = keys_.lower_bound(first); key != keys_.end() && key->first < end; ++key) {
    const Version* version = as_of(key->second, as);
    if (version == nullptr) continue;
    page.more = static_cast<std::int64_t>(page.entries.size()) == limit;
    if (page.more) break;
    page.entries.push_back(entry(key->first, *version));
  }
  return page;
}

Result<EtcdLease> SimEtcd::grant(std::chrono::seconds ttl) {
  expire();
  const std::int64_t id = next_lease_++;
  leases_[id] = {ttl, now_() + ttl, {}};
  return EtcdLease{id, ttl};
}

Result<std::chrono::seconds> SimEtcd::keep_alive(std::int64_t lease) {
  expire();
  const auto kept = leases_.find(lease);
  if (kept == leases_.end()) return std::chrono::seconds{0};
  kept->second.ends = now_() + kept->second.ttl;
  return kept->second.ttl;
}

Status SimEtcd::revoke(std::int64_t lease) {
  if (const auto gone = leases_.find(lease); gone != leases_.end()) gone->second.ends = now_();
  expire();
  return done();
}

void SimEtcd::new_leader() {
  for (auto& [id, lease] : leases_) lease.ends = now_() + lease.ttl;
}

std::int64_t SimEtcd::revision_of(const std::string& key) {
  expire();
  const auto at = keys_.find(key);
  const Version* now = at == keys_.end() ? nullptr : as_of(at->second, revision_);
  return now == nullptr ? 0 : now->revision;
}

}  // namespace starling
