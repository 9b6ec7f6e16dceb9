// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace starling {

/// How many more file descriptors this process may open just now. Others of its threads may take
/// them meanwhile, so what needs some asks for a few more.
[[nodiscard]] std::size_t spare_files();

/// `io` where fewer than `needed` are left: for what, how many there are, and what helps. libzmq
/// ends the process where it does not get one, so it is asked before.
[[nodiscard]] Status need_files(std::size_t needed, const std::string& what);

/// With room for what other threads open: to listen and test oneself, to call others, to be
/// connected to one peer more.
inline constexpr std::size_t kFilesToListen = 24, kFilesToCall = 12, kFilesToConnect = 8;

}  // namespace starling
