// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling {

/// Whether `error`, with which execvp() of `program` failed, is this machine's doing, so that it
/// had better start nothing for now. What comes with the program or its user is not, because every
/// other machine would find the same: a file that is cut short (EIO without a disk that cannot be
/// read), a file system that another user runs (FUSE answers whatever it likes), a user that has
/// as many processes as it may (EAGAIN). `another_user`: not the one that the guardian is.
/// To be called between fork and exec: system calls alone.
[[nodiscard]] bool machine_to_blame(int error, const char* program, bool another_user);

}  // namespace starling
