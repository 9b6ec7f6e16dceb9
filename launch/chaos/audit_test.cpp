// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/audit.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "launch/chaos/job.h"

using namespace starling;
using namespace starling::chaos_live;

// Each case is one way in which a flock may break its promise; the first is one that keeps it.
namespace {

const JobId kJob{1, 7};
const std::string kName = to_string(kJob), kFirst = kName + "/1/1.1", kSecond = kName + "/1/1.2";

struct Fixture {
  Fixture()
      : file(std::filesystem::temp_directory_path() / ("records-" + std::to_string(getpid()))) {
    std::filesystem::remove(file);
    audit.emplace(file, std::filesystem::path(), 100.0);
    audit->submitted(100, kJob, false);
  }
  ~Fixture() { std::filesystem::remove(file); }
  void line(const std::string& what, double at, const std::string& attempt, int rank,
            const std::string& rest = "") {
    std::ofstream(file, std::ios::app) << what << ' ' << at << ' ' << kName << ' ' << attempt << ' '
                                       << rank << " 2 3 0,1 4711" << rest << '\n';
  }
  void gang(const std::string& attempt, double from, double until) {
    for (const int rank : {0, 1}) line("start", from, attempt, rank);
    for (const int rank : {0, 1}) line("end", until, attempt, rank);
  }
  static JobState state(JobPhase phase) {
    JobState s;
    s.job = kJob;
    s.phase = phase;
    return s;
  }
  std::string first_rule() {
    return audit->violations().empty() ? "" : audit->violations().front().rule;
  }
  void settle(JobPhase phase = JobPhase::finished) { audit->settle(120, {state(phase)}); }

  std::filesystem::path file;
  std::optional<Audit> audit;
};

}  // namespace

TEST_CASE("a job that is accepted, runs, and ends is right") {
  Fixture f;
  f.audit->told(101, NodeId{1}, Accepted{kJob, AgentId{0}});
  CHECK(f.audit->open() == 1);
  f.gang(kFirst, 102, 103);
  f.audit->told(104, NodeId{1}, Fixture::state(JobPhase::finished));
  f.audit->told(104.5, NodeId{1}, Fixture::state(JobPhase::finished));
  CHECK(f.audit->open() == 0);
  f.settle();
  CHECK(f.first_rule() == "");
  CHECK(f.audit->totals().finished == 1);
  CHECK(f.audit->totals().work_repeated == 0);
}

TEST_CASE("a second attempt after a lost one is right, also where the first had done its work") {
  Fixture f;
  f.audit->told(101, NodeId{1}, Accepted{kJob, AgentId{0}});
  f.gang(kFirst, 102, 103);
  f.gang(kSecond, 104, 105);
  f.audit->told(106, NodeId{1}, Fixture::state(JobPhase::finished));
  f.settle();
  CHECK(f.first_rule() == "");
  CHECK(f.audit->totals().work_repeated == 1);
}

TEST_CASE("a GPU with two jobs is found, with both") {
  Fixture f;
  f.line("taken", 102, kFirst, 0, " other-job other-attempt 99");
  f.audit->read_records();
  CHECK(f.first_rule() == "gpu");
  CHECK(f.audit->violations().front().message.find("[other-job other-attempt 99]") !=
        std::string::npos);
}

TEST_CASE("two live attempts of a job are found") {
  Fixture f;
  f.line("twice", 102, kSecond, 0, " " + kName + " " + kFirst + " 99");
  f.audit->read_records();
  CHECK(f.first_rule() == "twice");
}

TEST_CASE("a job that changes its end is found") {
  Fixture f;
  f.audit->told(101, NodeId{1}, Fixture::state(JobPhase::finished));
  f.audit->told(102, NodeId{1}, Fixture::state(JobPhase::cancelled));
  CHECK(f.first_rule() == "ended");
}

TEST_CASE("a job that fails though its command does not is found") {
  Fixture f;
  f.audit->told(101, NodeId{1}, Fixture::state(JobPhase::failed));
  CHECK(f.first_rule() == "ended");
}

TEST_CASE("a job that is accepted and then refused is found") {
  Fixture f;
  f.audit->told(101, NodeId{1}, Accepted{kJob, AgentId{0}});
  f.audit->told(102, NodeId{1}, Rejected{kJob, Refusal::busy, "no"});
  CHECK(f.first_rule() == "refused");
}

TEST_CASE("a job that is lost is found") {
  Fixture f;
  f.audit->told(101, NodeId{1}, Accepted{kJob, AgentId{0}});
  f.settle(JobPhase::waiting);
  CHECK(f.first_rule() == "lost");
}

TEST_CASE("a job that no agent knows any more is found") {
  Fixture f;
  f.audit->told(101, NodeId{1}, Accepted{kJob, AgentId{0}});
  f.audit->told(102, NodeId{1}, Fixture::state(JobPhase::cancelled));
  f.audit->settle(120, {});
  CHECK(f.audit->violations().back().rule == "forgot");
}

TEST_CASE("a job that is said to have finished without its work is found") {
  Fixture f;
  f.audit->told(101, NodeId{1}, Accepted{kJob, AgentId{0}});
  f.line("start", 102, kFirst, 0);
  f.line("end", 103, kFirst, 0);  // rank 1 never was
  f.audit->told(104, NodeId{1}, Fixture::state(JobPhase::finished));
  f.settle();
  CHECK(f.first_rule() == "work");
}

TEST_CASE("a process that starts after the job's end was known is found") {
  Fixture f;
  f.gang(kFirst, 102, 103);
  f.audit->told(104, NodeId{1}, Fixture::state(JobPhase::finished));
  f.line("start", 105, kSecond, 0);
  f.audit->read_records();
  CHECK(f.first_rule() == "work");
}

TEST_CASE("a job whose command fails has to fail") {
  for (const JobPhase phase : {JobPhase::failed, JobPhase::finished}) {
    Fixture f;
    const JobId job{1, 8};
    f.audit->submitted(100, job, false, true);
    JobState state = Fixture::state(phase);
    state.job = job;
    f.audit->told(104, NodeId{1}, state);
    CHECK(f.first_rule() == (phase == JobPhase::failed ? "" : "ended"));
  }
}

TEST_CASE("a job that has ended while a process of it has its lock is found") {
  const auto dir = std::filesystem::temp_directory_path() / ("audit-" + std::to_string(getpid()));
  std::filesystem::create_directories(dir / "ranks");
  Audit audit(dir / "records", {}, 100.0);
  audit.submitted(100, kJob, false);
  const auto end = [&](std::uint32_t rank) {
    std::ofstream(dir / "records", std::ios::app)
        << "start 101 " << kName << ' ' << kFirst << ' ' << rank << " 2 3 0 4711\n"
        << "end 102 " << kName << ' ' << kFirst << ' ' << rank << " 2 3 0 4711\n";
  };
  end(0), end(1);
  const int fd = ::open(rank_lock(dir, kName, 1).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct flock mine = {};
  mine.l_type = F_WRLCK;
  REQUIRE(::fcntl(fd, F_OFD_SETLK, &mine) == 0);
  audit.told(103, NodeId{1}, Fixture::state(JobPhase::finished));
  ::close(fd);
  REQUIRE(audit.violations().size() == 1);
  CHECK(audit.violations().front().rule == "free");
  std::filesystem::remove_all(dir);
}

TEST_CASE("a job of another client is owed once that was told so, or once it ran") {
  for (const bool accepted : {false, true}) {
    Fixture f;
    f.settle();
    const std::size_t before = f.audit->violations().size();
    const JobId job{1, 8};
    f.audit->submitted_elsewhere(105, job, false);
    if (accepted) f.audit->accepted_elsewhere(106, job);
    CHECK(f.audit->open() == 0);
    f.settle();
    CHECK(f.audit->violations().size() == before + (accepted ? 2 : 0));  // forgotten and lost
  }
}
