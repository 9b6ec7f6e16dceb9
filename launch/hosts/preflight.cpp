// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/preflight.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "launch/deployment/flock_folder.h"
#include "launch/hosts/build_id.h"
#include "launch/hosts/keeper.h"
#include "launch/processes/safe_folder.h"
#include "launch/processes/shell_word.h"
#include "launch/processes/supervisor.h"
#include "launch/system/text.h"

namespace starling {
namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Needs nothing but a POSIX shell; one fact a line.
std::string look_script(Way way, const std::string& directory) {
  const std::string base = way == Way::slurm
                               ? "t=$SLURM_TMPDIR; [ -d \"$t\" ] || t=/tmp; d=\"$t/$d\""
                               : "d=\"$HOME/$d\"";
  return safe_folder_functions() + ("d=" + shell_word(directory)) + "; case \"$d\" in /*) ;; *) " +
         base +
         R"sh(;; esac
echo clock $(date +%s.%N); echo machine $(uname -sm)
walk "$d" || echo unsafe "$bad"
d=$at$rest
[ -n "$rest" ] || echo existed yes
echo dir "$d"; p=${at:-/}
echo ground "$p"; echo free $(df -Pk "$p" | tail -1 | awk '{print $4}')
[ -w "$p" ] && echo writable yes
[ -f "$d/flock-id" ] && echo flock $(cat "$d/flock-id")
[ -d "$d" ] && [ -n "$(ls -A "$d")" ] && echo used yes
[ -f "$d/bin/starling" ] && echo sum $(sha256sum <"$d/bin/starling")
echo end yes)sh";
}

std::map<std::string, std::string> facts_in(const std::string& text) {
  std::map<std::string, std::string> facts;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto space = line.find(' ');
    if (space != std::string::npos) facts[line.substr(0, space)] = line.substr(space + 1);
  }
  return facts;
}

std::string own_machine() {
  std::string out = run_program({"uname", "-sm"}).out;
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::string seconds_text(double s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", std::abs(s));
  return text;
}

/// Empty, or what makes the host unfit.
std::string judge(const Host& host, const std::string& flock_id, const HostNeeds& needs,
                  std::map<std::string, std::string>& facts, double skew, double doubt,
                  const std::string& machine) {
  const std::string who = host.name + ": ";
  if (!facts.contains("end")) return who + "no POSIX shell answers there";
  if (host.program.empty() && facts["machine"] != machine)
    return who + "it is '" + facts["machine"] + "', this machine '" + machine +
           "', so this program cannot run there; install starling there and give program:";
  if (std::abs(skew) - doubt > needs.most_skew_s) {
    return who + "its clock is " + seconds_text(skew) + (skew > 0 ? " ahead of" : " behind") +
           " this machine's, more than " + seconds_text(needs.most_skew_s) +
           "; set both by NTP, or give --max-skew";
  }
  if (facts.contains("unsafe")) return who + facts["unsafe"] + "; or give another directory:";
  const std::string& dir = facts["dir"];
  if (facts.contains("flock")) {
    if (facts["flock"] != flock_id)
      return who + dir +
             " holds another flock; give another directory:, or end that one with "
             "'starling down --remove'";
  } else if (facts.contains("used")) {
    return who + dir + " is not empty and holds no flock; give another directory:";
  }
  if (!facts.contains("writable"))
    return who + facts["ground"] + " cannot be written to by the user that ssh logs in as";
  const auto free = parse_whole(facts["free"]);
  if (free && *free / 1024 < needs.least_free_mib) {
    return who + "only " + std::to_string(*free / 1024) + " MiB are free at " + facts["ground"] +
           ", " + std::to_string(needs.least_free_mib) + " are needed";
  }
  return "";
}

/// What `node probe` says.
struct Probed {
  BuildId build;
  std::vector<std::uint32_t> ports;
};
Result<Probed> probed_from(const std::string& text) {
  try {
    const auto j = nlohmann::json::parse(text);
    BuildId build;
    build.version = j.at("version").get<std::string>();
    build.protocol = j.at("protocol").get<std::uint32_t>();
    // One that does not say it speaks the previous one, too.
    build.oldest = j.value("oldest", std::max(build.protocol, kOldestProtocol + 1U) - 1);
    build.build = j.at("build").get<std::string>();
    return Probed{build, j.at("ports").get<std::vector<std::uint32_t>>()};
  } catch (const nlohmann::json::exception&) {
    return {Errc::invalid, "no answer of starling"};
  }
}

}  // namespace

Status together(const std::vector<std::string>& messages) {
  std::string all;
  for (const std::string& message : messages) {
    if (!message.empty()) all += (all.empty() ? "" : "\nstarling: ") + message;
  }
  if (all.empty()) return done();
  return {Errc::io, all};
}

std::string own_sum() {
  const std::string out = run_program({"sha256sum", own_program()}).out;
  return out.substr(0, out.find(' '));
}

Status send_program_to(const Remote& remote, const Host& host, const std::string& there) {
  if (!host.program.empty() || there == own_sum()) return done();
  const std::string bin = shell_word(host.directory + "/bin"),
                    fresh = shell_word(host.directory + "/bin/.new"),
                    program = shell_word(host.directory + "/bin/starling");
  ProgramOptions options;
  options.input = own_program();
  options.timeout = std::chrono::seconds(300);
  auto sent = remote.ask(
      host,
      where_safe(host.directory, "mkdir -p " + bin + " && cat >" + fresh + " && chmod 755 " +
                                     fresh + " && mv " + fresh + " " + program),
      options);
  return sent ? done() : Status(sent.error());
}

Status bring_up_to_date(const Remote& remote, const Host& host) {
  if (!host.program.empty()) return done();
  const Finished seen = remote.run(host, HostFlock::node_command(host, "watch"));
  const auto status = host_status_from(seen.out);
  if (seen.ok() && status && !status.value().stopped) return done();
  const auto sum = remote.ask(host, "sha256sum " + shell_word(HostFlock::program(host)));
  return send_program_to(remote, host,
                         sum ? sum.value().substr(0, sum.value().find(' ')) : std::string());
}

Status Preflight::look(const HostNeeds& needs) {
  const std::string machine = own_machine();
  findings_.assign(flock_.hosts.size(), {});
  std::vector<std::string> wrong(flock_.hosts.size());
  for_each_at_once(flock_.hosts.size(), [&](std::size_t i) {
    Host& host = flock_.hosts[i];
    if (const Status shared = remote_.share(host); !shared.ok()) {
      wrong[i] = shared.error().message;
      return;
    }
    const double before = wall_seconds();
    const auto answer = remote_.ask(host, look_script(flock_.way, host.directory));
    const double after = wall_seconds();
    if (!answer) {
      wrong[i] = answer.error().message;
      return;
    }
    auto facts = facts_in(answer.value());
    HostFindings& found = findings_[i];
    found.skew_s = parse_decimal(facts["clock"]).value_or(0) - (before + after) / 2;
    found.directory = facts["dir"];
    found.ground = facts["ground"];
    found.existed = facts.contains("existed");
    found.program_sum = facts["sum"].substr(0, facts["sum"].find(' '));
    wrong[i] = judge(host, flock_.id, needs, facts, found.skew_s, (after - before) / 2, machine);
  });
  if (Status s = together(wrong); !s.ok()) return s;
  for (std::size_t i = 0; i < findings_.size(); ++i)
    flock_.hosts[i].directory = findings_[i].directory;
  return done();
}

Status Preflight::send_program() {
  touched_ = true;
  std::vector<std::string> wrong(flock_.hosts.size());
  for_each_at_once(flock_.hosts.size(), [&](std::size_t i) {
    const Host& host = flock_.hosts[i];
    const std::string dir = shell_word(host.directory);
    const auto marked = remote_.ask(
        host, safe_folder_functions() + ("make " + dir) +
                  " || { echo \"$bad\" >&2; exit 1; }; chmod 700 " + dir + " && echo " + flock_.id +
                  " >" + dir + "/flock-id" +
                  (findings_[i].existed ? std::string() : " && : >" + dir + "/" + kOwnFolder));
    Status s =
        marked ? send_program_to(remote_, host, findings_[i].program_sum) : Status(marked.error());
    if (!s.ok()) wrong[i] = s.error().message;
  });
  return together(wrong);
}

Result<AddressBook> Preflight::addresses(const std::map<std::string, std::size_t>& wanted) {
  // Hosts that share an address (several slurmd of one machine) are asked together.
  std::map<std::string, std::vector<std::size_t>> by_address;
  for (std::size_t i = 0; i < flock_.hosts.size(); ++i)
    by_address[flock_.hosts[i].address].push_back(i);
  const auto count_of = [&](const Host& host) {
    const auto it = wanted.find(host.name);
    return it == wanted.end() ? std::size_t{0} : it->second;
  };
  const BuildId here = own_build();
  std::vector<std::string> wrong(flock_.hosts.size());
  std::vector<Probed> probed(flock_.hosts.size());
  for_each_at_once(flock_.hosts.size(), [&](std::size_t i) {
    const Host& host = flock_.hosts[i];
    const auto& group = by_address.at(host.address);
    std::size_t count = 0;
    for (const std::size_t member : group)
      count += group.front() == i ? count_of(flock_.hosts[member]) : 0;
    const std::string program = shell_word(HostFlock::program(host));
    const Finished ran =
        remote_.run(host, where_safe(host.directory, program + " --version >&2 && " + program +
                                                         " node probe --address " + host.address +
                                                         " --count " + std::to_string(count)));
    const auto answer = probed_from(ran.out);
    if (ran.ok() && answer) {
      probed[i] = answer.value();
      const auto fit = fits(host.name, probed[i].build, here);
      if (!fit) {
        wrong[i] = fit.error().message;
      } else if (probed[i].ports.size() < count) {
        wrong[i] = host.name + ": the program there finds too few free ports";
      } else {
        findings_[i].other_program = fit.value();
      }
    } else if (ran.err.find("shared libraries") != std::string::npos) {
      wrong[i] = complaint(host, flock_.way, ran) + "; run launch/setup there";
    } else if (ran.err.find("node") == std::string::npos && ran.status == 2) {
      wrong[i] = complaint(host, flock_.way, ran);
    } else {
      wrong[i] = complaint(host, flock_.way, ran);
      if (!host.program.empty())
        wrong[i] += " (" + host.program + " there; here it is version " + here.version + ")";
    }
  });
  if (Status s = together(wrong); !s.ok()) return s.error();
  AddressBook book;
  for (const auto& [address, group] : by_address) {
    std::size_t next = 0;
    for (const std::size_t i : group) {
      for (std::size_t k = 0; k < count_of(flock_.hosts[i]); ++k) {
        book[flock_.hosts[i].name].push_back(
            "tcp://" + address + ":" + std::to_string(probed[group.front()].ports.at(next++)));
      }
    }
  }
  return book;
}

void Preflight::undo() const {
  if (!touched_) return;
  for_each_at_once(flock_.hosts.size(), [&](std::size_t i) {
    const Host& host = flock_.hosts[i];
    const HostFindings& found = findings_[i];
    const std::string dir = shell_word(host.directory), ground = shell_word(found.ground);
    ProgramOptions options;
    options.stop_ends_it = false;
    const std::string rest = found.existed
                                 ? "mkdir " + dir
                                 : "d=$(dirname " + dir + "); while [ \"$d\" != " + ground +
                                       " ] && rmdir \"$d\"; do d=$(dirname \"$d\"); done";
    (void)remote_.run(  // whatever happens, the first failure is what is told
        host,
        "[ \"$(cat " + dir + "/flock-id)\" = " + shell_word(flock_.id) + " ] && rm -rf -- " + dir +
            " && { " + rest + "; }",
        options);
  });
}

}  // namespace starling
