// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/follow_job.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "agents/exit_code.h"
#include "base/visible.h"
#include "launch/client/fresh_ids.h"
#include "launch/client/output_of_job.h"
#include "launch/client/session.h"
#include "launch/command_line/exit_codes.h"
#include "launch/jobs/job_table.h"
#include "launch/jobs/output_json.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

constexpr Duration kPatience = std::chrono::seconds(3);
constexpr Duration kPause = std::chrono::milliseconds(300);
/// From Ctrl-C to the job's end, which has 10 s for its own.
constexpr Duration kCancelPatience = std::chrono::seconds(30);

/// How many bytes at the end are the beginning of a character.
std::size_t cut_off(const std::string& text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if ((c & 0xc0U) == 0x80U) continue;
    const std::size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/// Where output goes: as it is into files and pipes, fit for it onto a terminal.
class Screen {
 public:
  explicit Screen(const FollowOptions& options)
      : to_(options.json ? stderr : stdout), raw_(options.raw || ::isatty(::fileno(to_)) == 0) {}
  void print(const std::string& text) {
    if (raw_) return write(text);
    std::string all = begun_ + text;
    const std::size_t rest = cut_off(all);
    begun_ = all.substr(all.size() - rest);
    all.resize(all.size() - rest);
    write(visible(all));
  }
  /// Once it has failed nothing more is written: what comes later would follow on a hole.
  void write(const std::string& text) {
    if (failure_ != 0) return;
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), to_) == text.size() && std::fflush(to_) == 0)
      return;
    failure_ = errno == 0 ? EIO : errno;
  }
  /// Why not all has been written, as errno says it; 0: all has.
  [[nodiscard]] int failure() const noexcept { return failure_; }
  [[nodiscard]] std::string failure_text() const {
    return std::string(to_ == stdout ? "standard output" : "standard error") + ": " +
           std::strerror(failure_);
  }
  static void note(const std::string& text) {
    std::fprintf(stderr, "starling: %s\n", visible_line(text).c_str());
  }

 private:
  std::FILE* to_;
  bool raw_;
  int failure_ = 0;
  std::string begun_;
};

OutputOfJob output_of(FlockClient& flock, Screen& screen, const FollowOptions& options) {
  OutputOfJob::Options what{options.rank, options.from_end};
  if (options.lines) {
    what.line = [&screen](const OutputLine& line) { screen.write(output_json(line)); };
  }
  return OutputOfJob(
      flock, std::move(what), [&screen](const std::string& text) { screen.print(text); },
      [](const std::string& text) { Screen::note(text); });
}

}  // namespace

void say_end(const FlockClient& flock, const JobState& state, bool json) {
  if (json) {
    const JobTable table{flock.topology(), std::chrono::system_clock::now()};
    const AgentId host = flock.host_of(state.home);
    std::printf("%s\n", table.json({state, "agent-" + std::to_string(host.value)}).c_str());
    std::fflush(stdout);
    return;
  }
  const std::string job = to_string(state.job);
  if (state.phase == JobPhase::cancelled) {
    std::fprintf(stderr, "%s cancelled\n", job.c_str());
  } else if (state.exit.code < 0) {
    std::fprintf(stderr, "%s %s, signal %d\n", job.c_str(), state_name(state), -state.exit.code);
  } else if (!has_exit_code(state)) {
    std::fprintf(stderr, "starling: %s failed without an exit code of its own: %s\n", job.c_str(),
                 visible_line(state.exit.log_tail).c_str());
  } else {
    std::fprintf(stderr, "%s %s, exit code %d\n", job.c_str(), state_name(state), state.exit.code);
  }
}

int follow_job(FlockClient& flock, JobId job, const FollowOptions& options) {
  Session& session = flock.session();
  Screen screen(options);
  OutputOfJob output = output_of(flock, screen, options);
  const std::string id = to_string(job);
  AgentId home = first_home(session, job);
  std::optional<Instant> cancelled;
  bool quiet = false, deaf = false;
  for (;;) {
    if (stop_requested()) {
      if (!options.cancel || cancelled) return work_failed("interrupted; the job goes on");
      (void)take_stop();
      cancelled = Session::now();
      std::fprintf(stderr, "starling: cancelling %s\n", id.c_str());
    }
    if (cancelled) session.send(agent_node(home), Cancel{job});
    auto state = flock.job(job);
    if (!state && state.error().code != Errc::not_ready && !stop_requested())
      return failed(state.error());
    const bool over = state && terminal(state.value().phase);
    if (cancelled && !over && !stop_requested() &&
        (!state || Session::now() > later(*cancelled, kCancelPatience)))
      return work_failed("no agent has confirmed that " + id + " is cancelled" +
                         (state ? "" : ": " + state.error().message) +
                         "; it may go on: 'starling cancel " + id + "' later");
    if (!state) continue;
    const JobState& s = state.value();
    home = s.home;
    const Status there = output.look_at(s);
    if (!there.ok() && there.error().code == Errc::conflict) continue;
    if (!there.ok() && there.error().code != Errc::not_ready)
      return work_failed(there.error().message);
    if (there.ok() && !output.read(over ? kPatience : std::chrono::seconds(1)) && !quiet &&
        !stop_requested()) {
      quiet = true;
      for (const std::string& server : output.silent())
        Screen::note("nothing is heard of " + server + ", which has some of the output");
    }
    if (over) output.finish();
    if (screen.failure() != 0 && !deaf) {
      deaf = true;
      if (!options.json) stdout_was_given_up();
      // With the output alone there is nothing more to look at; what closes a pipe has seen enough.
      if (!options.cancel && screen.failure() == EPIPE) return kWorkFailed;
      if (!options.cancel) return work_failed(screen.failure_text());
      Screen::note(screen.failure_text() + "; 'starling logs " + id + "' has what the job prints");
    }
    if (over) {
      if (const std::string why = output.trouble(); !why.empty() && s.attempts > 0)
        Screen::note(why);
      say_end(flock, s, options.json);
      // What it prints was asked for, not how it ends.
      return options.cancel ? shell_status(s) : kDone;
    }
    const Instant next = Session::now() + kPause;
    while (session.receive(next)) {
    }
  }
}

int show_output(FlockClient& flock, const JobState& state, const FollowOptions& options) {
  Screen screen(options);
  OutputOfJob output = output_of(flock, screen, options);
  const std::string job = "job " + to_string(state.job) + ": ";
  if (Status there = output.look_at(state); !there.ok())
    return there.error().code == Errc::invalid
               ? bad_input("logs: " + job + there.error().message)
               : work_failed("logs: " + job + there.error().message);
  const bool all = output.read(kPatience);
  output.finish();
  if (screen.failure() != 0)
    return screen.failure() == EPIPE ? kWorkFailed : work_failed("logs: " + screen.failure_text());
  if (const std::string why = output.trouble(); !why.empty())
    return work_failed("logs: " + job + why);
  if (all) return kDone;
  std::string who;
  for (const std::string& server : output.silent()) who += (who.empty() ? "" : ", ") + server;
  return work_failed("logs: " + job + "nothing is heard of " + who +
                     "; what was printed there is missing here");
}

}  // namespace starling
