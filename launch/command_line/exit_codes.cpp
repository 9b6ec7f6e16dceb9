// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/exit_codes.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/visible.h"

namespace starling {
namespace {
bool given_up = false;  // what is printed, with a word about it

bool reader_has_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int say(const std::string& message, int code) {
  std::fprintf(stderr, "starling: %s\n", visible(message).c_str());
  return code;
}
}  // namespace

int bad_input(const std::string& message) { return say(message, kBadInput); }
int work_failed(const std::string& message) { return say(message, kWorkFailed); }

int failed(const Error& error) {
  switch (error.code) {
    case Errc::invalid:
    case Errc::not_found:
    case Errc::unsupported:
      return bad_input(error.message);
    default:
      return work_failed(error.message);
  }
}

int ended(int status) {
  const bool lost = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !lost) return status;
  const int why = errno;
  if (given_up || status != kDone) return status;
  if (reader_has_gone()) return kWorkFailed;
  return work_failed(std::string("standard output has not taken all that was printed") +
                     (why == 0 ? "" : std::string(": ") + std::strerror(why)));
}

void stdout_was_given_up() noexcept { given_up = true; }

}  // namespace starling
