#include <doctest/doctest.h>

#include "launch/hosts/build_id.h"
#include "launch/hosts/keeper.h"
#include "launch/hosts/reach.h"
#include "launch/hosts/remote.h"
#include "launch/hosts/subprocess.h"

using namespace starling;

TEST_CASE("a program's outputs and end come back; one that takes too long is killed") {
  const Finished ran = run_program({"sh", "-c", "echo out; echo one >&2; echo two >&2; exit 3"});
  CHECK(ran.status == 3);
  CHECK(ran.out == "out\n");
  CHECK(last_words(ran) == "two");
  CHECK_FALSE(ran.ok());
  CHECK(run_program({"true"}).ok());
  const Finished none = run_program({"no-such-program"});
  CHECK(none.status == 127);
  CHECK(last_words(none) == "no-such-program: No such file or directory");
  ProgramOptions options;
  options.timeout = std::chrono::milliseconds(100);
  const Finished slow = run_program({"sleep", "20"}, options);
  CHECK(slow.late);
  CHECK(slow.status == -9);
  CHECK(run_program({"sh", "-c", "head -c 3000000 /dev/zero"}).out.size() >= 1U << 20U);
}

TEST_CASE(
    "lines of a program come as it writes them; its input ends when they are wanted no more") {
  std::vector<std::string> lines;
  const Finished ended = follow_program(
      {"sh", "-c", "echo a; echo b; cat; exit 4"},
      [&](const std::string& line) { lines.push_back(line); }, [&] { return lines.size() < 2; });
  CHECK(lines == std::vector<std::string>{"a", "b"});
  CHECK(ended.status == 4);
  CHECK_FALSE(ended.late);
}

TEST_CASE("words are quoted for a shell, whatever is in them") {
  for (const std::string word : {"", "a b", "it's", "$(x)`y`\"", "\\"}) {
    CHECK(run_program({"sh", "-c", "printf %s " + shell_word(word)}).out == word);
  }
}

TEST_CASE("ssh asks for nothing and takes what the hosts file says") {
  const Remote remote(Way::ssh);
  const Host host{"h", "10.0.0.1", "front", "me", 2222, "id", "known", "/d", "", {}};
  std::string all;
  for (const std::string& word : remote.argv(host, "true", false)) all += word + " ";
  for (const char* part : {"BatchMode=yes", "UserKnownHostsFile=known", "-i id", "-p 2222", "-l me",
                           "ControlPath=none", "front -- true "}) {
    CHECK_MESSAGE(all.find(part) != std::string::npos, all);
  }
}

TEST_CASE("a host's status survives its line") {
  HostStatus status{"h1", "f", 12, 3.5, true, {{"agent-0", true, 2, "was \"killed\"\n"}}};
  const std::string line = to_json_line(status);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(host_status_from(line).value() == status);
  CHECK(host_status_from("{}").error().code == Errc::invalid);
}

TEST_CASE("programs fit that speak one protocol, and what differs is said") {
  const BuildId here = own_build();
  CHECK(here.build.size() == 16);
  BuildId there = here;
  there.build = "0";
  CHECK(fits("h", there, here).value().empty());
  there.version = "0.0.1";
  CHECK(fits("h", there, here).value().starts_with("h: the program there is version 0.0.1, "));
  there.protocol = kNewestProtocol - 1;  // the previous one
  CHECK(fits("h", there, here).value().ends_with("; they speak protocol 1 with one another"));
  there.protocol = there.oldest = kNewestProtocol + 1;
  CHECK(fits("h", there, here).error().message.find("protocol 3, here it is") != std::string::npos);
  CHECK(fits("h", there, here).error().code == Errc::unsupported);
  there.oldest = kNewestProtocol;  // the next one
  CHECK(fits("h", there, here).value().ends_with("; they speak protocol 2 with one another"));
  there.protocol = 0;
  CHECK(fits("h", there, here).error().code == Errc::unsupported);
}

TEST_CASE("what cannot be reached is named") {
  CHECK(reach_all({"127.0.0.1:1"})
            .error()
            .message.starts_with("cannot reach 127.0.0.1:1: Connection refused"));
  CHECK(reach_all({"nonsense"}).error().code == Errc::invalid);
  CHECK(reach_all({}).ok());
}
