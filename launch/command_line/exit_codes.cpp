// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/exit_codes.h"

#include <cstdio>

#include "base/visible.h"

namespace starling {
namespace {
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

}  // namespace starling
