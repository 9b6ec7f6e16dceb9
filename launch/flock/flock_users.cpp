// SPDX-License-Identifier: Apache-2.0
#include "launch/flock/flock_users.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>

#include "base/login_name.h"
#include "bus/keys.h"
#include "bus/sessions.h"
#include "launch/hosts/host_flock.h"
#include "launch/hosts/key_rotation.h"
#include "launch/servers/exchange.h"
#include "launch/system/files.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct Account {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};

std::optional<Account> account_of(const std::string& name) {
  const passwd* found = ::getpwnam(name.c_str());
  if (found == nullptr) return std::nullopt;
  return Account{found->pw_name, found->pw_uid, found->pw_gid};
}

Error refused(const std::string& what) { return {Errc::invalid, "keys grant: " + what}; }

/// Everybody may go through the folders to `file` and read it.
bool open_to_all(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || (info.st_mode & S_IROTH) == 0) return false;
  std::error_code error;
  fs::path folder = fs::canonical(file, error).parent_path();
  for (; !error; folder = folder.parent_path()) {
    if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0) return false;
    if (folder == folder.root_path()) return true;
  }
  return false;
}

/// What makes the grant senseless, or wrong.
Status check(const Deployment& flock, const Grant& what, const Flock& members,
             const std::optional<Account>& account) {
  const std::string who = "'" + what.user + "'";
  if (!account && what.out.empty())
    return refused("there is no user " + who + " on this machine; with --out DIR a place is made " +
                   "that can be handed over");
  if (account && account->uid == 0 && what.user != "root")
    return refused(who + " is root by another name");
  if (what.user == "root" && !what.is_operator)
    return refused("root may do everything here; give --operator, too");
  for (const Member* member : granted_places(flock, members)) {
    if (member->holder.user == what.user)
      return refused(who + " has a place already; 'starling keys revoke " + what.user +
                     "' takes it back");
  }
  if (servers_are_asked_for(flock.dir))
    return refused("the flock's servers are being changed; try again when that is over");
  struct stat info {};
  const fs::path file = flock.dir / "flock.json";
  if (::stat(file.c_str(), &info) != 0) return refused(file.string() + ": " + std::strerror(errno));
  const std::string owner = login_name_of(info.st_uid);
  // On other hosts it is for their executors to say.
  if (info.st_uid != 0 && what.user != owner && !is_host_flock(flock.dir))
    return refused("this is a one-user flock: '" + owner + "' brought it up, so its jobs run as '" +
                   owner + "', and it has no place for " + who +
                   "; one that root brings up has room for several users");
  if (!what.out.empty()) return done();
  for (const fs::path& part : {file, flock.dir / "deployment.json", flock.dir / flock.topology}) {
    if (!open_to_all(part))
      return refused(part.string() + " is not readable for everybody, so " + who +
                     " could not use a place there; give --out DIR");
  }
  return done();
}

/// A number of a client that no place has, the `grant`th one: agents that run would take the first
/// life of a new place for an old one of the place that had the number before.
std::optional<NodeId> free_place(const Deployment& flock, const Flock& members,
                                 std::uint64_t grant) {
  const auto own = std::count_if(flock.nodes.begin(), flock.nodes.end(), [](const DeployedNode& n) {
    return n.role == Role::client && !is_granted(n);
  });
  const std::uint64_t first = static_cast<std::uint64_t>(own) + grant;
  for (std::uint32_t i = 0; i < kPlaces; ++i) {
    const NodeId id = client_node(static_cast<std::uint32_t>((first + i) % kPlaces));
    const bool used = std::any_of(flock.nodes.begin(), flock.nodes.end(),
                                  [id](const DeployedNode& node) { return node.id == id; });
    if (!used && !members.contains(id)) return id;
  }
  return std::nullopt;
}

/// All that is written for a user.
struct Place {
  DeployedNode node;
  KeyPair keys;
  Flock members;              // with it
  std::optional<Account> of;  // none: no user whom this machine knows
};

/// In the flock's own folder, which we alone can write to: from the inside to the outside.
Status make_here(const Deployment& flock, const Place& place) {
  const fs::path folder = flock.node_dir(place.node.name), keys = folder / "keys.json";
  std::error_code failed;
  if (fs::remove_all(folder, failed); failed) return cannot("remove", folder, failed);
  if (Status made = make_folder(folder, 0700); !made.ok()) return made;
  if (Status wrote = write_key_file(keys, place.keys); !wrote.ok()) return wrote;
  if (::geteuid() != 0) return done();
  for (const fs::path& path : {keys, folder}) {
    if (::lchown(path.c_str(), place.of->uid, place.of->gid) != 0)
      return {Errc::io, path.string() + ": cannot be given to '" + place.of->name +
                            "': " + std::strerror(errno)};
  }
  return done();
}

/// What a client reads of a flock, in a folder of its own.
Status make_copy(const Deployment& flock, const Place& place, const fs::path& out,
                 const std::string& topology) {
  std::error_code failed;
  if (fs::exists(out, failed) && !fs::is_empty(out, failed))
    return {Errc::invalid, out.string() + " is there, and not empty"};
  if (Status made = make_folder(out, 0700); !made.ok()) return made;
  Deployment copy = flock;
  copy.dir = out;
  std::erase_if(copy.nodes, [](const DeployedNode& n) { return n.role == Role::client; });
  copy.nodes.push_back(place.node);
  if (Status s = write_deployment(copy); !s.ok()) return s;
  const fs::path drawn = out / flock.topology;
  if (Status made = make_folder(drawn.parent_path()); !made.ok()) return made;
  if (Status s = write_text(drawn, topology); !s.ok()) return s;
  if (Status s = write_flock(out / "flock.json", place.members); !s.ok()) return s;
  const fs::path folder = copy.node_dir(place.node.name);
  if (Status made = make_folder(folder, 0700); !made.ok()) return made;
  return write_key_file(folder / "keys.json", place.keys);
}

/// With the rights of the account and no others, so that no folder or link of its user leads root
/// astray, and all files are the user's own.
Status as_account(const std::optional<Account>& account, const std::function<Status()>& act) {
  if (!account || account->uid == ::geteuid() || ::geteuid() != 0) return act();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {Errc::io, std::string("no pipe: ") + std::strerror(errno)};
  const pid_t child = ::fork();
  if (child == 0) {
    const bool became = ::initgroups(account->name.c_str(), account->gid) == 0 &&
                        ::setgid(account->gid) == 0 && ::setuid(account->uid) == 0;
    const Status outcome =
        became ? act() : Status(Error{Errc::io, "cannot become " + account->name});
    const std::string& text = outcome.ok() ? std::string() : outcome.error().message;
    if (::write(ends[1], text.data(), text.size()) < 0) errno = 0;
    ::_exit(outcome.ok() ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char chunk[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], chunk, sizeof chunk)) > 0;)
    text.append(chunk, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  const bool ended = child > 0 && ::waitpid(child, &status, 0) == child;
  if (ended && status == 0) return done();
  return {Errc::invalid, "as '" + account->name + "': " + (text.empty() ? "no process" : text)};
}

}  // namespace

std::vector<const Member*> granted_places(const Deployment& flock, const Flock& members) {
  std::vector<const Member*> places;
  for (const auto& [id, member] : members) {
    if (member.role != Role::client || member.holder.user.empty()) continue;
    const NodeId own = member.node;
    const bool first =
        std::any_of(flock.nodes.begin(), flock.nodes.end(),
                    [&](const DeployedNode& node) { return node.id == own && !is_granted(node); });
    if (!first) places.push_back(&member);
  }
  return places;
}

Result<Granted> grant(const Deployment& flock, const Grant& what, std::chrono::seconds patience) {
  auto read = read_flock(flock.dir / "flock.json");
  if (!read) return read.error();
  const Flock before = read.value();
  const auto account = account_of(what.user);
  if (Status fine = check(flock, what, before, account); !fine.ok()) return fine.error();
  const auto id = free_place(flock, before, what.grant);
  if (!id) return refused("all " + std::to_string(kPlaces) + " places of clients are taken");
  auto keys = generate_keys();
  if (!keys) return keys.error();

  Place place;
  place.of = account, place.keys = std::move(keys).value(), place.members = before;
  place.node.id = *id, place.node.name = granted_name(what.user), place.node.role = Role::client;
  Member& member = place.members[*id];
  member.node = *id, member.role = Role::client;
  member.public_key = place.keys.public_key;
  member.holder = {what.user, what.is_operator};
  if (Status fine = check_flock(place.members); !fine.ok()) return refused(fine.error().message);
  const auto topology = read_text(flock.dir / flock.topology);
  if (!topology) return topology.error();

  const bool here = what.out.empty();
  const fs::path out = fs::absolute(here ? flock.dir : what.out);
  const Status made =
      here ? make_here(flock, place)
           : as_account(account, [&] { return make_copy(flock, place, out, topology.value()); });
  if (!made.ok()) return refused(made.error().message);
  if (Status told = publish_flock(flock, place.members, patience); !told.ok()) {
    if (Status back = publish_flock(flock, before, std::chrono::seconds(0)); !back.ok()) errno = 0;
    (void)as_account(here ? std::nullopt : account, [&] {
      std::error_code ignored;
      fs::remove_all(here ? flock.node_dir(place.node.name) : out, ignored);
      return done();
    });
    return told.error();
  }
  if (here) {
    Deployment more = flock;
    std::erase_if(more.nodes, [&](const DeployedNode& n) { return n.name == place.node.name; });
    more.nodes.push_back(place.node);
    if (Status s = write_deployment(more); !s.ok()) return s.error();
  }
  return Granted{out, account && (::geteuid() == 0 || ::geteuid() == account->uid)};
}

Status revoke(const Deployment& flock, const std::string& user, std::chrono::seconds patience) {
  auto read = read_flock(flock.dir / "flock.json");
  if (!read) return read.error();
  Flock members = read.value();
  const auto places = granted_places(flock, read.value());
  std::size_t taken = 0;
  for (const Member* place : places) {
    if (place->holder.user != user) continue;
    members.erase(place->node);
    ++taken;
  }
  if (taken == 0) {
    const bool first = std::any_of(read.value().begin(), read.value().end(),
                                   [&](const auto& m) { return m.second.holder.user == user; });
    return {Errc::invalid, "keys revoke: '" + user + "' " +
                               (first ? "brought the flock up, and has its directory"
                                      : "has no place in this flock; 'starling keys show' lists "
                                        "who has")};
  }
  Status told = publish_flock(flock, members, patience);
  if (!told.ok() && told.error().code != Errc::not_ready) return told;
  // Also where a daemon is behind: it will come to it.
  Deployment fewer = flock;
  std::erase_if(fewer.nodes,
                [&](const DeployedNode& node) { return node.name == granted_name(user); });
  if (fewer.nodes.size() != flock.nodes.size()) {
    if (Status s = write_deployment(fewer); !s.ok()) return s;
    std::error_code failed;
    fs::remove_all(flock.node_dir(granted_name(user)), failed);
    if (failed) return cannot("remove", flock.node_dir(granted_name(user)), failed);
  }
  return told;
}

}  // namespace starling
