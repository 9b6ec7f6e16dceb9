// SPDX-License-Identifier: Apache-2.0
// Jobs of other users, as root starts them. A test that is not run by root cannot, and says so.
#include "launch/launchers/job_login.h"

#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "base/login_name.h"
#include "launch/launchers/test_process_rig.h"

using namespace starling;

namespace {

constexpr const char* kUser = "nobody";  // every system has it

LaunchSpec of_user(LaunchSpec launch, const std::string& user) {
  launch.spec.user = user;
  launch.spec.as_user = true;
  return launch;
}
bool can_change() {
  if (::geteuid() == 0 && ::getpwnam(kUser) != nullptr) return true;
  MESSAGE("not root, or no user nobody: nothing is shown here");
  return false;
}

}  // namespace

TEST_CASE("our own jobs, and those of users that were not proven, run as we do") {
  JobSpec own;
  own.user = login_name(), own.as_user = true;
  CHECK(!login_for(own).value());
  own.user = "whatever it says", own.as_user = false;
  CHECK(!login_for(own).value());
}

TEST_CASE("a user that is not known here, or cannot be become, is named with the host") {
  JobSpec spec;
  spec.user = "no-such-user-here", spec.as_user = true;
  const auto none = login_for(spec);
  REQUIRE(!none.ok());
  CHECK(none.error().code == Errc::invalid);
  char host[256] = "";
  REQUIRE(::gethostname(host, sizeof host - 1) == 0);
  CHECK(none.error().message.find("'no-such-user-here'") != std::string::npos);
  CHECK(none.error().message.find(host) != std::string::npos);
  CHECK((none.error().message.find("there is no user") == 0) == (::geteuid() == 0));
}

TEST_CASE("a job of another user has that user's rights, home and groups, and no others") {
  if (!can_change()) return;
  const passwd account = *::getpwnam(kUser);
  ProcessRig r;
  // sudo's and su's old trouble: a program that opens its standard output anew.
  const Exit ids = r.run(of_user(
      shell(1,
            "id -u; id -ru; id -g; id -G; echo $USER $LOGNAME $HOME; umask; echo on >/dev/stdout"),
      kUser));
  CHECK(ids.exit.code == 0);
  const std::string uid = std::to_string(account.pw_uid), gid = std::to_string(account.pw_gid);
  const std::string home = account.pw_dir;
  CHECK(ids.exit.log_tail == uid + "\n" + uid + "\n" + gid + "\n" + gid + "\n" + kUser + " " +
                                 kUser + " " + home + "\n0077\non\n");
  const Exit back = r.run(of_user(
      spec(2, 0, {"python3", "-c", "import os\ntry: os.setuid(0)\nexcept OSError: print('kept')"}),
      kUser));
  CHECK(back.exit.log_tail == "kept\n");
}

TEST_CASE("a job of another user cannot read what is ours, nor end its guardian") {
  if (!can_change()) return;
  ProcessRig r;
  const std::filesystem::path secret = r.folder.path / "secret";
  std::ofstream(secret) << "key";
  ::chmod(r.folder.path.c_str(), 0755);
  ::chmod(secret.c_str(), 0600);
  const std::string script = "cat " + secret.string() + "; ls " + r.options.parts.string() +
                             "; kill -9 $PPID; cat /proc/$PPID/environ; echo over";
  const Exit tried = r.run(of_user(shell(1, script), kUser));
  CHECK(tried.exit.code == 0);
  CHECK(!tried.exit.lost);
  CHECK(tried.exit.log_tail.find("key") == std::string::npos);
  CHECK(tried.exit.log_tail.find("over\n") != std::string::npos);
  std::size_t denied = 0;
  for (std::size_t at = 0; (at = tried.exit.log_tail.find("ermi", at)) != std::string::npos; ++at)
    ++denied;
  CHECK(denied >= 3);  // "Permission denied", "Operation not permitted"
}

TEST_CASE("a part of another user dies as ours do, whatever it does") {
  if (!can_change()) return;
  for (const bool guarded : {true, false}) {
    ProcessRig r(guarded);  // without cgroups, too
    ::chmod(r.folder.path.c_str(), 0755);
    const LaunchSpec stubborn = of_user(
        shell(1,
              "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & "
              "while :; do sleep 1; done"),
        kUser);
    REQUIRE(r.launcher->start(stubborn).ok());
    const std::string pid = r.hear(stubborn);
    CHECK(alive(pid));
    if (!guarded) ::kill(r.guardian_of(stubborn), SIGKILL);
    r.launcher->stop(stubborn.attempt, 10ms);
    const Exit end = r.end();
    CHECK(end.exit.lost == !guarded);
    CHECK_FALSE(alive(pid));
  }
}

TEST_CASE("a job of another user tells its steps, and its place for them goes with it") {
  if (!can_change()) return;
  ProcessRig r;
  const LaunchSpec steps = of_user(
      shell(1, "echo 123 4.5 >\"$STARLING_STEPS\"; echo $STARLING_STEPS; exec sleep 100"), kUser);
  REQUIRE(r.launcher->start(steps).ok());
  std::string file = r.hear(steps);
  file.pop_back();
  CHECK(file.find("/tmp/starling-steps-") == 0);
  const uid_t owner = ::getpwnam(kUser)->pw_uid;
  CHECK(soon([&] { return read_steps(file, owner).has_value(); }));
  CHECK(read_steps(file, owner)->steps == 123);
  CHECK_FALSE(read_steps(file).has_value());
  r.open();  // the next life takes it up
  r.launcher->adopt(std::vector{steps});
  r.launcher->stop(steps.attempt, Duration{0});
  (void)r.end();
  CHECK_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path().parent_path()));
}

TEST_CASE(
    "a job with as many processes as it may have is to blame itself, and no machine is bad for "
    "it") {
  if (!can_change()) return;
  ProcessRig r;
  pid_t others[2];  // the kernel lets the first one more in
  for (pid_t& other : others) {
    other = ::fork();
    if (other == 0) {
      if (::setuid(::getpwnam(kUser)->pw_uid) == 0) ::pause();
      ::_exit(1);
    }
  }
  ::usleep(100'000);
  rlimit before{};
  ::getrlimit(RLIMIT_NPROC, &before);
  const rlimit one{1, before.rlim_max};
  ::setrlimit(RLIMIT_NPROC, &one);
  const Exit refused = r.run(of_user(shell(1, "true"), kUser));
  ::setrlimit(RLIMIT_NPROC, &before);
  for (const pid_t other : others) {
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
  }
  CHECK(refused.exit.code == 126);
  CHECK_FALSE(refused.exit.lost);
  CHECK(refused.exit.log_tail.find("as many processes as it may") != std::string::npos);
  CHECK(r.launcher->health_news() == std::nullopt);
}

TEST_CASE("the folder of a job is entered with its user's rights") {
  if (!can_change()) return;
  ProcessRig r;
  const std::filesystem::path closed = r.folder.path / "closed";
  std::filesystem::create_directory(closed);
  ::chmod(r.folder.path.c_str(), 0755);
  ::chmod(closed.c_str(), 0700);
  LaunchSpec inside = of_user(shell(1, "echo in"), kUser);
  inside.spec.environment = {"PWD=" + closed.string()};
  const Exit out = r.run(inside);
  CHECK(out.exit.code == 126);
  CHECK(out.exit.log_tail.find("it may not be entered") != std::string::npos);
}
