// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "nets/weights.h"

namespace starling {

Status save_weights(const std::filesystem::path& file, const Weights& weights) {
  const auto bytes = weights_bytes(weights);
  if (!bytes) return Error{bytes.error().code, file.string() + ": " + bytes.error().message};
  std::filesystem::path beside = file;
  beside += ".part";
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.value().data()),
            static_cast<std::streamsize>(bytes.value().size()));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(beside, file, error);
  if (out && !error) return done();
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
  return Error{Errc::io,
               file.string() + ": cannot be written" + (error ? ": " + error.message() : "")};
}

Result<Weights> load_weights(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) return Error{Errc::io, file.string() + ": " + error.message()};
  if (size > WeightsLimits::file_bytes + 32)
    return Error{Errc::invalid, file.string() + ": more than 256 MiB"};
  std::vector<std::byte> bytes(size);
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) return Error{Errc::io, file.string() + ": cannot be read"};
  auto weights = parse_weights(bytes);
  if (!weights) return Error{weights.error().code, file.string() + ": " + weights.error().message};
  return weights;
}

}  // namespace starling
