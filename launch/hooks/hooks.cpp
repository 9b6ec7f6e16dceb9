// SPDX-License-Identifier: Apache-2.0
#include "launch/hooks/hooks.h"

#include <cstdlib>
#include <string>

namespace starling::chaos_live {

const char* hook(bool for_chaos, const char* variable) {
  return for_chaos ? std::getenv(variable) : nullptr;
}

Status no_hooks(bool for_chaos) {
  if (for_chaos) return done();
  for (const char* variable :
       {kMembersVariable, kStateVariable, kTimersVariable, kFramesVariable}) {
    if (std::getenv(variable) == nullptr) continue;
    return {Errc::invalid, std::string(variable) +
                               " is set in the environment, and only a flock that 'starling chaos "
                               "live' has made obeys it; unset it"};
  }
  return done();
}

}  // namespace starling::chaos_live
