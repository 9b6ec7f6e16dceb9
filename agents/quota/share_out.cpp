// SPDX-License-Identifier: Apache-2.0
#include "agents/quota/share_out.h"

#include <algorithm>
#include <cstddef>

namespace starling {
namespace {

using Place = QuotaRoom::Place;
constexpr Place kFlock = QuotaRoom::kFlock, kNowhere = QuotaRoom::kNowhere;

/// It could have its next gift if nothing else were handed out.
bool can_ever(const QuotaRoom& room, const QuotaClaim& claim) {
  for (Place at = claim.place; at != kNowhere; at = room.at(at).above) {
    if (room.at(at).most < claim.next()) return false;
  }
  return claim.next() > 0;
}

/// One call of share_out().
class Sharing {
 public:
  Sharing(QuotaRoom& room, std::vector<QuotaClaim>& claims, Instant now);
  void run();

 private:
  using Index = std::uint32_t;  // of a claim
  static constexpr Index kNoClaim = ~Index{0};
  struct Due {
    std::uint64_t first = 0;  // given before what goes beyond guarantees
    std::uint64_t kept = 0;   // of that, what others leave to it: a guarantee in which a job fits
  };
  struct Queue {
    std::uint64_t want = 0;        // of claims there and below
    Due due;                       // of that, what its guarantee and those below it call for
    Due below;                     // the sum of those right below it
    std::uint32_t smallest = ~0U;  // the least gift that is of use to a claim
    Index held = kNoClaim;         // a claim that has waited for long and lacks room here
    std::vector<Place> open;       // those right below it that have claims
    std::vector<Index> claims;     // of a leaf: a heap
  };

  [[nodiscard]] Place leaf_of(const QuotaClaim& claim) const {
    return room_.is_user(claim.place) ? room_.at(claim.place).above : claim.place;
  }
  [[nodiscard]] Due due(Place at) const;
  [[nodiscard]] bool before(Place a, Place b) const;
  [[nodiscard]] bool is_below(Place place, Place top) const;
  [[nodiscard]] bool comes_later(Index a, Index b) const;
  [[nodiscard]] bool fits(Index index) const;
  [[nodiscard]] bool leaves_enough(Index index, Place at, Place from) const;
  void open(Index index);
  void hold(Index index);
  Place next_leaf();
  void close(Place at);
  void give(Index index);

  QuotaRoom& room_;
  std::vector<QuotaClaim>& claims_;
  Instant now_;
  std::vector<Queue> queues_;
};

Sharing::Sharing(QuotaRoom& room, std::vector<QuotaClaim>& claims, Instant now)
    : room_(room), claims_(claims), now_(now), queues_(room.queues()) {
  for (Index i = 0; i < claims_.size(); ++i) {
    if (can_ever(room_, claims_[i])) open(i);
  }
  const auto later = [this](Index a, Index b) { return comes_later(a, b); };
  for (Place at = static_cast<Place>(queues_.size()); at-- > 0;) {
    Queue& q = queues_[at];
    if (q.want == 0) continue;
    std::make_heap(q.claims.begin(), q.claims.end(), later);
    q.due = due(at);
    if (at == kFlock) continue;
    Queue& top = queues_[room_.at(at).above];
    top.below.first += q.due.first, top.below.kept += q.due.kept;
    top.open.push_back(at);
  }
}

void Sharing::open(Index index) {
  const QuotaClaim& claim = claims_[index];
  if (now_ - claim.since >= kQuotaPatience) hold(index);
  const std::uint64_t want = std::min<std::uint64_t>(claim.want, room_.left(claim.place));
  if (want < claim.next()) return;  // its user has all that one may have
  const Place leaf = leaf_of(claim);
  queues_[leaf].claims.push_back(index);
  for (Place at = leaf; at != kNowhere; at = room_.at(at).above) {
    queues_[at].want += want;
    queues_[at].smallest = std::min(queues_[at].smallest, claim.next());
  }
}

/// Only where it lacks room first, from the leaf up: what is free above would be of no use to it.
void Sharing::hold(Index index) {
  const QuotaClaim& claim = claims_[index];
  for (Place at = claim.place; at != kNowhere; at = room_.at(at).above) {
    if (room_.left(at) >= claim.next()) continue;
    if (room_.is_user(at)) return;  // it is its own user that uses it
    Index& held = queues_[at].held;
    if (held == kNoClaim || claim.since < claims_[held].since) held = index;
    return;
  }
}

Sharing::Due Sharing::due(Place at) const {
  const QuotaRoom::Queue& q = room_.at(at);
  const Queue& mine = queues_[at];
  const std::uint64_t lacks = q.guaranteed - std::min(q.guaranteed, q.given);
  const std::uint64_t most = std::min(mine.want, room_.left(at));
  return {std::min(most, std::max(lacks, mine.below.first)),
          std::min(most, std::max(lacks < mine.smallest ? 0 : lacks, mine.below.kept))};
}

/// Of two queues side by side.
bool Sharing::before(Place a, Place b) const {
  const QuotaRoom::Queue &qa = room_.at(a), &qb = room_.at(b);
  const bool a_owed = queues_[a].due.first > 0, b_owed = queues_[b].due.first > 0;
  if (a_owed != b_owed) return a_owed;
  double has_a = static_cast<double>(qa.given), has_b = static_cast<double>(qb.given);
  if (a_owed) {
    has_a /= static_cast<double>(std::max(qa.guaranteed, qa.guaranteed_below));
    has_b /= static_cast<double>(std::max(qb.guaranteed, qb.guaranteed_below));
  } else {
    has_a = (has_a + qa.average) / qa.weight, has_b = (has_b + qb.average) / qb.weight;
  }
  return has_a != has_b ? has_a < has_b : a < b;
}

bool Sharing::is_below(Place place, Place top) const {
  while (place != kNowhere && place != top) place = room_.at(place).above;
  return place == top;
}

bool Sharing::comes_later(Index a, Index b) const {
  const QuotaClaim &x = claims_[a], &y = claims_[b];
  const std::uint32_t gifts_x = x.given / x.first, gifts_y = y.given / y.first;
  if (gifts_x != gifts_y) return gifts_x > gifts_y;
  if (x.priority != y.priority) return x.priority < y.priority;
  if (x.since != y.since) return x.since > y.since;
  return a > b;
}

/// At `at`, to which its way up comes from `from`, below it (a leaf: from itself).
bool Sharing::leaves_enough(Index index, Place at, Place from) const {
  const std::uint64_t gift = claims_[index].next(), left = room_.left(at);
  if (left < gift) return false;
  const Queue& q = queues_[at];
  const bool is_owed = queues_[from].due.first >= gift;
  const std::uint64_t others = at == from ? 0 : q.below.kept - queues_[from].due.kept;
  if (!is_owed && left - gift < others) return false;
  if (q.held == kNoClaim || q.held == index) return true;
  const QuotaClaim& held = claims_[q.held];
  const Place leaf = leaf_of(held);
  if (leaf == leaf_of(claims_[index])) {
    if (claims_[index].priority > held.priority) return true;
  } else if (is_owed && !is_below(leaf, from)) {
    return true;
  }
  return left - gift >= held.next();
}

bool Sharing::fits(Index index) const {
  const QuotaClaim& claim = claims_[index];
  if (room_.left(claim.place) < claim.next()) return false;
  Place from = leaf_of(claim);
  for (Place at = from; at != kNowhere; from = at, at = room_.at(at).above) {
    if (!leaves_enough(index, at, from)) return false;
  }
  return true;
}

/// kNowhere: nothing is left, or none that it can be given to.
Place Sharing::next_leaf() {
  Place at = kFlock;
  while (queues_[at].claims.empty()) {
    std::vector<Place>& open = queues_[at].open;
    std::erase_if(open, [&](Place below) { return room_.left(below) == 0; });
    if (open.empty() || room_.left(at) == 0) {
      if (at == kFlock) return kNowhere;
      close(at);
      at = kFlock;
      continue;
    }
    at = *std::min_element(open.begin(), open.end(),
                           [this](Place a, Place b) { return before(a, b); });
  }
  return at;
}

void Sharing::close(Place at) {
  if (at == kFlock) return;
  std::erase(queues_[room_.at(at).above].open, at);
}

void Sharing::give(Index index) {
  QuotaClaim& claim = claims_[index];
  const std::uint32_t gift = claim.next();
  room_.give(claim.place, gift);
  claim.given += gift;
  for (Place at = leaf_of(claim); at != kNowhere; at = room_.at(at).above) {
    Queue& q = queues_[at];
    q.want -= std::min<std::uint64_t>(q.want, gift);
    const Due before = q.due;
    q.due = due(at);
    if (at == kFlock) continue;
    Due& sum = queues_[room_.at(at).above].below;
    sum = {sum.first - before.first + q.due.first, sum.kept - before.kept + q.due.kept};
  }
}

void Sharing::run() {
  const auto later = [this](Index a, Index b) { return comes_later(a, b); };
  for (Place leaf = next_leaf(); leaf != kNowhere; leaf = next_leaf()) {
    std::vector<Index>& heap = queues_[leaf].claims;
    std::pop_heap(heap.begin(), heap.end(), later);
    const Index index = heap.back();
    heap.pop_back();
    if (fits(index)) {
      give(index);
      if (claims_[index].next() > 0) {
        heap.push_back(index);
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
    if (heap.empty()) close(leaf);
  }
}

}  // namespace

void share_out(QuotaRoom& room, std::vector<QuotaClaim>& claims, Instant now) {
  if (room.left(kFlock) > 0) Sharing(room, claims, now).run();
}

void QuotaScarcity::Who::add(const Who& other) noexcept {
  if (other.count == Count::none) return;
  if (count == Count::none)
    *this = other;
  else if (other.count == Count::many || other.home != home || other.place != place)
    count = Count::many;
}

QuotaScarcity::QuotaScarcity(const QuotaRoom& room, const std::vector<QuotaClaim>& claims)
    : lacks_(room.size()), over_(room.size()) {
  for (const QuotaClaim& claim : claims) {
    const std::uint32_t gift = claim.next();
    if (!can_ever(room, claim)) continue;
    for (Place at = claim.place; at != kNowhere; at = room.at(at).above) {
      if (room.left(at) < gift) lacks_[at].add({Who::Count::one, claim.home, claim.place});
    }
  }
  for (Place at = 0; at < lacks_.size(); ++at) {
    const QuotaRoom::Queue& q = room.at(at);
    over_[at] = q.given > q.most || (q.above != kNowhere && over_[q.above]);
    if (q.given > q.most) lacks_[at].count = Who::Count::many;
    if (q.above != kNowhere) lacks_[at].add(lacks_[q.above]);
  }
}

bool QuotaScarcity::at(Place place, AgentId home) const noexcept {
  const Who& who = lacks_[place];
  if (who.count != Who::Count::one) return who.count == Who::Count::many;
  return who.home != home || who.place != place;
}

}  // namespace starling
