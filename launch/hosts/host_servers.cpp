// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_servers.h"

#include <chrono>
#include <functional>
#include <map>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "launch/deployment/flock_folder.h"
#include "launch/deployment/transport.h"
#include "launch/hosts/preflight.h"
#include "launch/processes/shell_word.h"
#include "launch/servers/exchange.h"
#include "launch/system/files.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Of a step that may read long journals.
constexpr std::chrono::seconds kLong{120};
/// For others who have the restart lock for one command.
constexpr Duration kPatience = std::chrono::seconds(20);

fs::path note_of(const fs::path& dir) { return dir / kRestartLock / "stopped"; }

Status note_stopped(const fs::path& dir) {
  const Status noted = durably(
      note_of(dir), write_text(note_of(dir), "hosts are stopped, and to be started again\n"));
  return durably(note_of(dir).parent_path(), noted);
}

/// Work that has begun on hosts is not left in the middle.
ProgramOptions to_the_end(const fs::path& input = "/dev/null") {
  ProgramOptions options;
  options.input = input;
  options.timeout = kLong;
  options.stop_ends_it = false;
  return options;
}

/// A line for each host where `step` fails.
Status on_all(const HostFlock& flock, const std::function<Status(const Host&)>& step) {
  std::vector<std::string> wrong(flock.hosts.size());
  for_each_at_once(flock.hosts.size(), [&](std::size_t i) {
    if (const Status s = step(flock.hosts[i]); !s.ok()) wrong[i] = s.error().message;
  });
  return together(wrong);
}

struct Standing {
  std::uint32_t generation = 0;
  bool runs = false;
};
Result<Standing> standing_of(const Remote& remote, const Host& host) {
  const auto answer = remote.ask(host, HostFlock::node_command(host, "generation"), to_the_end());
  if (!answer) return answer.error();
  std::istringstream words(answer.value());
  Standing s;
  std::string runs;
  if (!(words >> s.generation >> runs))
    return {Errc::io, host.name +
                          ": the program there knows nothing of servers that change; "
                          "'starling restart' takes this one there"};
  s.runs = runs == "running";
  return s;
}

/// The servers that the flock's directory says, for a host whose keeper does not run.
Status tell(const HostFlock& flock, const Remote& remote, const Host& host) {
  const auto told = remote.ask(
      host, HostFlock::node_command(host, "take-servers --host " + shell_word(host.name)),
      to_the_end(flock.dir / "deployment.json"));
  return told ? done() : Status(told.error());
}

Status stop_keeper(const Remote& remote, const Host& host) {
  const auto stopped =
      remote.ask(host, HostFlock::node_command(host, "stop --keep-jobs"), to_the_end());
  return stopped ? done() : Status(stopped.error());
}

/// Brings a host that is behind to where the flock is.
Status catch_up(const HostFlock& flock, const Remote& remote, const Host& host) {
  const auto now = read_deployment(flock.dir);
  if (!now) return now.error();
  if (now.value().generation == 1) return done();  // also a program there that cannot be asked
  const auto there = standing_of(remote, host);
  if (!there) return there.error();
  if (there.value().generation >= now.value().generation) return done();
  if (there.value().runs) {
    if (Status s = stop_keeper(remote, host); !s.ok()) return s;
  }
  return tell(flock, remote, host);
}

/// All that is new, beside the old; secrets of new executors are on their hosts then, and not here.
Status spread(const HostFlock& flock, const Remote& remote, const NewServers& servers) {
  Status copied = on_all(flock, [&](const Host& host) {
    std::vector<std::string> files{"servers"};
    for (const std::string& name : servers.new_executors) {
      if (servers.flock.find(name)->host == host.name) files.push_back("nodes/" + name);
    }
    files.push_back("flock.json");
    return copy_files(flock, remote, host, files);
  });
  forget_secrets(servers.flock);
  return copied;
}

Status prepare(HostFlock& flock, Remote& remote, const Deployment& before,
               const NewServers& servers, const Topology& after) {
  const AddressSource addresses = [&](const auto& wanted) -> Result<AddressBook> {
    Preflight preflight(flock, remote);
    if (const Status s = preflight.look({}); !s.ok()) return s.error();
    return preflight.addresses(wanted);
  };
  if (Status s = prepare_servers(before, servers, after, addresses); !s.ok()) return s;
  return spread(flock, remote, servers);
}

/// What `node try-servers` says: "yes", "busy WHY" or "no WHY".
Status answer_of(const Host& host, const std::string& said) {
  const std::string line = said.substr(0, said.find('\n'));
  if (line == "yes") return done();
  const auto space = line.find(' ');
  const std::string why =
      host.name + ": " + (space == std::string::npos ? line : line.substr(space + 1));
  return {line.starts_with("busy ") ? Errc::busy : Errc::invalid, why};
}

Status try_all(const HostFlock& flock, const Remote& remote, const fs::path& coming) {
  std::vector<Status> said(flock.hosts.size(), done());
  for_each_at_once(flock.hosts.size(), [&](std::size_t i) {
    const Host& host = flock.hosts[i];
    const auto answer = remote.ask(
        host, HostFlock::node_command(host, "try-servers --host " + shell_word(host.name)),
        to_the_end(coming));
    said[i] = answer ? answer_of(host, answer.value()) : Status(answer.error());
  });
  // What can never be comes before what is not yet.
  for (const Status& s : said) {
    if (!s.ok() && s.error().code != Errc::busy) return s;
  }
  for (const Status& s : said) {
    if (!s.ok()) return s;
  }
  return done();
}

Status decide(const fs::path& dir, const fs::path& coming) {
  if (stop_requested()) return {Errc::io, "interrupted"};
  return rename_durably(coming, dir / "deployment.json");
}

}  // namespace

Result<StateDir> restart_lock(const fs::path& dir) {
  const Instant until = later(machine_clock().now(), kPatience);
  for (;;) {
    auto place = StateDir::take(dir / kRestartLock);
    if (place || stop_requested() || machine_clock().now() > until) return place;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Result<std::string> start_keeper(const HostFlock& flock, const Remote& remote, const Host& host) {
  if (Status s = catch_up(flock, remote, host); !s.ok()) return s.error();
  return remote.ask(host, flock.keeper_command(host, "start"), to_the_end());
}

bool hosts_are_stopped(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(note_of(dir), ignored);
}

Status forget_stopped_hosts(const fs::path& dir) {
  std::error_code failed;
  fs::remove(note_of(dir), failed);
  return failed ? cannot("remove", note_of(dir), failed) : done();
}

Status start_stopped_hosts(const HostFlock& flock, const Remote& remote) {
  const Status started = on_all(flock, [&](const Host& host) -> Status {
    const auto answer = start_keeper(flock, remote, host);
    return answer ? done() : Status(answer.error());
  });
  return started.ok() ? forget_stopped_hosts(flock.dir) : started;
}

Status tell_stopped_hosts(const HostFlock& flock, const Remote& remote) {
  return on_all(flock, [&](const Host& host) { return catch_up(flock, remote, host); });
}

Result<bool> any_keeper_runs(const HostFlock& flock, const Remote& remote) {
  std::vector<char> runs(flock.hosts.size());
  std::vector<std::string> wrong(flock.hosts.size());
  for_each_at_once(flock.hosts.size(), [&](std::size_t i) {
    const auto there = standing_of(remote, flock.hosts[i]);
    if (!there) wrong[i] = there.error().message;
    runs[i] = there && there.value().runs ? 1 : 0;
  });
  if (Status s = together(wrong); !s.ok()) return s.error();
  for (const char one : runs) {
    if (one != 0) return true;
  }
  return false;
}

Status go_over_on_hosts(HostFlock& flock, Remote& remote, const Deployment& before,
                        const NewServers& servers, const Topology& after, bool runs) {
  const auto place = restart_lock(flock.dir);
  if (!place) return place.error();
  if (Status s = prepare(flock, remote, before, servers, after); !s.ok()) return s;
  const fs::path coming = flock.dir / "servers" / "coming.json";
  if (Status s = durably(coming, write_deployment_in(coming, servers.flock)); !s.ok()) return s;
  if (runs) {
    if (Status s = note_stopped(flock.dir); !s.ok()) return s;
  }
  Status s = on_all(flock, [&](const Host& host) { return stop_keeper(remote, host); });
  if (s.ok()) s = try_all(flock, remote, coming);
  if (s.ok()) s = decide(flock.dir, coming);
  const Status after_all =
      runs ? start_stopped_hosts(flock, remote) : tell_stopped_hosts(flock, remote);
  if (after_all.ok()) return s;
  if (s.ok()) return {Errc::not_ready, after_all.error().message};
  return {s.error().code, s.error().message + "; and not all hosts run again: " +
                              after_all.error().message + "; 'starling up' starts them"};
}

}  // namespace starling
