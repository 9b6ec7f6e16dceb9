// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/command_line/out_file.h"

namespace starling {

/// Could the file of --record be written? Empty: it is not wanted.
[[nodiscard]] inline Status check_recording(const std::string& file) {
  if (file.empty()) return done();
  const Status good = check_out_file(file, OutKind::recording);
  return good.ok() ? done() : Status(Errc::invalid, "--record: " + good.error().message);
}

}  // namespace starling
