// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace starling {

/// From now on a terminal that is closed does not end this process, nor what it starts.
void ignore_hangup();

/// Goes on in the background, for a command that makes something ready within sight first.
///
/// A child in a session of its own does the work, its output where it was; Ctrl-C is passed on to
/// it. The command ends well once the child says background_ready(), and as the child did if that
/// ends before. Returns in the child only. To be called before there are threads.
[[nodiscard]] Status enter_background();

/// In the background: the command that the user waits for ends, and output goes to `log` from now
/// on, which two such commands do not share. `log` has 4 MiB at most, and what was before that is
/// in `log`.1. Nothing where enter_background() was not called.
[[nodiscard]] Status background_ready(const std::filesystem::path& log);

/// One line for the user of this process: on stderr, and with its time once that is a log.
void announce(const std::string& line);

/// What a service manager that waits for it is to know ("READY=1", "STOPPING=1"), as sd_notify(3)
/// says. Nothing where there is none.
void tell_service_manager(const std::string& state);

}  // namespace starling
