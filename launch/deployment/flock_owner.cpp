// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/flock_owner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/login_name.h"
#include "launch/deployment/deployment.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Only places of users are in it, and none of a daemon.
bool is_place_of_user(const fs::path& dir) {
  bool user = false;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir / "nodes", ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(granted_name(""))) return false;
    user = true;
  }
  return user;
}

}  // namespace

Status may_manage(const fs::path& dir, const char* command) {
  const std::string what = command;
  if (is_place_of_user(dir)) {
    return {Errc::invalid, what + ": " + dir.string() +
                               " is a user's place in a flock that is elsewhere; whoever brought "
                               "the flock up gives its own --flock"};
  }
  struct stat info {};
  if (::stat(dir.c_str(), &info) != 0) return done();
  const uid_t me = ::geteuid();
  if (me == 0 || me == info.st_uid) return done();
  const std::string owner = login_name_of(info.st_uid);
  std::error_code ignored;
  return {Errc::invalid,
          what + ": the flock in " + dir.string() + " is of '" + owner +
              "', who brought it up, and " +
              (info.st_uid == 0 ? "only root" : "only they and root") + " may do that, not '" +
              login_name() + "'; ask them, or say 'sudo -u " + owner + " starling " + what +
              " --flock " + fs::absolute(dir, ignored).lexically_normal().string() + "'"};
}

}  // namespace starling
