// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/job_logs.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/test_folder.h"

using namespace starling;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST_CASE("logs of jobs that have ended go by age and by bytes") {
  const TestFolder folder("logs");
  const auto make = [&](const char* name, int hours) {
    std::ofstream(folder.path / name) << std::string(1000, 'x');
    fs::last_write_time(folder.path / name,
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  make("a.log", 50), make("a.log.1", 51), make("a.log.from", 51), make("b.log", 3),
      make("c.log", 2), make("d.log", 60);
  make("other", 100);
  LogLimits limits;
  limits.age = 48h;
  limits.all_bytes = 1500;
  JobLogs logs(folder.path, limits);
  logs.tidy(Instant{}, {folder.path / "d.log"});
  CHECK_FALSE(fs::exists(folder.path / "a.log"));
  CHECK_FALSE(fs::exists(folder.path / "a.log.1"));
  CHECK_FALSE(fs::exists(folder.path / "a.log.from"));
  CHECK_FALSE(fs::exists(folder.path / "b.log"));
  CHECK(fs::exists(folder.path / "c.log"));
  CHECK(fs::exists(folder.path / "d.log"));
  CHECK(fs::exists(folder.path / "other"));
}

TEST_CASE("logs of jobs that have ended go for those that run to have room") {
  const TestFolder folder("logs");
  for (const char* name : {"a.log", "b.log", "c.log"}) {
    std::ofstream(folder.path / name) << std::string(1000, 'x');
    fs::last_write_time(folder.path / name,
                        fs::file_time_type::clock::now() - std::chrono::hours('z' - name[0]));
  }
  LogLimits limits;
  limits.spare = [](int) -> std::uint64_t { return 500; };
  limits.spare_at_least = 1600;
  JobLogs(folder.path, limits).tidy(Instant{}, {});
  CHECK_FALSE(fs::exists(folder.path / "a.log"));
  CHECK_FALSE(fs::exists(folder.path / "b.log"));
  CHECK(fs::exists(folder.path / "c.log"));
}
