// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/job_login.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/login_name.h"

namespace starling {
namespace {

constexpr int kMostGroups = 65'536;  // as Linux has it

std::string this_host() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

}  // namespace

Result<std::optional<JobLogin>> login_for(const JobSpec& spec) {
  if (!spec.as_user || spec.user == login_name()) return std::optional<JobLogin>();
  const std::string who = "'" + spec.user + "'";
  if (::geteuid() != 0) {
    return {Errc::invalid, "a job of " + who + " cannot run on " + this_host() +
                               ": its executor runs as '" + login_name() +
                               "', and only root's can become another user"};
  }
  std::vector<char> text(1U << 16U);
  passwd entry{};
  passwd* found = nullptr;
  const int error = ::getpwnam_r(spec.user.c_str(), &entry, text.data(), text.size(), &found);
  if (found == nullptr) {
    // Some sources of users say "not found" by an error of theirs.
    const bool unknown = error == 0 || error == ENOENT || error == ESRCH || error == EPERM;
    if (unknown) return {Errc::invalid, "there is no user " + who + " on " + this_host()};
    return {Errc::io,
            "user " + who + " cannot be looked up on " + this_host() + ": " + std::strerror(error)};
  }
  if (found->pw_uid == 0)
    return {Errc::invalid, who + " is root by another name on " + this_host()};
  JobLogin login{
      found->pw_name, found->pw_dir, found->pw_shell, {found->pw_uid, found->pw_gid, {}}};
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  while (::getgrouplist(found->pw_name, found->pw_gid, groups.data(), &count) < 0 &&
         count <= kMostGroups && static_cast<std::size_t>(count) > groups.size()) {
    groups.resize(static_cast<std::size_t>(count));
  }
  for (int i = 0; i < count && static_cast<std::size_t>(i) < groups.size(); ++i)
    login.ids.groups.push_back(groups[static_cast<std::size_t>(i)]);
  return std::optional(std::move(login));
}

}  // namespace starling
