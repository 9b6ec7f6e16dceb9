// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/audit.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "agents/config.h"
#include "launch/chaos/job.h"

namespace starling::chaos_live {
namespace {

std::string at_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", seconds);
  return text;
}

}  // namespace

Audit::Audit(std::filesystem::path records, const std::filesystem::path& history, double began)
    : file_(std::move(records)), began_(began) {
  if (!history.empty()) history_.open(history);
}

void Audit::note(double now, const char* what, JobId job, const std::string& rest) {
  if (!history_.is_open()) return;
  char at[32];
  std::snprintf(at, sizeof at, "%.3f ", now - began_);
  history_ << at << what << ' ' << to_string(job) << ' ' << rest << '\n';
}

void Audit::asked(double now, const char* what, JobId job, std::uint32_t agent) {
  note(now, what, job, "to agent-" + std::to_string(agent));
}

Audit::Job* Audit::find(JobId job) {
  const auto at = index_.find(job);
  return at == index_.end() ? nullptr : &jobs_[at->second];
}

void Audit::violate(double at, std::string rule, std::string message) {
  if (said_.insert(rule + message).second)
    violations_.push_back({at - began_, std::move(rule), std::move(message)});
}

void Audit::submitted(double now, JobId id, bool may_be_cancelled, bool fails) {
  if (!index_.emplace(id, jobs_.size()).second) return;
  Job job;
  job.id = id;
  job.submitted = now;
  job.may_be_cancelled = may_be_cancelled;
  job.fails = fails;
  jobs_.push_back(std::move(job));
  note(now, "submit", id, "");
}

void Audit::submitted_elsewhere(double now, JobId id, bool fails) {
  submitted(now, id, false, fails);
  find(id)->elsewhere = true;
}

void Audit::accepted_elsewhere(double now, JobId id) {
  Job* job = find(id);
  if (job == nullptr || job->accepted >= 0) return;
  job->accepted = now;
  note(now, "accepted", id, "from a command");
}

void Audit::look_for_its_processes(double now, const Job& job) {
  if (file_.empty()) return;
  read_records();  // how many workers it has
  for (std::uint32_t rank = 0; rank < job.world; ++rank) {
    const std::string holder = holder_of(rank_lock(file_.parent_path(), to_string(job.id), rank));
    if (!holder.empty())
      violate(now, "free",
              "job " + to_string(job.id) + " has " + name_of(job.end) +
                  ", but its GPUs are in use by rank " + std::to_string(rank) + " of [" + holder +
                  "]");
  }
}

void Audit::ended(double now, Job& job, JobPhase phase) {
  const std::string name = "job " + to_string(job.id);
  if (job.end != JobPhase::unknown) {
    if (job.end != phase)
      violate(now, "ended",
              name + " was " + name_of(job.end) + " at " + at_text(job.ended - began_) +
                  ", and is now " + name_of(phase));
    return;
  }
  job.end = phase;
  job.ended = now;
  if (!job.elsewhere) --open_;
  look_for_its_processes(now, job);
  if (phase == JobPhase::finished && job.fails)
    violate(now, "ended", name + " finished, though its command fails");
  if ((phase == JobPhase::failed && !job.fails) ||
      (phase == JobPhase::cancelled && !job.may_be_cancelled))
    violate(
        now, "ended",
        name + " " + name_of(phase) + ", though its command ends well and it was not cancelled");
}

void Audit::told(double now, NodeId from, const Message& message) {
  const std::string agent = "from agent-" + std::to_string(from.value - 1);
  const auto accept = [&](Job& job) {
    if (job.refused)
      violate(now, "refused", "job " + to_string(job.id) + " is accepted after it was refused");
    if (job.accepted >= 0) return;
    job.accepted = now;
    if (!job.elsewhere) ++open_;
  };
  if (const auto* accepted = std::get_if<Accepted>(&message)) {
    Job* job = find(accepted->job);
    if (job == nullptr) return;
    ++answers_;
    note(now, "accepted", accepted->job, agent);
    accept(*job);
  } else if (const auto* rejected = std::get_if<Rejected>(&message)) {
    Job* job = find(rejected->job);
    if (job == nullptr) return;
    ++answers_;
    note(now, "refused", rejected->job, agent);
    job->refused = true;
    violate(now, "refused",
            "job " + to_string(job->id) +
                (job->accepted >= 0 ? " is refused after it was accepted: "
                                    : " is refused, though it fits: ") +
                rejected->reason);
  } else if (const auto* state = std::get_if<JobState>(&message)) {
    Job* job = find(state->job);
    if (job == nullptr) return;
    ++answers_;
    note(now, "state", state->job, agent + " " + name_of(state->phase));
    if (state->phase == JobPhase::unknown) return;
    accept(*job);
    if (terminal(state->phase)) ended(now, *job, state->phase);
  }
}

bool Audit::whole(const Job::Attempt& attempt, std::uint32_t world) {
  return world > 0 && attempt.ended.size() == world;
}

void Audit::read(const std::string& line) {
  std::istringstream in(line);
  std::string what, id, attempt, server, gpus, other, word;
  double at = 0;
  std::uint32_t rank = 0, world = 0;
  long pid = 0;
  if (!(in >> what >> at >> id >> attempt >> rank >> world >> server >> gpus >> pid)) return;
  while (in >> word) other += (other.empty() ? "" : " ") + word;
  const auto parsed = parse_job_id(id);
  Job* job = parsed ? find(parsed.value()) : nullptr;
  if (job == nullptr) {
    violate(at, "work", "a process of job " + id + " ran, which was never submitted: " + line);
    return;
  }
  if (what == "taken" || what == "twice") {
    violate(at, what == "taken" ? "gpu" : "twice",
            "job " + id + " attempt " + attempt + " rank " + std::to_string(rank) + " (pid " +
                std::to_string(pid) + ") on server " + server + " GPUs " + gpus +
                (what == "taken" ? " found a GPU in use by [" : " found alive [") + other + "]");
    return;
  }
  job->world = world;
  auto known = std::find_if(job->attempts.begin(), job->attempts.end(),
                            [&](const Job::Attempt& a) { return a.name == attempt; });
  if (known == job->attempts.end()) {
    job->attempts.push_back({attempt, {}, {}, at});
    known = job->attempts.end() - 1;
  }
  if (what == "start") {
    if (job->started < 0) {
      job->started = at;
      starts_.push_back(at);
    }
    known->last_start = at;
    if (!known->started.insert(rank).second)
      violate(at, "twice",
              "attempt " + attempt + " of job " + id + " started rank " + std::to_string(rank) +
                  " twice");
    if (job->ended >= 0 && at > job->ended)
      violate(at, "work",
              "job " + id + " starts rank " + std::to_string(rank) + " at " + at_text(at - began_) +
                  ", but the client was told at " + at_text(job->ended - began_) + " that it has " +
                  name_of(job->end));
  } else if (what == "end") {
    known->ended.insert(rank);
  }
}

void Audit::read_records() {
  if (file_.empty()) return;
  if (!records_.is_open()) {
    records_.open(file_);
    if (!records_.is_open()) return;
  }
  records_.clear();
  char buffer[16'384];
  while (records_.read(buffer, sizeof buffer), records_.gcount() > 0)
    rest_.append(buffer, static_cast<std::size_t>(records_.gcount()));
  std::size_t from = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', from)) != std::string::npos; from = end + 1)
    read(rest_.substr(from, end - from));
  rest_.erase(0, from);
}

void Audit::settle(double now, const std::vector<JobState>& known) {
  read_records();
  std::set<JobId> listed;
  for (const JobState& state : known) {
    Job* job = find(state.job);
    if (job == nullptr || state.phase == JobPhase::moved) continue;
    if (!listed.insert(state.job).second)
      violate(now, "ended", "two agents say that job " + to_string(state.job) + " is theirs");
    told(now, agent_node(state.home), state);
  }
  for (Job& job : jobs_) {
    const std::string name = "job " + to_string(job.id);
    if (job.accepted < 0 && job.started < 0) continue;  // nothing was promised
    if (!listed.contains(job.id))
      violate(now, "forgot", name + " was accepted; no agent knows it now");
    if (job.end == JobPhase::unknown)
      violate(now, "lost",
              name + " was accepted at " + at_text(job.accepted - began_) +
                  " and has not ended: " + story(job.id));
    if (job.end != JobPhase::finished || file_.empty()) continue;
    const bool done = std::any_of(job.attempts.begin(), job.attempts.end(),
                                  [&](const auto& a) { return whole(a, job.world); });
    if (!done)
      violate(now, "work", name + " is said to have finished, but did not: " + story(job.id));
  }
}

Audit::Totals Audit::totals() const {
  Totals t;
  t.answers = answers_;
  for (const Job& job : jobs_) {
    ++t.submitted;
    t.accepted += job.accepted >= 0;
    t.refused += job.refused;
    t.finished += job.end == JobPhase::finished;
    t.cancelled += job.end == JobPhase::cancelled;
    t.failed += job.end == JobPhase::failed;
    t.attempts += job.attempts.size();
    t.work_repeated += std::count_if(job.attempts.begin(), job.attempts.end(),
                                     [&](const auto& a) { return whole(a, job.world); }) > 1;
  }
  return t;
}

std::string Audit::story(JobId id) const {
  const auto at = index_.find(id);
  if (at == index_.end()) return "not submitted";
  const Job& job = jobs_[at->second];
  std::ostringstream out;
  out << "submitted " << at_text(job.submitted - began_);
  if (job.accepted >= 0) out << ", accepted " << at_text(job.accepted - began_);
  for (const Job::Attempt& a : job.attempts) {
    out << ", attempt " << a.name << " last started " << at_text(a.last_start - began_) << " ("
        << a.started.size() << " started and " << a.ended.size() << " done of " << job.world << ")";
  }
  if (job.ended >= 0) out << ", " << name_of(job.end) << " " << at_text(job.ended - began_);
  return out.str();
}

}  // namespace starling::chaos_live
