// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/visible.h"
#include "launch/client/client_answers.h"
#include "launch/client/session.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/hosts/keeper.h"
#include "launch/jobs/agent_json.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  bool watch = false, json = false, wide = false;
};

std::string host_name(const FlockClient& flock, const AgentStatus& a) {
  return "agent-" + std::to_string(flock.host_of(a.agent).value);
}

template <class Id>
nlohmann::json numbers(const std::vector<Id>& ids) {
  nlohmann::json list = nlohmann::json::array();
  for (const Id id : ids) list.push_back(id.value);
  return list;
}

/// Of the terminal; 100 elsewhere.
std::size_t width_of_output() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 100;
}

std::string as_table(const std::vector<AgentStatus>& agents, const FlockClient& flock,
                     const std::vector<std::string>& troubles, bool wide) {
  const std::uint32_t expected = flock.agents();
  // What is always wanted, then what tells of trouble, then the rest.
  std::vector<std::vector<std::string>> rows{
      {"agent",        "host",      "GPUs",        "free",   "waiting",     "running",   "accepted",
       "finished",     "failed",    "quarantined", "bad",    "drained",     "suspects",  "cut off",
       "bad frames",   "fallbacks", "drifts",      "p99",    "p50",         "decisions", "forwards",
       "gangs across", "patience",  "protocol",    "speeds", "learned from"}};
  constexpr std::size_t kAlwaysShown = 9;
  for (const AgentStatus& a : agents) {
    rows.push_back({"agent-" + std::to_string(a.agent.value),
                    host_name(flock, a),
                    with_commas(a.gpus),
                    with_commas(a.free),
                    with_commas(a.waiting),
                    with_commas(a.running),
                    with_commas(a.accepted),
                    with_commas(a.finished),
                    with_commas(a.failed),
                    with_commas(a.quarantined),
                    with_commas(a.sick_gpus.size()),
                    with_commas(a.drained),
                    with_commas(a.suspected),
                    with_commas(a.cut_off),
                    with_commas(a.refused_frames),
                    with_commas(a.speed.fallbacks),
                    with_commas(a.speed.drifts),
                    human_micros(a.decision_p99_us),
                    human_micros(a.decision_p50_us),
                    with_commas(a.decisions),
                    with_commas(a.forwards),
                    with_commas(a.cross_partition_gangs),
                    with_commas(a.patience),
                    with_commas(a.protocol),
                    a.speed.model.empty() ? "-" : a.speed.model,
                    with_commas(a.speed.observed)});
  }
  const std::size_t width = width_of_output();
  const std::string left_out = wide ? "" : narrow_table(rows, width, kAlwaysShown);
  std::string text = agents.empty() ? "" : table_text(rows);
  if (!agents.empty() && !left_out.empty())
    text += wrapped("left out: " + left_out + " (--wide shows all)", width) + "\n";
  for (const AgentStatus& a : agents) {
    if (!a.speed.trouble.empty())
      text += "agent-" + std::to_string(a.agent.value) +
              ": speed model: " + visible_line(a.speed.trouble) + "\n";
    for (const std::string& line : a.troubles)
      text += "agent-" + std::to_string(a.agent.value) + ": " + visible_line(line) + "\n";
    if (a.foreign > 0) {
      text += "agent-" + std::to_string(a.agent.value) + " works without " +
              std::to_string(a.foreign) +
              " nodes that have read another topology; their logs say so\n";
    }
  }
  if (agents.size() < expected)
    text += std::to_string(expected - agents.size()) + " of " +
            counted(expected, "agent does", "agents do") + " not answer\n";
  for (const std::string& line : troubles) text += visible_line(line) + "\n";
  return text;
}

std::string as_json(const std::vector<AgentStatus>& agents, const std::vector<AgentId>& silent,
                    const FlockClient& flock, const std::vector<std::string>& troubles) {
  nlohmann::json list = nlohmann::json::array();
  for (const AgentStatus& a : agents) {
    nlohmann::json shown = agent_json(a);
    shown["host"] = host_name(flock, a);
    shown["resting"] = a.resting;
    shown["avoided"] = a.troubles;
    shown["drained_servers"] = numbers(a.drained_servers);
    list.push_back(std::move(shown));
  }
  return nlohmann::json{
             {"schema", 1}, {"silent", numbers(silent)}, {"agents", list}, {"troubles", troubles}}
             .dump(1, ' ', true, nlohmann::json::error_handler_t::replace) +
         "\n";
}

int top(const Options& options) {
  catch_stop_signals();
  auto found = connected_flock(options.flock);
  if (!found) return failed(found.error());
  FlockClient& flock = *found.value();
  for (;;) {
    const auto answer = flock.agents_found();
    const auto agents = answer ? answer.value().agents : std::vector<AgentStatus>();
    const auto silent = answer ? answer.value().silent : std::vector<AgentId>();
    const auto troubles = daemon_troubles(flock.deployment().dir);
    const std::string text = options.json ? as_json(agents, silent, flock, troubles)
                                          : as_table(agents, flock, troubles, options.wide);
    if (options.watch && isatty(STDOUT_FILENO) == 1) std::fputs("\033[H\033[2J", stdout);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    if (!options.watch && !answer) return work_failed("top: " + answer.error().message);
    if (!options.watch && silent.empty()) return kDone;
    if (!options.watch)
      return work_failed("top: " + silence_text(silent) + "; what lives there is missing here");
    const Instant next = Session::now() + std::chrono::seconds(1);
    while (!stop_requested() && Session::now() < next) flock.session().receive(next);
    if (stop_requested() || std::ferror(stdout) != 0) return kDone;
  }
}

}  // namespace

void add_top(const Command& root) {
  const auto options = std::make_shared<Options>();
  const Command command = root.sub("top", "the agents of a flock and what they do");
  command.option("--flock", options->flock, "DIR",
                 "directory of the flock; default $STARLING_FLOCK");
  command.flag("--watch", options->watch, "again every second, until Ctrl-C");
  command.flag("--wide", options->wide, "all columns, whatever the width of the terminal");
  command.flag("--json", options->json, "only JSON on stdout");
  command.examples({"starling top --watch"});
  command.action([options] { return top(*options); });
}

}  // namespace starling
