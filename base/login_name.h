#pragma once

#include <string>

namespace starling {

/// Who runs this program, by name, or "uid-N" where the system has none for the number.
[[nodiscard]] std::string login_name();

}  // namespace starling
