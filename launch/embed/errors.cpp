// SPDX-License-Identifier: Apache-2.0
#include "launch/embed/objects.h"
#include "launch/system/program_build.h"

namespace starling {
namespace {

std::string& words() {
  thread_local std::string text;
  return text;
}

}  // namespace

void say_wrong(const std::string& message) noexcept {
  try {
    words() = message;
  } catch (...) {
    words().clear();  // no memory for words
  }
}

}  // namespace starling

int starling_abi(void) { return STARLING_ABI; }

const char* starling_version(void) {
  static const std::string version = starling::program_build();
  return version.c_str();
}

const char* starling_error(void) { return starling::words().c_str(); }
