#include "launch/flock_folder.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/test_folder.h"
#include "launch/deployment_plan.h"
#include "topology/generate.h"

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

TEST_CASE("what is a user's stays, and is named") {
  Made made;
  made.put("data/thesis.txt");
  made.put("nodes/notes/today.txt");
  made.put("deployment.json.orig");
  const std::vector<std::string> left = remove_flock_files(made.dir, made.names).value();
  CHECK(left == std::vector<std::string>{"nodes/notes", "data", "deployment.json.orig"});
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
  fs::create_directory_symlink(data, made.dir / "nodes" / "agent-0" / "data");
  CHECK(remove_flock_files(made.dir, made.names).value().empty());
  CHECK(fs::exists(data / "thesis.txt"));
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
  CHECK(can_take_folder(folder.path / "thesis.txt").error().code == Errc::invalid);
}

}  // namespace
}  // namespace starling
