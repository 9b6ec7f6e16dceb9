// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "agents/quota/escrow_home_test.h"
#include "agents/quota/keeper.h"
#include "base/rng.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kUnbounded = QueueSpec::kNoLimit;
constexpr std::uint32_t kEscrowGpus = 32;

struct EscrowFrame {
  std::uint32_t home = 0;  ///< to it, or of an ask from it
  std::variant<QuotaAsk, QuotaGrant, SetQueues> what;
};

class EscrowWorld {
 public:
  EscrowWorld(std::uint64_t seed, std::uint32_t homes) : rng_(seed), homes_(homes) {}

  void step() {
    now_ += std::chrono::milliseconds(rng_.below(2000));
    switch (rng_.below(12)) {
      case 0:
        return submit();
      case 1:
      case 2:
        return start_some();
      case 3:
        return end_some();
      case 4:
        return rng_.chance(0.1) ? set_tree() : tell_tree();
      case 5:
        if (rng_.chance(0.1)) home().begin_life();
        return;
      case 6:
        if (rng_.chance(0.1)) begin_keeper();
        return;
      case 7:
      case 8:
        return ask(rng_.below(size()), false);
      default:
        return deliver_some();
    }
  }

  /// Nothing is lost any more, and time passes.
  void settle() {
    for (int round = 0; round < 40; ++round) {
      now_ += 1s;
      tell_tree();
      for (std::uint32_t i = 0; i < size(); ++i) ask(i, true);
      while (!frames_.empty()) deliver(0, false);
      share_out();
      while (!frames_.empty()) deliver(0, false);
      check();
    }
  }
  void start_all() {
    for (EscrowHome& home : homes_) {
      for (EscrowJob& job : home.jobs) {
        if (job.where == EscrowJob::Where::let) start(home, job);
      }
    }
  }
  /// Half of those that run.
  void end_half() {
    for (EscrowHome& home : homes_) {
      for (std::size_t i = home.jobs.size(); i-- > 0;) {
        if (home.jobs[i].where == EscrowJob::Where::runs && rng_.chance(0.5)) end(home, i);
      }
      home.let_in();
    }
  }
  /// Those that are of a leaf and fit there.
  void drop_hopeless() {
    for (EscrowHome& home : homes_) {
      for (std::size_t i = home.jobs.size(); i-- > 0;) {
        if (home.jobs[i].where != EscrowJob::Where::runs &&
            !why_not_queued(keeper_.tree(), home.jobs[i].spec).empty())
          end(home, i);
      }
      home.let_in();
    }
  }
  [[nodiscard]] std::size_t jobs() const {
    std::size_t count = 0;
    for (const EscrowHome& home : homes_) count += home.jobs.size();
    return count;
  }
  /// Portions are at least what homes go by.
  void check() const {
    for (std::uint32_t i = 0; i < size(); ++i) {
      const EscrowHome& home = homes_[i];
      const QuotaPortions given = keeper_.portions_of(AgentId{i});
      if (given.tree != home.tree.version || !home.tree.limits()) continue;
      for (const auto& [account, of] : home.portions.accounts()) {
        std::uint32_t may = 0;
        for (const QuotaPortions::Row& row : given.rows)
          may += row.account == account ? row.may : 0;
        REQUIRE(of.may <= may);
        REQUIRE(of.used <= of.may);
      }
    }
  }

 private:
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(homes_.size()); }
  EscrowHome& home() { return homes_[rng_.below(size())]; }

  template <class Each>
  void each_running(Each each) const {
    for (const EscrowHome& home : homes_) {
      for (const EscrowJob& job : home.jobs) {
        if (job.where == EscrowJob::Where::runs) each(job.spec);
      }
    }
  }
  [[nodiscard]] std::vector<const QueueTree*> trees() const {
    std::vector<const QueueTree*> trees{&keeper_.tree()};
    for (const EscrowHome& home : homes_) trees.push_back(&home.tree);
    return trees;
  }

  [[nodiscard]] std::uint32_t used(std::string_view queue) const {
    std::uint32_t sum = 0;
    each_running(
        [&](const JobSpec& spec) { sum += is_within(spec.queue, queue) ? spec.gpus() : 0; });
    return sum;
  }
  /// The rule that all of this is for.
  void check_start(const JobSpec& spec) const {
    for (std::string_view at = spec.queue; !at.empty(); at = above(at)) {
      std::uint32_t most = 0;
      for (const QueueTree* tree : trees()) {
        const QueueSpec* q = tree->find(at);
        most = std::max(most, q == nullptr ? kUnbounded : q->most);
      }
      REQUIRE(used(at) <= most);
    }
    std::uint32_t most = 0, of_user = 0;
    for (const QueueTree* tree : trees()) {
      const QueueSpec* q = tree->find(spec.queue);
      most = std::max(most, q == nullptr ? kUnbounded : q->most_per_user);
    }
    each_running([&](const JobSpec& one) {
      of_user += one.queue == spec.queue && one.user == spec.user ? one.gpus() : 0;
    });
    REQUIRE(of_user <= most);
  }

  void start(EscrowHome& home, EscrowJob& job) {
    if (!home.portions.may_start(job.account, job.spec.gpus())) return;
    home.put(job, EscrowJob::Where::runs);
    check_start(job.spec);
  }
  void end(EscrowHome& home, std::size_t index) {
    home.count(home.jobs[index], false);
    home.jobs.erase(home.jobs.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void submit() {
    static const std::vector<std::string> queues = {"a/x", "a/y", "b", "c/p", "c/q", "c"};
    EscrowHome& to = home();
    if (to.jobs.size() > 12) return;
    JobSpec spec;
    spec.queue = queues[rng_.below(6)];
    spec.user = rng_.chance(0.5) ? "ada" : "bob";
    spec.workers = rng_.chance(0.2) ? 1 + rng_.below(8) : 1 + rng_.below(3);
    spec.priority = static_cast<std::int32_t>(rng_.below(2));
    to.add({spec, ++order_, now_});
  }
  void start_some() {
    EscrowHome& at = home();
    for (EscrowJob& job : at.jobs) {
      if (job.where == EscrowJob::Where::let && rng_.chance(0.7)) start(at, job);
    }
  }
  void end_some() {
    EscrowHome& at = home();
    for (std::size_t i = at.jobs.size(); i-- > 0;) {
      if (at.jobs[i].where != EscrowJob::Where::runs || !rng_.chance(0.4)) continue;
      rng_.chance(0.3) ? at.stop(at.jobs[i]) : end(at, i);
    }
    at.let_in();
  }

  /// Queues come, go, become inner ones, limit users, have more or less.
  [[nodiscard]] QueueTree some_tree() {
    QueueTree tree;
    tree.version = keeper_.tree().version + 1;
    if (rng_.chance(0.05)) return tree;
    const auto add = [&](std::string name, bool leaf) {
      QueueSpec q;
      q.name = std::move(name);
      if (rng_.chance(0.7)) q.most = 6 + rng_.below(14);
      if (rng_.chance(0.5)) q.guaranteed = std::min(q.most, leaf ? rng_.below(4) : 8U);
      if (leaf && rng_.chance(0.4)) q.most_per_user = 3 + rng_.below(8);
      q.weight = 1 + rng_.below(3);
      tree.queues.push_back(std::move(q));
    };
    add("a", false);
    add("a/x", true);
    add("a/y", true);
    if (rng_.chance(0.8)) add("b", true);
    if (rng_.chance(0.8)) {
      const bool deep = rng_.chance(0.5);
      add("c", !deep);
      if (deep) add("c/p", true);
      if (deep && rng_.chance(0.5)) add("c/q", true);
    }
    return tree;
  }
  void set_tree() {
    bool changed = false;
    const QueueTree tree = some_tree();
    if (!keeper_.set(tree, changed).empty()) return;
    REQUIRE(changed);
    records_.push_back(QueuesSet{tree});
    if (rng_.chance(0.3)) compact();
  }
  void tell_tree() {
    for (const AgentId home : keeper_.unaware())
      frames_.push_back({home.value, SetQueues{keeper_.tree()}});
  }
  void compact() { records_ = keeper_.records(); }
  void begin_keeper() {
    if (rng_.chance(0.3)) compact();
    keeper_ = QuotaKeeper(homes_.size(), kEscrowGpus);
    for (const Record& record : records_) {
      if (const auto* set = std::get_if<QueuesSet>(&record)) keeper_.replay(*set);
      if (const auto* of = std::get_if<QuotaPortions>(&record)) keeper_.replay(*of);
    }
  }

  void ask(std::uint32_t i, bool calm) {
    EscrowHome& from = homes_[i];
    const bool again = from.portions.keeps_back() && now_ - from.asked >= Portions::kAskAgain;
    const bool early = !calm && rng_.chance(0.1) && from.tree.version > 0;
    if (from.portions.has_to_ask() || again || early) frames_.push_back({i, from.ask(now_)});
  }
  /// What is given makes no queue's portions more than its most.
  void share_out() {
    const std::vector<QueueUse> before = keeper_.uses();
    const std::vector<AgentId> told = keeper_.share_out(now_);
    for (const AgentId home : told) records_.push_back(keeper_.portions_of(home));
    for (const AgentId home : told) frames_.push_back({home.value, keeper_.grant_for(home)});
    const std::vector<QueueUse> after = keeper_.uses();
    for (std::size_t i = 0; i < after.size(); ++i) {
      const QueueSpec* q = keeper_.tree().find(after[i].account.queue);
      REQUIRE((after[i].may <= before[i].may ||
               after[i].may <= (after[i].account.user.empty() ? q->most : q->most_per_user)));
    }
  }

  void deliver_some() {
    if (frames_.empty()) return share_out();
    const std::size_t pick =
        rng_.chance(0.5) ? 0 : rng_.below(static_cast<std::uint32_t>(frames_.size()));
    if (rng_.chance(0.15)) {
      frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(pick));
      return;
    }
    deliver(pick, rng_.chance(0.2));
    check();
  }
  void deliver(std::size_t pick, bool keep) {
    const EscrowFrame frame = frames_[pick];
    if (!keep) frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(pick));
    EscrowHome& home = homes_[frame.home];
    if (const auto* asked = std::get_if<QuotaAsk>(&frame.what)) {
      keeper_.heard(AgentId{frame.home}, *asked, now_);
      if (rng_.chance(0.7)) share_out();
    } else if (const auto* grant = std::get_if<QuotaGrant>(&frame.what)) {
      if (!home.portions.heed(*grant).empty()) home.let_in();
    } else {
      home.set(std::get<SetQueues>(frame.what).tree);
    }
  }

  Rng rng_;
  Instant now_{};
  std::vector<EscrowHome> homes_;
  QuotaKeeper keeper_{homes_.size(), kEscrowGpus};
  std::vector<Record> records_;
  std::deque<EscrowFrame> frames_;
  std::uint64_t order_ = 0;
};

TEST_CASE("whatever is lost, late, repeated or begins anew, no queue has more than its most") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    EscrowWorld world(seed, 2 + static_cast<std::uint32_t>(seed % 4));
    for (int step = 0; step < 500; ++step) world.step();
    world.settle();
    world.drop_hopeless();
    // All get their turn, once those before them have ended.
    for (int round = 0; round < 60 && world.jobs() > 0; ++round) {
      world.start_all();
      world.settle();
      world.end_half();
    }
    REQUIRE(world.jobs() == 0);
  }
}

}  // namespace
}  // namespace starling
