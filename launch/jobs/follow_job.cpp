#include "launch/jobs/follow_job.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "agents/exit_code.h"
#include "base/visible.h"
#include "launch/exit_codes.h"
#include "launch/job_lookup.h"
#include "launch/jobs/job_table.h"
#include "launch/jobs/output_of_job.h"
#include "launch/signals.h"

namespace starling {
namespace {

constexpr Duration kPatience = std::chrono::seconds(3);
constexpr Duration kPause = std::chrono::milliseconds(300);

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
    if (raw_) {
      std::fwrite(text.data(), 1, text.size(), to_);
    } else {
      std::string all = begun_ + text;
      const std::size_t rest = cut_off(all);
      begun_ = all.substr(all.size() - rest);
      all.resize(all.size() - rest);
      std::fputs(visible(all).c_str(), to_);
    }
    std::fflush(to_);
  }
  static void note(const std::string& text) {
    std::fprintf(stderr, "starling: %s\n", visible_line(text).c_str());
  }

 private:
  std::FILE* to_;
  bool raw_;
  std::string begun_;
};

OutputOfJob output_of(FlockView& flock, Screen& screen, const FollowOptions& options) {
  OutputOfJob::Options what{options.rank, options.from_end};
  if (options.lines) {
    what.line = [](const OutputLine& line) {
      std::fputs(output_json(line).c_str(), stdout);
      std::fflush(stdout);
    };
  }
  return OutputOfJob(
      flock, std::move(what), [&screen](const std::string& text) { screen.print(text); },
      [](const std::string& text) { Screen::note(text); });
}

}  // namespace

void say_end(const FlockView& flock, const JobState& state, bool json) {
  if (json) {
    const JobTable table{flock.topology, std::chrono::system_clock::now()};
    const AgentId host = flock.session->host_of(state.home);
    std::printf("%s\n", table.json({state, "agent-" + std::to_string(host.value)}).c_str());
    std::fflush(stdout);
    return;
  }
  const std::string job = to_string(state.job);
  if (state.phase == JobPhase::cancelled) {
    std::fprintf(stderr, "%s cancelled\n", job.c_str());
  } else if (state.exit.code < 0) {
    std::fprintf(stderr, "%s %s, signal %d\n", job.c_str(), name_of(state.phase), -state.exit.code);
  } else if (!has_exit_code(state)) {
    std::fprintf(stderr, "starling: %s failed without an exit code of its own: %s\n", job.c_str(),
                 visible_line(state.exit.log_tail).c_str());
  } else {
    std::fprintf(stderr, "%s %s, exit code %d\n", job.c_str(), name_of(state.phase),
                 state.exit.code);
  }
}

int follow_job(FlockView& flock, JobId job, const FollowOptions& options) {
  Session& session = *flock.session;
  Screen screen(options);
  OutputOfJob output = output_of(flock, screen, options);
  bool cancelled = false, quiet = false;
  for (;;) {
    if (stop_requested()) {
      if (!options.cancel || cancelled) return work_failed("interrupted; the job goes on");
      (void)take_stop();
      cancelled = true;
      std::fprintf(stderr, "starling: cancelling %s\n", to_string(job).c_str());
    }
    auto state = find_job(session, job);
    if (!state && state.error().code != Errc::not_ready && !stop_requested())
      return failed(state.error());
    if (!state) continue;
    const JobState& s = state.value();
    const bool over = terminal(s.phase);
    if (cancelled && !over) session.send(agent_node(s.home), Cancel{job});
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
    if (over) {
      output.finish();
      if (const std::string why = output.trouble(); !why.empty() && s.attempts > 0)
        Screen::note(why);
      say_end(flock, s, options.json);
      return shell_status(s);
    }
    const Instant next = Session::now() + kPause;
    while (session.receive(next)) {
    }
  }
}

int show_output(FlockView& flock, const JobState& state, const FollowOptions& options) {
  Screen screen(options);
  OutputOfJob output = output_of(flock, screen, options);
  const std::string job = "job " + to_string(state.job) + ": ";
  if (Status there = output.look_at(state); !there.ok())
    return there.error().code == Errc::invalid
               ? bad_input("logs: " + job + there.error().message)
               : work_failed("logs: " + job + there.error().message);
  const bool all = output.read(kPatience);
  output.finish();
  if (const std::string why = output.trouble(); !why.empty())
    return work_failed("logs: " + job + why);
  if (all) return kDone;
  std::string who;
  for (const std::string& server : output.silent()) who += (who.empty() ? "" : ", ") + server;
  return work_failed("logs: " + job + "nothing is heard of " + who +
                     "; what was printed there is missing here");
}

}  // namespace starling
