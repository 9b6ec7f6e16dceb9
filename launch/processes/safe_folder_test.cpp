// SPDX-License-Identifier: Apache-2.0
#include "launch/processes/safe_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/test_folder.h"
#include "launch/processes/shell_word.h"
#include "launch/processes/subprocess.h"

using namespace starling;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kNobody = 65534;

/// What `make` of a folder says: its path without links, or what is wrong.
std::string made(const std::string& path) {
  const Finished ran =
      run_program({"sh", "-c",
                   safe_folder_functions() + ("make " + shell_word(path)) +
                       " || { echo \"$bad\" >&2; exit 1; }; printf %s \"$at$rest\""});
  return ran.ok() ? ran.out : "refused: " + last_words(ran);
}

unsigned mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

}  // namespace

TEST_CASE("a folder is made for its owner alone, and its path has no links") {
  const TestFolder folder("safe");
  const std::string at = fs::canonical(folder.path).string();
  const mode_t before = umask(0);
  CHECK(made(at + "/a b/$(x)/c") == at + "/a b/$(x)/c");
  umask(before);
  CHECK(mode_of(at + "/a b") == 0700);
  CHECK(mode_of(at + "/a b/$(x)/c") == 0700);
  CHECK(made(at + "//a b/.//$(x)/../$(x)/c/") == at + "/a b/$(x)/c");
  fs::create_symlink("a b", at + "/link");
  CHECK(made(at + "/link/d") == at + "/a b/d");
  fs::create_symlink(at + "/loop", at + "/loop");
  CHECK(made(at + "/loop/x").find("too many links") != std::string::npos);
  std::ofstream(at + "/file") << "x";
  CHECK(made(at + "/file/x") == "refused: " + at + "/file is no folder");
}

TEST_CASE("a folder is refused where others could put something else in its place") {
  const TestFolder folder("unsafe");
  const std::string at = fs::canonical(folder.path).string();
  const auto make = [&](const std::string& name, mode_t mode) {
    REQUIRE(mkdir((at + name).c_str(), 0700) == 0);
    REQUIRE(chmod((at + name).c_str(), mode) == 0);
  };
  make("/open", 0777);
  make("/open/mine", 0700);
  CHECK(made(at + "/open").find("others may write to " + at + "/open (drwxrwxrwx)") == 9);
  CHECK(made(at + "/open/mine").find("others may write to") == 9);
  CHECK(made(at + "/open/new").find("others may write to") == 9);
  CHECK_FALSE(fs::exists(at + "/open/new"));
  make("/tmp", 01777);
  CHECK(made(at + "/tmp/mine/f") == at + "/tmp/mine/f");
  CHECK(made(at + "/tmp").find("others may write to") == 9);
  CHECK_FALSE(is_safe_folder(at + "/open/new").ok());
  CHECK(is_safe_folder(at + "/tmp/new").ok());
  CHECK_FALSE(fs::exists(at + "/tmp/new"));
  CHECK(make_safe_folder(at + "/tmp/new").ok());
  CHECK(fs::exists(at + "/tmp/new"));
  // A folder that moved away from under a flock, and one that others made instead.
  const auto guarded = [&](const std::string& path) {
    return run_program({"sh", "-c", where_safe(path, "echo ran")});
  };
  CHECK(guarded(at + "/tmp/mine/f").out == "ran\n");
  CHECK(guarded(at + "/open/mine").out.empty());
  CHECK(guarded(at + "/open/mine").status == 1);
}

TEST_CASE("what another user made first is refused, also behind a link" *
          doctest::skip(getuid() != 0)) {
  const TestFolder folder("foreign");
  const std::string at = fs::canonical(folder.path).string();
  const auto theirs = [](const std::string& path) {
    REQUIRE(lchown(path.c_str(), kNobody, kNobody) == 0);
  };
  fs::create_directories(at + "/tmp");
  REQUIRE(chmod((at + "/tmp").c_str(), 01777) == 0);
  // What the attack did: the folder that is to come, made beforehand and open to all.
  fs::create_directory(at + "/tmp/starling-0-4712");
  REQUIRE(chmod((at + "/tmp/starling-0-4712").c_str(), 0777) == 0);
  theirs(at + "/tmp/starling-0-4712");
  const std::string refused = "refused: " + at + "/tmp/starling-0-4712 belongs to user 65534";
  CHECK(made(at + "/tmp/starling-0-4712/flock/n1").rfind(refused, 0) == 0);
  REQUIRE(chmod((at + "/tmp/starling-0-4712").c_str(), 0755) == 0);
  CHECK(made(at + "/tmp/starling-0-4712/flock/n1").rfind(refused, 0) == 0);
  CHECK(fs::is_empty(at + "/tmp/starling-0-4712"));
  // A link of theirs, to a folder that is sound.
  fs::create_directory(at + "/sound");
  fs::create_symlink(at + "/sound", at + "/tmp/link");
  theirs(at + "/tmp/link");
  CHECK(made(at + "/tmp/link/x").find("/tmp/link belongs to user 65534") != std::string::npos);
  CHECK(fs::is_empty(at + "/sound"));
  // Below a folder of theirs they can put another one in the place of ours.
  CHECK_FALSE(is_safe_folder(at + "/tmp/starling-0-4712").ok());
  CHECK_FALSE(is_safe_folder(at + "/tmp/starling-0-4712/mine").ok());
  fs::create_directory(at + "/tmp/starling-0-4712/mine");
  CHECK_FALSE(is_safe_folder(at + "/tmp/starling-0-4712/mine").ok());
}
