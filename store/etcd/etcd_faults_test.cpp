// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/rng.h"
#include "store/etcd/etcd_journal.h"
#include "store/etcd/test_etcd.h"
#include "store/journal_battery.h"
#include "store/test_batches.h"

using namespace starling;
using std::chrono::milliseconds;
using Wall = std::chrono::steady_clock;

namespace {

std::unique_ptr<Journal> open_or_fail(const EtcdAddress& flock, const EtcdOptions& options = {}) {
  auto journal = EtcdJournal::open(flock, next_epoch(flock), options);
  if (!journal) FAIL(journal.error().message);
  return std::move(journal).value();
}

std::uint64_t recovered(Journal& journal) {
  const auto records = journal.recover();
  if (!records) FAIL(records.error().message);
  return last_batch(records.value());
}

}  // namespace

TEST_CASE("any member of three may be killed: writes go on, nothing is lost or doubled") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("killed-member");
  const auto journal = open_or_fail(flock);
  std::uint64_t n = recovered(*journal);
  for (std::size_t member = 0; member < TestEtcd::kMembers; ++member) {
    for (int i = 0; i < 20; ++i) REQUIRE(journal->append(batch(++n)).ok());
    etcd->kill(member);
    for (int i = 0; i < 20; ++i) {
      const Status appended = journal->append(batch(++n));
      if (!appended.ok()) FAIL(appended.error().message);
    }
    TestEtcd::get();  // starts it again
  }
  CHECK(recovered(*open_or_fail(flock)) == n);
}

TEST_CASE("two members stand still: writes fail in time, nothing acknowledged is lost or doubled") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("stopped-members");
  std::uint64_t acknowledged = 0;
  for (std::size_t running = 0; running < 2; ++running) {
    const auto journal = open_or_fail(flock, {milliseconds(1000), milliseconds(300)});
    const std::uint64_t found = recovered(*journal);
    CHECK(found >= acknowledged);
    CHECK(found <= acknowledged + 1);
    acknowledged = found;
    for (int i = 0; i < 10; ++i) REQUIRE(journal->append(batch(++acknowledged)).ok());
    for (std::size_t member = 0; member < TestEtcd::kMembers; ++member) {
      if (member != running) etcd->pause(member);
    }
    const auto begin = Wall::now();
    const Status refused = journal->append(batch(acknowledged + 1));
    CHECK(Wall::now() - begin < milliseconds(1500));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Errc::io);
    CHECK(refused.error().message.find("within 1000 ms") != std::string::npos);
    INFO("that is final for this life: it cannot know what it has written");
    CHECK(journal->append(batch(acknowledged + 2)).error().code == Errc::io);
    for (std::size_t member = 0; member < TestEtcd::kMembers; ++member) {
      if (member != running) etcd->resume(member);
    }
  }
  const auto journal = open_or_fail(flock);
  const std::uint64_t found = recovered(*journal);
  CHECK(found >= acknowledged);
  CHECK(found <= acknowledged + 1);
  REQUIRE(journal->append(batch(found + 1)).ok());
}

TEST_CASE("members stand still in turn: what was sent to them and comes late does nothing") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("late-requests");
  std::uint64_t n = 0;
  {
    // The request to a paused member is given up and sent to the next one; when the member goes on
    // it acts on what lies in its socket.
    const auto journal = open_or_fail(flock, {milliseconds(6000), milliseconds(150)});
    n = recovered(*journal);
    for (int round = 0; round < 4; ++round) {
      const std::size_t member = static_cast<std::size_t>(round) % TestEtcd::kMembers;
      etcd->pause(member);
      for (int i = 0; i < 5; ++i) {
        const Status appended = journal->append(batch(++n));
        if (!appended.ok()) FAIL(appended.error().message);
      }
      etcd->resume(member);
      for (int i = 0; i < 5; ++i) REQUIRE(journal->append(batch(++n)).ok());
    }
  }
  CHECK(recovered(*open_or_fail(flock)) == n);
}

TEST_CASE("a writer killed at any moment: everything acknowledged is there, whole batches only") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("killed-writer");
  Rng rng(5);
  std::uint64_t durable = 0;
  std::uint64_t lives_that_wrote = 0;
  for (int round = 0; round < 5; ++round) {
    int pipe_ends[2];
    REQUIRE(::pipe2(pipe_ends, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto journal = EtcdJournal::open(flock, next_epoch(flock));
      if (!journal || !journal.value()->recover()) ::_exit(2);
      for (std::uint64_t n = durable + 1;; ++n) {
        if (!journal.value()->append(batch(n)).ok()) ::_exit(3);
        if (::write(pipe_ends[1], &n, sizeof n) != sizeof n) ::_exit(4);
      }
    }
    ::close(pipe_ends[1]);
    std::uint64_t acknowledged = durable;
    std::uint64_t next = 0;
    if (::read(pipe_ends[0], &next, sizeof next) == sizeof next) acknowledged = next;
    ::usleep(rng.below(60'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    while (::read(pipe_ends[0], &next, sizeof next) == sizeof next) acknowledged = next;
    ::close(pipe_ends[0]);
    if (acknowledged > durable) ++lives_that_wrote;
    durable = recovered(*open_or_fail(flock));
    CHECK(durable >= acknowledged);
    CHECK(durable <= acknowledged + 1);
  }
  CHECK(lives_that_wrote == 5);
}
