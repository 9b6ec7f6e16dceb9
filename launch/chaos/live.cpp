// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/live.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/counted.h"
#include "launch/chaos/expectations.h"
#include "launch/chaos/flock/live_flock.h"
#include "launch/chaos/job.h"
#include "launch/chaos/machine/drains.h"
#include "launch/chaos/submit_commands.h"
#include "launch/client/job_lookup.h"
#include "launch/command_line/progress_bar.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling::chaos_live {
namespace {

constexpr double kSlice = 0.02;
constexpr double kSettled = 3;  // after its start a daemon may be slow to answer
constexpr double kStatusEvery = 0.25, kKnockEvery = 0.1, kRssEvery = 1;

double rss_mib(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t pages = 0, resident = 0;
  if (!(in >> pages >> resident)) return 0;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Processes of this run that should be gone: jobs by their environment, daemons by their command.
std::vector<std::string> left_behind(const std::filesystem::path& dir) {
  std::vector<std::string> found;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = ::readdir(proc)) {
    const std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == std::to_string(getpid()))
      continue;
    std::string command = content("/proc/" + pid + "/cmdline");
    std::replace(command.begin(), command.end(), '\0', ' ');
    const bool job = content("/proc/" + pid + "/environ").find("STARLING_RUN=" + dir.string()) !=
                     std::string::npos;
    const bool daemon = command.find("--config " + dir.string()) != std::string::npos;
    if (job || daemon) found.push_back("pid " + pid + ": " + command);
  }
  ::closedir(proc);
  // What wears no mark any more still has its locks.
  for (const char* locks : {"gpus", "ranks"}) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(dir / "work" / locks, error), end;
         !error && at != end; at.increment(error)) {
      if (const std::string who = holder_of(at->path()); !who.empty())
        found.push_back("who holds " + at->path().filename().string() + " [" + who + "]");
    }
  }
  return found;
}

class Run {
 public:
  Run(const ChaosScenario& scenario, const ChaosLiveOptions& options)
      : scenario_(scenario), options_(options), meter_(scenario.flock.agents) {}

  Result<LiveReport> operator()() {
    const double start = now_seconds();
    auto reaper = Reaper::start();
    if (!reaper) return reaper.error();
    reaper_.emplace(std::move(reaper).value());
    auto started = LiveFlock::start(scenario_, options_.dir, *reaper_);
    if (!started) return started.error();
    flock_ = std::move(started).value();
    auto opened = Session::open(flock_->deployment());
    if (!opened) return opened.error();
    session_ = std::move(opened).value();
    if (const Status ready = wait_ready(); !ready.ok()) return ready.error();

    began_ = now_seconds();
    const bool audited = scenario_.flock.launcher == "process";
    Audit audit(audited ? options_.dir / "work" / "records" : std::filesystem::path(),
                options_.dir / "work" / "history", began_);
    audit_ = &audit;
    Load load(scenario_, std::filesystem::absolute(options_.dir) / "work", *session_, audit);
    load_ = &load;
    SubmitCommands commands(scenario_, std::filesystem::absolute(options_.dir), audit);
    commands_ = &commands;
    Injector injector(scenario_, *flock_, began_,
                      {[this] { return home_of_a_job(); }, [this] { return busy_executor(); },
                       [this](std::uint32_t agent, LiveFaultKind kind) {
                         meter_.hit(agent, kind, now_seconds(), load_->probe(agent));
                       },
                       [this](std::uint32_t executor, bool drained, bool evict) {
                         drain(executor, drained, evict);
                       }});
    injector_ = &injector;
    // Before, too: that half of it cannot be done here should not be learnt after a long run.
    for (const auto& [name, why] : injector.impossible())
      std::fprintf(stderr, "starling: left out: %s: %s\n", name.c_str(), why.c_str());
    const double end = began_ + scenario_.length;
    while (now_seconds() < end && !stop_requested()) cycle(true);
    LiveReport report;
    const double healed = now_seconds();
    report.faults_s = healed - began_;
    injector.heal(healed);
    settle(healed);
    if (stop_requested())
      return {Errc::io, "interrupted; what there is stands in " + options_.dir.string()};
    report.recovered_s = now_seconds() - healed;
    finish(report);
    report.wall_s = now_seconds() - start;
    reaper_->done();
    return report;
  }

 private:
  Status wait_ready() {
    const double until = now_seconds() + 120;
    while (now_seconds() < until && !stop_requested()) {
      for (const auto& surprise : flock_->look(now_seconds()))
        return {Errc::io, surprise.process + ": " + surprise.message};
      const auto all = session_->status(std::chrono::milliseconds(500));
      const bool known = std::all_of(all.begin(), all.end(),
                                     [](const AgentStatus& a) { return a.quarantined == 0; });
      if (all.size() == scenario_.flock.agents && known) return done();
    }
    return {Errc::not_ready,
            "the flock does not come up; see the logs in " + options_.dir.string()};
  }

  void surprises(const std::vector<LiveFlock::Surprise>& all) {
    for (const auto& s : all) audit_->violate(now_seconds(), "died", s.process + ": " + s.message);
  }

  /// Agents whose lease or way to executors a fault may have taken.
  [[nodiscard]] bool excused() {
    const auto& all = flock_->processes();
    return injector_->lasting() > 0 || !meter_.open().empty() || healing_ ||
           std::any_of(all.begin(), all.end(), [now = now_seconds()](const auto& p) {
             return p.pid == 0 || (p.started > 0 && now < p.started + kSettled);
           });
  }

  void drain(std::uint32_t executor, bool drained, bool evict) {
    for (const DeployedNode* node : flock_->deployment().with_role(Role::executor)) {
      if (node->id != executor_node(executor)) continue;
      for (std::uint32_t s = node->servers.first; s < node->servers.last; ++s)
        drains_.want(ServerId{s}, AgentId{node->partition.value}, drained, evict);
    }
  }

  /// GPUs that no executor answers for, and that are to come back.
  [[nodiscard]] std::uint32_t away(const AgentStatus& status) const {
    const std::uint32_t lost = flock_->lost_gpus(status.agent.value);
    return status.quarantined - std::min(status.quarantined, lost);
  }

  void cycle(bool faults) {
    const double now = now_seconds();
    if (faults) {
      const std::size_t before = injector_->history().size();
      injector_->step(now);
      for (std::size_t i = before; i < injector_->history().size(); ++i) {
        const LiveFaultKind kind = injector_->history()[i].kind;
        if (kind != LiveFaultKind::kill && kind != LiveFaultKind::stop &&
            kind != LiveFaultKind::restart && kind != LiveFaultKind::storm)
          meter_.disturb();
      }
      load_->step(now, injector_->load_factor());
    }
    commands_->step(now, faults);
    surprises(flock_->look(now));
    if (now >= next_status_) {
      next_status_ = now + kStatusEvery;
      for (std::uint32_t a = 0; a < session_->agents(); ++a)
        session_->send(agent_node(AgentId{a}), StatusQuery{});
      drains_.say([this](AgentId a) { return session_->spoken_with(agent_node(a)) >= 2; },
                  [this](AgentId a, const SetDrain& word) { session_->send(agent_node(a), word); });
      audit_->read_records();
    }
    if (now >= next_knock_) {
      next_knock_ = now + kKnockEvery;
      for (const auto& open : meter_.open()) load_->knock(open.probe);
    }
    if (now >= next_rss_) {
      next_rss_ = now + kRssEvery;
      for (const auto& p : flock_->processes()) {
        if (p.role == LiveFlock::Role::agent && p.pid != 0) rss_ = std::max(rss_, rss_mib(p.pid));
      }
      say(now);
    }
    load_->exchange(kSlice, excused(), [this](NodeId from, const Message& m) { hear(from, m); });
  }

  void hear(NodeId from, const Message& message) {
    const double now = now_seconds();
    if (const auto* status = std::get_if<AgentStatus>(&message)) {
      if (from != agent_node(status->agent)) return;
      AgentStatus known = *status;  // bad GPUs are known, too
      known.quarantined = away(*status) - std::min(away(*status), status->sick);
      meter_.told(known, session_->host_of(status->agent).value, now);
    } else if (const auto* drained = std::get_if<DrainState>(&message)) {
      drains_.hear(*drained);
    } else if (const auto* accepted = std::get_if<Accepted>(&message)) {
      meter_.accepted(accepted->job, now);
    } else if (const auto* state = std::get_if<JobState>(&message)) {
      if (state->phase != JobPhase::unknown) meter_.accepted(state->job, now);
    }
  }

  void say(double now) {
    for (; told_ < audit_->violations().size() && !options_.quiet; ++told_) {
      const Violation& v = audit_->violations()[told_];
      progress_.finish();
      std::fprintf(stderr, "starling: %.3f s: %s: %s\n", v.at, v.rule.c_str(), v.message.c_str());
    }
    const auto totals = audit_->totals();
    std::size_t hits = 0;
    for (const FaultRecord& f : injector_->history()) hits += !f.skipped;
    char note[200];
    std::snprintf(
        note, sizeof note, "%s, %s accepted, %llu ended, %zu takeovers and restarts seen, %s",
        counted(hits, "fault").c_str(), counted(totals.accepted, "job").c_str(),
        static_cast<unsigned long long>(totals.finished) + totals.cancelled + totals.failed,
        meter_.cases().size(), counted(audit_->violations().size(), "violation").c_str());
    progress_.update(static_cast<std::uint64_t>(std::min(now - began_, scenario_.length)),
                     static_cast<std::uint64_t>(scenario_.length), note);
  }

  std::uint32_t home_of_a_job() const {
    std::vector<std::uint32_t> open(session_->agents(), 0);
    for (const JobOutcome& job : load_->client().jobs()) {
      if (job.accepted && !job.over() && job.home.value < open.size()) ++open[job.home.value];
    }
    return static_cast<std::uint32_t>(std::max_element(open.begin(), open.end()) - open.begin());
  }

  std::uint32_t busy_executor() const {
    const auto jobs = load_->client().jobs();
    for (std::size_t i = jobs.size(); i-- > 0;) {
      const JobOutcome& job = jobs[i];
      if (job.over() || job.state.phase != JobPhase::running || job.state.placement.empty())
        continue;
      const ServerId server = flock_->topology().server_of(job.state.placement.front());
      for (const DeployedNode* node : flock_->deployment().with_role(Role::executor)) {
        if (server.value >= node->servers.first && server.value < node->servers.last)
          return node->id.value - executor_node(0).value;
      }
    }
    return 0;
  }

  /// Until every job is over and every GPU free, or nothing happens any more.
  void settle(double healed) {
    healing_ = true;
    double news = healed, next_ask = healed + 2;
    std::uint64_t last = 0;
    std::size_t starts = 0;
    while (!stop_requested()) {
      cycle(false);
      const double now = now_seconds();
      if (now >= next_ask) load_->ask_all(now), next_ask = now + 2;
      const auto& counts = load_->client().counts();
      if (counts.over() + counts.accepted != last || audit_->starts().size() != starts) {
        news = now;
        last = counts.over() + counts.accepted;
        starts = audit_->starts().size();
      }
      if (load_->client().all_over() && audit_->open() == 0 && meter_.open().empty() && idle(now))
        return;
      if (now > news + scenario_.expect.recovered_within) {
        say_stuck(now);
        return;
      }
    }
  }

  /// Asks all agents, twice a second at most.
  bool idle(double now) {
    if (now < next_idle_) return false;
    next_idle_ = now + 0.5;
    last_status_ = session_->status(std::chrono::seconds(1));
    return last_status_.size() == session_->agents() && commands_->running() == 0 &&
           drains_.confirmed() &&
           std::all_of(last_status_.begin(), last_status_.end(), [this](const AgentStatus& a) {
             return a.free + flock_->lost_gpus(a.agent.value) == a.gpus && away(a) == 0 &&
                    a.running == 0 && a.waiting == 0;
           });
  }

  void say_stuck(double now) {
    last_status_ = session_->status(std::chrono::seconds(3));
    std::string text;
    for (const AgentStatus& a : last_status_) {
      text += "; agent-" + std::to_string(a.agent.value) + " on agent-" +
              std::to_string(session_->host_of(a.agent).value) + ": " + std::to_string(a.free) +
              " of " + counted(a.gpus, "GPU") + " free, " + std::to_string(a.quarantined) +
              " quarantined, " + std::to_string(a.waiting) + " waiting, " +
              std::to_string(a.running) + " running";
    }
    const std::size_t silent = session_->agents() - last_status_.size();
    audit_->violate(now, "stuck",
                    "nothing has happened for " + human_seconds(scenario_.expect.recovered_within) +
                        " after everything was healed: " +
                        counted(audit_->open(), "accepted job has", "accepted jobs have") +
                        " not ended, " + counted(silent, "agent is", "agents are") + " silent" +
                        text);
  }

  void finish(LiveReport& report) {
    progress_.finish();
    const double now = now_seconds();
    const JobsFound listed = all_jobs(*session_);
    if (listed.silent.empty()) {
      audit_->settle(now, listed.jobs);
    } else {
      audit_->violate(now, "stuck",
                      "the agents cannot list their jobs: " + silence_text(listed.silent));
    }
    for (const auto& p : flock_->processes()) {
      if (p.role != LiveFlock::Role::agent) continue;
      const std::string log = content(flock_->log_of(p).string());
      for (std::size_t at = 0; (at = log.find(": taken over from agent", at)) != std::string::npos;
           ++at)
        ++report.takeovers;
    }
    session_.reset();
    surprises(flock_->stop(60));
    for (const std::string& process : left_behind(std::filesystem::absolute(options_.dir)))
      audit_->violate(now, "left", "a process is left behind: " + process);
    report.scenario = scenario_;
    report.dir = options_.dir;
    report.faults = injector_->history();
    report.impossible = injector_->impossible();
    report.recoveries = meter_.cases();
    report.answers = load_->answers();
    report.link_connections = flock_->links().connections;
    report.link_bytes = flock_->links().bytes;
    report.link_corrupted = flock_->links().corrupted;
    report.rss_mib = rss_;
    report.began = began_;
    report.began_wall =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() -
        (now_seconds() - began_);
    measure_throughput(report, audit_->starts());
    for (const std::string& what : unmet(scenario_.expect, report))
      audit_->violate(now, "expected", what);
    audit_->read_records();
    report.totals = audit_->totals();
    report.violations = audit_->violations();
    report.jobs = audit_->jobs();
    flock_.reset();
  }

  const ChaosScenario& scenario_;
  const ChaosLiveOptions& options_;
  RecoveryMeter meter_;
  std::optional<Reaper> reaper_;  // outlives the flock
  std::unique_ptr<LiveFlock> flock_;
  std::unique_ptr<Session> session_;
  Audit* audit_ = nullptr;
  Load* load_ = nullptr;
  SubmitCommands* commands_ = nullptr;
  Injector* injector_ = nullptr;
  Drains drains_;
  double began_ = 0, next_status_ = 0, next_knock_ = 0, next_rss_ = 0, next_idle_ = 0, rss_ = 0;
  bool healing_ = false;
  std::size_t told_ = 0;  // of the violations
  std::vector<AgentStatus> last_status_;
  ProgressBar progress_{"breaking things", options_.quiet};
};

}  // namespace

Result<LiveReport> run_chaos_live(const ChaosScenario& scenario, const ChaosLiveOptions& options) {
  return Run(scenario, options)();
}

}  // namespace starling::chaos_live
