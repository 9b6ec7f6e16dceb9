// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/flock_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/test_folder.h"
#include "launch/deployment/deployment_plan.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct Made {
  Made() {
    DeploymentPlan plan;
    plan.dir = dir;
    GeneratorOptions options;
    options.servers = 1;
    REQUIRE(can_take_folder(dir).ok());
    REQUIRE(make_flock_folder(dir).ok());
    const Deployment made = create_deployment(plan, generate_flat(options).value()).value();
    for (const DeployedNode& node : made.nodes) names.push_back(node.name);
  }
  void put(const std::string& name) {
    fs::create_directories((dir / name).parent_path());
    std::ofstream(dir / name) << "mine\n";
  }
  TestFolder folder{"folder"};
  fs::path dir = folder.path / "flock";
  std::vector<std::string> names;
};

TEST_CASE("a flock goes away with its folder, and with what its commands left in it") {
  Made made;
  for (const char* file : {"supervisor/in-use", "restart/in-use", "rotation/in-use", "node.json",
                           "node.json.new", "hosts.json", "flock-id"})
    made.put(file);
  CHECK(remove_flock_files(made.dir, made.names).value().empty());
  CHECK_FALSE(fs::exists(made.dir));
  CHECK(fs::exists(made.folder.path));
}

TEST_CASE("nodes of servers that the flock has no longer go, too") {
  Made made;
  made.put("nodes/executor-7/state/journal.db");
  made.put("nodes/executor-7/keys.json");
  NodeFile file{"../..", "executor-7", "state", "keys.json"};
  REQUIRE(write_node_file(made.dir / "nodes" / "executor-7" / "config.json", file).ok());
  SUBCASE("all of it") {
    CHECK(remove_flock_files(made.dir, made.names).value().empty());
    CHECK_FALSE(fs::exists(made.dir));
  }
  SUBCASE("but for what a user put there, and what is no node's") {
    made.put("nodes/executor-7/mine");
    made.put("nodes/executor-8/keys.json");
    REQUIRE(write_node_file(made.dir / "nodes" / "executor-8" / "config.json", file).ok());
    CHECK(remove_flock_files(made.dir, made.names).value() ==
          std::vector<std::string>{"nodes/executor-7/mine", "nodes/executor-8"});
  }
}

TEST_CASE("what is a user's stays, and is named") {
  Made made;
  made.put("data/thesis.txt");
  made.put("nodes/notes/today.txt");
  made.put("deployment.json.orig");
  const std::vector<std::string> left = remove_flock_files(made.dir, made.names).value();
  CHECK(left == std::vector<std::string>{"data", "deployment.json.orig", "nodes/notes"});
  for (const char* file : {"data/thesis.txt", "nodes/notes/today.txt", "deployment.json.orig"})
    CHECK(fs::exists(made.dir / file));
  for (const char* file : {"deployment.json", "flock.json", "topology.yaml", "nodes/agent-0"})
    CHECK_FALSE(fs::exists(made.dir / file));
}

TEST_CASE("a link to a folder elsewhere is removed, not what is in the folder") {
  Made made;
  const fs::path data = made.folder.path / "data";
  fs::create_directories(data);
  std::ofstream(data / "thesis.txt") << "mine\n";
  fs::create_directory_symlink(data, made.dir / "nodes" / "agent-0" / "jobs");
  CHECK(remove_flock_files(made.dir, made.names).value().empty());
  CHECK(fs::exists(data / "thesis.txt"));
  CHECK_FALSE(fs::exists(made.dir));
}

TEST_CASE("what is a user's stays in a node's folder, too") {
  Made made;
  for (const char* file : {"state/journal.db", "sessions/1/in-use", "parts/in-use",
                           "gpu-locks/gpu-0.0", "seats/agent-1.json", "log", "health", "health.new",
                           "keys.json.flock", "keys.json.new", "notes.txt", "jobs.txt"})
    made.put(std::string("nodes/agent-0/") + file);
  made.put("data.txt");
  fs::create_symlink(made.dir / "data.txt", made.dir / "nodes" / "executor-0" / "data");
  const std::vector<std::string> left = remove_flock_files(made.dir, made.names).value();
  CHECK(left == std::vector<std::string>{"data.txt", "nodes/agent-0/jobs.txt",
                                         "nodes/agent-0/notes.txt", "nodes/executor-0/data"});
  CHECK(fs::is_symlink(made.dir / "nodes" / "executor-0" / "data"));
  CHECK_FALSE(fs::exists(made.dir / "nodes" / "agent-0" / "state"));
  CHECK_FALSE(fs::exists(made.dir / "nodes" / "client-0"));
}

TEST_CASE("what is a user's stays in every folder of Starling's, whatever it is called there") {
  Made made;
  const std::string part = "67124d9c5d2abb360297731fdf81b211.1.2.1.sg2-0",
                    job = "nodes/executor-0/";
  const std::vector<std::string> own{"supervisor/in-use",
                                     "restart/stopped",
                                     "copy-h1/starling-files.tar",
                                     "gateway-tokens.json",
                                     "gateway-tokens.json.lock",
                                     "servers/1.json",
                                     "servers/2.yaml.new",
                                     "servers/coming.json",
                                     "etcd/key.pem",
                                     "keeper/stopping",
                                     "bin/starling",
                                     job + "state/journal.db-wal",
                                     job + "state/policy-0",
                                     job + "state/before-loss-1/journal.db",
                                     job + "sessions/12/in-use",
                                     job + "jobs/" + part + ".log",
                                     job + "jobs/" + part + ".log.1",
                                     job + "jobs/" + part + ".log.from",
                                     job + "jobs/" + part + ".steps",
                                     job + "jobs/trial.log",
                                     job + "parts/" + part + "/plan",
                                     job + "parts/" + part + "/claim.17",
                                     job + "parts/in-use",
                                     job + "gpu-locks/gpu-g2-0.1",
                                     job + "filler"};
  for (const std::string& file : own) made.put(file);
  SUBCASE("nothing of Starling's does") {
    CHECK(remove_flock_files(made.dir, made.names).value().empty());
    CHECK_FALSE(fs::exists(made.dir));
  }
  SUBCASE("of a user's all does") {
    const std::vector<std::string> mine{"bin/thesis",
                                        "configure/thesis",
                                        "copy-h1/thesis.tar",
                                        "etcd/thesis.pem",
                                        "flock.json.orig",
                                        job + "gpu-locks/thesis",
                                        job + "jobs/results.log",
                                        job + "jobs/results/epoch.csv",
                                        job + "parts/" + part + "/thesis",
                                        job + "parts/thesis/plan",
                                        job + "seats/thesis.json",
                                        job + "sessions/12/thesis",
                                        job + "sessions/thesis",
                                        job + "state/before-loss-1/thesis",
                                        job + "state/journal.db.orig",
                                        "servers/notes.yaml",
                                        "supervisor/thesis"};
    for (const std::string& file : mine) made.put(file);
    std::vector<std::string> told = mine;
    for (std::string& path : told) {
      for (const char* folder : {"/epoch.csv", "thesis/plan"}) {  // a whole folder is the user's
        if (path.ends_with(folder)) path.erase(path.rfind('/'));
      }
    }
    std::sort(told.begin(), told.end());
    CHECK(remove_flock_files(made.dir, made.names).value() == told);
    for (const std::string& file : mine) CHECK_MESSAGE(fs::exists(made.dir / file), file);
    for (const std::string& file : own) CHECK_MESSAGE(!fs::exists(made.dir / file), file);
  }
}

TEST_CASE("a link in the place of a node's folder is not followed, and stays") {
  Made made;
  const fs::path data = made.folder.path / "data";
  fs::rename(made.dir / "nodes" / "agent-0", data);
  fs::create_directory_symlink(data, made.dir / "nodes" / "agent-0");
  CHECK(remove_flock_files(made.dir, made.names).value() ==
        std::vector<std::string>{"nodes/agent-0"});
  CHECK(fs::exists(data / "keys.json"));
}

TEST_CASE("an empty folder that was there before the flock stays, as before") {
  TestFolder folder("folder");
  const fs::path dir = folder.path / "mine";
  fs::create_directories(dir);
  {
    REQUIRE(make_flock_folder(dir).ok());
    std::ofstream(dir / "deployment.json") << "{}\n";
    CHECK(remove_flock_files(dir, {}).value().empty());
    CHECK(fs::is_empty(dir));
  }
  REQUIRE(fs::remove(dir));
  // Who comes to nothing, and begins again, has made it all the same.
  for (int i = 0; i < 2; ++i) {
    REQUIRE(can_take_folder(dir).ok());
    REQUIRE(make_flock_folder(dir).ok());
  }
  CHECK(remove_flock_files(dir, {}).value().empty());
  CHECK_FALSE(fs::exists(dir));
}

/// While it lives, this process is not root, whom no permission stops.
struct NotRoot {
  NotRoot() { CHECK(::seteuid(was == 0 ? 65534 : was) == 0); }
  ~NotRoot() { CHECK(::seteuid(was) == 0); }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  uid_t was = ::geteuid();
};

TEST_CASE("a removal that fails can be begun again, with the state in etcd and on the hosts") {
  Made made;
  const std::vector<std::string> needed{"etcd/password", "hosts.json", "deployment.json",
                                        "flock-id"};
  for (const std::string& file : needed) {
    if (file != "deployment.json") made.put(file);
  }
  fs::permissions(made.folder.path, fs::perms::all);
  fs::permissions(made.dir, fs::perms::all);
  for (const auto& entry : fs::recursive_directory_iterator(made.dir)) {
    if (entry.is_directory()) fs::permissions(entry.path(), fs::perms::all);
  }
  fs::permissions(made.dir / "nodes" / "executor-0", fs::perms(0555));
  {
    const NotRoot other;
    CHECK(remove_flock_files(made.dir, made.names).error().code == Errc::io);
  }
  for (const std::string& file : needed) CHECK_MESSAGE(fs::exists(made.dir / file), file);
  fs::permissions(made.dir / "nodes" / "executor-0", fs::perms::owner_all);
  CHECK(remove_flock_files(made.dir, made.names).value().empty());
  CHECK_FALSE(fs::exists(made.dir));
}

TEST_CASE("what comes while a flock is removed stays, and is told") {
  Made made;
  std::atomic<bool> over = false;
  std::thread writes([&] {
    for (int i = 0; !over; ++i) {
      std::ofstream(made.dir / ("mine-" + std::to_string(i % 100))) << "mine\n";
      std::ofstream(made.dir / "nodes" / "agent-0" / ("mine-" + std::to_string(i % 100))) << "me\n";
    }
  });
  const auto left = remove_flock_files(made.dir, made.names);
  over = true;
  writes.join();
  REQUIRE(left.ok());
  CHECK(fs::exists(made.dir) == !left.value().empty());
  for (const std::string& path : left.value()) CHECK_MESSAGE(fs::exists(made.dir / path), path);
}

TEST_CASE("a flock that could not be made leaves nothing behind") {
  const TestFolder folder("folder");
  for (const bool there : {false, true}) {
    const fs::path dir = folder.path / "new";
    if (there) fs::create_directories(dir);
    REQUIRE(make_flock_folder(dir).ok());
    fs::create_directories(dir / "nodes" / "agent-0");
    std::ofstream(dir / "nodes" / "agent-0" / "keys.json") << "{}\n";
    std::ofstream(dir / "topology.yaml") << "\n";
    undo_flock_folder(dir);
    CHECK(fs::exists(dir) == there);
    if (there) CHECK(fs::is_empty(dir));
  }
}

TEST_CASE("a folder is taken only if nothing is in it") {
  const TestFolder folder("folder");
  CHECK(can_take_folder(folder.path).ok());
  CHECK(can_take_folder(folder.path / "new").ok());
  fs::create_directories(folder.path / "supervisor");  // of an `up` that came to nothing
  CHECK(can_take_folder(folder.path).ok());
  std::ofstream(folder.path / "thesis.txt") << "mine\n";
  const Status taken = can_take_folder(folder.path);
  CHECK(taken.error().code == Errc::invalid);
  CHECK(taken.error().message.find("'thesis.txt' is in it") != std::string::npos);
  CHECK(taken.error().message.find("killed") == std::string::npos);
  CHECK(can_take_folder(folder.path / "thesis.txt").error().code == Errc::invalid);
  fs::create_directories(folder.path / "nodes");  // of a run that was killed
  CHECK(can_take_folder(folder.path).error().message.find("remove nodes, flock.json") !=
        std::string::npos);
}

}  // namespace
}  // namespace starling
