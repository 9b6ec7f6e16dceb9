// SPDX-License-Identifier: Apache-2.0
#include "base/login_name.h"

#include <pwd.h>
#include <unistd.h>

#include <vector>

namespace starling {

std::string login_name() { return login_name_of(geteuid()); }

std::string login_name_of(uid_t uid) {
  std::vector<char> text(16'384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, text.data(), text.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return "uid-" + std::to_string(uid);
}

}  // namespace starling
