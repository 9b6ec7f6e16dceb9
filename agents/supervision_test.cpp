// SPDX-License-Identifier: Apache-2.0
// One sick daemon never ends or delays another: stories, and a simulation of daemons that crash,
// are refused, find their disk full, cannot be forked, come and go.
#include "agents/supervision.h"

#include <doctest/doctest.h>

#include <optional>

#include "base/rng.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// A keeper and the lines that it has said.
struct Kept {
  explicit Kept(std::vector<std::string> names, SupervisionRules r = {})
      : rules(r), core(r, names) {}
  /// What was started.
  std::vector<std::size_t> step(Duration at, const SupervisionEvent& event = SupervisionTick{}) {
    SupervisionOutput out;
    core.step(Instant(at), event, out);
    REQUIRE((out.start.empty() || std::holds_alternative<SupervisionTick>(event)));
    core.step(Instant(at), SupervisionTick{}, out);
    said.insert(said.end(), out.say.begin(), out.say.end());
    return out.start;
  }
  std::vector<std::size_t> ends(Duration at, std::size_t who, DaemonEnd how) {
    return step(at, DaemonEnded{who, how, "ended"});
  }
  SupervisionRules rules;
  Supervision core;
  std::vector<std::string> said;
};

using Started = std::vector<std::size_t>;

TEST_CASE("a daemon that ends is started again after a pause that doubles, up to the longest") {
  Kept kept({"a"});
  REQUIRE(kept.step(0s) == Started{0});
  Duration now = 0s;
  for (const Duration pause :
       {200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms, 30000ms}) {
    CAPTURE(pause.count());
    CHECK(kept.ends(now, 0, DaemonEnd::broken).empty());
    CHECK(kept.step(now + pause - 1ms).empty());
    now += pause;
    CHECK(kept.step(now) == Started{0});
  }
  CHECK(kept.core.away(0));
  CHECK(kept.said.size() == 3);  // not one for every time
  kept.step(now + 20s);
  CHECK(kept.said.back() == "a is well again");
  CHECK_FALSE(kept.core.away(0));
  kept.ends(now + 21s, 0, DaemonEnd::broken);
  CHECK(kept.step(now + 21s + 200ms) == Started{0});
}

TEST_CASE("one crash after the other of one daemon is nothing to the rest") {
  Kept kept({"a", "b", "c"});
  REQUIRE(kept.step(0s) == Started{0, 1, 2});
  for (Duration now = 0s; now < 1h; now += 100ms) {
    const auto started = kept.step(now);
    CHECK((now == 0s || started.empty() || started == Started{1}));
    if (kept.core.daemons()[1].up) kept.ends(now, 1, DaemonEnd::broken);
  }
  for (const std::size_t who : {0U, 2U}) {
    CHECK(kept.core.daemons()[who].up);
    CHECK(kept.core.daemons()[who].starts == 1);
    CHECK_FALSE(kept.core.away(who));
  }
}

TEST_CASE(
    "a daemon that is refused is tried rarely, at once when its files change, and said once") {
  Kept kept({"a"});
  Duration now = 0s;
  kept.step(now);
  for (int i = 0; i < 5; ++i) {
    kept.ends(now, 0, DaemonEnd::refused);
    if (i < 4) {
      CHECK_FALSE(kept.core.refused(0));
      now = kept.core.daemons()[0].due.time_since_epoch();
      REQUIRE(kept.step(now) == Started{0});
    }
  }
  CHECK(kept.core.refused(0));
  CHECK(kept.said.back().find("every 30.0 s and when its files change") != std::string::npos);
  const std::size_t lines = kept.said.size();
  CHECK(kept.step(now + 29s).empty());
  CHECK(kept.step(now + 30s) == Started{0});
  kept.ends(now + 30s, 0, DaemonEnd::refused);
  CHECK(kept.step(now + 31s, DaemonMended{0}) == Started{0});
  kept.step(now + 50s);
  CHECK(kept.core.refused(0));  // not settled yet
  CHECK(kept.said.size() == lines);
  kept.step(now + 51s);
  CHECK_FALSE(kept.core.away(0));
  CHECK(kept.said.back() == "a is well again");
}

TEST_CASE("a daemon that may be refused once more is not up again yet") {
  Kept kept({"refused", "killed"});
  kept.step(0s);
  kept.ends(1s, 0, DaemonEnd::refused);
  kept.ends(1s, 1, DaemonEnd::broken);
  REQUIRE(kept.step(2s) == Started{0, 1});
  const auto& daemons = kept.core.daemons();
  CHECK(outlook(daemons[0], Instant(3s)) == "being tried again");
  CHECK(outlook(daemons[0], Instant(8s)) == "up again");
  CHECK(outlook(daemons[1], Instant(3s)) == "up again");
}

TEST_CASE("a full disk is waited for as long as it takes") {
  Kept kept({"a"});
  kept.step(0s);
  Duration now = 0s;
  for (int i = 0; i < 1000; ++i) {
    kept.ends(now, 0, DaemonEnd::disk);
    CHECK_FALSE(kept.core.refused(0));
    now = kept.core.daemons()[0].due.time_since_epoch();
    REQUIRE(kept.step(now) == Started{0});
  }
  CHECK(kept.core.away(0));
  CHECK(kept.said.size() == 3);
}

TEST_CASE(
    "without restarts a daemon that ends stays away, and none is started once all is to stop") {
  SupervisionRules rules;
  rules.restart = false;
  Kept kept({"a", "b"}, rules);
  kept.step(0s);
  kept.ends(1s, 0, DaemonEnd::broken);
  CHECK(kept.said == std::vector<std::string>{"a ended; not starting it again"});
  CHECK(kept.step(1h).empty());
  CHECK(kept.core.away(0));

  Kept stopping({"a"});
  stopping.step(0s);
  stopping.step(1s, SupervisionStop{});
  CHECK(stopping.ends(2s, 0, DaemonEnd::broken).empty());
  CHECK(stopping.step(1h).empty());
}

TEST_CASE(
    "a daemon that is no member ends by itself, and is started when it has become one again") {
  Kept kept({"a", "b"});
  kept.step(0s, DaemonWanted{1, false});
  CHECK(kept.core.daemons()[0].up);
  CHECK_FALSE(kept.core.daemons()[1].up);
  CHECK(kept.step(5s, DaemonWanted{1, true}) == Started{1});
  CHECK(kept.said.back() == "b is a member now, starting it");
  kept.step(6s, DaemonWanted{1, false});
  CHECK(kept.core.daemons()[1].up);
  CHECK(kept.ends(7s, 1, DaemonEnd::well).empty());
  CHECK(kept.said.back() == "b is no member any more and has ended");
  CHECK_FALSE(kept.core.away(1));
  CHECK(kept.step(1h).empty());
  // One that hears of it first.
  kept.ends(2h, 0, DaemonEnd::well);
  kept.step(2h + 100ms, DaemonWanted{0, false});
  CHECK(kept.said.back() == "a is no member any more and has ended");
  CHECK(kept.step(3h).empty());
}

/// What a simulated daemon does while a spell lasts.
enum class Spell { fine, crashes, full_disk, refused, no_forks, no_member };
const Spell kSpells[] = {Spell::fine,    Spell::crashes,  Spell::full_disk,
                         Spell::refused, Spell::no_forks, Spell::no_member};

/// A machine with daemons that have spells, on a grid of 100 ms, one stream of chance each.
class Machine {
 public:
  Machine(std::uint64_t seed, std::size_t n, SupervisionRules rules)
      : rules_(rules), core_(rules, names(n)) {
    for (std::size_t i = 0; i < n; ++i) {
      daemons_.emplace_back();
      daemons_.back().chance = Rng(seed, i);
    }
  }
  /// Daemons other than `alone` never have a spell.
  void run(Duration until, bool spells, std::optional<std::size_t> alone = {}) {
    for (; now_ < until; now_ += 100ms) {
      for (std::size_t i = 0; i < daemons_.size(); ++i) {
        live(i, spells && (!alone || *alone == i));
      }
      SupervisionOutput out;
      core_.step(Instant(now_), SupervisionTick{}, out);
      take(out);
    }
  }

  struct Daemon {
    Rng chance{0};
    Spell spell = Spell::fine;
    Duration spell_ends{0}, dies{Duration::max()};
    std::vector<Duration> starts;
    std::vector<std::string> said;
    bool alive = false;
  };
  const std::vector<Daemon>& daemons() const { return daemons_; }
  const Supervision& core() const { return core_; }

 private:
  static std::vector<std::string> names(std::size_t n) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back("d" + std::to_string(i));
    return all;
  }
  void live(std::size_t i, bool spells) {
    Daemon& d = daemons_[i];
    if (now_ >= d.spell_ends) {
      d.spell = kSpells[d.chance.below(std::size(kSpells))];
      d.spell_ends = now_ + from_seconds(d.chance.exponential() * 60);
    }
    if (!spells) d.spell = Spell::fine;
    tell(DaemonWanted{i, d.spell != Spell::no_member});
    if (d.alive && now_ >= d.dies) end(i);
    if (!d.alive && d.chance.chance(0.001)) tell(DaemonMended{i});
  }
  void end(std::size_t i) {
    Daemon& d = daemons_[i];
    d.alive = false;
    const DaemonEnd how = d.spell == Spell::refused     ? DaemonEnd::refused
                          : d.spell == Spell::full_disk ? DaemonEnd::disk
                          : d.spell == Spell::no_member ? DaemonEnd::well
                                                        : DaemonEnd::broken;
    tell(DaemonEnded{i, how, "ended"});
  }
  void tell(const SupervisionEvent& event) {
    SupervisionOutput out;
    core_.step(Instant(now_), event, out);
    take(out);
  }
  void take(const SupervisionOutput& out) {
    for (const std::string& line : out.say) {
      daemons_.at(std::stoul(line.substr(1))).said.push_back(line);
    }
    for (const std::size_t i : out.start) {
      Daemon& d = daemons_[i];
      REQUIRE_FALSE(d.alive);
      REQUIRE(d.spell != Spell::no_member);
      d.starts.push_back(now_);
      d.alive = true;
      const bool at_once = d.spell == Spell::refused || d.spell == Spell::full_disk;
      const double life = d.spell == Spell::crashes ? d.chance.exponential() * 15 : 0.1;
      d.dies = d.spell == Spell::fine ? Duration::max()
               : at_once              ? now_ + 100ms
                                      : now_ + from_seconds(life);
      if (d.spell == Spell::no_forks) end(i);
    }
  }

  SupervisionRules rules_;
  Supervision core_;
  Duration now_{0};
  std::vector<Daemon> daemons_;
};

TEST_CASE("simulated: every daemon goes by its own past, is back once it can, never in a storm") {
  constexpr std::size_t kDaemons = 6;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Machine together(seed, kDaemons, {});
    together.run(1h, true);
    for (const Machine::Daemon& d : together.daemons()) {
      for (std::size_t i = 0; i + 9 < d.starts.size(); ++i) {
        // The pauses of eight ends in a row come to 51 s; mended files and members are news.
        const Duration nine = d.starts[i + 9] - d.starts[i];
        CHECK((nine >= 1s));
      }
      CHECK(d.said.size() <= 5 * d.starts.size() + 60);
    }
    // Alone with its own spells, a daemon has the same life as among others that are sick.
    Machine alone(seed, kDaemons, {});
    const std::size_t who = seed % kDaemons;
    alone.run(1h, true, who);
    CHECK(alone.daemons()[who].starts == together.daemons()[who].starts);
    CHECK(alone.daemons()[who].said == together.daemons()[who].said);

    together.run(1h + 31s, false);
    for (std::size_t i = 0; i < kDaemons; ++i) CHECK(together.daemons()[i].alive);
    together.run(1h + 31s + 3min, false);
    for (std::size_t i = 0; i < kDaemons; ++i) {
      CHECK_FALSE(together.core().away(i));
      CHECK(together.core().daemons()[i].note.empty());
    }
  }
}

TEST_CASE("a daemon that was no member, or was given up, is told of rightly and comes again") {
  SupervisionRules rules;
  rules.restart = false;
  Kept kept({"a", "b"}, rules);
  kept.step(0s, DaemonWanted{1, false});  // before it was ever started
  CHECK(kept.said.empty());
  kept.ends(1s, 0, DaemonEnd::broken);
  REQUIRE(kept.core.away(0));
  kept.step(2s, DaemonWanted{0, false});
  CHECK(kept.step(3s, DaemonWanted{0, true}) == Started{0});
  kept.step(4s, DaemonWanted{0, false});
  kept.ends(5s, 0, DaemonEnd::broken);
  CHECK(kept.said.back() == "a ended; it is no member any more");
}

}  // namespace
}  // namespace starling
