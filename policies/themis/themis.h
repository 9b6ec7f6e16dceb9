// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/gavel/gavel.h"

namespace starling {

/// Themis (NSDI 2020): finish-time fairness. The worst ratio of a job's time from arrival to end to
/// that on its own part of the partition, which is its GPUs over its jobs, is as small as can be;
/// jobs run in rounds by who is furthest behind the share of time that this takes.
///
/// It is Themis as those who measure against it have rebuilt it (Gavel, Shockwave, Muri): without
/// its auctions, by which jobs that estimate their own ratios and tell the truth reach about the
/// same, and blind to how much faster a job is on one GPU type than on another, which Gavel's
/// finish-time fairness is not. A gang has all its GPUs or none, where Themis' hyper-parameter
/// searches have any number.
[[nodiscard]] GavelOptions themis_options();

}  // namespace starling
