// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "agents/client.h"
#include "base/counted.h"
#include "base/visible.h"
#include "launch/command_line/progress_bar.h"
#include "launch/deployment/scaled_clock.h"
#include "launch/runs/live_run.h"
#include "launch/runs/run_timeline.h"
#include "launch/system/amount.h"
#include "launch/system/text.h"
#include "topology/placement_text.h"

namespace starling {
namespace {

using std::chrono::milliseconds;

constexpr int kBatch = 256;  // messages taken in before anything is sent

/// The rows of the run in trace time, in the order of the trace.
std::vector<JobRow> rows_of(const RunInput& input, const Client& client, Instant began) {
  std::vector<JobRow> rows;
  const auto trace_time = [&](Instant at) { return at == kNever ? -1 : seconds(at - began); };
  for (const TraceJob& job : input.trace.jobs) {
    const JobOutcome* outcome = client.find(job.spec.id);
    JobRow& row = rows.emplace_back();
    row.job = job.spec.id;
    row.name = job.spec.name;
    row.submit_s = seconds(job.submit);
    row.start_s = trace_time(outcome->started);
    row.finish_s = outcome->rejected ? -1 : trace_time(outcome->ended);
    row.gpus = job.spec.gpus();
    row.model = job.spec.model;
    row.agent = outcome->home.value;
    row.placement = placement_text(outcome->state.placement);
    row.attempts = outcome->state.attempts;
    row.forwards = outcome->state.forwards;
    row.preemptions = outcome->state.preemptions;
    row.service_s = seconds(outcome->state.served);  // emulated service is on the trace's scale
    row.duration_s = seconds(job.spec.duration);
    row.state = outcome->rejected ? JobPhase::failed : outcome->state.phase;
  }
  return rows;
}

void add_status(RunResult& result, const std::vector<AgentStatus>& agents) {
  double p50_sum = 0;
  for (const AgentStatus& a : agents) {
    result.preemptions += a.preemptions;
    result.resizes += a.resizes;
    result.forwards += a.forwards;
    result.cross_partition_gangs += a.cross_partition_gangs;
    result.decisions += a.decisions;
    result.messages += a.messages;
    p50_sum += static_cast<double>(a.decisions) * a.decision_p50_us;
    result.decision_p99_us =
        std::max(result.decision_p99_us, static_cast<double>(a.decision_p99_us));
  }
  // Agents keep their histograms to themselves: the median is the mean of theirs, the p99 the
  // worst.
  if (result.decisions > 0)
    result.decision_p50_us = p50_sum / static_cast<double>(result.decisions);
}

void say_refused(const Client& client) {
  for (const JobOutcome& job : client.jobs()) {
    if (!job.rejected) continue;
    std::fprintf(stderr, "starling: %s refused; the first, %s: %s\n",
                 amount(client.counts().rejected, "job was", "jobs were").c_str(),
                 to_string(job.job).c_str(), visible_line(job.reason).c_str());
    return;
  }
}

}  // namespace

Result<RunResult> drive_trace(Session& session, const RunInput& input, double speedup, bool quiet,
                              const std::function<std::optional<std::string>()>& broken) {
  ClientConfig config;
  config.me = session.me();
  for (std::uint32_t a = 0; a < session.agents(); ++a) config.agents.push_back(AgentId{a});
  config.timers = stretched(config.timers, speedup);
  Client client(std::move(config), Rng(input.sim.seed).fork(session.me().value));
  const ScaledClock clock(speedup);
  const Instant began = later(clock.now(), clock.stretched(milliseconds(50)));
  Duration longest{0};
  std::uint32_t submitted = 0;
  for (const TraceJob& job : input.trace.jobs) {
    longest = std::max(longest, job.spec.duration);
    client.submit(later(began, job.submit), job.spec, AgentId{submitted++ % session.agents()});
  }

  // Nothing at all for as long as the longest job and a good while more: something is stuck.
  const Duration patience = from_seconds(seconds(longest) * 3 / speedup + 60);
  ProgressBar progress("running live", quiet);
  Output out;
  Client::Counts last;
  const Instant started = Session::now();
  Instant last_news = started, next_look = started;
  while (!client.all_over()) {
    out.clear();
    client.step(clock.now(), Tick{}, out);
    const Instant now = Session::now();
    const Instant wait = std::min(clock.on_machine(client.next_deadline()), now + milliseconds(20));
    auto received = session.receive(wait);
    for (int batch = 0; received;
         received = ++batch < kBatch ? session.receive(now) : std::nullopt) {
      client.step(clock.now(), *received, out);
    }
    for (const Send& send : out.send) session.send(send.to, send.message);
    if (now < next_look) continue;
    next_look = now + milliseconds(50);
    if (const auto message = broken()) return {Errc::io, *message};
    const Client::Counts& counts = client.counts();
    if (!(counts == last) || counts.sent < counts.jobs) last_news = now, last = counts;
    if (now > last_news + patience) {
      return {Errc::io, "nothing has happened for " +
                            std::to_string(patience / std::chrono::seconds(1)) + " s; " +
                            counted(counts.jobs - counts.over(), "job has", "jobs have") +
                            " not ended"};
    }
    progress.update(
        counts.over(), counts.jobs,
        std::to_string(counts.started - std::min(counts.started, counts.over())) + " running");
  }
  progress.finish();
  const Instant ended = Session::now();
  say_refused(client);

  RunResult result;
  result.mode = "live";
  result.policy = input.sim.policy;
  result.topology = input.topology.name();
  result.workload = input.trace.name;
  result.gpus = input.topology.gpu_count();
  result.servers = input.topology.server_count();
  result.agents = session.agents();
  result.seed = input.sim.seed;
  result.jobs = rows_of(input, client, began);
  result.timeline = timeline_of(result.jobs);
  result.wall_s = seconds(ended - started);
  const auto status = session.status(std::chrono::seconds(2));
  if (status.size() < session.agents())
    return {Errc::io, "only " + std::to_string(status.size()) + " of " +
                          counted(session.agents(), "agent") + " gave their figures"};
  add_status(result, status);
  return result;
}

}  // namespace starling
