// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "interference/pairs/pair_data.h"

namespace starling {

// The types of each source by what its files call them: index, added with model and configuration
// if new.
std::uint32_t add_gavel_type(PairData& data, const std::string& model, double batch);
std::uint32_t add_lucid_type(PairData& data, const std::string& model, const std::string& dataset,
                             double batch, double amp);
std::uint32_t add_deepshare_type(PairData& data, const std::string& model, double gpus,
                                 double nodes);

}  // namespace starling
