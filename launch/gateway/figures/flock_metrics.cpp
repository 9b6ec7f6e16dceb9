// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/figures/flock_metrics.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/short_number.h"
#include "launch/gateway/figures/open_metrics.h"

namespace starling {
namespace {

using Kind = OpenMetrics::Kind;

/// Slurm's word for a phase, as its exporter has it.
struct PhaseWord {
  JobPhase phase;
  const char* word;
  const char* help;
};
constexpr std::array<PhaseWord, 7> kPhaseWords{
    {{JobPhase::waiting, "pending", "Jobs that wait."},
     {JobPhase::starting, "configuring", "Jobs that are being started."},
     {JobPhase::running, "running", "Jobs that run."},
     {JobPhase::draining, "completing", "Jobs that are being stopped."},
     {JobPhase::finished, "completed", "Jobs that have ended well and are remembered."},
     {JobPhase::failed, "failed", "Jobs that have failed and are remembered."},
     {JobPhase::cancelled, "cancelled", "Jobs that were cancelled and are remembered."}}};

struct OpenCounts {
  double pending = 0, running = 0, gpus = 0;
};

void write_by(OpenMetrics& out, const std::string& what, const std::string& label,
              const std::map<std::string, OpenCounts>& counts) {
  const auto each = [&](const std::string& name, const std::string& help,
                        double OpenCounts::*field) {
    out.family("starling_" + what + "_" + name, Kind::gauge, help);
    for (const auto& [text, count] : counts) out.sample({{label, text}}, count.*field);
  };
  each("jobs_pending", "Jobs that wait, by " + label + ".", &OpenCounts::pending);
  each("jobs_running", "Jobs that run, by " + label + ".", &OpenCounts::running);
  each("gpus_running", "GPUs that jobs hold, by " + label + ".", &OpenCounts::gpus);
}

void write_jobs(OpenMetrics& out, const FlockPicture& picture) {
  std::map<JobPhase, double> phases;
  std::map<std::string, OpenCounts> users, queues;
  for (const JobState& s : picture.jobs) {
    phases[s.phase] += 1;
    if (terminal(s.phase)) continue;
    const bool waits = s.phase == JobPhase::waiting;
    const double gpus = waits ? 0 : static_cast<double>(s.placement.size());
    for (OpenCounts* count : {&users[s.ask == nullptr ? "" : s.ask->user],
                              &queues[s.ask == nullptr ? "" : s.ask->queue]}) {
      (waits ? count->pending : count->running) += 1;
      count->gpus += gpus;
    }
  }
  for (const PhaseWord& p : kPhaseWords)
    out.single(std::string("starling_queue_") + p.word, Kind::gauge, p.help, phases[p.phase]);
  write_by(out, "user", "user", users);
  write_by(out, "account", "account", queues);
}

void write_queues(OpenMetrics& out, const QueuesState& state) {
  out.family("starling_queue_gpus", Kind::gauge,
             "GPUs of a queue with all below it: guaranteed, most (left out where there is no "
             "limit), may (portions of all agents), used, wanted by jobs that are kept back.");
  const auto add = [&out](const std::string& queue, const char* kind, std::uint32_t gpus) {
    out.sample({{"queue", queue}, {"kind", kind}}, gpus);
  };
  for (const QueueSpec& queue : state.tree.queues) {
    add(queue.name, "guaranteed", queue.guaranteed);
    if (queue.most != QueueSpec::kNoLimit) add(queue.name, "most", queue.most);
  }
  for (const QueueUse& use : state.uses) {
    if (!use.account.user.empty()) continue;
    add(use.account.queue, "may", use.may);
    add(use.account.queue, "used", use.used);
    add(use.account.queue, "wanted", use.want);
  }
}

void write_gpus(OpenMetrics& out, const FlockPicture& picture) {
  double total = 0, idle = 0, away = 0, drained = 0;
  for (const AgentStatus& a : picture.agents) {
    total += a.gpus;
    idle += a.free;
    away += a.quarantined;
    drained += a.drained;
  }
  const double alloc = std::max(0.0, total - idle - away - drained);
  out.single("starling_gpus", Kind::gauge, "GPUs of the agents that answer.", total);
  out.single("starling_gpus_alloc", Kind::gauge, "GPUs that jobs hold.", alloc);
  out.single("starling_gpus_idle", Kind::gauge, "GPUs that are free.", idle);
  out.single("starling_gpus_down", Kind::gauge, "GPUs that are bad, or whose executor is away.",
             away);
  out.single("starling_gpus_drain", Kind::gauge, "GPUs without a job on drained servers.", drained);
  const auto found = [&](const char* kind) {
    const auto at = picture.hardware.find(kind);
    return at == picture.hardware.end() ? 0.0 : at->second;
  };
  out.single("starling_gpus_alloc_unused", Kind::gauge,
             "GPUs of this machine that jobs hold and have not used for a while.", found("idle"));
  out.single("starling_gpus_slow", Kind::gauge, "GPUs of this machine whose clocks are held back.",
             found("slow"));
  out.single("starling_gpus_utilization", Kind::gauge, "Part of the GPUs that jobs hold, 0 to 1.",
             total > 0 ? alloc / total : 0);
}

void write_nodes(OpenMetrics& out, const FlockPicture& picture) {
  const Topology& topology = *picture.topology;
  std::vector<std::uint32_t> held(topology.server_count(), 0);
  for (const JobState& s : picture.jobs) {
    if (terminal(s.phase) || s.phase == JobPhase::waiting) continue;
    for (const GpuId gpu : s.placement)
      if (gpu.value < topology.gpu_count()) ++held[topology.server_of(gpu).value];
  }
  std::vector<char> drained(topology.server_count(), 0);
  for (const AgentStatus& a : picture.agents)
    for (const ServerId server : a.drained_servers)
      if (server.value < drained.size()) drained[server.value] = 1;
  double alloc = 0, mix = 0, idle = 0, drain = 0;
  for (std::uint32_t n = 0; n < topology.server_count(); ++n) {
    if (drained[n] != 0) {
      drain += 1;
    } else if (held[n] == 0) {
      idle += 1;
    } else {
      (held[n] >= topology.server(ServerId{n}).gpus.size() ? alloc : mix) += 1;
    }
  }
  out.single("starling_nodes_alloc", Kind::gauge, "Servers whose GPUs are all held.", alloc);
  out.single("starling_nodes_mix", Kind::gauge, "Servers of whose GPUs some are held.", mix);
  out.single("starling_nodes_idle", Kind::gauge, "Servers without a job.", idle);
  out.single("starling_nodes_drain", Kind::gauge, "Servers that are drained.", drain);
}

struct AgentFigure {
  const char* name;
  Kind kind;
  const char* help;
  double (*value)(const AgentStatus&);
};
// clang-format off
constexpr AgentFigure kAgentFigures[] = {
    {"starling_agent_gpus", Kind::gauge, "GPUs of its partition.", [](const AgentStatus& a) { return a.gpus + 0.0; }},
    {"starling_agent_gpus_idle", Kind::gauge, "Of these, free ones.", [](const AgentStatus& a) { return a.free + 0.0; }},
    {"starling_agent_jobs_pending", Kind::gauge, "Jobs of its home that wait.", [](const AgentStatus& a) { return a.waiting + 0.0; }},
    {"starling_agent_jobs_running", Kind::gauge, "Jobs of its home that run.", [](const AgentStatus& a) { return a.running + 0.0; }},
    {"starling_agent_jobs_accepted", Kind::counter, "Jobs it has accepted, in all lives.", [](const AgentStatus& a) { return static_cast<double>(a.accepted); }},
    {"starling_agent_jobs_finished", Kind::counter, "Jobs that have ended well, in all lives.", [](const AgentStatus& a) { return static_cast<double>(a.finished); }},
    {"starling_agent_jobs_failed", Kind::counter, "Jobs that have failed, in all lives.", [](const AgentStatus& a) { return static_cast<double>(a.failed); }},
    {"starling_agent_forwards", Kind::counter, "Jobs handed to other agents, in this life.", [](const AgentStatus& a) { return static_cast<double>(a.forwards); }},
    {"starling_agent_preemptions", Kind::counter, "Jobs stopped for others, in this life.", [](const AgentStatus& a) { return static_cast<double>(a.preemptions); }},
    {"starling_agent_resizes", Kind::counter, "Jobs given another size, in this life.", [](const AgentStatus& a) { return static_cast<double>(a.resizes); }},
    {"starling_agent_decisions", Kind::counter, "Decisions, in this life.", [](const AgentStatus& a) { return static_cast<double>(a.decisions); }},
    {"starling_agent_messages", Kind::counter, "Messages heard, in this life.", [](const AgentStatus& a) { return static_cast<double>(a.messages); }},
    {"starling_agent_refused_frames", Kind::counter, "Frames refused, in this life.", [](const AgentStatus& a) { return static_cast<double>(a.refused_frames); }},
    {"starling_agent_decision_p50_seconds", Kind::gauge, "Median time of a decision.", [](const AgentStatus& a) { return a.decision_p50_us * 1e-6; }},
    {"starling_agent_decision_p99_seconds", Kind::gauge, "99th percentile of it.", [](const AgentStatus& a) { return a.decision_p99_us * 1e-6; }},
    {"starling_agent_suspected", Kind::gauge, "Nodes that none of those it asks can hear.", [](const AgentStatus& a) { return a.suspected + 0.0; }},
    {"starling_agent_cut_off", Kind::gauge, "Nodes that others hear and it does not.", [](const AgentStatus& a) { return a.cut_off + 0.0; }},
};
// clang-format on

void write_agents(OpenMetrics& out, const FlockPicture& picture) {
  out.family("starling_agent_up", Kind::gauge, "1: the agent answers; 0: it does not.");
  for (const AgentStatus& a : picture.agents)
    out.sample({{"agent", std::to_string(a.agent.value)}}, 1);
  for (const AgentId agent : picture.silent) {
    bool answers = false;
    for (const AgentStatus& a : picture.agents) answers = answers || a.agent == agent;
    if (!answers) out.sample({{"agent", std::to_string(agent.value)}}, 0);
  }
  for (const AgentFigure& figure : kAgentFigures) {
    out.family(figure.name, figure.kind, figure.help);
    for (const AgentStatus& a : picture.agents)
      out.sample({{"agent", std::to_string(a.agent.value)}}, figure.value(a));
  }
}

void write_gateway(OpenMetrics& out, const GatewayFigures& gateway) {
  const RequestCounts& requests = gateway.requests;
  out.family("starling_gateway_requests", Kind::counter, "Requests answered, by route and status.");
  for (const auto& [key, count] : requests.by_route)
    out.sample({{"route", key.first}, {"code", std::to_string(key.second)}},
               static_cast<double>(count));
  out.family("starling_gateway_request_seconds", Kind::histogram,
             "From a request's last byte to its answer.");
  double below = 0;
  for (std::size_t i = 0; i < RequestCounts::kBins.size(); ++i) {
    below += static_cast<double>(requests.bins[i]);
    out.sample("_bucket", {{"le", short_number(RequestCounts::kBins[i])}}, below);
  }
  below += static_cast<double>(requests.bins.back());
  out.sample("_bucket", {{"le", "+Inf"}}, below);
  out.sample("_sum", {}, requests.seconds);
  out.sample("_count", {}, below);
  out.single("starling_gateway_connections", Kind::gauge, "Connections that are open.",
             static_cast<double>(requests.connections));
  out.single("starling_gateway_connections_refused", Kind::counter, "Connections beyond the limit.",
             static_cast<double>(requests.refused_connections));
  out.single("starling_gateway_watchers", Kind::gauge, "Who watches the events.",
             static_cast<double>(gateway.watchers));
  out.single("starling_gateway_watchers_dropped", Kind::counter,
             "Watchers that did not read what was said.",
             static_cast<double>(gateway.dropped_watchers));
  out.single("starling_gateway_picture_age_seconds", Kind::gauge,
             "How old is what lists and figures say.", gateway.picture_age_s);
  out.single("starling_gateway_ready", Kind::gauge, "1: the gateway hears the flock.",
             gateway.ready ? 1 : 0);
}

}  // namespace

std::string flock_metrics(const FlockPicture* picture, const GatewayFigures& gateway, bool open) {
  OpenMetrics out(open);
  if (picture != nullptr && picture->topology != nullptr) {
    write_jobs(out, *picture);
    if (picture->queues) write_queues(out, *picture->queues);
    write_gpus(out, *picture);
    write_nodes(out, *picture);
    write_agents(out, *picture);
  }
  write_gateway(out, gateway);
  return out.finish();
}

}  // namespace starling
