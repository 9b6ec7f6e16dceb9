// SPDX-License-Identifier: Apache-2.0
#include "policies/elasticflow/gpu_calendar.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace starling {
namespace {

constexpr double kSlack = 1e-6;

std::optional<std::size_t> largest_size(std::span<const PlannedSize> sizes, std::size_t level,
                                        double gpus) {
  for (std::size_t size = std::min(level + 1, sizes.size()); size > 0; --size) {
    if (sizes[size - 1].gpus <= gpus + kSlack) return size - 1;
  }
  return std::nullopt;
}

void extend(GpuPlan& plan, double from_s, double to_s, double gpus) {
  if (!plan.spans.empty() && plan.spans.back().to_s == from_s && plan.spans.back().gpus == gpus)
    plan.spans.back().to_s = to_s;
  else
    plan.spans.push_back({from_s, to_s, gpus});
}

}  // namespace

std::optional<GpuPlan> GpuCalendar::fill(const PlannedWork& job, std::size_t level,
                                         std::size_t first) const {
  constexpr double kNeverEnds = std::numeric_limits<double>::infinity();
  GpuPlan plan;
  plan.level = level;
  double left = job.left, from = 0;
  for (std::size_t p = 0; p < free_.size();) {
    const double next = p + 1 < free_.size() ? free_[p + 1].at_s : kNeverEnds;
    const bool in_slot = from < slot_s_;
    const double to = in_slot ? std::min(next, slot_s_) : next;
    const auto size = largest_size(job.sizes, in_slot ? first : level, free_[p].gpus);
    if (from == 0) plan.first = size;
    if (size) {
      const auto [gpus, speed] = job.sizes[*size];
      plan.end_s = from + left / speed;
      if (plan.end_s <= to) {
        if (plan.end_s > job.due_s + kSlack) return std::nullopt;
        const double slots = slot_s_ > 0 ? std::ceil(plan.end_s / slot_s_ - kSlack) : 0;
        extend(plan, from, slot_s_ > 0 ? slots * slot_s_ : plan.end_s, gpus);
        plan.gpu_s += (plan.end_s - from) * gpus;
        return plan;
      }
      extend(plan, from, to, gpus);
      plan.gpu_s += (to - from) * gpus;
      left -= (to - from) * speed;
    }
    if (to >= job.due_s) return std::nullopt;
    from = to;
    if (to >= next) ++p;
  }
  return std::nullopt;
}

std::optional<GpuPlan> GpuCalendar::least_share(const PlannedWork& job, std::size_t lowest) const {
  for (std::size_t level = lowest; level < job.sizes.size(); ++level) {
    if (auto plan = fill(job, level, level)) return plan;
  }
  return std::nullopt;
}

/// Index of the point at that time, which is made if there is none.
std::size_t GpuCalendar::point_at(double at_s) {
  const auto found = std::ranges::lower_bound(free_, at_s, {}, &Point::at_s);
  const auto index = found - free_.begin();
  if (found == free_.end() || found->at_s != at_s) {
    const double gpus = std::prev(found)->gpus;
    free_.insert(found, {at_s, gpus});
  }
  return static_cast<std::size_t>(index);
}

void GpuCalendar::add(const GpuPlan& plan, double sign) {
  for (const GpuPlan::Span& span : plan.spans) {
    const std::size_t from = point_at(span.from_s);
    const std::size_t to = point_at(span.to_s);
    for (std::size_t p = from; p < to; ++p) free_[p].gpus += sign * span.gpus;
  }
}

}  // namespace starling
