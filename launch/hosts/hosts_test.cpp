// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "launch/hosts/build_id.h"
#include "launch/hosts/host_flock.h"
#include "launch/hosts/keeper.h"
#include "launch/hosts/reach.h"
#include "launch/processes/shell_word.h"
#include "launch/processes/subprocess.h"
#include "launch/remote/remote.h"

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

namespace {

/// While it lives, ssh runs its command here, and tar takes its time for the host `slow`.
struct HostsHere {
  explicit HostsHere(const std::filesystem::path& bin) {
    std::filesystem::create_directories(bin);
    std::ofstream(bin / "ssh") << "#!/bin/sh\nfor word; do :; done\nexec sh -c \"$word\"\n";
    std::ofstream(bin / "tar") << "#!/bin/sh\ncase \"$*\" in */copy-slow/*) sleep 1 ;; esac\n"
                                  "PATH=${PATH#*:}\nexec tar \"$@\"\n";
    for (const char* program : {"ssh", "tar"})
      std::filesystem::permissions(bin / program, std::filesystem::perms::owner_all);
    setenv("PATH", (bin.string() + ":" + path).c_str(), 1);
  }
  ~HostsHere() { setenv("PATH", path.c_str(), 1); }
  HostsHere(const HostsHere&) = delete;
  HostsHere& operator=(const HostsHere&) = delete;
  std::string path = std::getenv("PATH");
};

}  // namespace

TEST_CASE("of a host's directory goes what Starling made there, and the rest is told") {
  TestFolder folder("removal");
  const std::filesystem::path dir = folder.path / "h";
  const HostsHere here(folder.path / "bin");
  HostFlock flock;
  flock.id = "12ab";
  Host host;
  host.name = host.ssh = "h";
  host.directory = dir.string();
  flock.hosts.push_back(host);
  const std::string part = "67124d9c5d2abb360297731fdf81b211.1.2.1.s0", node = "nodes/executor-0/";
  const auto put = [&](const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      std::filesystem::create_directories((dir / file).parent_path());
      std::ofstream(dir / file) << "12ab\n";
    }
  };
  put({"flock-id", "own-folder", "node.json", "node.log", "deployment.json", "flock.json.new",
       "bin/starling", "keeper/in-use", "servers/2.yaml", "etcd/ca.pem", node + "config.json",
       node + "state/journal.db", node + "state/before-loss-1/journal.db",
       node + "jobs/" + part + ".log.1", node + "parts/" + part + "/plan",
       node + "gpu-locks/gpu-0.0"});
  std::vector<std::string> left;
  SUBCASE("all of it, and links, not what they lead to") {
    std::filesystem::create_directories(folder.path / "data");
    std::ofstream(folder.path / "data" / "in-use") << "mine\n";
    std::filesystem::create_directory_symlink(folder.path / "data", dir / node / "sessions");
    CHECK(remove_hosts(flock, Remote(Way::ssh), left).empty());
    CHECK(left.empty());
    CHECK_FALSE(std::filesystem::exists(dir));
    CHECK(std::filesystem::exists(folder.path / "data" / "in-use"));
  }
  SUBCASE("but for what is a user's") {
    const std::vector<std::string> mine{
        "bin/tool",           "etcd/notes",        "flock.json/a b",
        node + "jobs/mine/x", node + "jobs/x.log", node + "parts/x/plan",
        node + "state/notes", "nodes/mine/log",    "servers/3.yaml.orig",
        "data/deep/x"};
    put(mine);
    CHECK(remove_hosts(flock, Remote(Way::ssh), left).empty());
    REQUIRE(left.size() == 1);
    CHECK(left[0] == "h: left in " + dir.string() +
                         ", because it is not Starling's: bin/tool data etcd/notes flock.json " +
                         node + "jobs/mine " + node + "jobs/x.log " + node + "parts/x " + node +
                         "state/notes nodes/mine servers/3.yaml.orig");
    for (const std::string& file : mine) CHECK_MESSAGE(std::filesystem::exists(dir / file), file);
    const auto files = std::filesystem::recursive_directory_iterator(dir);
    CHECK(std::count_if(begin(files), end(files), [](const auto& entry) {
            return entry.is_regular_file();
          }) == static_cast<std::ptrdiff_t>(mine.size()));
  }
  SUBCASE("nothing of another flock") {
    flock.id = "34cd";
    CHECK(remove_hosts(flock, Remote(Way::ssh), left).size() == 1);
    CHECK(std::filesystem::exists(dir / "bin" / "starling"));
  }
}

TEST_CASE("files are copied to hosts at once, one of them slowly, and nothing is left") {
  TestFolder folder("copies");
  const std::filesystem::path dir = folder.path;
  const HostsHere here(dir / "bin");
  HostFlock flock;
  flock.dir = dir / "flock";
  std::filesystem::create_directories(flock.dir);
  std::ofstream(flock.dir / "file") << "text\n";
  for (const char* name : {"slow", "quick"}) {
    Host host;
    host.name = host.ssh = name;
    host.directory = (dir / name).string();
    std::filesystem::create_directories(host.directory);
    flock.hosts.push_back(host);
  }
  std::vector<Status> copied(flock.hosts.size(), done());
  const Remote remote(Way::ssh);
  for_each_at_once(flock.hosts.size(), [&](std::size_t i) {
    copied[i] = copy_files(flock, remote, flock.hosts[i], {"file"});
  });
  for (std::size_t i = 0; i < copied.size(); ++i) {
    CHECK_MESSAGE(copied[i].ok(), (copied[i].ok() ? "" : copied[i].error().message));
    CHECK(std::filesystem::exists(std::filesystem::path(flock.hosts[i].directory) / "file"));
  }
  CHECK(std::distance(std::filesystem::directory_iterator(flock.dir), {}) == 1);
}

TEST_CASE("a host's status survives its line") {
  HostStatus status{"h1", "f", 12, 3.5, true, {{"agent-0", true, 2, "was \"killed\"\n"}}};
  status.daemons.push_back({"executor-1", false, 7, "ended", true, "ended; tried again"});
  status.hardware = {"executor-0: GPU 1 of h1 is not used: XID 79"};
  const std::string line = to_json_line(status);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(host_status_from(line).value() == status);
  CHECK(host_status_from("{}").error().code == Errc::invalid);
}

TEST_CASE("a daemon that is up again is not said to be down") {
  HostStatus status{"h1", "f", 12, 3.5, false, {}};
  status.daemons.push_back({"agent-0", false, 3, "", true, "killed; tried again in 2 s"});
  status.daemons.push_back({"executor-0", true, 3, "", true, "killed; up again"});
  status.daemons.push_back({"executor-1", true, 0});
  status.daemons.push_back({"executor-2", true, 3, "", true, "refused; being tried again"});
  status.hardware = {"executor-1: GPU 1 of h1 is not used: XID 79"};
  CHECK(status.troubles() ==
        std::vector<std::string>{"agent-0 is down: killed; tried again in 2 s",
                                 "executor-0 was down: killed; up again",
                                 "executor-2 is down: refused; being tried again",
                                 "executor-1: GPU 1 of h1 is not used: XID 79"});
}

TEST_CASE("programs fit that speak one protocol, and what differs is said") {
  const BuildId here = own_build();
  const auto speak = [](int protocol) {
    return "; they speak protocol " + std::to_string(protocol) + " with one another";
  };
  CHECK(here.build.size() == 16);
  BuildId there = here;
  there.build = "0";
  CHECK(fits("h", there, here).value().empty());
  there.version = "0.0.1";
  CHECK(fits("h", there, here).value().starts_with("h: the program there is version 0.0.1, "));
  there.protocol = kNewestProtocol - 1;  // the previous one
  CHECK(fits("h", there, here).value().ends_with(speak(kNewestProtocol - 1)));
  there.protocol = there.oldest = kNewestProtocol + 1;
  CHECK(fits("h", there, here)
            .error()
            .message.find("protocol " + std::to_string(kNewestProtocol + 1) + ", here it is") !=
        std::string::npos);
  CHECK(fits("h", there, here).error().code == Errc::unsupported);
  there.oldest = kNewestProtocol;  // the next one
  CHECK(fits("h", there, here).value().ends_with(speak(kNewestProtocol)));
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
