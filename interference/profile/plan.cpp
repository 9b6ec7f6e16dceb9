// SPDX-License-Identifier: Apache-2.0
#include "interference/profile/plan.h"

#include <numeric>
#include <utility>

#include "base/rng.h"

namespace starling {
namespace {

constexpr std::array<std::pair<ProfileRelation, std::string_view>, 6> kNames = {{
    {ProfileRelation::same_gpu, "same-gpu"},
    {ProfileRelation::same_core, "same-core"},
    {ProfileRelation::same_smt, "same-smt"},
    {ProfileRelation::same_cache, "same-cache"},
    {ProfileRelation::same_socket, "same-socket"},
    {ProfileRelation::other_socket, "other-socket"},
}};

template <class Sequence>
void shuffle(Sequence& items, Rng& rng) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[rng.below(static_cast<std::uint32_t>(left))]);
  }
}

}  // namespace

std::string_view to_text(ProfileRelation relation) {
  for (const auto& [value, name] : kNames) {
    if (value == relation) return name;
  }
  return "unknown";
}

std::vector<ProfileVisit> round_of(const ProfilePlan& plan, std::uint32_t repeat) {
  Rng rng(plan.seed, repeat);
  std::vector<std::uint32_t> places(plan.places.size());
  std::iota(places.begin(), places.end(), 0U);
  shuffle(places, rng);
  std::vector<ProfileVisit> round;
  const auto count = static_cast<std::uint32_t>(plan.workloads.size());
  for (const std::uint32_t place : places) {
    std::vector<ProfileVisit> pairs;
    for (std::uint32_t a = 0; a < count; ++a) {
      for (std::uint32_t b = a; b < count; ++b) pairs.push_back({repeat, place, a, b});
    }
    shuffle(pairs, rng);
    round.insert(round.end(), pairs.begin(), pairs.end());
  }
  return round;
}

std::array<ProfileWindow, 3> windows_of(const ProfilePlan& plan, const ProfileVisit& visit) {
  std::array<ProfileWindow, 3> order = {ProfileWindow::a_alone, ProfileWindow::b_alone,
                                        ProfileWindow::together};
  const auto count = plan.workloads.size();
  Rng rng = Rng(plan.seed, visit.repeat).fork((visit.place * count + visit.a) * count + visit.b);
  shuffle(order, rng);
  return order;
}

}  // namespace starling
