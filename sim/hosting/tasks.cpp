// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/tasks.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "base/check.h"

namespace starling {

struct Tasks::Task {
  Group group;
  std::function<void()> body;
  std::binary_semaphore go{0};
  Key wakes;  // its one event
  bool to_end = false, over = false;
  std::thread thread;
};

Tasks::Tasks() = default;
Tasks::~Tasks() {
  for (const auto& task : tasks_) task->to_end = true;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (!tasks_[i]->over) run(*tasks_[i]);
    tasks_[i]->thread.join();
  }
}

Tasks::Key Tasks::push(Instant when, Event event) {
  const Key key{std::max(when, now_), order_++};
  events_.emplace(key, std::move(event));
  return key;
}

void Tasks::wake(Task& task, Instant when) { task.wakes = push(when, {nullptr, &task}); }

void Tasks::start(Group group, std::function<void()> body) {
  tasks_.push_back(std::make_unique<Task>());
  Task& task = *tasks_.back();
  task.group = group;
  task.body = std::move(body);
  task.thread = std::thread([this, &task] {
    task.go.acquire();
    try {
      const std::function<void()> does = std::move(task.body);  // and with it what it holds
      if (!task.to_end) does();
    } catch (const Ended&) {
    }
    task.over = true;
    back_.release();
  });
  wake(task, now_);
}

void Tasks::at(Instant when, std::function<void()> what) { push(when, {std::move(what), nullptr}); }

void Tasks::run(Task& task) {
  Task* const before = std::exchange(running_, &task);
  task.go.release();
  back_.acquire();
  running_ = before;
}

void Tasks::run_until(Instant until) {
  while (!events_.empty() && events_.begin()->first.first < until) {
    auto next = events_.extract(events_.begin());
    now_ = next.key().first;
    Event& event = next.mapped();
    if (event.task == nullptr) {
      event.what();
      continue;
    }
    Task& task = *event.task;
    const auto frozen = frozen_.find(task.group);
    if (frozen != frozen_.end() && frozen->second > now_ && !task.to_end) {
      wake(task, frozen->second);
      continue;
    }
    run(task);
    if (task.over) clean();
  }
  now_ = std::max(now_, until);
}

void Tasks::clean() {
  const auto over =
      std::partition(tasks_.begin(), tasks_.end(), [](const auto& task) { return !task->over; });
  std::for_each(over, tasks_.end(), [](const auto& task) { task->thread.join(); });
  tasks_.erase(over, tasks_.end());
}

void Tasks::wait_until(Instant when) {
  Task& task = *running_;
  if (!task.to_end) {
    wake(task, when);
    back_.release();
    task.go.acquire();
  }
  if (task.to_end && std::uncaught_exceptions() == 0) throw Ended{};
}

void Tasks::wait_for(Bell& bell) {
  struct Waits {
    Bell& bell;
    ~Waits() { bell.waiting_ = nullptr; }
  };
  bell.tasks_ = this;
  bell.waiting_ = running_;
  const Waits waits{bell};
  wait_until(kNever);
}

void Tasks::Bell::ring() {
  if (waiting_ == nullptr) return;
  Task& task = *std::exchange(waiting_, nullptr);
  tasks_->events_.erase(task.wakes);
  tasks_->wake(task, tasks_->now_);
}

bool Tasks::ending() const noexcept { return std::uncaught_exceptions() > 0; }

void Tasks::end(Group group) {
  frozen_.erase(group);
  for (const auto& task : tasks_) {
    if (task->group != group || task->over || task->to_end) continue;
    STARLING_CHECK(task.get() != running_);
    task->to_end = true;
    events_.erase(task->wakes);
    wake(*task, now_);
  }
}

void Tasks::freeze(Group group, Instant until) {
  Instant& frozen = frozen_[group];
  frozen = std::max(frozen, until);
}

}  // namespace starling
