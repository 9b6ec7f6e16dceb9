// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// A published figure and ours.
struct Figure {
  std::string name;  ///< "gpuspec33, FGD: GPUs left"
  std::string unit;  ///< "s"; empty: a plain number
  double published = 0;
  double ours = 0;
  /// By how much of the published figure ours may differ. 0: not in the digits published. None:
  /// reported only.
  std::optional<double> bound;
  int digits = 0;  ///< of both behind the point, as published
};

/// (ours - published) / |published|; 0 if both are equal, also both 0.
[[nodiscard]] double difference(const Figure& figure) noexcept;
/// Is it within its bound? Always, where it has none; never, if ours is no number.
[[nodiscard]] bool holds(const Figure& figure) noexcept;

struct ReproductionReport {
  std::vector<Figure> figures;
  std::vector<std::string> notes;  ///< sentences: what is not as published, and why

  [[nodiscard]] bool holds() const noexcept;  ///< all figures do
};

/// Called now and then; `note` says what is run at present.
using ReproductionProgress =
    std::function<void(std::uint64_t done, std::uint64_t total, const std::string& note)>;

/// One paper's figures, made again from the inputs that were published with them. Deterministic.
struct Reproduction {
  std::string_view name;    ///< "openb-fgd": what `starling reproduce` calls it
  std::string_view title;   ///< what is reproduced, in a line
  std::string_view source;  ///< of the figures: authors, title, venue
  std::string_view inputs;  ///< files that it reads, below the published data folder
  /// `not_found` names a file that `data` lacks, `invalid` what is wrong in one.
  std::function<Result<ReproductionReport>(const std::filesystem::path& data,
                                           const ReproductionProgress& progress)>
      run;
};

/// All that there are, in the order in which they are listed and run.
[[nodiscard]] std::span<const Reproduction> reproductions();

}  // namespace starling
