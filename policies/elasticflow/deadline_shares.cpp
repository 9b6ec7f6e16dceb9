// SPDX-License-Identifier: Apache-2.0
#include "policies/elasticflow/deadline_shares.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

namespace starling {
namespace {

constexpr double kRoomSlack = 1e-6;

PlannedWork work_of(const DeadlineJob& job) { return {job.sizes, job.left, job.due_s}; }

class Dividing {
 public:
  Dividing(const std::vector<DeadlineJob>& jobs, double gpus, double slot_s, Unpromised unpromised)
      : jobs_(jobs),
        slot_s_(slot_s),
        all_(gpus),
        unpromised_(unpromised),
        calendar_(gpus, slot_s),
        shares_(jobs.size()) {
    plans_.resize(jobs.size());
  }

  std::vector<DeadlineShare> run() {
    admit();
    start();
    grow();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (plans_[i]) shares_[i].end_s = plans_[i]->end_s;
    }
    return std::move(shares_);
  }

 private:
  using Plans = std::vector<std::optional<GpuPlan>>;

  [[nodiscard]] std::size_t promised_level(const DeadlineJob& job) const {
    std::size_t level = 0;
    while (level + 1 < job.sizes.size() && job.sizes[level].gpus + kRoomSlack < job.promised_gpus)
      ++level;
    return level;
  }

  /// Least shares of all that are admitted, from `from` on, beside those of `plans` before; not
  /// below what was promised if `promised`. Otherwise the index of the first who gets none.
  std::optional<std::size_t> plan_all(std::size_t from, bool promised, GpuCalendar& calendar,
                                      Plans& plans) const {
    for (std::size_t i = from; i < jobs_.size(); ++i) {
      if (!shares_[i].admitted) continue;
      plans[i] = calendar.least_share(work_of(jobs_[i]), promised ? promised_level(jobs_[i]) : 0);
      if (!plans[i]) return i;
      calendar.take(*plans[i]);
    }
    return std::nullopt;
  }

  void admit() {
    std::vector<std::pair<std::uint64_t, std::size_t>> asking;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      shares_[i].admitted = jobs_[i].admitted;
      if (!jobs_[i].admitted && jobs_[i].asks) asking.emplace_back(*jobs_[i].asks, i);
    }
    if (plan_all(0, false, calendar_, plans_)) {
      calendar_ = GpuCalendar(all_, slot_s_);
      for (auto failed = plan_all(0, true, calendar_, plans_); failed;
           failed = plan_all(*failed + 1, true, calendar_, plans_))
        shares_[*failed].admitted = false;
    }
    std::ranges::sort(asking);
    for (const auto& [order, i] : asking) try_to_admit(i);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!plans_[i]) continue;
      shares_[i].least = plans_[i]->level;
      shares_[i].size = plans_[i]->first;
    }
  }

  void try_to_admit(std::size_t asking) {
    GpuCalendar calendar = calendar_;
    Plans plans = plans_;
    for (std::size_t i = asking; i < jobs_.size(); ++i) {
      if (plans[i]) calendar.give_back(*plans[i]), plans[i].reset();
    }
    shares_[asking].admitted = true;
    if (!plan_all(asking, false, calendar, plans)) {
      calendar_ = std::move(calendar);
      plans_ = std::move(plans);
    } else {
      shares_[asking].admitted = false;
    }
  }

  [[nodiscard]] double gpus_of(std::size_t i, std::optional<std::size_t> size) const {
    return size ? jobs_[i].sizes[*size].gpus : 0;
  }

  /// Free for this slot; the calendar counts the admitted alone.
  [[nodiscard]] double left() const {
    double taken = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) taken += gpus_of(i, shares_[i].size);
    return all_ - taken;
  }

  /// Who has no GPU yet, in the order in which they start.
  [[nodiscard]] std::vector<std::size_t> starting() const {
    std::vector<std::size_t> order, others;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (shares_[i].size || jobs_[i].sizes.empty()) continue;
      (shares_[i].admitted ? order : others).push_back(i);
    }
    if (unpromised_ == Unpromised::least_left) {
      const auto key = [&](std::size_t i) {
        return std::pair(-std::int64_t{jobs_[i].priority}, gpu_time(i, 0, std::nullopt));
      };
      std::ranges::stable_sort(others, {}, key);
    }
    order.insert(order.end(), others.begin(), others.end());
    return order;
  }

  void start() {
    double free = left();
    for (const std::size_t i : starting()) {
      const double least = jobs_[i].sizes.front().gpus;
      if (least > free + kRoomSlack) continue;
      free -= least;
      give(i, 0, planned_with(i, 0));
    }
  }

  /// The plan of a job that is admitted with that size now; nothing: none would be in time.
  [[nodiscard]] std::optional<GpuPlan> planned_with(std::size_t i, std::size_t size) {
    if (!plans_[i]) return std::nullopt;
    calendar_.give_back(*plans_[i]);
    auto plan = calendar_.fill(work_of(jobs_[i]), plans_[i]->level, size);
    calendar_.take(*plans_[i]);
    return plan;
  }

  void give(std::size_t i, std::size_t size, std::optional<GpuPlan> plan) {
    shares_[i].size = size;
    if (!plan || !plans_[i]) return;
    calendar_.give_back(*plans_[i]);
    calendar_.take(*plan);
    plans_[i] = std::move(plan);
  }

  /// GPU time to its end, with that size now and then as planned, or without a plan for good.
  [[nodiscard]] double gpu_time(std::size_t i, std::size_t size,
                                const std::optional<GpuPlan>& plan) const {
    if (plan) return plan->gpu_s;
    const auto [gpus, speed] = jobs_[i].sizes[size];
    return jobs_[i].left / speed * gpus;
  }

  struct Growth {
    double cost = 0;  // GPU time for each further GPU
    std::size_t job = 0, size = 0;
    double gpus = 0;  // further ones
    friend bool operator>(const Growth& a, const Growth& b) {
      return std::tie(a.cost, a.job) > std::tie(b.cost, b.job);
    }
  };

  void grow() {
    double free = left();
    std::priority_queue<Growth, std::vector<Growth>, std::greater<>> queue;
    const auto push = [&](std::size_t i) {
      if (!shares_[i].size || *shares_[i].size + 1 >= jobs_[i].sizes.size()) return;
      const std::size_t size = *shares_[i].size, next = size + 1;
      const auto plan = planned_with(i, next);
      if (plans_[i] && !plan) return;
      const double gpus = gpus_of(i, next) - gpus_of(i, size);
      const double more = gpu_time(i, next, plan) - gpu_time(i, size, plans_[i]);
      queue.push({more / gpus, i, next, gpus});
    };
    for (std::size_t i = 0; i < jobs_.size(); ++i) push(i);
    while (!queue.empty()) {
      const Growth best = queue.top();
      queue.pop();
      if (best.gpus > free + kRoomSlack) continue;
      auto plan = planned_with(best.job, best.size);
      if (plans_[best.job] && !plan) continue;
      free -= best.gpus;
      give(best.job, best.size, std::move(plan));
      push(best.job);
    }
  }

  const std::vector<DeadlineJob>& jobs_;
  double slot_s_, all_;
  Unpromised unpromised_;
  GpuCalendar calendar_;
  std::vector<DeadlineShare> shares_;
  Plans plans_;
};

}  // namespace

std::vector<DeadlineShare> divide_by_deadlines(const std::vector<DeadlineJob>& jobs, double gpus,
                                               double slot_s, Unpromised unpromised) {
  return Dividing(jobs, gpus, slot_s, unpromised).run();
}

}  // namespace starling
