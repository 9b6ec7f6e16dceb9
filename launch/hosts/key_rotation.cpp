// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/key_rotation.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

#include "bus/flock.h"
#include "bus/keys.h"
#include "launch/deployment/state_dir.h"
#include "launch/deployment/transport.h"
#include "launch/hosts/host_flock.h"
#include "launch/hosts/preflight.h"
#include "launch/system/files.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Does the process that last locked the node's state live, and is it the node?
bool runs(const std::string& name, const fs::path& dir) {
  const auto pid = StateDir::holder(dir / "state");
  if (!pid) return false;
  std::ifstream in("/proc/" + std::to_string(*pid) + "/cmdline", std::ios::binary);
  const std::string words{std::istreambuf_iterator<char>(in), {}};
  return words.find("nodes/" + name + "/") != std::string::npos;
}

/// The flock's files, wherever they are.
class FlockFiles {
 public:
  static Result<std::unique_ptr<FlockFiles>> of(const Deployment& deployment) {
    auto files = std::make_unique<FlockFiles>();
    files->deployment_ = &deployment;
    if (!is_host_flock(deployment.dir)) return files;
    auto hosts = read_host_flock(deployment.dir);
    if (!hosts) return hosts.error();
    files->hosts_ = std::move(hosts).value();
    files->remote_ = std::make_unique<Remote>(files->hosts_.way);
    for (const Host& host : files->hosts_.hosts) {
      if (Status s = files->remote_->share(host); !s.ok()) return s.error();
    }
    return files;
  }

  /// flock.json to all, and what else is new to one host.
  Status send(const std::string& also_to, const std::vector<std::string>& secrets) const {
    std::vector<std::string> wrong(hosts_.hosts.size());
    for_each_at_once(hosts_.hosts.size(), [&](std::size_t i) {
      const Host& host = hosts_.hosts[i];
      std::vector<std::string> files;
      if (host.name == also_to) files = secrets;
      files.push_back("flock.json");  // last: it says that the rest is there
      if (Status s = copy_files(hosts_, *remote_, host, files); !s.ok())
        wrong[i] = s.error().message;
    });
    return together(wrong);
  }

  /// Which running daemons do not go by `mark` yet; an error if a host cannot be asked.
  Result<std::string> behind(const std::string& mark) const {
    std::string names;
    const auto add = [&](const TakenFlock& t) {
      if (t.running && t.mark != mark) names += (names.empty() ? "" : ", ") + t.node;
    };
    if (hosts_.hosts.empty()) {
      for (const TakenFlock& t : taken_flocks(*deployment_)) add(t);
      return names;
    }
    for (const Host& host : hosts_.hosts) {
      const auto said = remote_->ask(host, HostFlock::node_command(host, "taken"));
      if (!said) return said.error();
      std::istringstream lines(said.value());
      TakenFlock t;
      for (std::string state; lines >> t.node >> state >> t.mark;) {
        t.running = state == "running";
        add(t);
      }
    }
    return names;
  }

 private:
  const Deployment* deployment_ = nullptr;
  HostFlock hosts_;
  std::unique_ptr<Remote> remote_;
};

/// What follows where a daemon is behind in the middle of an exchange of keys.
constexpr const char* kAgain =
    "; the old key works still. Once they are well or stopped, rotate again";

/// Writes the flock, sends it, and waits until all that run go by it.
Status step(const Deployment& deployment, const FlockFiles& files, const Flock& flock,
            const std::string& host, const std::vector<std::string>& secrets,
            std::chrono::seconds patience, const std::string& then = kAgain) {
  if (Status s = write_flock(deployment.dir / "flock.json", flock); !s.ok()) return s;
  if (Status s = files.send(host, secrets); !s.ok()) return s;
  const std::string mark = flock_mark(deployment.dir);
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto behind = files.behind(mark);
    if (!behind) return behind.error();
    if (behind.value().empty()) return done();
    if (stop_requested() || std::chrono::steady_clock::now() > until) {
      return {Errc::not_ready,
              "keys: " + behind.value() + " did not take the flock's new description on" + then};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

/// One key of a node that is to be exchanged, in the flock and in its file.
struct Exchange {
  std::string file;  // in the flock's directory
  std::string* key;
  std::vector<std::string>* also;
  KeyPair fresh = {};
  std::string old = {};
};

/// Its own key, and those with which its process may sit in the seats of other agents.
std::vector<Exchange> exchanges_of(const Deployment& deployment, const DeployedNode& node,
                                   Flock& flock) {
  const std::string folder = "nodes/" + node.name;
  Member& own = flock.at(node.id);
  std::vector<Exchange> all{{folder + "/keys.json", &own.public_key, &own.also}};
  if (node.role != Role::agent) return all;
  for (const DeployedNode* other : deployment.with_role(Role::agent)) {
    Member& member = flock.at(other->id);
    for (std::uint32_t i = 1; i < member.seats(); ++i) {
      const AgentId host = host_of_seat(other->partition, i, deployment.agents());
      if (host.value != node.partition.value) continue;
      SeatAddress& seat = member.standby[i - 1];
      all.push_back({folder + "/seats/" + other->name + ".json", &seat.public_key, &seat.also});
    }
  }
  return all;
}

}  // namespace

std::vector<TakenFlock> taken_flocks(const Deployment& deployment) {
  std::vector<TakenFlock> all;
  for (const DeployedNode& node : deployment.nodes) {
    const fs::path dir = deployment.node_dir(node.name), keys = dir / "keys.json";
    std::error_code ignored;
    if (node.role == Role::client || !fs::exists(keys, ignored)) continue;
    const bool running = runs(node.name, dir);
    all.push_back({node.name, running, taken_flock(keys)});
    if (!fs::exists(dir / "seats", ignored)) continue;
    // Seats that are not served just now have no endpoint and no mark, and read the file when they
    // get one.
    for (const auto& seat : fs::directory_iterator(dir / "seats", ignored)) {
      if (seat.path().extension() != ".json") continue;
      const std::string mark = taken_flock(seat.path());
      if (!mark.empty())
        all.push_back({node.name + "/" + seat.path().stem().string(), running, mark});
    }
  }
  return all;
}

Status publish_flock(const Deployment& deployment, const Flock& flock,
                     std::chrono::seconds patience) {
  auto files = FlockFiles::of(deployment);
  if (!files) return files.error();
  return step(deployment, *files.value(), flock, "", {}, patience, "");
}

Result<std::string> rotate_key(const Deployment& deployment, const std::string& name,
                               std::chrono::seconds patience) {
  const DeployedNode* node = deployment.find(name);
  if (node == nullptr) {
    return {Errc::invalid,
            "keys rotate: the flock has no node '" + name + "'; 'starling keys show' lists them"};
  }
  if (is_granted(*node)) {
    return {Errc::invalid, "keys rotate: '" + name +
                               "' is a user's own; 'keys revoke' and 'keys grant' give new keys"};
  }
  auto members = read_flock(deployment.dir / "flock.json");
  if (!members) return members.error();
  Flock flock = std::move(members).value();
  auto opened = FlockFiles::of(deployment);
  if (!opened) return opened.error();
  const FlockFiles& files = *opened.value();
  std::vector<Exchange> all = exchanges_of(deployment, *node, flock);
  std::vector<std::string> secrets;
  for (Exchange& e : all) {
    auto keys = generate_keys();
    if (!keys) return keys.error();
    e.fresh = std::move(keys).value();
    e.old = *e.key;
    e.also->push_back(e.fresh.public_key);
    secrets.push_back(e.file);
  }
  if (Status s = step(deployment, files, flock, "", {}, patience); !s.ok()) return s.error();

  for (const Exchange& e : all) {
    *e.key = e.fresh.public_key;
    e.also->back() = e.old;
    const fs::path file = deployment.dir / e.file;
    if (Status s = make_folder(file.parent_path(), 0700); !s.ok()) return s.error();
    if (Status s = replace_key_file(file, e.fresh); !s.ok()) return s.error();
  }
  const Status second = step(deployment, files, flock, node->host, secrets, patience);
  if (!second.ok()) return second.error();
  // They are on their host now, and nowhere else.
  if (!node->host.empty()) forget_secrets(deployment);

  for (const Exchange& e : all) e.also->clear();
  if (Status s = step(deployment, files, flock, "", {}, patience); !s.ok()) return s.error();
  return all.front().fresh.public_key;
}

}  // namespace starling
