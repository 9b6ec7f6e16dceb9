// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "policies/fractional/demand.h"

namespace starling {

/// One run's arrivals and the order of its nodes, as the published simulator drew them.
struct OpenbDraw {
  std::uint32_t seed = 0;
  std::vector<std::uint32_t> pods;   ///< rows of the list in order of arrival; they repeat
  std::vector<std::uint32_t> ranks;  ///< of each node; ties go to the least
};

struct OpenbList {
  std::string name;  ///< "default"
  std::vector<Pod> pods;
  std::vector<OpenbDraw> draws;
};

struct OpenbInputs {
  ClusterSpec cluster;  ///< the nodes with a GPU alone, in the order of the file
  std::vector<OpenbList> lists;
};

/// Of alibaba_openb2023/ and conformance/openb_fgd_*.csv.gz. Errors as those of
/// Reproduction::run.
[[nodiscard]] Result<OpenbInputs> read_openb_inputs(const std::filesystem::path& data);

/// What a published simulation said of one run: a figure for each percent of all GPUs asked for.
struct PublishedCurve {
  std::string list;
  std::string policy;  ///< its name there: "GpuPacking"
  std::uint32_t seed = 0;
  std::vector<double> points;  ///< kOpenbPoints
};
inline constexpr std::size_t kOpenbPoints = 131;  ///< 0 to 130 %

/// conformance/openb_fgd_`measure`.csv.gz: "allocation", "fragmentation".
[[nodiscard]] Result<std::vector<PublishedCurve>> read_openb_curves(
    const std::filesystem::path& data, const std::string& measure);

}  // namespace starling
