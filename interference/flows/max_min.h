// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace starling {

/// How much of a link a gang takes for each byte per second of its own rate.
struct LinkUse {
  std::uint32_t link = 0;
  double weight = 0;
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

/// Max-min fair rates of gangs over links (Bertsekas and Gallager, Data Networks, 6.5.2): no gang
/// has more than its demand, no link more than its capacity, and one with less than its demand
/// crosses a full link on which no flow has more. The flows of a gang go in step, so a gang has one
/// rate, and a link counts it as often as its flows cross it.
///
/// Solved by water-filling, and anew only for gangs that are coupled with the one that comes or
/// goes: through links that cannot carry all the demands on them. Always to the bit what solving
/// everything would give, whatever came and went before. Memory is kept for those to come.
///
/// One that leaves may make another slower: a gang that gets more by it may take it, on its next
/// link, from a third. On one link alone no gang gets slower.
class MaxMin {
 public:
  explicit MaxMin(std::vector<double> capacities);

  /// `gang` is a small number that is not in. `uses` ascend by link, with weights above 0; without
  /// any it has its demand.
  void add(std::uint32_t gang, double demand, std::span<const LinkUse> uses);
  /// One that is in.
  void remove(std::uint32_t gang);

  [[nodiscard]] bool contains(std::uint32_t gang) const noexcept {
    return gang < gangs_.size() && gangs_[gang].in;
  }
  [[nodiscard]] double rate(std::uint32_t gang) const noexcept { return gangs_[gang].rate; }
  [[nodiscard]] double demand(std::uint32_t gang) const noexcept { return gangs_[gang].demand; }
  /// Of what a link can carry, the part that all rates take of it.
  [[nodiscard]] double load(std::uint32_t link) const noexcept;
  [[nodiscard]] std::size_t links() const noexcept { return links_.size(); }
  /// The others whose rates the last add() or remove() changed, ascending.
  [[nodiscard]] std::span<const std::uint32_t> changed() const noexcept { return changed_; }
  /// How many gangs the last add() or remove() looked at.
  [[nodiscard]] std::size_t solved() const noexcept { return coupled_.size(); }

 private:
  struct Gang {
    bool in = false;
    bool frozen = false;     // while solving
    std::uint32_t mark = 0;  // of the last search that found it
    double demand = 0;
    double rate = 0;
    std::vector<LinkUse> uses;
  };
  struct Member {
    std::uint32_t gang = 0;
    double weight = 0;
  };
  struct Link {
    double capacity = 0;
    bool tight = false;           // all demands together are more than it carries
    std::uint32_t mark = 0;       // as above
    std::vector<Member> members;  // ascending
    // While solving: what those that are not frozen have of it.
    double left = 0;
    double weight = 0;
    std::uint32_t active = 0;
  };
  struct Level {
    double rate = 0;
    std::uint32_t link = 0;
  };

  void find_tight(std::span<const LinkUse> uses);
  void find_coupled(std::uint32_t gang);
  void solve();
  void freeze(std::uint32_t gang, double rate);
  [[nodiscard]] double level_of(const Link& link) const noexcept;

  std::vector<Gang> gangs_;
  std::vector<Link> links_;
  std::uint32_t mark_ = 0;
  // Scratch, kept.
  std::vector<std::uint32_t> coupled_, coupling_;  // gangs and tight links, ascending
  std::vector<std::uint32_t> by_demand_, changed_;
  std::vector<double> before_;
  std::vector<Level> levels_;  // heap: the lowest first
};

}  // namespace starling
