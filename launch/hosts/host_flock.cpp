// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_flock.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launch/deployment/etcd_state.h"
#include "launch/deployment/flock_folder.h"
#include "launch/deployment/flock_paths.h"
#include "launch/hardware/health_options.h"
#include "launch/processes/safe_folder.h"
#include "launch/processes/shell_word.h"
#include "launch/system/files.h"

namespace starling {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const char* const kFile = "hosts.json";

json to_json(const Host& h) {
  return {{"name", h.name},
          {"address", h.address},
          {"ssh", h.ssh},
          {"user", h.user},
          {"port", h.port},
          {"identity", h.identity},
          {"known_hosts", h.known_hosts},
          {"directory", h.directory},
          {"program", h.program}};
}

Host host_from(const json& j) {
  const auto text = [&](const char* key) { return j.at(key).get<std::string>(); };
  Host h;
  h.name = text("name");
  h.address = text("address");
  h.ssh = text("ssh");
  h.user = text("user");
  h.port = j.at("port").get<std::uint32_t>();
  h.identity = text("identity");
  h.known_hosts = text("known_hosts");
  h.directory = text("directory");
  h.program = text("program");
  return h;
}

/// One line for each host where `command` did not succeed; `answers`: what it said, by host.
std::vector<std::string> everywhere(const HostFlock& flock, const Remote& remote,
                                    const std::function<std::string(const Host&)>& command,
                                    std::vector<std::string>* answers = nullptr) {
  std::vector<std::string> failed(flock.hosts.size());
  if (answers != nullptr) answers->assign(flock.hosts.size(), "");
  for_each_at_once(flock.hosts.size(), [&](std::size_t i) {
    ProgramOptions options;
    options.stop_ends_it = false;
    const auto answer = remote.ask(flock.hosts[i], command(flock.hosts[i]), options);
    if (!answer) failed[i] = answer.error().message;
    if (answer && answers != nullptr)
      (*answers)[i] = answer.value().substr(0, answer.value().find('\n'));
  });
  std::erase(failed, "");
  return failed;
}

}  // namespace

const Host* HostFlock::find(const std::string& name) const {
  const auto it =
      std::find_if(hosts.begin(), hosts.end(), [&](const Host& h) { return h.name == name; });
  return it == hosts.end() ? nullptr : &*it;
}

std::string HostFlock::program(const Host& host) {
  return host.program.empty() ? host.directory + "/bin/starling" : host.program;
}

std::string HostFlock::node_command(const Host& host, const std::string& words) {
  return where_safe(host.directory, "exec " + shell_word(program(host)) + " node " + words +
                                        " --dir " + shell_word(host.directory));
}

std::string HostFlock::keeper_command(const Host& host, const std::string& words) const {
  const std::string spoken =  // a program of that version may know no such option
      protocol == kNewestProtocol ? "" : " --protocol " + std::to_string(protocol);
  return node_command(host, words + " --host " + shell_word(host.name) + spoken);
}

bool is_host_flock(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(dir / kFile, ignored);
}

Result<HostFlock> read_host_flock(const fs::path& dir) {
  const auto text = read_text(dir / kFile);
  if (!text) return text.error();
  try {
    const json j = json::parse(text.value());
    HostFlock flock;
    flock.dir = dir;
    flock.id = j.at("flock").get<std::string>();
    flock.way = j.at("way").get<std::string>() == "slurm" ? Way::slurm : Way::ssh;
    for (const json& host : j.at("hosts")) flock.hosts.push_back(host_from(host));
    return flock;
  } catch (const json::exception& error) {
    return {Errc::invalid, (dir / kFile).string() + ": " + error.what()};
  }
}

Status write_host_flock(const HostFlock& flock) {
  json hosts = json::array();
  for (const Host& host : flock.hosts) hosts.push_back(to_json(host));
  const json j{
      {"flock", flock.id}, {"way", flock.way == Way::slurm ? "slurm" : "ssh"}, {"hosts", hosts}};
  if (auto s = write_text(flock.dir / "flock-id", flock.id + "\n"); !s.ok()) return s;
  return write_text(flock.dir / kFile, j.dump(1) + "\n");
}

Status copy_files(const HostFlock& flock, const Remote& remote, const Host& host,
                  const std::vector<std::string>& paths) {
  // For its owner alone: there are secrets in it. Of this host alone: others are copied meanwhile.
  const fs::path folder = flock.dir / ("copy-" + host.name);
  if (auto s = make_folder(folder, 0700); !s.ok()) return s;
  const fs::path archive = folder / "starling-files.tar";
  std::vector<std::string> tar{"tar", "-C", flock.dir.string(), "-cf", archive.string()};
  tar.insert(tar.end(), paths.begin(), paths.end());
  const Finished packed = run_program(tar);
  Status status = done();
  if (!packed.ok()) {
    status = {Errc::io, "tar: " + last_words(packed)};
  } else {
    ProgramOptions options;
    options.input = archive;
    options.timeout = std::chrono::seconds(120);
    const auto copied = remote.ask(
        host, where_safe(host.directory, "tar -C " + shell_word(host.directory) + " -xpf -"),
        options);
    if (!copied) status = copied.error();
  }
  std::error_code ignored;
  fs::remove(archive, ignored);
  fs::remove(folder, ignored);
  return status;
}

std::vector<std::string> files_of(const Deployment& deployment, const Host& host) {
  std::vector<std::string> paths{"deployment.json", "flock.json", deployment.topology, "flock-id"};
  for (const DeployedNode& node : deployment.nodes) {
    if (node.host == host.name) paths.push_back("nodes/" + node.name);
  }
  // Where agents are, and nowhere else.
  std::error_code ignored;
  if (fs::exists(deployment.dir / kHealthFile, ignored)) paths.emplace_back(kHealthFile);
  if (deployment.has_agent_on(host.name) && fs::exists(deployment.dir / kEtcdFolder, ignored))
    paths.push_back(kEtcdFolder);
  return paths;
}

void forget_secrets(const Deployment& deployment) {
  std::error_code ignored;
  for (const DeployedNode& node : deployment.nodes) {
    if (node.host.empty()) continue;
    fs::remove(deployment.node_dir(node.name) / "keys.json", ignored);
    fs::remove_all(deployment.node_dir(node.name) / "seats", ignored);
  }
}

std::vector<std::string> stop_hosts(const HostFlock& flock, const Remote& remote) {
  if (flock.way == Way::slurm) return {};  // its steps end with the holder of their input
  return everywhere(flock, remote,
                    [](const Host& host) { return HostFlock::node_command(host, "stop"); });
}

std::vector<std::string> remove_hosts(const HostFlock& flock, const Remote& remote,
                                      std::vector<std::string>& left) {
  // What is in the folder of a node that is not the flock's looks like a node's only by chance.
  const FlockPaths paths = flock_paths("(agent|executor|client|user)-[^/]+");
  // As remove_flock_files() does it.
  const std::string commands = "\nfiles=" + shell_word("^(" + paths.files + ")$") +
                               "\nfolders=" + shell_word("^(" + paths.folders + ")$") +
                               "\nmoved=" + shell_word("^(" + paths.moved + ")$") +
                               "\nbelow=" + shell_word("^((" + paths.folders + ")/)?[^/]+$") +
                               "\nown=\n[ ! -e " + kOwnFolder + R"sh( ] || own=yes
export LC_ALL=C
known() { find . -maxdepth 1 -type d ! -name . | sed 's,^\./,,' | grep -E "$folders"; }
all() {
  { known | while IFS= read -r top; do find "$top" -mindepth 1 "$@"; done
    find . -maxdepth 1 "$@" ! -name . | sed 's,^\./,,'; }
}
gone() { tr '\n' '\0' | xargs -0 rm -f --; }
all ! -type d | grep -E "$files" | grep -vxF flock-id | gone || exit 1
all -type l | grep -E "$moved" | gone || exit 1
all -depth -type d | grep -E "$folders" | while IFS= read -r folder; do
  [ -n "$(ls -A "$folder")" ] || rmdir "$folder" || exit 1
done || exit 1
left=$({ all ! -type d; all -type d | grep -vE "$folders"; } | grep -E "$below" |
  grep -vxF flock-id | sort | sed 's,^, ,' | tr -d '\n')
rm -f flock-id
)sh";
  std::vector<std::string> answers;
  auto failed = everywhere(
      flock, remote,
      [&](const Host& host) {
        const std::string dir = shell_word(host.directory);
        // Only what is this flock's.
        return "[ ! -e " + dir + " ] && exit 0; " +
               where_safe(host.directory,
                          "[ \"$(cat " + dir + "/flock-id)\" = " + shell_word(flock.id) +
                              " ] && cd " + dir + " || exit 1" + commands +
                              "if [ -n \"$left\" ]; then echo left in " + dir +
                              ", because it is not Starling\\'s:$left; elif [ $own ]; then cd / "
                              "&& rmdir " +
                              dir + "; fi");
      },
      &answers);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].empty()) left.push_back(flock.hosts[i].name + ": " + answers[i]);
  }
  return failed;
}

}  // namespace starling
