// SPDX-License-Identifier: Apache-2.0
#include "launch/system/plain_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/test_folder.h"
#include "launch/system/files.h"

using namespace starling;
namespace fs = std::filesystem;

TEST_CASE("what stands in a plain file's place holds no process up, and is not read") {
  const TestFolder folder("files");
  const fs::path file = folder.path / "flock.json";
  CHECK(read_plain(file).error().code == Errc::not_found);
  const std::string text(40000, 'x');
  REQUIRE(write_text(file, text).ok());
  CHECK(read_plain(file).value() == text);
  fs::create_symlink(file, folder.path / "link");
  CHECK(read_plain(folder.path / "link").value() == text);
  fs::remove(file);
  SUBCASE("a FIFO without a writer") { REQUIRE(::mkfifo(file.c_str(), 0600) == 0); }
  SUBCASE("a folder") { fs::create_directory(file); }
  SUBCASE("a device without end") { fs::create_symlink("/dev/zero", file); }
  SUBCASE("more than was ever written") {
    REQUIRE(write_text(file, "x").ok());
    fs::resize_file(file, 5ULL << 30U);
  }
  const auto read = read_plain(file);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().code == Errc::io);
  CHECK(read.error().message.find("no plain file of at most 64 MiB") != std::string::npos);
}
