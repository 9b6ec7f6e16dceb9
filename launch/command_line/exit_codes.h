// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace starling {

/// What the program's exit status means; scripts rely on it.
enum ExitCode : int {
  kDone = 0,
  kWorkFailed = 1,   ///< the input was right, the work did not succeed
  kBadInput = 2,     ///< usage, options or files
  kDiskFailed = 74,  ///< a journal could not be written; the process stops rather than forget
};

/// Prints "starling: MESSAGE" on stderr, once, and returns kBadInput.
int bad_input(const std::string& message);
/// The same with kWorkFailed.
int work_failed(const std::string& message);
/// bad_input for what a user can mend, kWorkFailed where the operating system or a peer refused.
int failed(const Error& error);

/// The exit status of the program once its command has ended with `status`: where stdout did not
/// take all that was printed, kDone becomes kWorkFailed, with one message, or none for a pipe that
/// its reader has closed, for it has seen enough.
int ended(int status);
/// The command has said itself that stdout takes nothing more: ended() leaves its status alone.
void stdout_was_given_up() noexcept;

}  // namespace starling
