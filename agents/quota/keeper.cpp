// SPDX-License-Identifier: Apache-2.0
#include "agents/quota/keeper.h"

#include <algorithm>
#include <set>
#include <utility>

namespace starling {
namespace {

constexpr Duration kLongestWait = std::chrono::hours(24 * 3650);
constexpr std::size_t kMostPlaces = 4 * QuotaAsk::kMost;  // then users without GPUs are forgotten

constexpr auto kByAccount = [](const auto& a, const auto& b) { return a.account < b.account; };

bool limits_users(const QueueSpec& queue) { return queue.most_per_user != QueueSpec::kNoLimit; }

}  // namespace

QuotaKeeper::QuotaKeeper(std::size_t homes, std::uint64_t gpus)
    : homes_(homes), gpus_(gpus), room_(tree_, gpus) {}

void QuotaKeeper::replay(const QueuesSet& set) {
  if (set.tree.version > tree_.version) adopt(set.tree);
}

void QuotaKeeper::replay(const QuotaPortions& portions) {
  if (portions.home.value >= homes_.size()) return;
  Home& home = homes_[portions.home.value];
  home.stamp = portions.stamp;
  home.tree = portions.tree;
  std::vector<Row> rows;
  for (const QuotaPortions::Row& one : portions.rows)
    rows.push_back({.account = one.account, .may = one.may});
  replace(home, std::move(rows));
}

std::vector<Record> QuotaKeeper::records() const {
  std::vector<Record> records;
  if (tree_.version > 0) {
    // Since when a queue has its accounts is told by the first tree that has it. Where every home
    // knows it, any will do.
    std::set<std::uint64_t> versions;
    if (known_to_all() < tree_.version) {
      for (const auto& [name, since] : since_) versions.insert(since);
    }
    versions.erase(tree_.version);
    for (const std::uint64_t version : versions) {
      QueueTree then;
      then.version = version;
      for (const QueueSpec& q : tree_.queues) {
        if (since_.at(q.name) <= version) then.queues.push_back(q);
      }
      records.push_back(QueuesSet{std::move(then)});
    }
    records.push_back(QueuesSet{tree_});
  }
  for (std::uint32_t i = 0; i < homes_.size(); ++i) {
    if (homes_[i].stamp != QuotaStamp{}) records.push_back(portions_of(AgentId{i}));
  }
  return records;
}

std::string QuotaKeeper::set(const QueueTree& tree, bool& changed) {
  changed = false;
  const std::uint64_t known = newest();
  const bool behind = known > tree_.version;
  if (tree == tree_ && !behind) return {};
  if (std::string bad = check_queues(tree); !bad.empty()) return bad;
  if (behind ? tree.version <= known : tree.version != known + 1) {
    return "queues of version " + std::to_string(tree.version) + " do not follow those in force (" +
           std::to_string(known) + "); look at these, and give " + std::to_string(known + 1);
  }
  adopt(tree);
  changed = true;
  return {};
}

/// A home that goes by an earlier tree counts otherwise in queues that it does not have, and in
/// those that did not limit users: of these nothing is given before all homes have said what they
/// use.
void QuotaKeeper::adopt(const QueueTree& tree) {
  std::map<std::string, std::uint64_t> since;
  for (const QueueSpec& q : tree.queues) {
    const QueueSpec* was = tree_.find(q.name);
    const bool same = was != nullptr && (limits_users(*was) || !limits_users(q));
    since[q.name] = same ? since_.at(q.name) : tree.version;
  }
  since_ = std::move(since);
  for (Home& home : homes_) {
    home.recalled = false;
    home.wanting = 0;
    std::erase_if(home.rows, [](const Row& row) { return row.may == 0; });
    for (Row& row : home.rows) row.want = 0, row.scarce = row.over = false;
  }
  make_room(tree);
  changed_ = true;
}

/// What queues have had so far stays with their names.
void QuotaKeeper::make_room(const QueueTree& tree) {
  QuotaRoom room(tree, gpus_);
  for (std::size_t i = 0; i < tree.queues.size(); ++i) {
    const QueueSpec* was = tree_.find(tree.queues[i].name);
    if (was == nullptr) continue;
    const auto place = static_cast<QuotaRoom::Place>(was - tree_.queues.data()) + 1;
    room.set_average(static_cast<QuotaRoom::Place>(i) + 1, room_.at(place).average);
  }
  room_ = std::move(room);
  if (&tree != &tree_) tree_ = tree;
  for (Home& home : homes_) {
    for (Row& row : home.rows) {
      row.place = room_.place_of(tree_, row.account);
      room_.give(row.place, row.may);
    }
  }
}

void QuotaKeeper::replace(Home& home, std::vector<Row> rows) {
  for (const Row& row : home.rows) room_.take(row.place, row.may);
  home.rows = std::move(rows);
  for (Row& row : home.rows) {
    row.place = room_.place_of(tree_, row.account);
    room_.give(row.place, row.may);
  }
  home.wanting = static_cast<std::size_t>(
      std::count_if(home.rows.begin(), home.rows.end(), [](const Row& r) { return r.want > 0; }));
  changed_ = true;
}

/// What is wanted under another tree, or of what is no account, is not.
std::vector<QuotaKeeper::Row> QuotaKeeper::rows_of(const QuotaAsk& ask, Instant now) const {
  std::vector<Row> rows;
  rows.reserve(ask.rows.size());
  for (const QuotaWant& one : ask.rows) {
    Row row{.account = one.account, .may = one.keep, .used = one.used};
    const QueueSpec* queue = one.want > 0 && ask.tree == tree_.version && one.first > 0
                                 ? tree_.find(one.account.queue)
                                 : nullptr;
    if (queue != nullptr && tree_.is_leaf(queue->name) &&
        (limits_users(*queue) || one.account.user.empty())) {
      row.want = one.want;
      row.first = std::min(one.first, one.want);
      row.priority = one.priority;
      row.since = now - std::clamp(one.waited, Duration{0}, kLongestWait);
    }
    rows.push_back(std::move(row));
  }
  if (!std::is_sorted(rows.begin(), rows.end(), kByAccount))
    std::stable_sort(rows.begin(), rows.end(), kByAccount);
  return rows;
}

bool QuotaKeeper::heard(AgentId id, const QuotaAsk& ask, Instant now) {
  if (id.value >= homes_.size() || ask.stamp < homes_[id.value].stamp) return false;
  pass(now);
  Home& home = homes_[id.value];
  home.said = home.said || ask.stamp > home.stamp;  // an equal one may be of a life that is over
  std::vector<Row> rows = rows_of(ask, now);
  replace(home, ask.stamp == home.stamp ? still_wanted(home, std::move(rows)) : std::move(rows));
  home.stamp = ask.stamp;
  home.tree = ask.tree;
  home.unanswered = true;
  home.recalled = false;
  home.asked = now;
  if (room_.size() > kMostPlaces + room_.queues()) make_room(tree_);
  return true;
}

/// Of an ask that is repeated, or heard for the first time in this life. The home may have been
/// given more under its stamp: that stands, and is taken off what it wants.
std::vector<QuotaKeeper::Row> QuotaKeeper::still_wanted(const Home& home, std::vector<Row> rows) {
  for (Row& row : rows) {
    const std::uint64_t needs = std::uint64_t{row.may} + row.want;
    const auto at = std::lower_bound(home.rows.begin(), home.rows.end(), row, kByAccount);
    const bool is_there = at != home.rows.end() && at->account == row.account;
    row.may = is_there ? at->may : 0;
    row.want = needs > row.may
                   ? static_cast<std::uint32_t>(std::min<std::uint64_t>(needs - row.may, row.want))
                   : 0;
  }
  const std::size_t asked = rows.size();
  for (const Row& row : home.rows) {
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(asked);
    if (row.may > 0 && !std::binary_search(rows.begin(), end, row, kByAccount)) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), kByAccount);
  return rows;
}

QuotaPortions QuotaKeeper::portions_of(AgentId id) const {
  const Home& home = homes_[id.value];
  QuotaPortions portions{id, home.stamp, home.tree, {}};
  for (const Row& row : home.rows) {
    if (row.may > 0) portions.rows.push_back({row.account, row.may});
  }
  return portions;
}

std::uint64_t QuotaKeeper::newest() const noexcept {
  std::uint64_t newest = tree_.version;
  for (const Home& home : homes_) newest = std::max(newest, home.tree);
  return newest;
}

void QuotaKeeper::doubt(AgentId id) { homes_[id.value].said = false; }

std::vector<AgentId> QuotaKeeper::unaware() const {
  std::vector<AgentId> homes;
  for (std::uint32_t i = 0; i < homes_.size(); ++i) {
    if (homes_[i].tree != tree_.version) homes.push_back(AgentId{i});
  }
  return homes;
}

std::vector<AgentId> QuotaKeeper::to_tell() const {
  std::vector<AgentId> homes;
  for (std::uint32_t i = 0; i < homes_.size(); ++i) {
    if (homes_[i].tree < tree_.version || !homes_[i].said) homes.push_back(AgentId{i});
  }
  return homes;
}

}  // namespace starling
