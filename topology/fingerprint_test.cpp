// SPDX-License-Identifier: Apache-2.0
#include "topology/fingerprint.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"

namespace starling {
namespace {

Topology site(std::uint32_t servers, std::uint32_t gpus, std::uint32_t rack) {
  return generate_leaf_spine(
             {.servers = servers, .gpus_per_server = gpus, .servers_per_rack = rack})
      .value();
}

TEST_CASE("equal sites have equal fingerprints; another size, tree or name another one") {
  const std::uint64_t one = fingerprint_of(site(8, 4, 4));
  CHECK(one != 0);
  CHECK(one == fingerprint_of(site(8, 4, 4)));
  CHECK(one != fingerprint_of(site(8, 2, 4)));
  CHECK(one != fingerprint_of(site(16, 4, 4)));
  CHECK(one != fingerprint_of(site(8, 4, 2)));
  Topology::Parts parts = site(8, 4, 4).parts();
  parts.servers[5].name = "another";
  CHECK(one != fingerprint_of(Topology(parts)));
  parts = site(8, 4, 4).parts();
  parts.name = "only the site is called otherwise";
  CHECK(one == fingerprint_of(Topology(parts)));
}

}  // namespace
}  // namespace starling
