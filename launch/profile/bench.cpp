// SPDX-License-Identifier: Apache-2.0
#include "launch/profile/bench.h"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <tuple>

#include "launch/profile/cpu_load.h"

namespace starling {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

/// Half of the free memory, at 400 MB each: libtorch, and the largest workload's tables.
std::size_t workers_that_fit() {
  const double free = static_cast<double>(::sysconf(_SC_AVPHYS_PAGES)) *
                      static_cast<double>(::sysconf(_SC_PAGESIZE));
  return static_cast<std::size_t>(std::clamp(free / 2 / 400e6, 2.0, 32.0));
}

}  // namespace

void sleep_until(Clock::time_point at, const std::function<bool()>& stop) {
  for (;;) {
    const auto now = Clock::now();
    if (now >= at || (stop && stop())) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(at - now, 100ms));
  }
}

MachineBench::MachineBench(const ProfilePlan& plan, MachineBenchOptions options)
    : plan_(plan), options_(std::move(options)), most_workers_(workers_that_fit()) {}

Status MachineBench::prepare(const std::vector<Key>& keys) {
  for (const Key& key : keys) {
    if (workers_.contains(key)) continue;
    while (workers_.size() >= most_workers_) {
      auto oldest = workers_.end();
      for (auto at = workers_.begin(); at != workers_.end(); ++at) {
        const bool wanted = std::find(keys.begin(), keys.end(), at->first) != keys.end();
        if (!wanted && (oldest == workers_.end() || at->second.used < oldest->second.used))
          oldest = at;
      }
      if (oldest == workers_.end()) break;
      workers_.erase(oldest);
    }
    auto worker = std::make_unique<ProfileWorker>(
        ProfileWorker::Options{options_.program, plan_.workloads[key.workload], key.core, key.gpu,
                               options_.hold, plan_.seed + (key.second ? 1 : 0), options_.stop});
    if (const Status ok = worker->start(); !ok) return ok.error();
    if (const Status ok = worker->wait_ready(); !ok) return ok.error();
    workers_[key].worker = std::move(worker);
  }
  for (const Key& key : keys) workers_[key].used = ++uses_;
  return done();
}

void MachineBench::await_quiet(const std::vector<int>& cores) {
  const auto until = Clock::now() + seconds(options_.patience);
  while (Clock::now() < until && !(options_.stop && options_.stop())) {
    const auto before = read_cpu_ticks();
    std::this_thread::sleep_for(100ms);
    if (other_load(cpu_shares(before, read_cpu_ticks(), cores), cores.size(), 0) <= 0.1) return;
  }
}

Result<MachineBench::Took> MachineBench::window(const std::vector<ProfileWorker*>& workers,
                                                ProfileWorker* idle,
                                                const std::vector<int>& cores) {
  // All start at one instant, get up to speed, and go on past the end, so that none has the
  // machine to itself while another still counts.
  const double edge = std::clamp(options_.seconds / 4, 0.02, 0.1);
  ProfileWorker::Order order;
  order.start = Clock::now() + 2ms;
  order.from = order.start + seconds(edge);
  order.to = order.from + seconds(options_.seconds);
  order.end = order.to + seconds(edge / 2);
  // A core is held by the process that has it alone: a second one would be held back.
  order.hold = options_.hold && (cores.size() == 2 || workers.size() == 1);
  ProfileWorker::Order wait = order;
  wait.run = false;
  for (ProfileWorker* worker : workers) {
    if (const Status ok = worker->order(order); !ok) return ok.error();
  }
  if (idle != nullptr) {
    if (const Status ok = idle->order(wait); !ok) return ok.error();
  }
  sleep_until(order.from, options_.stop);
  const auto before = read_cpu_ticks();
  sleep_until(order.to, options_.stop);
  const auto after = read_cpu_ticks();
  Took took;
  double own = 0;
  for (ProfileWorker* worker : workers) {
    const auto answer = worker->answer(order);
    if (!answer) return answer.error();
    took.answers.push_back(answer.value());
    own += answer.value().cpu + answer.value().held;
  }
  if (idle != nullptr) {
    const auto held = idle->answer(wait);
    if (!held) return held.error();
    own += held.value().held;
  }
  took.other_load = other_load(cpu_shares(before, after, cores), cores.size(), own);
  return took;
}

Result<ProfileSample> MachineBench::measure(const ProfileVisit& visit) {
  const CorePlace& place = plan_.places[visit.place];
  const bool gpu = place.relation == ProfileRelation::same_gpu;
  const Key a{visit.a, false, place.core_a, gpu};
  const Key b{visit.b, true, place.core_b, gpu};
  if (const Status ok = prepare({a, b}); !ok) return ok.error();
  ProfileWorker* const worker_a = workers_[a].worker.get();
  ProfileWorker* const worker_b = workers_[b].worker.get();
  std::vector<int> both = {place.core_a};
  if (place.core_b != place.core_a) both.push_back(place.core_b);

  await_quiet(both);
  ProfileSample sample;
  sample.visit = visit;
  for (const ProfileWindow which : windows_of(plan_, visit)) {
    std::vector<ProfileWorker*> workers;
    if (which != ProfileWindow::b_alone) workers.push_back(worker_a);
    if (which != ProfileWindow::a_alone) workers.push_back(worker_b);
    ProfileWorker* idle = nullptr;
    if (options_.hold && both.size() == 2 && workers.size() == 1)
      idle = workers[0] == worker_a ? worker_b : worker_a;
    // Both cores are watched while one runs alone: what others do on the second one shows there.
    const auto took = window(workers, idle, both);
    if (!took) return took.error();
    sample.other_load = std::max(sample.other_load, took.value().other_load);
    const auto& answers = took.value().answers;
    if (which == ProfileWindow::a_alone)
      std::tie(sample.alone_a, sample.cpu_alone_a) =
          std::tie(answers[0].steps_per_s, answers[0].cpu);
    if (which == ProfileWindow::b_alone)
      std::tie(sample.alone_b, sample.cpu_alone_b) =
          std::tie(answers[0].steps_per_s, answers[0].cpu);
    if (which == ProfileWindow::together) {
      sample.beside_a = answers[0].steps_per_s;
      sample.beside_b = answers[1].steps_per_s;
      sample.cpu_beside_a = answers[0].cpu;
      sample.cpu_beside_b = answers[1].cpu;
    }
  }
  sleep_until(Clock::now() + seconds(options_.rest), options_.stop);
  return sample;
}

}  // namespace starling
