// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agents/quota/keeper.h"

namespace starling {
namespace {

constexpr Duration kCountedEach = std::chrono::seconds(1);

}  // namespace

bool QuotaKeeper::goes_on() const noexcept {
  return std::any_of(homes_.begin(), homes_.end(),
                     [](const Home& home) { return home.wanting > 0 || home.recalled; });
}

void QuotaKeeper::pass(Instant now) {
  if (counted_ && now - *counted_ < kCountedEach) return;
  if (counted_) room_.pass(now - *counted_);
  counted_ = now;
}

std::vector<AgentId> QuotaKeeper::share_out(Instant now, bool gives) {
  pass(now);
  if (!changed_ && (!goes_on() || (shared_ && now - *shared_ < kCountedEach))) return {};
  shared_ = now;
  changed_ = false;
  Open open = gives ? open_claims(now) : Open{};
  starling::share_out(room_, open.claims, now);
  for (std::size_t i = 0; i < open.claims.size(); ++i) {
    const QuotaClaim& claim = open.claims[i];
    if (claim.given == 0) continue;
    Home& home = homes_[claim.home.value];
    open.rows[i]->may += claim.given;
    open.rows[i]->want -= claim.given;
    if (open.rows[i]->want == 0) --home.wanting;
    home.unanswered = true;  // its newest ask, with more
  }
  const QuotaScarcity scarcity(room_, open.claims);
  const std::uint64_t known = known_to_all();
  std::vector<AgentId> told;
  for (std::uint32_t i = 0; i < homes_.size(); ++i) {
    if (tell(homes_[i], AgentId{i}, scarcity, known, now)) told.push_back(AgentId{i});
  }
  return told;
}

/// The version that every home has asked under.
std::uint64_t QuotaKeeper::known_to_all() const noexcept {
  std::uint64_t least = tree_.version;
  for (const Home& home : homes_) least = std::min(least, home.tree);
  return least;
}

/// Some home has not said what it uses there.
bool QuotaKeeper::is_unknown(const Row& row, std::uint64_t known) const {
  if (known == tree_.version) return false;
  const auto since = since_.find(row.account.queue);
  return since == since_.end() || since->second > known;
}

/// Of queues in which every home counts as this keeper does, and of homes that are there.
QuotaKeeper::Open QuotaKeeper::open_claims(Instant now) {
  Open open;
  const std::uint64_t least = known_to_all();
  for (std::uint32_t i = 0; i < homes_.size(); ++i) {
    Home& home = homes_[i];
    if (home.wanting == 0 || now - home.asked >= kWantLasts) continue;
    for (Row& row : home.rows) {
      if (row.want == 0) continue;
      if (is_unknown(row, least)) continue;
      open.claims.push_back({.place = row.place,
                             .home = AgentId{i},
                             .want = row.want,
                             .first = row.first,
                             .priority = row.priority,
                             .since = row.since});
      open.rows.push_back(&row);
    }
  }
  return open;
}

/// Whether the home is told how it stands. An answer to an ask needs no care, for who gets none
/// asks again; another word is repeated until the home asks.
bool QuotaKeeper::tell(Home& home, AgentId id, const QuotaScarcity& scarcity, std::uint64_t known,
                       Instant now) const {
  const auto is_scarce = [&](const Row& row) { return row.may > 0 && scarcity.at(row.place, id); };
  const auto is_over = [&](const Row& row) {
    return row.may > 0 && (scarcity.over(row.place) || is_unknown(row, known));
  };
  if (!home.unanswered) {
    const bool is_new = std::any_of(home.rows.begin(), home.rows.end(), [&](const Row& row) {
      return (!row.scarce && is_scarce(row)) || (!row.over && is_over(row));
    });
    if (!is_new && !(home.recalled && now - home.told >= kTellAgain)) return false;
    home.recalled = true;
    home.told = now;
  }
  for (Row& row : home.rows) row.scarce = is_scarce(row), row.over = is_over(row);
  home.unanswered = false;
  return true;
}

/// The queue nearest to it that has no room for the next of what it wants.
std::string QuotaKeeper::bound_of(const Row& row) const {
  const std::uint32_t next = std::min(row.first, row.want);
  for (QuotaRoom::Place at = row.place; at != QuotaRoom::kFlock; at = room_.at(at).above) {
    if (room_.left(at) < next)
      return tree_.queues[(room_.is_user(at) ? room_.at(at).above : at) - 1].name;
  }
  return {};
}

QuotaGrant QuotaKeeper::grant_for(AgentId id) const {
  const Home& home = homes_[id.value];
  QuotaGrant grant{home.stamp, home.tree, {}};
  grant.rows.reserve(home.rows.size());
  for (const Row& row : home.rows)
    grant.rows.push_back({row.account, row.may, bound_of(row), row.scarce, row.over});
  return grant;
}

std::vector<QueueUse> QuotaKeeper::uses() const {
  std::vector<QueueUse> sums(room_.queues());
  std::map<QuotaAccount, QueueUse> users;
  const auto add = [](QueueUse& sum, const Row& row) {
    sum.may += row.may, sum.used += row.used, sum.want += row.want;
  };
  for (const Home& home : homes_) {
    for (const Row& row : home.rows) {
      if (room_.is_user(row.place) && !row.account.user.empty()) add(users[row.account], row);
      for (QuotaRoom::Place at = row.place; at != QuotaRoom::kNowhere; at = room_.at(at).above) {
        if (!room_.is_user(at)) add(sums[at], row);
      }
    }
  }
  std::vector<QueueUse> uses;
  for (std::size_t i = 0; i < tree_.queues.size(); ++i) {
    uses.push_back(std::move(sums[i + 1]));
    uses.back().account = {tree_.queues[i].name, {}};
  }
  for (auto& [account, use] : users) {
    if (uses.size() == QueuesState::kMostUses) break;
    use.account = account;
    uses.push_back(std::move(use));
  }
  std::sort(uses.begin(), uses.end(),
            [](const QueueUse& a, const QueueUse& b) { return a.account < b.account; });
  return uses;
}

}  // namespace starling
