// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/test_folder.h"
#include "interference/profile/profiled_pairs.h"
#include "launch/launchers/cpu_pool.h"
#include "launch/profile/campaign.h"
#include "launch/profile/cpu_load.h"
#include "launch/profile/cpu_topology.h"
#include "launch/profile/worker.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct Folder : TestFolder {
  Folder() : TestFolder("profiler") {}
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path / name).rdbuf();
    return out.str();
  }
};

void put_cpu(const Folder& folder, int number, const char* socket, const char* core,
             const char* cache) {
  const std::string cpu = "cpu" + std::to_string(number) + "/";
  folder.put(cpu + "topology/physical_package_id", socket + std::string("\n"));
  folder.put(cpu + "topology/thread_siblings_list", core + std::string("\n"));
  folder.put(cpu + "cache/index0/level", "1\n");
  folder.put(cpu + "cache/index0/shared_cpu_list", std::to_string(number) + "\n");
  folder.put(cpu + "cache/index1/level", "3\n");
  folder.put(cpu + "cache/index1/shared_cpu_list", cache + std::string("\n"));
}

TEST_CASE("places: one for every relation that two CPUs have, the first of each") {
  const Folder folder;
  put_cpu(folder, 0, "0", "0,4", "0-1,4");
  put_cpu(folder, 1, "0", "1", "0-1,4");
  put_cpu(folder, 2, "0", "2", "2");
  put_cpu(folder, 3, "1", "3", "3");
  put_cpu(folder, 4, "0", "0,4", "0-1,4");
  const auto places = places_of(read_cpu_topology(folder.path, {0, 1, 2, 3, 4}));
  CHECK(places == std::vector<CorePlace>{{ProfileRelation::same_core, 0, 0},
                                         {ProfileRelation::same_smt, 0, 4},
                                         {ProfileRelation::same_cache, 0, 1},
                                         {ProfileRelation::same_socket, 0, 2},
                                         {ProfileRelation::other_socket, 0, 3}});
  CHECK(places_of(read_cpu_topology(folder.path, {3})) ==
        std::vector<CorePlace>{{ProfileRelation::same_core, 3, 3}});
  // Where the kernel says nothing, two CPUs share a socket and no more.
  CHECK(places_of(read_cpu_topology(folder.path / "nothing", {0, 1})) ==
        std::vector<CorePlace>{{ProfileRelation::same_core, 0, 0},
                               {ProfileRelation::same_socket, 0, 1}});
}

TEST_CASE("lists of cores") {
  CHECK(parse_cores("0,2,5-7").value() == std::vector<int>{0, 2, 5, 6, 7});
  for (const char* bad : {"", "a", "1,", "2-1", "-1", "0,0", "0-3,2", "1-", "99999999", "0;1"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_cores(bad).ok());
  }
}

TEST_CASE("the name of the hardware comes from the processor's") {
  CHECK(hardware_name("processor: 0\nmodel name\t: AMD EPYC 7543 (R)\nflags: x\n", 4) ==
        "amd-epyc-7543-r-4cpu");
  CHECK(hardware_name("", 2) == "cpu-2cpu");
  CHECK(hardware_name("model name", 2) == "cpu-2cpu");
}

TEST_CASE("the load of others is what was neither idle nor ours") {
  const auto before = parse_cpu_ticks(
      "cpu  1 2 3 4\ncpu0 100 0 100 1000 10 0 0 5 0 0\ncpu1 0 0 0 500 0 0 0 0 0 0\nintr 1 2\n");
  const auto after =
      parse_cpu_ticks("cpu0 140 0 110 1030 20 0 0 15 40 0\ncpu1 50 0 0 550 0 0 0 0\n");
  REQUIRE(before.size() == 2);
  const CpuShares one = cpu_shares(before, after, {0});
  CHECK(one.idle == doctest::Approx(0.4));  // 30 idle and 10 waiting of 100
  CHECK(one.stolen == doctest::Approx(0.1));
  CHECK(cpu_shares(before, after, {0, 1}).idle == doctest::Approx(0.45));
  CHECK(cpu_shares(before, after, {7}).idle == 1);
  CHECK(cpu_shares({}, {}, {0}).idle == 1);
  CHECK(other_load(one, 1, 0.5) == doctest::Approx(0.1));
  CHECK(other_load(one, 1, 0.9) == 0);  // ticks are coarse: never below nothing
  CHECK(other_load({0.25, 0}, 2, 1.0) == doctest::Approx(0.25));
}

/// A worker whose program is a shell script.
struct Script {
  Folder folder;
  ProfileWorker worker;
  explicit Script(const std::string& text)
      : worker({(put(folder, text), (folder.path / "worker").string()),
                {"dense", 32},
                allowed_cpus().front(),
                false,
                false,
                1,
                nullptr}) {}
  static void put(const Folder& folder, const std::string& text) {
    folder.put("worker", "#!/bin/sh\n" + text);
    fs::permissions(folder.path / "worker", fs::perms::owner_all);
  }
};

TEST_CASE("a worker gets its orders on its standard input, and its speed is steps by time") {
  Script s(
      "echo chatter; echo profile ready; read order; echo \"profile did 20 2000000000 "
      "1000000000 500000000\"; read order; echo profile did 0 1 0 0; read forever");
  REQUIRE(s.worker.start().ok());
  REQUIRE(s.worker.wait_ready().ok());
  const auto now = std::chrono::steady_clock::now();
  const ProfileWorker::Order order{now, now, now, now};
  REQUIRE(s.worker.order(order).ok());
  const auto answer = s.worker.answer(order);
  REQUIRE(answer.ok());
  CHECK(answer.value().steps_per_s == 10);
  CHECK(answer.value().cpu == 0.5);
  CHECK(answer.value().held == 0.25);
  REQUIRE(s.worker.order(order).ok());
  CHECK(s.worker.answer(order).error().message.find("did no step") != std::string::npos);
}

TEST_CASE("a worker that cannot run or ends says why") {
  Script refuses("echo profile no such GPU; exit 2");
  REQUIRE(refuses.worker.start().ok());
  const auto refused = refuses.worker.wait_ready();
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message == "workload dense:32: no such GPU");
  Script ends("echo out of memory >&2; exit 1");
  REQUIRE(ends.worker.start().ok());
  CHECK(ends.worker.wait_ready().error().message == "workload dense:32 ended: out of memory");
  ProfileWorker missing({"/nowhere/worker", {"dense", 32}, 0, false, false, 1, nullptr});
  REQUIRE(missing.start().ok());
  CHECK(missing.wait_ready().error().message.find("no such program") != std::string::npos);
}

TEST_CASE("waiting for a worker ends when it is asked to stop") {
  const Folder folder;
  Script::put(folder, "read forever");
  ProfileWorker worker(
      {(folder.path / "worker").string(), {"dense", 32}, 0, false, false, 1, [] { return true; }});
  REQUIRE(worker.start().ok());
  CHECK(worker.wait_ready().error().code == Errc::busy);
}

/// A machine on which a pair gets half of its speed, and which others disturb as a test says.
class FakeBench : public ProfileBench {
 public:
  Result<ProfileSample> measure(const ProfileVisit& visit) override {
    if (asked.size() == fail_after) return {Errc::io, "it broke"};
    asked.push_back(visit);
    const bool first = ++times[visit] == 1;
    return ProfileSample{visit, 100, 50,  50,  25,
                         1,     1,   0.5, 0.5, first && disturbed.contains(visit) ? 0.5 : 0.0};
  }
  void renew() override { ++renewed; }

  std::size_t fail_after = SIZE_MAX;
  std::vector<ProfileVisit> asked;
  std::map<ProfileVisit, int> times;
  std::set<ProfileVisit> disturbed;
  int renewed = 0;
};

struct Campaign {
  Folder folder;
  ProfilePlan plan{{{"dense", 32}, {"cache", 1}},
                   {{ProfileRelation::same_core, 0, 0}, {ProfileRelation::same_cache, 0, 1}},
                   3,
                   1};
  CampaignOptions options;
  FakeBench bench;
  Campaign() {
    options.samples_file = (folder.path / "out.csv.partial").string();
    options.mark = samples_mark(plan, "test", 0.1);
  }
};

TEST_CASE("a campaign measures every visit once, round by round") {
  Campaign c;
  std::uint64_t most = 0, total = 0;
  c.options.progress = [&](std::uint64_t now, std::uint64_t all) {
    CHECK(now >= most);
    most = now;
    total = all;
  };
  const auto samples = run_campaign(c.plan, c.options, c.bench);
  REQUIRE(samples.ok());
  CHECK(samples.value().size() == 18);
  CHECK(c.bench.asked.size() == 18);
  CHECK(c.bench.times.size() == 18);
  CHECK(c.bench.renewed == 3);
  CHECK(most == 18);
  CHECK(total == 18);
  CHECK(std::is_sorted(
      c.bench.asked.begin(), c.bench.asked.end(),
      [](const ProfileVisit& x, const ProfileVisit& y) { return x.repeat < y.repeat; }));
}

TEST_CASE("disturbed visits are measured again at the end, and the better result stays") {
  Campaign c;
  const ProfileVisit bad{1, 0, 0, 1};
  c.bench.disturbed = {bad};
  const auto samples = run_campaign(c.plan, c.options, c.bench);
  REQUIRE(samples.ok());
  CHECK(c.bench.asked.size() == 19);
  CHECK(c.bench.asked.back() == bad);
  for (const ProfileSample& sample : samples.value()) CHECK(sample.other_load == 0);
}

TEST_CASE("a campaign that was stopped anywhere goes on with what is missing") {
  std::vector<ProfileVisit> whole;
  {
    Campaign c;
    REQUIRE(run_campaign(c.plan, c.options, c.bench).ok());
    whole = c.bench.asked;
  }
  for (const std::size_t stop_after :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{17}}) {
    CAPTURE(stop_after);
    Campaign c;
    c.options.stop = [&] { return c.bench.asked.size() >= stop_after; };
    const auto stopped = run_campaign(c.plan, c.options, c.bench);
    REQUIRE_FALSE(stopped.ok());
    CHECK(stopped.error().code == Errc::busy);
    // As if the machine had gone down within a line.
    c.folder.put("out.csv.partial", c.folder.text("out.csv.partial") + "2,1,1,1,99");

    FakeBench second;
    c.options.stop = nullptr;
    CHECK(run_campaign(c.plan, c.options, second).error().code == Errc::conflict);
    CHECK(second.asked.empty());
    c.options.resume = true;
    const auto samples = run_campaign(c.plan, c.options, second);
    REQUIRE(samples.ok());
    CHECK(samples.value().size() == 18);
    CHECK(second.asked ==
          std::vector<ProfileVisit>(whole.begin() + static_cast<long>(stop_after), whole.end()));
    CHECK(c.folder.text("out.csv.partial").find("2,1,1,1,99") == std::string::npos);
  }
}

TEST_CASE("more repeats go on where fewer ended; other options are refused") {
  Campaign c;
  REQUIRE(run_campaign(c.plan, c.options, c.bench).ok());
  c.options.resume = true;
  c.plan.repeats = 4;
  FakeBench more;
  CHECK(run_campaign(c.plan, c.options, more).value().size() == 24);
  CHECK(more.asked.size() == 6);
  c.plan.repeats = 2;
  FakeBench none;
  CHECK(run_campaign(c.plan, c.options, none).value().size() == 12);
  CHECK(none.asked.empty());
  c.options.mark = samples_mark(c.plan, "test", 0.2);
  CHECK(run_campaign(c.plan, c.options, none).error().code == Errc::invalid);
}

TEST_CASE("what was measured before a workload broke is kept") {
  Campaign c;
  c.bench.fail_after = 5;
  const auto failed = run_campaign(c.plan, c.options, c.bench);
  CHECK(failed.error().message == "it broke");
  const auto kept = parse_samples(c.folder.text("out.csv.partial"), "f", c.options.mark, c.plan);
  CHECK(kept.value().size() == 5);
}

TEST_CASE("where the first visit already fails, nothing is left behind") {
  Campaign c;
  c.bench.fail_after = 0;
  CHECK_FALSE(run_campaign(c.plan, c.options, c.bench).ok());
  CHECK_FALSE(fs::exists(c.options.samples_file));
}

TEST_CASE("a samples file that cannot be written is said so before anything is measured") {
  Campaign c;
  c.options.samples_file = "/proc/nothing/out.partial";
  CHECK(run_campaign(c.plan, c.options, c.bench).error().code == Errc::io);
  CHECK(c.bench.asked.empty());
}

}  // namespace
}  // namespace starling
