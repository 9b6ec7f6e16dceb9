// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/own_cgroup.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "launch/guardian/part_cgroup.h"

// The kernel's own cgroups (v2): as root, in a mount namespace of the test's.

namespace starling {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
bool put(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  return static_cast<bool>(out.flush());
}

/// What `check` says is wrong, run by a process alone in a cgroup of its own whose folder it is
/// given: empty if nothing is. Nothing where no such cgroup can be had, with a message.
std::string in_a_cgroup(const std::function<std::string(const fs::path&)>& check) {
  const TestFolder folder("own-cgroup");
  fs::create_directory(folder.path / "v2");
  const fs::path told = folder.path / "told";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto end = [&](const std::string& text) {
      put(told, text);
      ::_exit(0);
    };
    const fs::path at = folder.path / "v2";
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
      end("skipped: no mount namespace can be had; root is needed");
    if (::mount("cgroup2", at.c_str(), "cgroup2", 0, nullptr) != 0)
      end("skipped: no cgroup (v2) can be mounted");
    for (const char* controller : {"+cpu", "+memory"})
      (void)put(at / "cgroup.subtree_control", controller);
    const fs::path made = at / ("starling-test-" + std::to_string(::getpid()));
    if (::mkdir(made.c_str(), 0755) != 0 || !put(made / "cgroup.procs", "0"))
      end("skipped: no cgroup can be made in the root of cgroup (v2)");
    const fs::path own = own_cgroup();  // the same, perhaps by an earlier mount
    const std::string wrong = check(own);
    put(at / "cgroup.procs", "0");
    std::vector<fs::path> inner;
    for (const auto& entry : fs::directory_iterator(own))
      if (entry.is_directory()) inner.push_back(entry.path());
    for (const fs::path& one : inner) ::rmdir(one.c_str());
    const bool removed = ::rmdir(own.c_str()) == 0;
    end(wrong.empty() && !removed ? "its cgroup is not empty in the end" : wrong);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  std::string said = content(told);
  if (!said.starts_with("skipped")) return said;
  MESSAGE(said);
  return {};
}

bool delegate(const fs::path& cgroup) {
  return ::setxattr(cgroup.c_str(), "trusted.delegate", "1", 1, 0) == 0;
}

/// A child in the part's cgroup that runs `work`.
pid_t start_in(const PartCgroup& part, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (::write(part.door(), "0", 1) == 1) work();
  ::_exit(3);
}
bool soon(const std::function<bool()>& true_now) {
  for (int i = 0; i < 2000; ++i) {
    if (true_now()) return true;
    ::usleep(5000);
  }
  return false;
}

TEST_CASE("a cgroup that was given to be divided up is left, another one is not") {
  CHECK(in_a_cgroup([](const fs::path& own) -> std::string {
          leave_delegated_cgroup();
          if (own_cgroup() != own) return "it left a cgroup that is not delegated";
          if (cgroup_of_jobs() != own) return "jobs go elsewhere";
          if (!delegate(own)) return "no attribute";
          leave_delegated_cgroup();
          if (own_cgroup() != (own / "daemons").string()) return "it is in " + own_cgroup();
          if (cgroup_of_jobs() != own) return "jobs go to " + cgroup_of_jobs();
          if (PartCgroup::base() != own) return "parts go to " + PartCgroup::base();
          leave_delegated_cgroup();
          if (own_cgroup() != (own / "daemons").string()) return "the second time: " + own_cgroup();
          return {};
        }) == "");
}

TEST_CASE("the kernel kills a part as a whole and says when no process is left") {
  CHECK(in_a_cgroup([](const fs::path& own) -> std::string {
          PartCgroup part;
          if (!part.make(own / "part")) return "no cgroup";
          if (part.populated()) return "an empty one is populated";
          const pid_t child = start_in(part, [] {
            for (int i = 0; i < 5; ++i) {
              if (::fork() != 0) continue;
              ::setsid();  // each forks and ends, so that none can be followed
              for (;;) {
                if (::fork() != 0) ::_exit(0);
                ::usleep(200);
              }
            }
            ::pause();
          });
          if (!soon([&] { return part.populated(); })) return "it is not populated";
          ::usleep(50'000);
          part.kill();
          if (!soon([&] { return !part.populated(); })) return "a process is left";
          int status = 0;
          ::waitpid(child, &status, 0);
          if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) return "it was not killed";
          part.remove();
          return fs::exists(own / "part") ? "it is not removed" : "";
        }) == "");
}

TEST_CASE("the kernel holds a part to its memory, also when controllers come back") {
  CHECK(in_a_cgroup([](const fs::path& own) -> std::string {
          if (content(own / "cgroup.controllers").find("memory") == std::string::npos) {
            std::fprintf(stderr, "skipped: no controllers here, cgroup v1 has them, or none has\n");
            return {};
          }
          const fs::path folder = own / "part";
          if (PartCgroup::limit(folder, {0.5, 1.0 / 32}).memory)
            return "controllers in a cgroup that has processes?";
          PartCgroup without;
          if (!without.make(folder)) return "no cgroup without controllers";
          const pid_t paused = start_in(without, [] { ::pause(); });
          if (!soon([&] { return without.populated(); })) return "no process can get into it";
          without.kill();
          ::waitpid(paused, nullptr, 0);
          without.remove();
          if (!delegate(own)) return "no attribute";
          leave_delegated_cgroup();
          const auto got = PartCgroup::limit(folder, {0.5, 1.0 / 32});
          if (!got.cpus || !got.memory) return "no limits";
          PartCgroup part;
          if (!part.make(folder)) return "no cgroup";
          const auto greedy = [&] {
            return start_in(part, [] {
              for (std::string all;;) all.append(1U << 20U, 'x');
            });
          };
          int status = 0;
          ::waitpid(greedy(), &status, 0);
          if (!WIFSIGNALED(status)) return "it may use any memory";
          if (part.killed_for_memory() == 0) return "and it is not said";
          if (!put(own / "cgroup.subtree_control", "-cpu -memory")) return "not taken away";
          if (fs::exists(folder / "memory.max")) return "the controllers are still there";
          if (PartCgroup::limit(own / "none", {1, 1}, false).memory || fs::exists(own / "none"))
            return "one that is not there was made";
          if (!PartCgroup::limit(folder, {0.5, 1.0 / 32}, false).memory) return "not given back";
          ::waitpid(greedy(), &status, 0);
          if (!WIFSIGNALED(status)) return "later it may use any memory";
          if (part.killed_for_memory() == 0) return "later it is not said";
          part.remove();
          return fs::exists(folder) ? "it is not removed" : "";
        }) == "");
}

}  // namespace
}  // namespace starling
