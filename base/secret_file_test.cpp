// SPDX-License-Identifier: Apache-2.0
#include "base/secret_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/test_folder.h"

using namespace starling;

TEST_CASE("a secret is read from a file that no other user can read or exchange") {
  const TestFolder folder("secret");
  const auto file = folder.path / "password";
  std::ofstream(file) << "open sesame\n";
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  CHECK(read_secret(file).value() == "open sesame\n");

  const auto refused = [&](const std::filesystem::path& path, const char* why) {
    const auto text = read_secret(path);
    REQUIRE_FALSE(text.ok());
    CHECK(text.error().code == Errc::invalid);
    CHECK(text.error().message.find(why) != std::string::npos);
    CHECK(text.error().message.find("sesame") == std::string::npos);
  };
  refused(folder.path / "nothing", "No such file");
  refused(folder.path, "is no file");
  std::filesystem::create_symlink(file, folder.path / "link");
  refused(folder.path / "link", "is a link");
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  refused(folder.path / "pipe", "is no file");
  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  refused(file, "run chmod 600 on it");
}
