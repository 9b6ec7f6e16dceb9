// SPDX-License-Identifier: Apache-2.0
#include "nets/pair_net.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"

namespace starling {
namespace {

constexpr std::uint32_t kMembers = 3, kSets = 2, kTypes = 4, kModels = 2, kConfig = 1, kProfile = 3,
                        kWidth = 5, kHidden = 6;

Weights random_net(std::uint64_t seed) {
  Weights w;
  Rng rng(seed);
  const auto add = [&](const std::string& name, std::vector<std::uint32_t> shape) {
    Tensor t{std::move(shape), {}};
    const std::size_t count = Tensor::element_count(t.shape).value();
    for (std::size_t i = 0; i < count; ++i)
      t.values.push_back(static_cast<float>(0.4 * rng.normal()));
    w.tensors["p." + name] = std::move(t);
  };
  for (const std::string s : {"v.", "o."}) {
    add(s + "profile", {kMembers, kProfile, kWidth});
    add(s + "model", {kMembers, kModels, kWidth});
    add(s + "slope", {kMembers, kModels, kConfig, kWidth});
    add(s + "type", {kMembers, kTypes, kWidth});
    add(s + "film", {kMembers, kSets, kWidth});
    add(s + "linear", {kMembers, kSets, kWidth});
    add(s + "hidden", {kMembers, kWidth, kHidden});
    add(s + "type_bias", {kMembers, kSets, kTypes});
    add(s + "model_bias", {kMembers, kSets, kModels});
  }
  add("set.hidden", {kMembers, kSets, kHidden});
  add("set.bias", {kMembers, kSets});
  add("out", {kMembers, kHidden});
  add("nuisance", {kMembers, kSets, kTypes});
  add("config.center", {kModels, kConfig});
  add("config.scale", {kModels, kConfig});
  add("profile.mean", {kProfile});
  add("profile.scale", {kProfile});
  return w;
}

std::vector<float> slowdowns(const PairNet& net, const PairSide& victim, const PairSide& other,
                             std::size_t set) {
  std::vector<float> v(net.row_width()), o(net.row_width()), out(net.members());
  net.victim(victim, set, v);
  net.aggressor(other, set, o);
  net.log_slowdown(v, o, out);
  return out;
}

const std::vector<float> kConfigs[] = {{0.5F}, {1.5F}};
const std::vector<float> kProfiles[] = {{0.1F, 0.2F, 0.3F}, {1.0F, -1.0F, 0.5F}};

TEST_CASE("slowdowns are never below 0, and what is hidden does not count") {
  const PairNet net = PairNet::make(random_net(1), "p.").value();
  REQUIRE(net.members() == kMembers);
  REQUIRE(net.types() == kTypes);
  const PairSide known{1, 0, kConfigs[0], kProfiles[0]};
  const PairSide family{-1, 0, kConfigs[0], kProfiles[0]};
  const PairSide stranger{-1, -1, {}, kProfiles[0]};
  const PairSide other{3, 1, kConfigs[1], kProfiles[1]};
  for (std::size_t set = 0; set < kSets; ++set) {
    for (const PairSide& side : {known, family, stranger}) {
      for (const float slow : slowdowns(net, side, other, set)) CHECK(slow >= 0);
    }
    CHECK(slowdowns(net, known, other, set) != slowdowns(net, family, other, set));
    CHECK(slowdowns(net, family, other, set) != slowdowns(net, stranger, other, set));
  }
  CHECK(slowdowns(net, known, other, 0) != slowdowns(net, known, other, 1));
  CHECK(slowdowns(net, known, other, 0) != slowdowns(net, other, known, 0));
  CHECK(net.nuisance(-1, 0) == 1);
  CHECK(net.nuisance(1, 0) != 1);
}

TEST_CASE("absurd profiles are cut, so that answers stay finite") {
  const PairNet net = PairNet::make(random_net(2), "p.").value();
  const std::vector<float> wild = {1e30F, -1e30F, 1e30F};
  const PairSide side{-1, -1, {}, wild};
  for (const float slow : slowdowns(net, side, side, 0)) CHECK(std::isfinite(slow));
}

TEST_CASE("tensors that are missing or do not fit are named") {
  Weights w = random_net(3);
  std::string part;
  SUBCASE("missing") { w.tensors.erase("p.o.film"), part = "o.film"; }
  SUBCASE("another width") { w.tensors["p.out"].shape = {kHidden, kMembers}, part = "out"; }
  SUBCASE("another rank") { w.tensors["p.v.slope"].shape = {kMembers}, part = "v.slope"; }
  SUBCASE("none") { w.tensors.clear(), part = "v.slope"; }
  const auto made = PairNet::make(w, "p.");
  REQUIRE(!made.ok());
  CHECK(made.error().message.find(part) != std::string::npos);
}

}  // namespace
}  // namespace starling
