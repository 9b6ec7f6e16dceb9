// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/weighted_matching.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>

namespace starling {
namespace {

/// Nodes are 1 to n here and 0 is none; blossoms follow from n + 1 on.
class BlossomSearch {
 public:
  BlossomSearch(std::size_t nodes, const std::function<double(std::size_t, std::size_t)>& weight);
  std::vector<std::size_t> solve();

 private:
  /// Of a node or blossom to another: the nodes that it joins, and its weight, 0 if there is none.
  struct Edge {
    std::uint32_t from = 0, to = 0;
    double weight = 0;
  };
  enum class Label : std::uint8_t { none, outer, inner };

  [[nodiscard]] Edge& edge(std::size_t u, std::size_t v) { return edges_[u * room_ + v]; }
  [[nodiscard]] std::size_t& part(std::size_t blossom, std::size_t node) {
    return parts_[blossom * room_ + node];
  }
  [[nodiscard]] bool top(std::size_t x) const { return top_[x] == x; }
  /// How far from being usable: none is below 0 but for rounding.
  [[nodiscard]] double slack_of(const Edge& e) {
    return dual_[e.from] + dual_[e.to] - edge(e.from, e.to).weight * 2;
  }
  void note_slack(std::size_t u, std::size_t x) {
    if (nearest_[x] == 0 || slack_of(edge(u, x)) < slack_of(edge(nearest_[x], x))) nearest_[x] = u;
  }
  void find_nearest(std::size_t x);
  void enqueue(std::size_t x);
  void set_top(std::size_t x, std::size_t top);
  std::size_t turn_to(std::size_t blossom, std::size_t member);
  void match(std::size_t u, std::size_t v);
  void augment(std::size_t u, std::size_t v);
  std::size_t common_ancestor(std::size_t u, std::size_t v);
  void shrink(std::size_t u, std::size_t ancestor, std::size_t v);
  void expand(std::size_t blossom);
  bool use(const Edge& e);
  bool scan();
  bool use_nearest();
  [[nodiscard]] double dual_step();
  bool shift_duals(double by);
  bool augment_once();

  std::size_t n_, count_;  ///< nodes; with blossoms
  std::size_t room_;
  std::vector<Edge> edges_;
  std::vector<std::size_t> parts_;  ///< of a blossom and a node: the member that holds it, or 0
  std::vector<std::size_t> mate_, top_, nearest_, parent_, seen_;
  std::vector<std::vector<std::size_t>> members_;
  std::vector<Label> label_;
  std::vector<double> dual_;
  std::queue<std::size_t> open_;
  std::size_t visit_ = 0;
};

BlossomSearch::BlossomSearch(std::size_t nodes,
                             const std::function<double(std::size_t, std::size_t)>& weight)
    : n_(nodes), count_(nodes), room_(nodes + nodes / 2 + 2) {
  edges_.resize(room_ * room_);
  parts_.resize(room_ * room_);
  for (auto* each : {&mate_, &top_, &nearest_, &parent_, &seen_}) each->resize(room_);
  members_.resize(room_);
  label_.resize(room_);
  double greatest = 0;
  for (std::size_t u = 1; u <= n_; ++u) {
    top_[u] = part(u, u) = u;
    for (std::size_t v = 1; v <= n_; ++v) {
      edge(u, v) = {static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(v),
                    u == v ? 0 : weight(u - 1, v - 1)};
      greatest = std::max(greatest, edge(u, v).weight);
    }
  }
  dual_.assign(room_, greatest);
}

void BlossomSearch::find_nearest(std::size_t x) {
  nearest_[x] = 0;
  for (std::size_t u = 1; u <= n_; ++u)
    if (edge(u, x).weight > 0 && top_[u] != x && label_[top_[u]] == Label::outer) note_slack(u, x);
}

void BlossomSearch::enqueue(std::size_t x) {
  std::queue<std::size_t> inside;
  for (inside.push(x); !inside.empty(); inside.pop()) {
    if (inside.front() <= n_) open_.push(inside.front());
    for (const std::size_t member : members_[inside.front()]) inside.push(member);
  }
}

void BlossomSearch::set_top(std::size_t x, std::size_t top) {
  top_[x] = top;
  for (const std::size_t member : members_[x]) set_top(member, top);
}

/// Turns the blossom around if `member` is an odd number of steps from its base; how many then.
std::size_t BlossomSearch::turn_to(std::size_t blossom, std::size_t member) {
  auto& members = members_[blossom];
  const auto at =
      static_cast<std::size_t>(std::find(members.begin(), members.end(), member) - members.begin());
  if (at % 2 == 0) return at;
  std::reverse(members.begin() + 1, members.end());
  return members.size() - at;
}

void BlossomSearch::match(std::size_t u, std::size_t v) {
  mate_[u] = edge(u, v).to;
  if (u <= n_) return;
  const std::size_t member = part(u, edge(u, v).from);
  const std::size_t steps = turn_to(u, member);
  for (std::size_t i = 0; i < steps; ++i) match(members_[u][i], members_[u][i ^ 1]);
  match(member, v);
  std::rotate(members_[u].begin(), members_[u].begin() + static_cast<std::ptrdiff_t>(steps),
              members_[u].end());
}

void BlossomSearch::augment(std::size_t u, std::size_t v) {
  while (true) {
    const std::size_t before = top_[mate_[u]];
    match(u, v);
    if (before == 0) return;
    match(before, top_[parent_[before]]);
    u = top_[parent_[before]];
    v = before;
  }
}

std::size_t BlossomSearch::common_ancestor(std::size_t u, std::size_t v) {
  ++visit_;
  for (; u != 0 || v != 0; std::swap(u, v)) {
    if (u == 0) continue;
    if (seen_[u] == visit_) return u;
    seen_[u] = visit_;
    u = top_[mate_[u]];
    if (u != 0) u = top_[parent_[u]];
  }
  return 0;
}

void BlossomSearch::shrink(std::size_t u, std::size_t ancestor, std::size_t v) {
  std::size_t b = n_ + 1;
  while (b <= count_ && top_[b] != 0) ++b;
  count_ = std::max(count_, b);
  dual_[b] = 0;
  label_[b] = Label::outer;
  mate_[b] = mate_[ancestor];
  auto& members = members_[b];
  members = {ancestor};
  const auto climb = [&](std::size_t x) {
    while (x != ancestor) {
      const std::size_t above = top_[mate_[x]];
      members.push_back(x);
      members.push_back(above);
      enqueue(above);
      x = top_[parent_[above]];
    }
  };
  climb(u);
  std::reverse(members.begin() + 1, members.end());
  climb(v);
  set_top(b, b);
  for (std::size_t x = 1; x <= count_; ++x) edge(b, x).weight = edge(x, b).weight = 0;
  for (std::size_t x = 1; x <= n_; ++x) part(b, x) = 0;
  for (const std::size_t member : members) {
    for (std::size_t x = 1; x <= count_; ++x) {
      if (edge(b, x).weight > 0 && slack_of(edge(member, x)) >= slack_of(edge(b, x))) continue;
      edge(b, x) = edge(member, x);
      edge(x, b) = edge(x, member);
    }
    for (std::size_t x = 1; x <= n_; ++x)
      if (part(member, x) != 0) part(b, x) = member;
  }
  find_nearest(b);
}

void BlossomSearch::expand(std::size_t b) {
  const auto members = [&]() -> std::vector<std::size_t>& { return members_[b]; };
  for (const std::size_t member : members()) set_top(member, member);
  const std::size_t entry = part(b, edge(b, parent_[b]).from);
  const std::size_t steps = turn_to(b, entry);
  for (std::size_t i = 0; i < steps; i += 2) {
    const std::size_t inner = members()[i], outer = members()[i + 1];
    parent_[inner] = edge(outer, inner).from;
    label_[inner] = Label::inner;
    label_[outer] = Label::outer;
    nearest_[inner] = 0;
    find_nearest(outer);
    enqueue(outer);
  }
  label_[entry] = Label::inner;
  parent_[entry] = parent_[b];
  for (std::size_t i = steps + 1; i < members().size(); ++i) {
    label_[members()[i]] = Label::none;
    find_nearest(members()[i]);
  }
  top_[b] = 0;
}

/// A usable edge of an outer node: does it end a path along which one pair more is matched?
bool BlossomSearch::use(const Edge& e) {
  const std::size_t u = top_[e.from], v = top_[e.to];
  if (label_[v] == Label::none) {
    parent_[v] = e.from;
    label_[v] = Label::inner;
    const std::size_t mate = top_[mate_[v]];
    nearest_[v] = nearest_[mate] = 0;
    label_[mate] = Label::outer;
    enqueue(mate);
  } else if (label_[v] == Label::outer) {
    const std::size_t ancestor = common_ancestor(u, v);
    if (ancestor == 0) {
      augment(u, v);
      augment(v, u);
      return true;
    }
    shrink(u, ancestor, v);
  }
  return false;
}

bool BlossomSearch::scan() {
  while (!open_.empty()) {
    const std::size_t u = open_.front();
    open_.pop();
    if (label_[top_[u]] == Label::inner) continue;
    for (std::size_t v = 1; v <= n_; ++v) {
      const Edge& e = edge(u, v);
      if (e.weight <= 0 || top_[u] == top_[v]) continue;
      if (slack_of(e) > 0) {
        note_slack(u, top_[v]);
      } else if (use(e)) {
        return true;
      }
    }
  }
  return false;
}

double BlossomSearch::dual_step() {
  double step = std::numeric_limits<double>::infinity();
  for (std::size_t b = n_ + 1; b <= count_; ++b)
    if (top(b) && label_[b] == Label::inner) step = std::min(step, dual_[b] / 2);
  for (std::size_t x = 1; x <= count_; ++x) {
    if (!top(x) || nearest_[x] == 0 || label_[x] == Label::inner) continue;
    const double slack = slack_of(edge(nearest_[x], x));
    step = std::min(step, label_[x] == Label::none ? slack : slack / 2);
  }
  return step;
}

/// False where a dual would fall below 0: no pair more is worth it.
bool BlossomSearch::shift_duals(double by) {
  constexpr double kRounding = 1e-5;
  for (std::size_t u = 1; u <= n_; ++u) {
    const Label label = label_[top_[u]];
    if (label == Label::outer) {
      if (dual_[u] - by <= kRounding * std::max(std::abs(dual_[u]), std::abs(by))) return false;
      dual_[u] -= by;
    } else if (label == Label::inner) {
      dual_[u] += by;
    }
  }
  for (std::size_t b = n_ + 1; b <= count_; ++b) {
    if (!top(b)) continue;
    if (label_[b] == Label::outer) dual_[b] += 2 * by;
    if (label_[b] == Label::inner) dual_[b] -= 2 * by;
  }
  return true;
}

bool BlossomSearch::use_nearest() {
  for (std::size_t x = 1; x <= count_; ++x) {
    if (!top(x) || nearest_[x] == 0 || top_[nearest_[x]] == x) continue;
    if (slack_of(edge(nearest_[x], x)) <= 0 && use(edge(nearest_[x], x))) return true;
  }
  return false;
}

bool BlossomSearch::augment_once() {
  std::fill(label_.begin(), label_.end(), Label::none);
  std::fill(nearest_.begin(), nearest_.end(), 0);
  open_ = {};
  for (std::size_t x = 1; x <= count_; ++x) {
    if (!top(x) || mate_[x] != 0) continue;
    parent_[x] = 0;
    label_[x] = Label::outer;
    enqueue(x);
  }
  if (open_.empty()) return false;
  while (true) {
    if (scan()) return true;
    if (!shift_duals(dual_step())) return false;
    open_ = {};
    if (use_nearest()) return true;
    for (std::size_t b = n_ + 1; b <= count_; ++b)
      if (top(b) && label_[b] == Label::inner && dual_[b] <= 0) expand(b);
  }
}

std::vector<std::size_t> BlossomSearch::solve() {
  const bool any =
      std::any_of(edges_.begin(), edges_.end(), [](const Edge& e) { return e.weight > 0; });
  while (any && augment_once()) {
  }
  std::vector<std::size_t> mates(n_, kUnmatched);
  for (std::size_t u = 1; u <= n_; ++u) {
    // Rounding may leave a mate that has another one: not matched, as published.
    if (mate_[u] != 0 && mate_[mate_[u]] == u) mates[u - 1] = mate_[u] - 1;
  }
  return mates;
}

}  // namespace

std::vector<std::size_t> heaviest_matching(
    std::size_t nodes, const std::function<double(std::size_t, std::size_t)>& weight) {
  return BlossomSearch(nodes, weight).solve();
}

}  // namespace starling
