// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/queue_walk.h"

#include "base/check.h"

namespace starling {

QueueOptions read_queue_options(OptionReader& reader, QueueDefault otherwise) {
  QueueOptions options;
  constexpr const char* kHelp = "strict: no job passes by the first that does not fit";
  const std::string queue = otherwise == QueueDefault::strict
                                ? reader.choice("queue", {"strict", "skip"}, kHelp)
                                : reader.choice("queue", {"skip", "strict"}, kHelp);
  options.strict = queue == "strict";
  options.fit = read_fit(reader);
  return options;
}

Fit read_fit(OptionReader& reader) {
  const std::string fit = reader.choice(
      "fit", {"server", "count"},
      "server: gangs within a server, larger ones on whole free servers; count: on any free GPUs");
  return fit == "count" ? Fit::count : Fit::server;
}

QueueWalk::QueueWalk(const QueueOptions& options, QueueIndex::KeyOf key, std::optional<Fit> needy,
                     QueueIndex::OfSpec fits_empty)
    : options_(options),
      index_(
          std::move(key),
          fits_empty ? std::move(fits_empty)
                     : [this](const JobSpec& job) { return find_place(empty(), job).has_value(); },
          [this](const JobSpec& job) { return goes_in_pieces(empty(), job, options_.fit); }),
      overflow_(options.strict, options.fit, needy.value_or(options.fit)) {}

void QueueWalk::learn(const Occupancy& gpus) {
  if (empty_ && empty_->servers() == gpus.servers()) return;
  empty_.emplace(gpus.topology(), gpus.servers());
  shape_ = shape_of(gpus);
}

const Shape& QueueWalk::shape() const {
  STARLING_CHECK(shape_.has_value());
  return *shape_;
}

const Occupancy& QueueWalk::empty() const {
  STARLING_CHECK(empty_.has_value());
  return *empty_;
}

std::optional<Placement> QueueWalk::find_place(const Occupancy& gpus, const JobSpec& job) const {
  return place(gpus, shape(), job, options_.fit);
}

std::vector<Decision> QueueWalk::decide(const View& view, bool idle, const Steps& steps) {
  std::vector<Decision> out;
  if (view.waiting.empty() || (view.others.empty() && idle)) return out;
  learn(view.gpus);
  index_.sync(view.waiting, view.now, view.waiting_changes);
  taken_.reset(index_.queue().size());
  const bool together = overflow_.begin(view, shape());
  if (together && steps.before) steps.before(out);
  Trial left = trial(view);
  if (!idle) steps.start(left, out);
  if (together && steps.route_overflow) {
    steps.route_overflow(left, out);
  } else if (together) {
    overflow_.decide(view, shape(), index_, taken_, left, out);
  }
  return out;
}

void QueueWalk::start_in_order(const View& view, Trial& trial, std::vector<Decision>& out) {
  failed_.reset(index_.kinds());
  const auto queue = index_.queue();
  for (std::size_t i = 0; i < queue.size() && trial.free_count() > 0; ++i) {
    const QueueEntry& entry = queue[i];
    const bool hope = entry.gpus <= trial.free_count() && failed_.may_fit(entry);
    if ((!hope && !options_.strict) || taken_[i]) continue;
    const JobView& job = index_.job(entry);
    if (job.blocked) continue;
    if (hope) {
      if (auto placement = find_place(trial.gpus(), *job.spec)) {
        trial.take(*placement, demand_of(*job.spec));
        out.emplace_back(Start{job.spec->id, std::move(*placement)});
        taken_.mark(i);
        continue;
      }
      failed_.add(entry);
    }
    // A gang that no data centre of this size can hold must not stop everyone for good.
    if (options_.strict && entry.gpus <= view.topology.gpu_count()) break;
  }
}

void QueueWalk::route_rest(const View& view, Trial& trial,
                           const std::function<bool(JobId)>& settled, std::vector<Decision>& out) {
  index_.sync(view.waiting, view.now, view.waiting_changes);
  taken_.reset(index_.queue().size());
  for (std::size_t i = 0; i < index_.queue().size(); ++i) {
    if (settled(index_.job(index_.queue()[i]).spec->id)) taken_.mark(i);
  }
  if (overflow_.begin(view, shape())) overflow_.decide(view, shape(), index_, taken_, trial, out);
}

}  // namespace starling
