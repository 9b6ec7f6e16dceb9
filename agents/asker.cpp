// SPDX-License-Identifier: Apache-2.0
#include "agents/asker.h"

#include "base/ids.h"

namespace starling {
namespace {

constexpr const char* kRoot = "root";

}  // namespace

Status sign(JobSpec& spec, const Asker& by, const std::string& only_user) {
  spec.as_user = !by.user.empty();
  if (!spec.as_user) return done();
  const bool for_another = by.is_operator && by.user == kRoot && !spec.user.empty();
  if (!for_another) spec.user = by.user;
  if (spec.user == kRoot && !by.is_operator)
    return {Errc::invalid, "only an operator of the flock may run jobs as root"};
  if (only_user.empty() || spec.user == only_user) return done();
  return {Errc::invalid, "this is a one-user flock: '" + only_user +
                             "' brought it up, so its jobs run as '" + only_user +
                             "', and none of '" + spec.user +
                             "' can run; one that root brings up has room for several users"};
}

std::string why_not_theirs(const JobSpec& spec, const Asker& by) {
  if (by.is_operator || (spec.as_user && spec.user == by.user)) return {};
  const std::string owner = spec.as_user ? "of '" + spec.user + "'" : "an operator's";
  return "job " + to_string(spec.id) + " is " + owner + ", and this is the key of '" + by.user +
         "': people change their own jobs, operators of the flock all";
}

}  // namespace starling
