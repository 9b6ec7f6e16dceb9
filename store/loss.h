// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling {

/// What an operator can do about a journal that lacks records, or cannot be read: the end of every
/// such message. Moving files away by hand is not among it: an empty journal forgets jobs that ran.
inline constexpr const char* kAfterLoss =
    "; restore a backup ('starling restore'), or go on without what is lost ('starling accept-loss "
    "NODE', which keeps a copy)";

}  // namespace starling
