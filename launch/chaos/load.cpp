// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/load.h"

#include <algorithm>
#include <cstdio>

#include "launch/processes/supervisor.h"

namespace starling::chaos_live {
namespace {

constexpr int kBatch = 512;

ClientConfig config_of(const Session& session) {
  ClientConfig config;
  config.me = session.me();
  for (std::uint32_t a = 0; a < session.agents(); ++a) config.agents.push_back(AgentId{a});
  config.timers.retry_max = std::chrono::seconds(1);
  return config;
}

}  // namespace

double now_seconds() { return seconds(Session::now().time_since_epoch()); }

Load::Load(const ChaosScenario& scenario, std::filesystem::path work, Session& session,
           Audit& audit)
    : scenario_(scenario),
      work_(std::move(work)),
      session_(session),
      audit_(audit),
      client_(config_of(session), Rng(scenario.seed).fork(0xc11e)),
      draw_(scenario) {}

JobSpec Load::spec(double seconds, std::uint32_t workers, std::uint32_t gpus, Manner manner) {
  JobSpec job;
  job.id = {scenario_.seed + 1, ++next_};
  job.name = "chaos-" + std::to_string(next_);
  job.workers = workers;
  job.gpus_per_worker = gpus;
  job.duration = from_seconds(seconds);
  if (scenario_.flock.launcher == "process") {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", seconds);
    job.command = {own_program(), "chaos",        "job",
                   "--dir",       work_.string(), "--seconds",
                   text,          "--manner",     std::string(facts_of(manner).name)};
  }
  return job;
}

void Load::submit(double now, const DrawnJob& drawn) {
  JobSpec job = spec(drawn.seconds, drawn.workers, drawn.gpus, drawn.manner);
  audit_.submitted(now, job.id, drawn.cancel_after.has_value(), facts_of(drawn.manner).fails);
  waiting_[job.id] = now;
  const std::optional<double> after[] = {drawn.again_after, drawn.cancel_after, drawn.ask_after};
  for (int what = 0; what < 3; ++what) {
    if (after[what]) errands_.push_back({now + *after[what], what, job.id, drawn.home});
  }
  if (drawn.again_after) again_[job.id] = job;
  client_.submit(Session::now(), std::move(job), AgentId{drawn.home});
}

void Load::step(double now, double factor) {
  const LoadSpec& load = scenario_.load;
  if (due_ < 0) due_ = now;
  const double rate = load.jobs_per_s * factor;
  for (int n = 0; rate > 0 && due_ <= now && n < 2000; ++n) {
    if (load.outstanding > 0 && audit_.open() + waiting_.size() >= load.outstanding) {
      due_ = now;
      break;
    }
    due_ += draw_.gap(rate);
    submit(now, draw_.next());
  }
  run_errands(now);
}

void Load::run_errands(double now) {
  for (std::size_t i = 0; i < errands_.size();) {
    const Errand errand = errands_[i];
    if (errand.due > now) {
      ++i;
      continue;
    }
    errands_.erase(errands_.begin() + static_cast<std::ptrdiff_t>(i));
    const JobOutcome* known = client_.find(errand.job);
    constexpr const char* kWhat[] = {"again", "cancel", "query"};
    audit_.asked(now, kWhat[errand.what], errand.job, errand.home);
    if (errand.what == 0) {
      session_.send(agent_node(AgentId{errand.home}), Submit{again_.at(errand.job), session_.me()});
      again_.erase(errand.job);
    } else if (errand.what == 1) {
      client_.cancel(errand.job);
      if (known != nullptr && !known->sent) waiting_.erase(errand.job);
    } else if (known != nullptr) {
      session_.send(agent_node(known->home), Query{errand.job});
    }
  }
}

JobId Load::probe(std::uint32_t agent) {
  JobSpec job = spec(0.2, 1, 1);
  const JobId id = job.id;
  audit_.submitted(now_seconds(), id, false);
  again_[id] = job;
  client_.submit(Session::now(), std::move(job), AgentId{agent});
  return id;
}

void Load::knock(JobId probe) {
  const JobOutcome* job = client_.find(probe);
  const auto spec = again_.find(probe);
  if (job == nullptr || job->accepted || spec == again_.end()) return;
  session_.send(agent_node(job->home), Submit{spec->second, session_.me()});
}

void Load::answered(JobId job, double now, bool excused) {
  const auto since = waiting_.find(job);
  if (since == waiting_.end()) return;
  answers_.push_back({since->second, now - since->second, excused || excused_.contains(job)});
  excused_.erase(job);
  waiting_.erase(since);
}

void Load::exchange(double patience, bool excused,
                    const std::function<void(NodeId from, const Message&)>& hear) {
  if (excused && !disturbed_) {
    for (const auto& [job, since] : waiting_) excused_[job] = true;
  }
  disturbed_ = excused;
  out_.clear();
  client_.step(Session::now(), Tick{}, out_);
  for (const Send& send : out_.send) session_.send(send.to, send.message);
  out_.clear();
  const Instant until =
      std::min(client_.next_deadline(), later(Session::now(), from_seconds(patience)));
  auto received = session_.receive(until);
  for (int n = 0; received && n < kBatch; ++n) {
    const double now = now_seconds();
    const Message& message = received->message;
    hear(received->from, message);
    audit_.told(now, received->from, message);
    if (const auto* m = std::get_if<Accepted>(&message)) answered(m->job, now, excused);
    if (const auto* m = std::get_if<Busy>(&message)) answered(m->job, now, excused);
    if (const auto* m = std::get_if<Rejected>(&message)) answered(m->job, now, excused);
    if (const auto* m = std::get_if<JobState>(&message)) answered(m->job, now, excused);
    client_.step(Session::now(), Event{std::move(*received)}, out_);
    received = session_.receive(Session::now());
  }
  for (const Send& send : out_.send) session_.send(send.to, send.message);
}

void Load::ask_all(double now) {
  run_errands(now + 1e9);
  for (const JobOutcome& job : client_.jobs()) {
    if (!job.over() && job.accepted) session_.send(agent_node(job.home), Query{job.job});
  }
}

std::size_t Load::unanswered(double now, double seconds) const {
  return static_cast<std::size_t>(std::count_if(
      waiting_.begin(), waiting_.end(),
      [&](const auto& w) { return now - w.second > seconds && !excused_.contains(w.first); }));
}

}  // namespace starling::chaos_live
