// SPDX-License-Identifier: Apache-2.0
// What runs on the hosts of a flock of several; `starling up --hosts` calls it there.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/deployment/state_dir.h"
#include "launch/hosts/build_id.h"
#include "launch/hosts/host_board.h"
#include "launch/hosts/keeper.h"
#include "launch/hosts/key_rotation.h"
#include "launch/hosts/reach.h"
#include "launch/processes/supervisor.h"
#include "launch/servers/host_part.h"
#include "launch/system/files.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// For a keeper to end its daemons, and itself.
constexpr seconds kStopTakes{15};

struct Options {
  std::string dir, host, address = "127.0.0.1";
  std::uint32_t count = 0, protocol = kNewestProtocol;
  bool stream = false, keep_jobs = false;
  std::vector<std::string> places;
};

int probe(const Options& o) {
  auto ports = free_ports(o.count, o.address);
  if (!ports) return failed(ports.error());
  const BuildId id = own_build();
  const nlohmann::json json{{"version", id.version},
                            {"protocol", id.protocol},
                            {"oldest", id.oldest},
                            {"build", id.build},
                            {"ports", ports.value()}};
  std::printf("%s\n", json.dump().c_str());
  return kDone;
}

/// Becomes the keeper, in a session of its own, with its output in the directory.
[[noreturn]] void become_keeper(const Options& o) {
  setsid();
  std::signal(SIGHUP, SIG_IGN);
  const int nothing = open("/dev/null", O_RDONLY);
  const int log = open((o.dir + "/node.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(nothing, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  const int most = static_cast<int>(sysconf(_SC_OPEN_MAX));
  for (int fd = 3; fd < std::min(most, 1024); ++fd) close(fd);
  const std::string self = own_program(), spoken = std::to_string(o.protocol);
  const char* const argv[] = {self.c_str(),   "node",   "run",          "--dir",
                              o.dir.c_str(),  "--host", o.host.c_str(), "--protocol",
                              spoken.c_str(), nullptr};
  execv(self.c_str(), const_cast<char* const*>(argv));
  _exit(127);
}

/// The lock of a keeper is free when it and its daemons have ended.
bool keeper_is_gone(const Options& o) {
  return StateDir::take(std::filesystem::path(o.dir) / "keeper").ok();
}

/// True once the keeper has ended, for some time at most.
bool wait_until_gone(const Options& o, seconds most) {
  const auto until = steady_clock::now() + most;
  while (steady_clock::now() < until) {
    if (keeper_is_gone(o)) return true;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

int start(const Options& o) {
  if (const auto found = find_keeper(o.dir); found && found.value().alive) {
    std::error_code ignored;
    if (!std::filesystem::exists(stopping_mark(o.dir), ignored)) {
      std::printf("running\n");
      return kDone;
    }
    // The command that asked it to stop may be gone, and no other would start it again.
    if (!wait_until_gone(o, kStopTakes + seconds(5)))
      return work_failed("node: the keeper was told to stop, and does not");
  }
  const pid_t pid = fork();
  if (pid < 0) return work_failed(std::string("node: ") + std::strerror(errno));
  if (pid == 0) become_keeper(o);
  const auto until = steady_clock::now() + seconds(10);
  while (steady_clock::now() < until) {
    const auto found = find_keeper(o.dir);
    if (found && found.value().alive && found.value().status.pid == pid) {
      std::printf("started\n");
      return kDone;
    }
    if (waitpid(pid, nullptr, WNOHANG) == pid) break;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return work_failed("node: the keeper does not start: " + last_lines(o.dir + "/node.log", 1));
}

int watch(const Options& o) {
  catch_stop_signals();
  while (!stop_requested()) {
    const auto found = find_keeper(o.dir);
    if (!found) return failed(found.error());
    if (std::printf("%s\n", to_json_line(found.value().status).c_str()) < 0) return kDone;
    if (std::fflush(stdout) != 0) return kDone;
    if (!found.value().alive) return found.value().status.stopped ? kDone : kKeeperGone;
    pollfd in{STDIN_FILENO, POLLIN, 0};  // ends when the connection does
    char byte = 0;
    if (poll(&in, 1, 500) > 0 && read(STDIN_FILENO, &byte, 1) <= 0) return kDone;
  }
  return kDone;
}

int stop(const Options& o) {
  const auto found = find_keeper(o.dir);
  if (!found || keeper_is_gone(o)) return kDone;
  const auto pid = static_cast<pid_t>(found.value().status.pid);
  if (const Status s = write_text(stopping_mark(o.dir), std::to_string(pid) + "\n"); !s.ok())
    log_error(s.error().message);  // a full disk
  kill(pid, o.keep_jobs ? SIGUSR1 : SIGTERM);
  if (wait_until_gone(o, kStopTakes)) return kDone;
  return work_failed("node: process " + std::to_string(pid) + " does not stop");
}

int generation(const Options& o) {
  const auto said = host_generation(o.dir);
  if (!said) return failed(said.error());
  std::printf("%s\n", said.value().c_str());
  return kDone;
}

std::string standard_input() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

int try_servers_here(const Options& o) {
  const Status can = try_host_servers(o.dir, o.host, standard_input());
  const char* const answer = can.ok() ? "yes" : can.error().code == Errc::busy ? "busy " : "no ";
  std::printf("%s%s\n", answer, can.ok() ? "" : can.error().message.c_str());
  return kDone;
}

int take_servers_here(const Options& o) {
  const Status now = take_host_servers(o.dir, o.host, standard_input());
  return now.ok() ? static_cast<int>(kDone) : failed(now.error());
}

int taken(const Options& o) {
  const auto deployment = read_deployment(o.dir);
  if (!deployment) return failed(deployment.error());
  for (const TakenFlock& t : taken_flocks(deployment.value())) {
    std::printf("%s %s %s\n", t.node.c_str(), t.running ? "running" : "stopped",
                t.mark.empty() ? "none" : t.mark.c_str());
  }
  return kDone;
}

}  // namespace

void add_node(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("node", "one host of a flock of several ('up --hosts' runs it there)");
  const auto with_dir = [o](const Command& c) {
    c.option("--dir", o->dir, "DIR", "the flock's directory on this host");
  };
  const auto with_protocol = [o](const Command& c) {
    c.option("--protocol", o->protocol, "N", "newest version of the protocol that daemons speak",
             kOldestProtocol, kNewestProtocol);
  };
  const auto needs = [o](bool host, auto run) {
    return [o, host, run] {
      if (o->dir.empty()) return bad_input("node: --dir DIR is missing");
      if (host && o->host.empty()) return bad_input("node: --host NAME is missing");
      return run(*o);
    };
  };
  const Command run = command.sub("run", "keeps the host's daemons until SIGTERM");
  with_dir(run);
  run.option("--host", o->host, "NAME", "as the flock calls this host");
  with_protocol(run);
  run.flag("--stream", o->stream, "status lines on stdout; ends with standard input");
  run.action(needs(true, [](const Options& options) {
    return keep_host(options.dir, options.host, options.stream,
                     static_cast<std::uint16_t>(options.protocol));
  }));
  const Command begin = command.sub("start", "the same in the background");
  with_dir(begin);
  begin.option("--host", o->host, "NAME", "as the flock calls this host");
  with_protocol(begin);
  begin.action(needs(true, start));
  const Command look =
      command.sub("watch", "a status line twice a second, until standard input ends");
  with_dir(look);
  look.action(needs(false, watch));
  const Command end = command.sub("stop", "stops what 'start' started");
  with_dir(end);
  end.flag("--keep-jobs", o->keep_jobs, "jobs go on, because the daemons are started again soon");
  end.action(needs(false, stop));
  const Command servers =
      command.sub("generation", "which servers the flock has as this host knows it");
  with_dir(servers);
  servers.action(needs(false, generation));
  const Command trial = command.sub(
      "try-servers", "whether this host can go over to the deployment.json on standard input");
  with_dir(trial);
  trial.option("--host", o->host, "NAME", "as the flock calls this host");
  trial.action(needs(true, try_servers_here));
  const Command change = command.sub(
      "take-servers", "the deployment.json on standard input is the flock's from now on");
  with_dir(change);
  change.option("--host", o->host, "NAME", "as the flock calls this host");
  change.action(needs(true, take_servers_here));
  const Command known = command.sub("taken", "which flock.json each daemon here goes by");
  with_dir(known);
  known.action(needs(false, taken));
  const Command ask = command.sub("probe", "this program's version, and free ports");
  ask.option("--address", o->address, "IPV4", "of this host (default 127.0.0.1)");
  ask.option("--count", o->count, "N", "how many ports", 0U, 65'535U);
  ask.action([o] { return probe(*o); });
  const auto places = [o](auto work) {
    return [o, work] {
      catch_stop_signals();
      const Status s = work(o->places);
      if (s.ok()) return static_cast<int>(kDone);
      std::fprintf(stderr, "%s\n", s.error().message.c_str());
      return static_cast<int>(kWorkFailed);
    };
  };
  const Command reach = command.sub("reach", "connects to each IPV4:PORT");
  reach.rest("IPV4:PORT", o->places, "where others listen");
  reach.action(places(reach_all));
  const Command hold = command.sub("listen", "listens at each IPV4:PORT until standard input ends");
  hold.rest("IPV4:PORT", o->places, "where to listen");
  hold.action(places(listen_all));
}

}  // namespace starling
