// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "interference/learned/pair_table.h"
#include "nets/pair_net.h"

namespace starling {

/// What the members of an ensemble say of a pair: their mean, and how far they are apart.
struct PairGuess {
  double mean = 1;
  double sd = 0;  ///< standard deviation
};

/// A PairNet with the table of the types that it knows.
class PairModel {
 public:
  [[nodiscard]] static Result<PairModel> make(const Weights& weights, const std::string& prefix);

  /// Speed of one type beside another in a set, as the set's measurements would have it. Types and
  /// models that the table has not are told by their profile.
  [[nodiscard]] PairGuess guess(const PairType& victim, const PairType& other,
                                std::size_t set) const;
  [[nodiscard]] PairSide side(const PairType& type) const;

  [[nodiscard]] const PairNet& net() const noexcept { return net_; }
  [[nodiscard]] const PairTable& table() const noexcept { return table_; }
  [[nodiscard]] std::int32_t type(const std::string& name) const;
  /// -1 if it has none of that name.
  [[nodiscard]] std::int32_t set(const std::string& name) const;

 private:
  PairModel(PairNet net, PairTable table) : net_(std::move(net)), table_(std::move(table)) {}

  PairNet net_;
  PairTable table_;
};

}  // namespace starling
