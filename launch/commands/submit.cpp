#include <sys/random.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>

#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/job_lookup.h"
#include "launch/login_name.h"
#include "launch/run_options.h"
#include "launch/signals.h"
#include "topology/load.h"
#include "workload/check_job.h"
#include "workload/job_file.h"

namespace starling {
namespace {

struct Options {
  std::string flock, id, name, gpu_type;
  std::vector<std::string> words;
  std::uint32_t workers = 1, gpus = 1;
  bool wait = false, json = false;
};

/// The agent that a job of this id is offered to, always: so an id that is submitted again goes
/// where it went before, and no two agents are ever offered the same job.
AgentId first_home(const Session& session, JobId id) {
  return AgentId{static_cast<std::uint32_t>(id.lo % session.agents())};
}

/// A fresh id; of the homes that it could have, one of those that answer.
class FreshIds {
 public:
  explicit FreshIds(Session& session) : session_(session), answered_(session.agents(), 0) {}

  /// Asks all agents for a sign of life; a home is drawn, and given up for another that answers
  /// after a second. `not_ready` if none does within ten: on a crowded machine the first connection
  /// alone may take seconds.
  [[nodiscard]] Result<JobId> next() {
    std::uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random)
      return {Errc::io, "submit: the system has no random numbers"};
    JobId id{random[0], random[1]};
    const std::uint32_t drawn = first_home(session_, id).value;
    const Instant begun = Session::now();
    while (answered_[drawn] == 0 && !stop_requested()) {
      const bool any = std::count(answered_.begin(), answered_.end(), 0) < agents();
      if (any && (others_will_do_ || Session::now() - begun > std::chrono::seconds(1))) break;
      if (Session::now() - begun > std::chrono::seconds(10)) break;
      ask();
    }
    if (answered_[drawn] != 0) return id;
    others_will_do_ = true;  // the next job does not wait for it again
    std::vector<std::uint64_t> homes;
    for (std::size_t a = 0; a < answered_.size(); ++a) {
      if (answered_[a] != 0) homes.push_back(a);
    }
    if (homes.empty()) return {Errc::not_ready, "submit: no agent answers; is the flock up?"};
    const auto n = static_cast<std::uint64_t>(agents());
    id.lo -= id.lo % n;
    if (id.lo > std::numeric_limits<std::uint64_t>::max() - n) id.lo -= n;
    id.lo += homes[id.hi % homes.size()];
    return id;
  }

 private:
  [[nodiscard]] std::ptrdiff_t agents() const { return std::ssize(answered_); }
  void ask() {
    for (std::uint32_t a = 0; a < answered_.size(); ++a) {
      if (answered_[a] == 0) session_.send(agent_node(AgentId{a}), StatusQuery{});
    }
    const Instant again = Session::now() + std::chrono::milliseconds(100);
    while (const auto received = session_.receive(again)) {
      const std::uint32_t from = received->from.value;
      if (from == 0 || from > answered_.size()) continue;
      answered_[from - 1] = 1;
      break;
    }
  }

  Session& session_;
  std::vector<char> answered_;
  bool others_will_do_ = false;
};

/// A first word that names a YAML file is a job file; everything else is a command.
bool is_job_file(const std::string& first) {
  const auto extension = std::filesystem::path(first).extension();
  return extension == ".yaml" || extension == ".yml";
}

/// Nothing may stand beside a job file that only a command takes: it would have no effect.
Status check_alone(const Command& command, const std::vector<std::string>& words) {
  const std::string& file = words.front();
  if (words.size() > 1) {
    return {Errc::invalid, "submit: '" + words[1] + "' is not expected after the job file " + file +
                               "; give one file, which may hold many jobs, and no '--'"};
  }
  for (const auto& [option, key] : {std::pair{"--gpus", "gpus_per_worker"},
                                    {"--workers", "workers"},
                                    {"--gpu-type", "gpu_types"},
                                    {"--name", "name"}}) {
    if (!command.given(option)) continue;
    return {Errc::invalid, std::string("submit: ") + option + " is of a command; " + file +
                               " says that itself: write '" + key + ":' there"};
  }
  return done();
}

Result<std::vector<JobSpec>> jobs_of(const Command& command, const Options& o) {
  if (o.words.empty())
    return {Errc::invalid, "submit: give a job file (.yaml), or a command after '--'"};
  std::vector<JobSpec> jobs;
  if (is_job_file(o.words.front())) {
    if (Status alone = check_alone(command, o.words); !alone) return alone.error();
    auto read = read_job_file(o.words.front());
    if (!read) {
      const bool missing = !std::filesystem::exists(o.words.front());
      return {Errc::invalid,
              read.error().message +
                  (missing ? "; give a job file (docs/cli.md), or a command after '--'" : "")};
    }
    jobs = std::move(read).value();
  } else {
    JobSpec spec;
    spec.command = o.words;
    spec.name =
        o.name.empty() ? std::filesystem::path(o.words.front()).filename().string() : o.name;
    spec.workers = o.workers;
    spec.gpus_per_worker = o.gpus;
    if (!o.gpu_type.empty()) spec.gpu_types = {o.gpu_type};
    if (auto right = check_job(spec, Limits{}); !right.ok())
      return {Errc::invalid, "submit: " + right.error().message};
    jobs.push_back(std::move(spec));
  }
  if (!o.id.empty()) {
    if (jobs.size() != 1)
      return {Errc::invalid,
              "submit: --id is for one job, the file has " + std::to_string(jobs.size())};
    auto id = parse_job_id(o.id);
    if (!id) return {Errc::invalid, "submit: --id: " + id.error().message};
    jobs.front().id = id.value();
  }
  for (JobSpec& job : jobs) {
    if (job.user.empty()) job.user = login_name();
  }
  return jobs;
}

/// Offers the job until its home has answered. Refused: exit status 2, because the request is
/// wrong.
int submit_one(Session& session, const JobSpec& spec) {
  const NodeId home = agent_node(first_home(session, spec.id));
  const Instant until = Session::now() + std::chrono::seconds(10);
  Instant again = Session::now();
  while (Session::now() < until && !stop_requested()) {
    if (Session::now() >= again) {
      session.send(home, Submit{spec, session.me()});
      again = Session::now() + std::chrono::milliseconds(250);
    }
    const auto received = session.receive(std::min(again, until));
    if (!received || received->from != home) continue;
    if (const auto* rejected = std::get_if<Rejected>(&received->message);
        rejected != nullptr && rejected->job == spec.id) {
      return bad_input("submit: " + spec.name + " is refused: " +
                       (rejected->reason.empty() ? name_of(rejected->why) : rejected->reason));
    }
    if (const auto* busy = std::get_if<Busy>(&received->message);
        busy != nullptr && busy->job == spec.id) {
      again = Session::now() + std::chrono::milliseconds(busy->retry_ms);
    }
    const auto* accepted = std::get_if<Accepted>(&received->message);
    const auto* state = std::get_if<JobState>(&received->message);
    if ((accepted != nullptr && accepted->job == spec.id) ||
        (state != nullptr && state->job == spec.id))
      return kDone;
  }
  return work_failed(
      "submit: agent-" + std::to_string(home.value - 1) +
      " does not answer; is the flock up? The job may still be accepted: see 'starling jobs'");
}

int wait_for(Session& session, const std::vector<JobSpec>& jobs) {
  int status = kDone;
  for (const JobSpec& job : jobs) {
    for (;;) {
      auto state = find_job(session, job.id);
      if (!state && state.error().code != Errc::not_ready) return failed(state.error());
      if (state.ok() && terminal(state.value().phase)) {
        const JobState& s = state.value();
        std::fprintf(stderr, "%s %s, exit code %d\n", to_string(job.id).c_str(), name_of(s.phase),
                     s.exit.code);
        if (s.phase != JobPhase::finished) status = kWorkFailed;
        break;
      }
      if (stop_requested()) return work_failed("submit: interrupted; the jobs go on");
      const Instant next = Session::now() + std::chrono::milliseconds(200);
      while (session.receive(next)) {
      }
    }
  }
  return status;
}

int submit(const Command& command, const Options& o) {
  auto jobs = jobs_of(command, o);
  if (!jobs) return failed(jobs.error());
  auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  auto deployment = read_deployment(dir.value());
  if (!deployment) return failed(deployment.error());
  auto topology = load_topology((dir.value() / deployment.value().topology).string());
  if (!topology) return bad_input(topology.error().message);
  for (const JobSpec& job : jobs.value()) {
    if (auto fits = can_ever_fit(topology.value(), job); !fits.ok()) {
      return bad_input("submit: " + job.name + " can never run here: " + fits.error().message);
    }
  }
  catch_stop_signals();
  auto session = Session::open(deployment.value());
  if (!session) return failed(session.error());
  FreshIds ids(*session.value());
  for (JobSpec& job : jobs.value()) {
    if (o.id.empty()) {
      const auto id = ids.next();
      if (!id) return failed(id.error());
      job.id = id.value();
    }
    if (const int status = submit_one(*session.value(), job); status != kDone) return status;
    std::printf(o.json ? "{\"job\": \"%s\"}\n" : "%s\n", to_string(job.id).c_str());
  }
  std::fflush(stdout);
  return o.wait ? wait_for(*session.value(), jobs.value()) : kDone;
}

}  // namespace

void add_submit(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub(
      "submit", "submit a job file, or a command: starling submit --gpus 2 -- python train.py");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  command.option("--gpus", o->gpus, "N", "of a command: GPUs per worker (default 1)", 1U, 1024U);
  command.option("--workers", o->workers, "N",
                 "of a command: processes, started together (default 1)", 1U, 8192U);
  command.option("--gpu-type", o->gpu_type, "NAME", "of a command: only on such GPUs");
  command.option("--name", o->name, "NAME", "of a command: default is the program's");
  command.option("--id", o->id, "HEX", "choose the id: submitting it twice is submitting it once");
  command.flag("--wait", o->wait, "until it has ended; exit status 1 if it failed");
  command.flag("--json", o->json, "only JSON on stdout");
  command.rest("JOB", o->words, "a .yaml file, or a command", is_job_file);
  command.examples(
      {"starling submit --gpus 2 --wait -- python train.py", "starling submit job.yaml --wait"});
  command.action([command, o] { return submit(command, *o); });
}

}  // namespace starling
