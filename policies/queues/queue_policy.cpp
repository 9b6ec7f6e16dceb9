// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/queue_policy.h"

namespace starling {

QueuePolicy::QueuePolicy(const QueueOptions& options, std::optional<Fit> needy)
    : walk_(
          options, [this](const JobView& job) { return key(job); }, needy,
          [this](const JobSpec& job) { return fits_empty(job); }),
      index_(walk_.index()),
      cooperation_(walk_.cooperation()),
      taken_(walk_.taken()) {}

std::optional<Placement> QueuePolicy::find_place(const View&, const Occupancy& gpus,
                                                 const JobSpec& job) const {
  return walk_.find_place(gpus, job);
}

bool QueuePolicy::fits_empty(const JobSpec& job) const {
  return walk_.find_place(empty(), job).has_value();
}

bool QueuePolicy::idle(const View& view) const { return view.gpus.free_count() == 0; }

std::vector<Decision> QueuePolicy::decide(const View& view, const Trigger&, Rng&) {
  return walk_.decide(view, idle(view),
                      {[&](auto& out) { before_starts(view, out); },
                       [&](Trial& trial, auto& out) { start_here(view, trial, out); },
                       [&](Trial& trial, auto& out) { cooperate(view, trial, out); }});
}

void QueuePolicy::cooperate(const View& view, Trial& trial, std::vector<Decision>& out) {
  cooperation_.decide(view, shape(), index_, taken_, trial, out);
}

void QueuePolicy::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  walk_.start_in_order(view, trial, out, [&](const Occupancy& gpus, const JobSpec& job) {
    return find_place(view, gpus, job);
  });
}

}  // namespace starling
