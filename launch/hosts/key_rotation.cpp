#include "launch/hosts/key_rotation.h"

#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

#include "bus/flock.h"
#include "bus/keys.h"
#include "launch/files.h"
#include "launch/hosts/host_flock.h"
#include "launch/hosts/preflight.h"
#include "launch/signals.h"
#include "launch/transport.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Does the process that last locked the node's state live, and is it the node? Asked without the
/// lock, which a daemon that begins just now would find taken.
bool runs(const std::string& name, const fs::path& dir) {
  const auto pid = read_text(dir / "state" / "in-use");
  if (!pid) return false;
  const std::string number = pid.value().substr(0, pid.value().find('\n'));
  std::ifstream in("/proc/" + number + "/cmdline", std::ios::binary);
  const std::string words{std::istreambuf_iterator<char>(in), {}};
  return !number.empty() && words.find("nodes/" + name + "/") != std::string::npos;
}

/// The flock's files, wherever they are.
class Spread {
 public:
  static Result<std::unique_ptr<Spread>> of(const Deployment& deployment) {
    auto spread = std::make_unique<Spread>();
    spread->deployment_ = &deployment;
    if (!is_host_flock(deployment.dir)) return spread;
    auto hosts = read_host_flock(deployment.dir);
    if (!hosts) return hosts.error();
    spread->hosts_ = std::move(hosts).value();
    spread->remote_ = std::make_unique<Remote>(spread->hosts_.way);
    for (const Host& host : spread->hosts_.hosts) {
      if (Status s = spread->remote_->share(host); !s.ok()) return s.error();
    }
    return spread;
  }

  /// flock.json to all, and what else is new to one host.
  Status send(const std::string& also_to, const std::string& file) const {
    std::vector<std::string> wrong(hosts_.hosts.size());
    for_each_at_once(hosts_.hosts.size(), [&](std::size_t i) {
      const Host& host = hosts_.hosts[i];
      std::vector<std::string> files;
      if (host.name == also_to) files.push_back(file);
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

/// Writes the flock, sends it, and waits until all that run go by it.
Status step(const Deployment& deployment, const Spread& spread, const Flock& flock,
            const std::string& host, const std::string& file, std::chrono::seconds patience) {
  if (Status s = write_flock(deployment.dir / "flock.json", flock); !s.ok()) return s;
  if (Status s = spread.send(host, file); !s.ok()) return s;
  const std::string mark = flock_mark(deployment.dir);
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto behind = spread.behind(mark);
    if (!behind) return behind.error();
    if (behind.value().empty()) return done();
    if (stop_requested() || std::chrono::steady_clock::now() > until) {
      return {Errc::not_ready, "keys: " + behind.value() +
                                   " did not take the flock's new description on; the old key "
                                   "works still. Once they are well or stopped, rotate again"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

std::vector<TakenFlock> taken_flocks(const Deployment& deployment) {
  std::vector<TakenFlock> all;
  for (const DeployedNode& node : deployment.nodes) {
    const fs::path dir = deployment.node_dir(node.name), keys = dir / "keys.json";
    std::error_code ignored;
    if (node.role == Role::client || !fs::exists(keys, ignored)) continue;
    all.push_back({node.name, runs(node.name, dir), taken_flock(keys)});
    if (!fs::exists(dir / "seats", ignored)) continue;
    // Seats that are not served just now have no endpoint, and read the file when they get one.
    for (const auto& seat : fs::directory_iterator(dir / "seats", ignored)) {
      if (seat.path().extension() != ".json") continue;
      const std::string mark = taken_flock(seat.path());
      if (!mark.empty())
        all.push_back({node.name + "/" + seat.path().stem().string(), false, mark});
    }
  }
  return all;
}

Result<std::string> rotate_key(const Deployment& deployment, const std::string& name,
                               std::chrono::seconds patience) {
  const DeployedNode* node = deployment.find(name);
  if (node == nullptr) {
    return {Errc::invalid,
            "keys rotate: the flock has no node '" + name + "'; 'starling keys show' lists them"};
  }
  auto members = read_flock(deployment.dir / "flock.json");
  if (!members) return members.error();
  Flock flock = std::move(members).value();
  auto opened = Spread::of(deployment);
  if (!opened) return opened.error();
  const Spread& spread = *opened.value();
  auto keys = generate_keys();
  if (!keys) return keys.error();
  const std::string fresh = keys.value().public_key;
  const fs::path file = deployment.node_dir(name) / "keys.json";
  const std::string relative = "nodes/" + name + "/keys.json";

  Member& member = flock.at(node->id);
  const std::string old = member.public_key;
  member.also.push_back(fresh);
  if (Status s = step(deployment, spread, flock, "", "", patience); !s.ok()) return s.error();

  member.public_key = fresh;
  member.also.back() = old;
  if (Status s = replace_key_file(file, keys.value()); !s.ok()) return s.error();
  Status second = step(deployment, spread, flock, node->host, relative, patience);
  if (!node->host.empty() && second.ok()) {
    std::error_code ignored;
    fs::remove(file, ignored);  // it is on its host now, and nowhere else
  }
  if (!second.ok()) return second.error();

  member.also.clear();
  if (Status s = step(deployment, spread, flock, "", "", patience); !s.ok()) return s.error();
  return fresh;
}

}  // namespace starling
