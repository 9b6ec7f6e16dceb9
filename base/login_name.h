// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace starling {

/// Who runs this program, by name, or "uid-N" where the system has none for the number.
[[nodiscard]] std::string login_name();
/// The same of any user.
[[nodiscard]] std::string login_name_of(uid_t uid);

}  // namespace starling
