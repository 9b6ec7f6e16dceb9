// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace starling {

/// SIGKILL to every process of this user, for root of all users, whose environment says
/// STARLING_RUN=`mark`, or starts so if `mark` ends with a colon. For what a killed guardian left
/// behind where there is no cgroup, and for nothing else: a process may change what it seems to
/// have been started with. True: there is none. Where it cannot be told, one is there.
bool kill_marked(const std::string& mark);

}  // namespace starling
