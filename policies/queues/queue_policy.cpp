// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/queue_policy.h"

#include <algorithm>
#include <limits>

namespace starling {

QueueOptions read_queue_options(OptionReader& reader, QueueDefault otherwise) {
  QueueOptions options;
  constexpr const char* kHelp = "strict: nobody passes by the first job that does not fit";
  const std::string queue = otherwise == QueueDefault::strict
                                ? reader.choice("queue", {"strict", "skip"}, kHelp)
                                : reader.choice("queue", {"skip", "strict"}, kHelp);
  options.strict = queue == "strict";
  options.fit = read_fit(reader);
  return options;
}

Fit read_fit(OptionReader& reader) {
  const std::string fit = reader.choice(
      "fit", {"node", "count"},
      "node: gangs within a server, larger ones on whole free servers; count: on any free GPUs");
  return fit == "count" ? Fit::count : Fit::node;
}

QueuePolicy::QueuePolicy(const QueueOptions& options, std::optional<Fit> needy)
    : index_([this](const JobView& job) { return key(job); },
             [this](const JobSpec& job) { return fits_empty(job); }),
      cooperation_(options.strict, options.fit, needy.value_or(options.fit)),
      options_(options) {}

void QueuePolicy::learn_partition(const Occupancy& gpus) {
  if (empty_ && empty_->servers() == gpus.servers()) return;
  empty_.emplace(gpus.topology(), gpus.servers());
  shape_ = shape_of(gpus);
}

std::optional<Placement> QueuePolicy::find_place(const View&, const Occupancy& gpus,
                                                 const JobSpec& job) const {
  return place(gpus, *shape_, job, options_.fit);
}

bool QueuePolicy::fits_empty(const JobSpec& job) const {
  return place(*empty_, *shape_, job, options_.fit).has_value();
}

bool QueuePolicy::idle(const View& view) const { return view.gpus.free_count() == 0; }

std::vector<Decision> QueuePolicy::decide(const View& view, const Trigger&, Rng&) {
  std::vector<Decision> out;
  if (view.waiting.empty()) return out;
  if (view.others.empty() && idle(view)) return out;
  learn_partition(view.gpus);
  index_.sync(view.waiting, view.now, view.news);
  taken_.reset(index_.queue().size());
  const bool together = cooperation_.begin(view, *shape_);
  if (together) before_starts(view, out);
  Trial trial(planned_, view.gpus);
  if (!idle(view)) start_here(view, trial, out);
  if (together) cooperate(view, trial, out);
  return out;
}

void QueuePolicy::cooperate(const View& view, Trial& trial, std::vector<Decision>& out) {
  cooperation_.decide(view, *shape_, index_, taken_, trial, out);
}

void QueuePolicy::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  failed_.assign(index_.kinds(), std::numeric_limits<std::uint32_t>::max());
  const auto queue = index_.queue();
  for (std::size_t i = 0; i < queue.size() && trial.free_count() > 0; ++i) {
    const QueueEntry& entry = queue[i];
    const bool hope = entry.gpus <= trial.free_count() && entry.gpus < failed_[entry.kind];
    if ((!hope && !options_.strict) || taken_[i]) continue;
    const JobView& job = index_.job(entry);
    if (job.blocked) continue;
    if (hope) {
      if (auto placement = find_place(view, trial.gpus(), *job.spec)) {
        trial.take(*placement, demand_of(*job.spec));
        out.emplace_back(Start{job.spec->id, std::move(*placement)});
        taken_.mark(i);
        continue;
      }
      failed_[entry.kind] = entry.gpus;
    }
    // A gang that no data centre of this size can hold must not stop everyone for good.
    if (options_.strict && entry.gpus <= view.topology.gpu_count()) break;
  }
}

}  // namespace starling
