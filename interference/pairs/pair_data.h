// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/learned/pair_table.h"

namespace starling {

/// No pair is slower, relative to a job alone: smaller figures are no measurements.
inline constexpr double kSlowest = 0.01;

/// Measured: speed of `victim` beside `other`, as a part of its speed alone.
struct PairRow {
  std::uint32_t set = 0, victim = 0, other = 0;
  float speed = 0;
  bool at_least = false;   ///< clipped there: it is this or more
  std::uint32_t pair = 0;  ///< both directions of one measurement have the same
};

/// Did two jobs run on one GPU at all?
struct PairFit {
  std::uint32_t set = 0, one = 0, other = 0;
  bool ran = true;
};

enum class PairSource : std::uint8_t { gavel, lucid, deepshare };
[[nodiscard]] const char* to_string(PairSource source) noexcept;

/// A published file of co-locations. A set is a part whose measurements belong together: campaign
/// and GPU type, or the whole file.
struct PairData {
  PairSource source = PairSource::gavel;
  std::vector<std::string> sets;
  std::vector<PairType> types;
  std::vector<PairRow> rows;
  std::vector<PairFit> fits;  ///< Gavel alone
  std::uint32_t pairs = 0;
  std::uint32_t left_out = 0;  ///< rows without a measured speed: infeasible, masked, extrapolated

  /// Index by name, added if new.
  std::uint32_t set_of(const std::string& name);
  std::uint32_t type_of(const std::string& name);

 private:
  std::map<std::string, std::uint32_t> set_index_, type_index_;
};

/// Tells by its columns whose file it is: gavel/colocated.csv, lucid/colocate.csv or
/// deepshare/network_contention.csv. Gavel's types have their catalogue profile; those of the
/// others lie in files of their own, see read_profiles. `invalid` names file, line and column.
[[nodiscard]] Result<PairData> read_pairs(const std::filesystem::path& file);

/// Profiles alone: lucid/single.csv or deepshare/isolated.csv. Adds types that have no pairs.
[[nodiscard]] Status read_profiles(const std::filesystem::path& file, PairData& data);

/// The table of its types. A type without a profile gets the mean of the others.
[[nodiscard]] PairTable pair_table(const PairData& data);

}  // namespace starling
