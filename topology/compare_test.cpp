// SPDX-License-Identifier: Apache-2.0
// Two descriptions of one data centre, told apart server by server.
#include "topology/compare.h"

#include <doctest/doctest.h>

#include "topology/file/load.h"

namespace starling {
namespace {

/// `x` is the template of racks that say nothing else, `y` another one.
Topology of(const std::string& racks, const std::string& x = "gpus: 2, gpu_type: V100",
            const std::string& y = "gpus: 4, gpu_type: V100") {
  const auto read = parse_topology_yaml(
      "name: t\nserver_templates: {x: {" + x + "}, y: {" + y + "}}\nracks:\n" + racks, "t.yaml");
  REQUIRE_MESSAGE(read.ok(), (read ? std::string() : read.error().message));
  return read.value();
}

std::string rack(const std::string& name, const std::string& servers,
                 const std::string& kind = "x") {
  return "  - {name: " + name + ", servers: [{template: " + kind + ", names: [" + servers +
         "]}]}\n";
}

TEST_CASE("the same description is no change") {
  const Topology t = of(rack("r0", "a, b") + rack("r1", "c"));
  CHECK(compare(t, t).value().empty());
  const Renumbering same = renumbering(t, t).value();
  CHECK(same.servers == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(same.gpus == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(same.cleared == std::vector<bool>(6, false));
}

TEST_CASE("servers that come and go in the middle: the others get new numbers, in their order") {
  const Topology before = of(rack("r0", "a, b") + rack("r1", "c, d")),
                 after = of(rack("r0", "b, x") + rack("r1", "y, c, d"));
  const TopologyChange change = compare(before, after).value();
  CHECK(change.removed == std::vector<ServerId>{ServerId{0}});
  CHECK(change.added == std::vector<ServerId>{ServerId{1}, ServerId{2}});
  REQUIRE(change.kept.size() == 3);
  for (const KeptServer& kept : change.kept) CHECK(kept.change.empty());
  constexpr std::uint32_t gone = Renumbering::kGone;
  const Renumbering numbers = renumbering(before, after).value();
  CHECK(numbers.servers == std::vector<std::uint32_t>{gone, 0, 3, 4});
  CHECK(numbers.gpus == std::vector<std::uint32_t>{gone, gone, 0, 1, 6, 7, 8, 9});
  CHECK(numbers.cleared == std::vector<bool>{true, true, false, false, false, false, false, false});
}

TEST_CASE("what jobs on a server would notice") {
  const std::string racks = rack("r0", "a") + rack("r1", "b", "y");
  const auto changed = [&](const std::string& was, const std::string& is) {
    return compare(of(racks, was), of(racks, is)).value();
  };
  const std::string two = "gpus: 2, gpu_type: V100";
  CHECK(changed(two, "gpus: 4, gpu_type: V100").kept[0].change ==
        "4 V100 GPUs instead of 2 V100 GPUs");
  CHECK(changed(two, "gpus: 2, gpu_type: A100").kept[0].change ==
        "2 A100 GPUs instead of 2 V100 GPUs");
  CHECK(changed(two + ", cpus: 8", two + ", cpus: 4").kept[0].change == "4 CPUs");
  CHECK(changed(two, two + ", memory_gib: 64").kept[0].change == "64 GiB of memory");
  const TopologyChange more = changed(two + ", cpus: 8", two + ", cpus: 16");
  CHECK(more.kept[0].change.empty());
  CHECK(more.otherwise);
  // Its numbers stay, but nothing may use them meanwhile.
  const Renumbering numbers = renumbering(of(racks), of(racks, "gpus: 3, gpu_type: V100")).value();
  CHECK(numbers.gpus == std::vector<std::uint32_t>{0, 1, 3, 4, 5, 6});
  CHECK(numbers.cleared == std::vector<bool>{true, true, false, false, false, false});
}

TEST_CASE("a server that moves is told; a rack with another name is the same rack") {
  const Topology before = of(rack("r0", "a, b") + rack("r1", "c")),
                 moved = of(rack("r0", "a") + rack("r1", "b, c")),
                 renamed = of(rack("x0", "a, b") + rack("r1", "c"));
  CHECK(compare(before, moved).value().kept[1].change == "moves from 'r0' to 'r1'");
  const TopologyChange names = compare(before, renamed).value();
  for (const KeptServer& kept : names.kept) CHECK(kept.change.empty());
  CHECK(names.otherwise);
  const auto swapped = compare(before, of(rack("r1", "c") + rack("r0", "a, b")));
  REQUIRE_FALSE(swapped.ok());
  CHECK(swapped.error().message.starts_with("server 'c' stands before 'a' now"));
}

TEST_CASE("a scale-up domain that comes is a change, for which no job has to make room") {
  const Topology before = of(rack("r0", "a, b"));
  Topology::Parts parts = before.parts();
  parts.domains.push_back({{0, 2}, 7200});
  const TopologyChange change = compare(before, Topology(parts)).value();
  CHECK(change.otherwise);
  for (const KeptServer& server : change.kept) CHECK(server.change.empty());
}

}  // namespace
}  // namespace starling
