// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2_slot.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr double kSlack = 1e-9;

TaskCounts tasks_of(const Dl2Member& member, Dl2Kind kind) {
  if (member.most_servers == 0) return {1, 0};
  return {kind == Dl2Kind::server ? 0U : 1U, kind == Dl2Kind::worker ? 0U : 1U};
}

Dl2Member member_of(const ElasticShare& share, Instant now, double slot_s) {
  const JobSpec& job = *share.job->spec;
  Dl2Member member;
  member.job = share.job;
  member.least = share.least;
  member.most = share.most;
  member.most_servers = job.run.max_servers;
  member.slots = seconds(share.job->age(now)) / slot_s;
  member.left_slots = share.left_s * job.gpus() / slot_s;
  const double whole_s = seconds(job.duration);
  member.left_part = whole_s > 0 ? std::min(share.left_s / whole_s, 1.0) : 1;
  member.tasks = {share.workers, share.workers > 0 && member.most_servers > 0
                                     ? servers_at(job, share.workers)
                                     : 0};
  return member;
}

}  // namespace

std::size_t Dl2Shape::type_of(std::string_view model) const {
  return static_cast<std::size_t>(std::ranges::find(types, model) - types.begin());
}

Dl2Slot::Dl2Slot(const Dl2Shape& shape, const ElasticCall& call, const ElasticCapacity& all,
                 const ElasticCapacity& left, std::span<const ElasticShare> shares, double slot_s,
                 std::size_t most, std::span<const std::uint32_t> servers)
    : shape_(&shape), all_(all), left_(left) {
  STARLING_CHECK(servers.empty() || servers.size() == shares.size());
  for (std::size_t i = 0; i < std::min(shares.size(), most); ++i) {
    Dl2Member& member = members_.emplace_back(member_of(shares[i], call.view.now, slot_s));
    if (!servers.empty() && member.tasks.workers > 0 && member.most_servers > 0)
      member.tasks.servers = servers[i];
  }
}

ElasticCapacity Dl2Slot::needs_of(const Dl2Member& member, TaskCounts more) const {
  const JobSpec& job = *member.job->spec;
  ElasticCapacity needs;
  needs.gpus = static_cast<double>(more.workers) * job.gpus_per_worker;
  if (member.most_servers > 0) {
    needs.cpus = more.workers * job.cpus_per_worker + more.servers * job.run.server_cpus;
  } else {
    needs.cpus = more.workers * cpus_of_worker(job);
  }
  // One that asks for more CPUs than there are gets them all rather than never running.
  needs.cpus = std::min(needs.cpus, all_.cpus);
  return needs;
}

bool Dl2Slot::has_room(const ElasticCapacity& needs) const {
  return needs.gpus <= left_.gpus + kSlack && needs.cpus <= left_.cpus + kSlack;
}

void Dl2Slot::add(Dl2Member& member, TaskCounts more) {
  const ElasticCapacity needs = needs_of(member, more);
  left_.gpus -= needs.gpus;
  left_.cpus -= needs.cpus;
  member.tasks.workers += more.workers;
  member.tasks.servers += more.servers;
}

void Dl2Slot::begin() {
  for (Dl2Member& member : members_) {
    if (member.tasks.workers > 0 || member.least > member.most) continue;
    const TaskCounts first{
        member.least, member.most_servers > 0 ? servers_at(*member.job->spec, member.least) : 0};
    if (has_room(needs_of(member, first))) add(member, first);
  }
}

bool Dl2Slot::allows(const Dl2Action& action) const {
  const Dl2Member& member = members_[action.member];
  if (member.tasks.workers == 0) return false;
  if (member.most_servers == 0 && action.kind != Dl2Kind::both) return false;
  const TaskCounts more = tasks_of(member, action.kind);
  if (member.tasks.servers + more.servers > member.most_servers) return false;
  if (member.tasks.workers + more.workers > member.most) return false;
  return has_room(needs_of(member, more));
}

bool Dl2Slot::allows_any_of(std::size_t member) const {
  return allows({member, Dl2Kind::worker}) || allows({member, Dl2Kind::server}) ||
         allows({member, Dl2Kind::both});
}

bool Dl2Slot::allows_any() const {
  for (std::size_t i = open_from_; i < members_.size(); ++i)
    if (allows_any_of(i)) return true;
  return false;
}

void Dl2Slot::take(const Dl2Action& action) {
  STARLING_CHECK(allows(action));
  Dl2Member& member = members_[action.member];
  add(member, tasks_of(member, action.kind));
  // There is never more room, nor may a job have more, than before.
  while (open_from_ < members_.size() && !allows_any_of(open_from_)) ++open_from_;
}

std::size_t Dl2Slot::blocks() const noexcept {
  return (members_.size() + shape_->window - 1) / shape_->window;
}

void Dl2Slot::encode(std::size_t block, std::span<float> out) const {
  STARLING_CHECK(out.size() == shape_->inputs());
  std::ranges::fill(out, 0.0F);
  const std::size_t first = block * shape_->window;
  const std::size_t last = std::min(first + shape_->window, members_.size());
  for (std::size_t i = first; i < last; ++i) {
    const Dl2Member& member = members_[i];
    float* const row = out.data() + (i - first) * shape_->width();
    row[shape_->type_of(member.job->spec->model)] = 1;
    float* const number = row + shape_->types.size() + 1;
    const ElasticCapacity has = needs_of(member, member.tasks);
    const double share = std::max(all_.gpus > 0 ? has.gpus / all_.gpus : 0,
                                  all_.cpus > 0 ? has.cpus / all_.cpus : 0);
    const double numbers[Dl2Shape::kNumbers] = {std::log1p(std::max(member.slots, 0.0)),
                                                std::log1p(std::max(member.left_slots, 0.0)),
                                                member.left_part,
                                                share,
                                                member.tasks.workers / 4.0,
                                                member.tasks.servers / 4.0};
    for (std::size_t k = 0; k < Dl2Shape::kNumbers; ++k) number[k] = static_cast<float>(numbers[k]);
  }
}

ElasticCapacity Dl2Slot::mask(std::size_t block, std::span<std::uint8_t> out) const {
  STARLING_CHECK(out.size() == shape_->actions());
  ElasticCapacity most;
  std::ranges::fill(out, std::uint8_t{0});
  out.back() = 1;
  const std::size_t first = block * shape_->window;
  const std::size_t last = std::min(first + shape_->window, members_.size());
  for (std::size_t i = first; i < last; ++i) {
    for (const Dl2Kind kind : {Dl2Kind::worker, Dl2Kind::server, Dl2Kind::both}) {
      const Dl2Action action{i, kind};
      if (!allows(action)) continue;
      out[number_of(action)] = 1;
      const ElasticCapacity needs = needs_of(members_[i], tasks_of(members_[i], kind));
      most = {std::max(most.gpus, needs.gpus), std::max(most.cpus, needs.cpus)};
    }
  }
  return most;
}

std::size_t Dl2Slot::number_of(const Dl2Action& action) const noexcept {
  return 3 * (action.member % shape_->window) + static_cast<std::size_t>(action.kind);
}

std::optional<Dl2Action> Dl2Slot::action_of(std::size_t block, std::size_t number) const {
  if (number + 1 == shape_->actions()) return std::nullopt;
  return Dl2Action{block * shape_->window + number / 3, static_cast<Dl2Kind>(number % 3)};
}

}  // namespace starling
