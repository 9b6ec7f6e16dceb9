#include "launch/launchers/read_output.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/test_folder.h"

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

TEST_CASE("who reads is led over a rotation, and told where something is gone") {
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
