// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/view/moment.h"

namespace starling {

/// The data centre at one instant as an SVG for papers, in light colours: each GPU in the colour of
/// its job, in two where two share it, the agents' partitions, daemons that are down, sick GPUs,
/// and the queue below, a bar for each job, as wide as the GPUs that it asks for.
[[nodiscard]] std::string still_picture(const Recording& recording, const Moment& moment);

}  // namespace starling
