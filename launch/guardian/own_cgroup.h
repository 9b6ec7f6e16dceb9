// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Where this process is in cgroup v2.

namespace starling {

/// The folder of this process's cgroup, where cgroup v2 is mounted; empty: none that can be seen.
[[nodiscard]] std::string own_cgroup();

/// Where a service manager has given this process a cgroup to divide up (systemd's `Delegate=yes`,
/// which it marks by an attribute): moves this process, and so all that it starts from now on, into
/// a cgroup `daemons` inside it. The kernel gives controllers only to children of a cgroup that has
/// no processes of its own. Elsewhere, and a second time, it does nothing. To be called before
/// anything is started.
void leave_delegated_cgroup();

/// In which this process makes cgroups for jobs: its own one, or the one above where it is in the
/// `daemons` of one that was given to be divided up. It may be one that this process must not write
/// to.
[[nodiscard]] std::string cgroup_of_jobs();

}  // namespace starling
