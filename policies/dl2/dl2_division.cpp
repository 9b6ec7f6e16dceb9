// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2_division.h"

#include <algorithm>

#include "base/counted.h"
#include "base/short_number.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr std::size_t kMostNotes = 4096;
constexpr const char* kIncumbent = "its incumbent";
constexpr std::uint64_t kChanceSeed = 0x646c32;

TaskCounts counts_by(const JobSpec& job, std::uint32_t workers, const Allocation& how) {
  if (job.run.max_servers == 0 || workers == 0) return {workers, 0};
  return {workers, how.servers > 0 ? how.servers : servers_at(job, workers)};
}

/// Of which there are GPUs in the partition.
std::vector<GpuTypeId> types_of(const Occupancy& gpus) {
  std::set<GpuTypeId> types;
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) {
    const Server& server = gpus.topology().server(ServerId{s});
    if (server.gpus.size() > 0) types.insert(server.gpu_type);
  }
  return {types.begin(), types.end()};
}

}  // namespace

void Dl2Division::begin_round(const ElasticCall&) { round_ = true; }

void Dl2Division::divide(const ElasticCall& call, const ElasticCapacity& all, ElasticCapacity left,
                         std::vector<ElasticShare>& shares) {
  // Those that have workers already were divided among before, and their notes say how.
  const bool anew = std::ranges::all_of(shares, [](const auto& s) { return s.workers == 0; });
  if (anew && notes_.size() > kMostNotes) notes_.clear();
  const std::vector<GpuTypeId> types = types_of(call.empty);
  std::vector<ElasticShare> here;
  for (const ElasticShare& share : shares) {
    const JobSpec& job = *share.job->spec;
    const auto goes = [&](GpuTypeId type) { return allows(job, call.empty.topology(), type); };
    if (share.workers > 0 || std::ranges::any_of(types, goes)) {
      here.push_back(share);
    } else {
      notes_[job.id] = {{}, 0, 1, "", Note::Kind::of_no_type_here, {}};
    }
  }
  divide_here(call, all, left, here);
  auto next = here.begin();
  for (ElasticShare& share : shares)
    if (next != here.end() && next->job == share.job) share.workers = next++->workers;
}

void Dl2Division::divide_here(const ElasticCall& call, const ElasticCapacity& all,
                              const ElasticCapacity& left, std::vector<ElasticShare>& shares) {
  const bool round = std::exchange(round_, false);
  const bool learns = parts_.learner && round;
  if (!parts_.net && !parts_.learner) return follow_incumbent(call, all, left, shares, round);
  const std::size_t seen = parts_.window > 0 ? parts_.window : shares.size();
  std::vector<std::uint32_t> servers;
  servers.reserve(shares.size());
  for (const ElasticShare& share : shares)
    servers.push_back(servers_with(*share.job->spec, share.workers));
  Dl2Slot slot(parts_.shape, call, all, left, shares, parts_.slot_s, seen, servers);
  std::vector<TaskCounts> had;
  for (const Dl2Member& member : slot.members()) had.push_back(member.tasks);
  slot.begin();
  const char* const by = learns ? "its learner" : "its net";
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Note note{{}, 0, 1, by, i < seen ? Note::Kind::shared : Note::Kind::beyond_window, {}};
    if (i < seen) note.tasks = slot.members()[i].tasks;
    if (shares[i].workers == 0) notes_[shares[i].job->spec->id] = note;
  }
  // By the clock, so that a new life of the agent draws what the old one would have drawn.
  const auto now = static_cast<std::uint64_t>(call.view.now.time_since_epoch().count());
  chance_ = Rng(kChanceSeed).fork(call.view.me.value).fork(now);
  if (learns) parts_.learner->begin_slot(trail_, slot, progress_of(shares));
  const bool shared_out = share_out(slot, learns);
  if (learns) parts_.learner->end_slot(trail_, slot);
  if (!shared_out) return follow_incumbent(call, all, left, shares, round);
  for (std::size_t i = 0; i < slot.members().size(); ++i) {
    const Dl2Member& member = slot.members()[i];
    shares[i].workers = member.tasks.workers;
    if (member.tasks == had[i]) continue;
    Note& note = notes_[member.job->spec->id];
    note.tasks = member.tasks;
    note.placed.reset();
  }
}

/// False: the net answers no numbers.
bool Dl2Division::share_out(Dl2Slot& slot, bool learns) {
  if (!slot.allows_any()) return true;
  if (!parts_.learner) parts_.net->look(slot);
  while (slot.allows_any()) {
    const auto choice = infer(slot, learns);
    if (!choice) return false;
    if (!choice->action) return true;
    slot.take(*choice->action);
    if (!parts_.learner) parts_.net->took(slot, *choice->action);
    Note& note = notes_[slot.members()[choice->action->member].job->spec->id];
    ++note.asked_for;
    note.least_sure = std::min(note.least_sure, choice->probability);
  }
  return true;
}

std::optional<Dl2Choice> Dl2Division::infer(const Dl2Slot& slot, bool learns) {
  if (learns) return parts_.learner->choose(trail_, slot);
  if (parts_.learner) return parts_.learner->best(slot);
  return parts_.net->choose(slot, parts_.temperature, chance_);
}

std::map<JobId, TaskCounts> Dl2Division::counts_of(const ElasticCall& call,
                                                   const std::vector<ElasticShare>& shares) const {
  std::map<JobId, TaskCounts> counts;
  for (const ElasticShare& share : shares) {
    const JobSpec& job = *share.job->spec;
    Allocation how;
    if (job.run.max_servers > 0 && share.workers > 0) {
      if (const auto place = find_workers(call, call.empty, job, share.workers))
        how = parts_.incumbent->allocation(call, job, *place);
    }
    counts[job.id] = counts_by(job, share.workers, how);
  }
  return counts;
}

void Dl2Division::follow_incumbent(const ElasticCall& call, const ElasticCapacity& all,
                                   const ElasticCapacity& left, std::vector<ElasticShare>& shares,
                                   bool round) {
  const std::vector<ElasticShare> before = shares;
  parts_.incumbent->divide(call, all, left, shares);
  const auto counts = counts_of(call, shares);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const JobId job = shares[i].job->spec->id;
    if (before[i].workers > 0 && shares[i].workers == before[i].workers) continue;
    notes_[job] = {counts.at(job), 0, 1, kIncumbent, Note::Kind::shared, {}};
  }
  if (!round || !parts_.show) return;
  const std::size_t seen = parts_.window > 0 ? parts_.window : before.size();
  Dl2Slot slot(parts_.shape, call, all, left, before, parts_.slot_s, seen);
  slot.begin();
  show_increments(std::move(slot), counts);
}

/// In which order an incumbent's counts are reached does not matter to it: those who have the
/// fewest workers first, as DRF would, of equal ones the first; and nothing more at the end.
void Dl2Division::show_increments(Dl2Slot slot, const std::map<JobId, TaskCounts>& wanted) const {
  const auto show = [&](std::size_t block, std::size_t action) {
    Dl2Example example;
    example.state.resize(parts_.shape.inputs());
    example.mask.resize(parts_.shape.actions());
    slot.encode(block, example.state);
    slot.mask(block, example.mask);
    example.action = action;
    parts_.show(std::move(example));
  };
  while (slot.allows_any()) {
    std::optional<Dl2Action> next;
    std::uint32_t fewest = 0;
    for (std::size_t i = 0; i < slot.members().size(); ++i) {
      const Dl2Member& member = slot.members()[i];
      const TaskCounts& want = wanted.at(member.job->spec->id);
      const bool worker = member.tasks.workers < want.workers;
      const bool server = member.tasks.servers < want.servers;
      if (!worker && !server) continue;
      const bool both = worker && (server || member.most_servers == 0);
      const Dl2Action action{i, both ? Dl2Kind::both : worker ? Dl2Kind::worker : Dl2Kind::server};
      const std::uint32_t has = worker ? member.tasks.workers : member.tasks.servers;
      if (!slot.allows(action) || (next && has >= fewest)) continue;
      next = action;
      fewest = has;
    }
    if (!next) return show(0, parts_.shape.actions() - 1);
    show(slot.block_of(*next), slot.number_of(*next));
    slot.take(*next);
  }
}

Allocation Dl2Division::allocation(const ElasticCall&, const JobSpec& job,
                                   const Placement& placement) const {
  if (job.run.max_servers == 0) return {};
  const auto workers =
      static_cast<std::uint32_t>(placement.size()) / std::max(job.gpus_per_worker, 1U);
  const std::uint32_t servers = servers_with(job, workers);
  return servers == servers_at(job, workers) ? Allocation{}
                                             : Allocation{workers, servers, 0, 0, false};
}

/// Where there was no room for all of its workers, as many servers a worker.
std::uint32_t Dl2Division::servers_with(const JobSpec& job, std::uint32_t workers) const {
  if (job.run.max_servers == 0 || workers == 0) return 0;
  const auto noted = notes_.find(job.id);
  if (noted == notes_.end() || noted->second.tasks.workers == 0 || noted->second.tasks.servers == 0)
    return servers_at(job, workers);
  const TaskCounts& tasks = noted->second.tasks;
  return std::clamp((tasks.servers * workers + tasks.workers - 1) / tasks.workers, 1U,
                    job.run.max_servers);
}

void Dl2Division::fell_short(JobId job, std::uint32_t workers) {
  if (const auto noted = notes_.find(job); noted != notes_.end()) noted->second.placed = workers;
}

void Dl2Division::observe(const View& view) {
  parts_.incumbent->observe(view);
  for (const DepartedJob& job : view.departed) notes_.erase(job.spec->id);
  if (!parts_.learner) return;
  trail_.agent = view.me.value;
  for (const DepartedJob& job : view.departed) {
    if (job.fate == JobFate::finished) {
      finished_.insert(job.spec->id);
    } else {
      accounts_.erase(job.spec->id);
    }
  }
}

/// Parts of their work that jobs did since the last slot began; the next one begins.
Dl2Progress Dl2Division::progress_of(const std::vector<ElasticShare>& shares) {
  const bool of_remaining = parts_.learner->options().of_remaining;
  Dl2Progress progress;
  std::map<JobId, Account> now;
  for (const ElasticShare& share : shares) {
    const double whole_s = seconds(share.job->spec->duration);
    if (whole_s <= 0) continue;  // what part of it was done is not known
    const JobId job = share.job->spec->id;
    now[job] = {std::min(share.left_s, whole_s), whole_s};
    const auto known = accounts_.find(job);
    const double before = known == accounts_.end() ? whole_s : known->second.left_s;
    progress.of[job] = std::max(before - share.left_s, 0.0) / (of_remaining ? before : whole_s);
  }
  for (const JobId job : finished_) {
    if (const auto known = accounts_.find(job); known != accounts_.end())
      progress.of[job] = of_remaining ? 1 : known->second.left_s / known->second.whole_s;
  }
  for (const auto& [job, part] : progress.of) progress.all += part;
  // A job that cannot be changed at present is not among the shares: it counts from where it was.
  for (const auto& [job, account] : accounts_)
    if (!finished_.contains(job) && now.size() < kMostNotes) now.try_emplace(job, account);
  accounts_ = std::move(now);
  finished_.clear();
  return progress;
}

void Dl2Division::learn() {
  parts_.incumbent->learn();
  if (parts_.learner) parts_.learner->learn();
}

void Dl2Division::save(MemoryWriter& out) const {
  if (!parts_.learner) return;
  out.word(trail_.slots);
  parts_.learner->save(out);
}

void Dl2Division::restore(MemoryReader& in) {
  if (!parts_.learner) return;
  const std::uint64_t slots = in.word();
  parts_.learner->restore(in);
  if (in.whole()) trail_.slots = slots;
}

std::vector<std::string> Dl2Division::explain(JobId job) const {
  const auto noted = notes_.find(job);
  if (noted == notes_.end()) return {};
  const Note& note = noted->second;
  const std::string by = note.by;
  if (note.kind == Note::Kind::of_no_type_here)
    return {"policy: no GPU of this partition is of a type that it goes with"};
  if (note.kind == Note::Kind::beyond_window)
    return {"policy: it is beyond the first " + counted(parts_.window, "job") + " that " + by +
            " sees"};
  if (note.tasks.workers == 0) {
    // An incumbent has reasons of its own.
    const bool full = by != kIncumbent;
    return {"policy: " + by + " left it waiting in the last slot" +
            (full ? ": there was no room for the fewest workers that it can have" : "")};
  }
  std::string tasks = counted(note.tasks.workers, "worker");
  if (note.tasks.servers > 0) tasks += " and " + counted(note.tasks.servers, "parameter server");
  if (note.placed == 0U)
    return {"policy: in the last slot " + by + " had " + tasks +
            " for it, and there was no place for the fewest that it can have"};
  std::string line = "policy: in the last slot " + by + " gave it " + tasks;
  if (note.asked_for > 0)
    line += ", by " + counted(note.asked_for, "inference") +
            ", the least likely of which it took at " + short_number(note.least_sure);
  if (note.placed) line += "; there was a place for " + counted(*note.placed, "worker") + " only";
  return {line};
}

}  // namespace starling
