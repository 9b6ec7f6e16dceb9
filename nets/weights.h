// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// A named array of finite float32, row-major.
struct Tensor {
  std::vector<std::uint32_t> shape;
  std::vector<float> values;  ///< as many as the product of the shape
  [[nodiscard]] static Result<std::size_t> element_count(std::span<const std::uint32_t> shape);
};

/// What a weights file may hold; anything above is refused when it is read and when it is written.
struct WeightsLimits {
  static constexpr std::size_t file_bytes = 256U << 20U;
  static constexpr std::uint32_t tensors = 4096;
  static constexpr std::uint32_t notes = 1024;
  static constexpr std::uint32_t rank = 4;
  static constexpr std::uint32_t name_bytes = 256;
  static constexpr std::uint32_t note_bytes = 64 * 1024;
};

/// A trained network as data: tensors by name, and notes (what it is, how it was trained). Two
/// networks are the same exactly if their hashes are: agents tell it to one another.
struct Weights {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> notes;

  [[nodiscard]] std::uint64_t hash() const;
  /// `not_found` if there is no tensor of that name; `invalid` if its shape is another. A dimension
  /// of 0 in `shape` stands for any.
  [[nodiscard]] Result<const Tensor*> tensor(const std::string& name,
                                             std::span<const std::uint32_t> shape) const;
  [[nodiscard]] std::string note(const std::string& key, const std::string& otherwise = "") const;
};

// The file, little-endian: "STRLNETS", u32 version (1), u32 zero, u64 bytes of the body, u64 hash
// of the body; then the body: u32 notes, each a key and a text; u32 tensors, each a name, u32 rank,
// u32 dimensions, float32 values. A text is u32 bytes and the bytes. Keys and names ascend.

/// `invalid` for anything that could not be read back: a name too long, a value that is not finite.
[[nodiscard]] Result<std::vector<std::byte>> weights_bytes(const Weights& weights);
/// `invalid` says what is wrong with the bytes and where; never reads or allocates beyond them.
[[nodiscard]] Result<Weights> parse_weights(std::span<const std::byte> bytes);

/// Writes beside the file and renames, so that a reader never sees half of it.
[[nodiscard]] Status save_weights(const std::filesystem::path& file, const Weights& weights);
/// As parse_weights, with the file's name; `io` if it cannot be read.
[[nodiscard]] Result<Weights> load_weights(const std::filesystem::path& file);

}  // namespace starling
