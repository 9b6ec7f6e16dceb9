// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/seat_keys.h"

#include <algorithm>

#include "base/planted.h"

namespace starling {

bool is_key_of_seat(std::string_view key, std::string_view own, std::span<const std::string> also) {
  if (planted(Bug::old_key_heard)) return !key.empty();
  return key == own || std::find(also.begin(), also.end(), key) != also.end();
}

}  // namespace starling
