#pragma once

#include <array>
#include <cstddef>

#include "interference/speed.h"
#include "topology/topology.h"

namespace starling {

/// What a network that predicts relative speed sees of a job, its placement and its neighbours. The
/// order is part of every trained file: change it and kSpeedFeaturesVersion together.
///   0    log2 gang size           9  slowest GPU / fastest of the data centre
///   1    log10 iteration seconds  10 neighbours on its servers, log2(1 + n)
///   2    log10 gradient MiB       11 those of them that leave a server, log2(1 + n)
///   3    GPU utilisation          12 CPUs asked / there are, worst server, at most 4
///   4-7  tier crossed, one-hot    13 neighbours' share of the GPUs, worst server
///   8    log2 servers used        14 log10 of the slowest NIC's Gbit/s
constexpr std::size_t kSpeedFeatures = 15;
constexpr const char* kSpeedFeaturesVersion = "1";

[[nodiscard]] std::array<float, kSpeedFeatures> speed_features(const Topology& topology,
                                                               const JobProfile& job,
                                                               const Placement& placement,
                                                               const Neighbours& beside);

}  // namespace starling
