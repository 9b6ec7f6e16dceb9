// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "interference/learned/interference_net.h"

namespace starling {

/// Answers a question in JSON, or an array of them, in JSON:
///
///   {"gpu": "V100", "job": {"model": "ResNet-50 (batch size 64)"},
///    "neighbours": [{"model": "LM (batch size 20)"},
///                   {"model": "DLRM", "relation": "link", "gpus": 4, "nodes": 2}],
///    "host": {"cpus_per_gpu": 1, "memory_gb_per_gpu": 62.5}}
///
/// Answer: relative, deviation, interval90, by neighbour its part, feasible (the chance that the
/// jobs on the GPU have room), and model: learned or, with `why`, analytic. A field that no model
/// could make sense of, or a GPU type that is not known, is answered by the analytic model; what is
/// no such question at all is `invalid`.
[[nodiscard]] Result<std::string> predict_json(const InterferenceNet& net,
                                               const std::string& question);

}  // namespace starling
