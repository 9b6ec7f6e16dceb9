// SPDX-License-Identifier: Apache-2.0
#include "workload/text/text_file.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace starling {
namespace {

Error io_error(const std::filesystem::path& file, const std::string& what) {
  return {Errc::io, file.string() + ": " + what};
}

std::string os_reason() { return errno == 0 ? "cannot be read" : std::strerror(errno); }

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& file, std::size_t max_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    return io_error(file, "is a folder, not a file");
  errno = 0;
  const gzFile in = gzopen(file.c_str(), "rb");
  if (in == nullptr) return io_error(file, os_reason());
  gzbuffer(in, 1U << 17U);
  std::string text;
  constexpr std::size_t chunk = std::size_t{1} << 20U;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + chunk);
    const int got = gzread(in, text.data() + before, static_cast<unsigned>(chunk));
    if (got < 0) {
      int code = Z_OK;
      const std::string reason = gzerror(in, &code);
      const std::string why = code == Z_ERRNO ? os_reason() : "is damaged gzip: " + reason;
      gzclose(in);
      return io_error(file, why);
    }
    text.resize(before + static_cast<std::size_t>(got));
    if (text.size() > max_bytes) {
      gzclose(in);
      return io_error(file, "holds more than " + std::to_string(max_bytes) + " bytes of text");
    }
    if (got == 0) break;
  }
  // zlib tells a cut stream only here.
  if (gzclose(in) == Z_BUF_ERROR) return io_error(file, "is gzip that was cut short");
  return text;
}

Status write_text_file(const std::filesystem::path& file, std::string_view text) {
  errno = 0;
  // "T": transparent, no compression; one code path for both.
  const gzFile out = gzopen(file.c_str(), file.extension() == ".gz" ? "wb6" : "wbT");
  if (out == nullptr)
    return io_error(file, errno == 0 ? "cannot be written" : std::strerror(errno));
  constexpr std::size_t chunk = std::size_t{1} << 20U;
  bool good = true;
  while (good && !text.empty()) {
    const std::string_view part = text.substr(0, chunk);
    good = gzwrite(out, part.data(), static_cast<unsigned>(part.size())) ==
           static_cast<int>(part.size());
    text.remove_prefix(part.size());
  }
  good = gzclose(out) == Z_OK && good;
  if (!good) return io_error(file, errno == 0 ? "cannot be written" : std::strerror(errno));
  return done();
}

}  // namespace starling
