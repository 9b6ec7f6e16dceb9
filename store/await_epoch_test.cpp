// SPDX-License-Identifier: Apache-2.0
#include "store/await_epoch.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace starling {
namespace {

/// Says at each call of poll() what comes next in its script.
class Scripted final : public EpochAuthority {
 public:
  explicit Scripted(std::vector<std::vector<EpochEvent>> script) : script_(std::move(script)) {}
  void acquire(PartitionId, Epoch expect, AgentId) override { asked.push_back(expect); }
  void renew(const Ownership&) override {}
  void release(const Ownership&) override {}
  Duration holds_for(const Ownership&) override { return Duration::max(); }
  std::vector<EpochEvent> poll() override {
    return next_ < script_.size() ? script_[next_++] : std::vector<EpochEvent>{};
  }
  std::vector<Epoch> asked;

 private:
  std::vector<std::vector<EpochEvent>> script_;
  std::size_t next_ = 0;
};

constexpr auto kOnce = [](const EpochRefused&) { return false; };

TEST_CASE("what is said of another partition is no answer") {
  const Ownership own{PartitionId{0}, Epoch{4}, AgentId{0}};
  const Ownership other{PartitionId{1}, Epoch{7}, AgentId{1}};
  Scripted authority({{EpochLost{own, own}, EpochGranted{own}},
                      {EpochGranted{own}, EpochRefused{other, {Errc::expired, "another epoch"}}},
                      {EpochGranted{own}, EpochGranted{other}}});
  const auto mine = await_epoch(authority, PartitionId{1}, AgentId{1}, kOnce);
  REQUIRE(mine.ok());
  CHECK(mine.value().partition == PartitionId{1});
  CHECK(authority.asked == std::vector<Epoch>{Epoch{}, Epoch{7}});
}

TEST_CASE("the last refusal comes back where the caller does not want to ask again") {
  const Ownership other{PartitionId{1}, Epoch{}, AgentId{2}};
  Scripted authority({{EpochRefused{other, {Errc::conflict, "its lease runs"}}}});
  const auto mine = await_epoch(authority, PartitionId{1}, AgentId{1}, kOnce);
  REQUIRE_FALSE(mine.ok());
  CHECK(mine.error().message == "its lease runs");
}

}  // namespace
}  // namespace starling
