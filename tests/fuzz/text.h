// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/check.h"
#include "tests/fuzz/targets.h"

namespace starling::fuzz {

inline std::string text_of(FuzzBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A refusal says why, or it is worth nothing.
template <class R>
void must_explain(const R& result) {
  if (!result.ok()) STARLING_CHECK(!result.error().message.empty());
}

}  // namespace starling::fuzz
