// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/list_options.h"

#include <algorithm>

namespace starling {

std::span<const PlacementOption> OptionLister::list(const DecisionPoint& point, Scorer& scorer) {
  const std::vector<const Candidate*>* places = &own_places_;
  if (rules_.own_places) {
    own_places_.clear();
    own_ = {};
    if (auto place = scorer.place(point)) {
      own_.placement = std::move(*place);
      own_places_.push_back(&own_);
    }
    add_shared(point, own_places_);
  } else {
    const std::uint32_t look = point.wish.look;
    if (looks_.size() <= look) looks_.resize(look + 1);
    Look& known = looks_[look];
    if (known.version != point.candidates.version()) {
      find_places(point, known.places);
      known.version = point.candidates.version();
    }
    places = &known.places;
  }
  options_.clear();
  for (const Candidate* place : *places) options_.push_back({OptionKind::start, place, nullptr});
  for (const Destination& there : point.out.destinations)
    options_.push_back({OptionKind::forward, nullptr, &there});
  if (places->empty() || (rules_.waits && (point.busy() || point.out.later)))
    options_.push_back({});
  return options_;
}

void OptionLister::find_places(const DecisionPoint& point,
                               std::vector<const Candidate*>& places) const {
  places = point.candidates.exclusive(point.wish);
  add_shared(point, places);
}

void OptionLister::add_shared(const DecisionPoint& point,
                              std::vector<const Candidate*>& places) const {
  if (rules_.shared == SharedPlaces::never) return;
  if (!places.empty() && rules_.shared == SharedPlaces::if_none_free) return;
  if (!places.empty() && rules_.shared == SharedPlaces::if_slowed && places.front()->slowdown <= 0)
    return;
  for (const Candidate* shared : point.candidates.shared(point.wish)) {
    const auto same = [&](const Candidate* c) { return c->placement == shared->placement; };
    if (std::ranges::none_of(places, same)) places.push_back(shared);
  }
}

}  // namespace starling
