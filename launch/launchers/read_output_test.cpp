// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/read_output.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/test_folder.h"
#include "launch/guardian/log_starts.h"

using namespace starling;

namespace {

struct Log {
  TestFolder folder{"output"};
  std::filesystem::path file = folder.path / "job.log", before = folder.path / "job.log.1";
  ReadOutput next;
  void say(const std::string& text) { std::ofstream(file, std::ios::app) << text; }
  void rotate() { std::filesystem::rename(file, before); }
  OutputPage page() {
    OutputPage page = read_output(file, next);
    next.file = page.file, next.offset = page.next;
    return page;
  }
  std::string rest(int* gaps = nullptr) {
    std::string all;
    for (OutputPage p = page();; p = page()) {
      if (p.gap && gaps != nullptr) ++*gaps;
      all += p.bytes;
      if (!p.more) return all;
    }
  }
};

}  // namespace

TEST_CASE("a log is read to its end, and on from there") {
  Log log;
  CHECK_FALSE(log.page().trouble.empty());
  CHECK(log.next.file == 0);
  log.say("one\n");
  const OutputPage first = log.page();
  CHECK(first.bytes == "one\n");
  CHECK(first.trouble.empty());
  CHECK_FALSE(first.more);
  CHECK(log.page().bytes.empty());
  log.say("two\n");
  CHECK(log.page().bytes == "two\n");
}

TEST_CASE("a reader is led over a rotation, and told where something is gone") {
  Log log;
  int gaps = 0;
  log.say("a1 a2 ");
  CHECK(log.page().bytes == "a1 a2 ");
  log.say("a3 ");
  log.rotate();
  log.say("b1 ");
  CHECK(log.rest(&gaps) == "a3 b1 ");
  log.say("b2 ");
  log.rotate();
  log.say("c1 ");
  log.rotate();  // b is gone, with b2
  log.say("d1 ");
  CHECK(gaps == 0);
  CHECK(log.rest(&gaps) == "c1 d1 ");
  CHECK(gaps == 1);
  // From the beginning there is what there is.
  log.next = {};
  CHECK(log.rest(&gaps) == "c1 d1 ");
  CHECK(gaps == 1);
  log.next = {};
  log.next.from_end = 5;
  CHECK(log.rest() == "1 d1 ");
  log.next = {};
  log.next.from_end = 2;
  CHECK(log.rest() == "1 ");
  log.next = {};
  log.next.from_end = 1000;
  CHECK(log.rest() == "c1 d1 ");
  // A disk that does not let it be renamed: it is cut.
  std::filesystem::resize_file(log.file, 0);
  log.say("e");
  CHECK(log.rest(&gaps) == "e");
  CHECK(gaps == 2);
}

TEST_CASE("where a page begins says how much was printed before, and is gone") {
  Log log;
  const auto inode = [](const std::filesystem::path& file) {
    struct stat info {};
    return ::stat(file.c_str(), &info) == 0 ? info.st_ino : 0;
  };
  const auto begins = [](const OutputPage& page) { return page.next - page.bytes.size(); };
  std::uint64_t printed = 0;
  LogStarts starts;
  const auto rotate = [&](const std::string& rest) {
    starts.before = {inode(log.file), printed};
    printed += std::filesystem::file_size(log.file);
    log.rotate();
    log.say(rest);
    starts.newest = {inode(log.file), printed};
  };
  log.say("aaaa");
  CHECK(begins(log.page()) == 0);
  rotate("bbb");
  const OutputPage unsaid = log.page();  // in the moment before FILE.from is written
  CHECK((unsaid.bytes == "bbb" && !unsaid.gap));
  starts.write(log.file);
  log.say("BB");
  log.next = {};
  CHECK(log.page().bytes == "aaaa");
  const OutputPage second = log.page();
  CHECK((second.bytes == "bbbBB" && begins(second) == 4));
  rotate("cc");
  OutputPage third = log.page();  // FILE.from still speaks of the files before
  CHECK((third.bytes == "cc" && begins(third) == 9 && !third.gap));
  starts.write(log.file);
  CHECK((log.page().bytes.empty() && !log.page().gap));
  rotate("dd"), starts.write(log.file);
  rotate("ee"), starts.write(log.file);
  rotate("ff"), starts.write(log.file);  // what was read up to is gone: dd with it
  const OutputPage gap = log.page();
  CHECK((gap.gap && gap.bytes == "ee" && begins(gap) == 13));
  CHECK((log.page().bytes == "ff" && !log.page().more));
  log.next = {};
  const OutputPage first = log.page();
  CHECK((begins(first) == 13 && !first.gap && first.bytes == "ee"));
  log.next = {};
  log.next.from_end = 1;
  CHECK(begins(log.page()) == 16);
}

TEST_CASE("a long log comes in pages") {
  Log log;
  std::string all(3 * OutputPage::kMost + 17, 'x');
  all.back() = '\n';
  log.say(all);
  const OutputPage first = log.page();
  CHECK(first.bytes.size() == OutputPage::kMost);
  CHECK(first.more);
  CHECK(first.bytes + log.rest() == all);
}

TEST_CASE("what is no plain file is not read, and not waited for") {
  Log log;
  SUBCASE("a link") {
    std::ofstream(log.folder.path / "secret") << "secret";
    std::filesystem::create_symlink(log.folder.path / "secret", log.file);
  }
  SUBCASE("a FIFO") { REQUIRE(::mkfifo(log.file.c_str(), 0600) == 0); }
  SUBCASE("a folder") { std::filesystem::create_directory(log.file); }
  const OutputPage page = log.page();
  CHECK(page.bytes.empty());
  CHECK_FALSE(page.trouble.empty());
}
