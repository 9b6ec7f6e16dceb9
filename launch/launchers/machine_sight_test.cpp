// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/machine_sight.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>

#include "base/test_folder.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

TEST_CASE("GPUs are counted by their device files") {
  const TestFolder dir("sight");
  fs::create_directories(dir.path / "dri");
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "dri/renderD128"})
    std::ofstream(dir.path / name) << "";
  CHECK(look_at_machine(dir.path, "none.so").gpus == 2);
  CHECK(look_at_machine(dir.path / "dri", "none.so").gpus == 0);
  std::ofstream(dir.path / "kfd") << "";
  for (const char* name : {"dri/renderD129", "dri/renderD130"})
    std::ofstream(dir.path / name) << "";
  CHECK(look_at_machine(dir.path, "none.so").gpus == 3);
}

TEST_CASE("GPUs are counted by the driver, where it answers") {
  const TestFolder none("sight");
  ::setenv("FAKE_NVML_COUNT", "8", 1);
  CHECK(look_at_machine(none.path, FAKE_NVML).gpus == 8);
  ::setenv("FAKE_NVML_BROKEN", "1", 1);
  CHECK(look_at_machine(none.path, FAKE_NVML).gpus == 0);
  ::unsetenv("FAKE_NVML_BROKEN");
  ::unsetenv("FAKE_NVML_COUNT");
}

TEST_CASE("every machine has CPUs and memory") {
  const MachineSight sight = look_at_machine();
  CHECK(sight.cpus >= 1);
  CHECK(sight.memory_gib > 0.1);
}

TEST_CASE("what the topology has and the machine lacks is one sentence") {
  GeneratorOptions options;
  options.servers = 2;
  options.gpus_per_server = 4;
  options.cpus = 16;
  options.memory_gib = 100;
  const Topology topology = generate_flat(options).value();
  const IndexRange all{0, 2};
  CHECK(lacking({8, 32, 190}, topology, all) == "");
  CHECK(lacking({4, 16, 100}, topology, {1, 2}) == "");
  CHECK(lacking({7, 32, 200}, topology, all) ==
        "the topology gives this machine 8 GPUs, of which 7 GPUs can be seen; jobs are placed as "
        "if all were there");
  CHECK(lacking({0, 2, 24}, topology, all) ==
        "the topology gives this machine 8 GPUs, 32 CPUs and 200 GiB of memory, of which 0 GPUs, "
        "2 CPUs and 24 GiB of memory can be seen; jobs are placed as if all were there");
}

}  // namespace
}  // namespace starling
