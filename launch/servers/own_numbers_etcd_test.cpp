// SPDX-License-Identifier: Apache-2.0
// The same with journals in etcd: whatever is cut off, killed or overtaken between any two requests
// leaves the journal in the old numbers or in the new ones, with an archive to match.
#include <atomic>

#include "launch/servers/held_partitions.h"
#include "launch/servers/newest_servers.h"
#include "launch/servers/own_numbers.h"
#include "launch/servers/test_numbers.h"
#include "launch/system/files.h"
#include "store/etcd/etcd_journal.h"
#include "store/etcd/test_etcd.h"

namespace starling {
namespace {

/// What happens at one of the requests, counted over both ways of a journal.
struct Trouble {
  std::atomic<int> requests{0};
  int at = -1;                              ///< none
  bool answer_lost = false;                 ///< that request still takes effect
  std::function<void()> instead = nullptr;  ///< the request goes on after this
};

/// Requests to a real etcd, with a trouble; from then on nothing gets there any more.
class Troubled final : public EtcdCalls {
 public:
  Troubled(const EtcdAddress& flock, Trouble& trouble) : client_(flock), trouble_(trouble) {}

  Result<EtcdAnswer> txn(const EtcdTxn& txn) override {
    return by_the_way([&] { return client_.txn(txn); });
  }
  Result<EtcdPage> range(const std::string& first, const std::string& end, std::int64_t limit,
                         std::int64_t revision) override {
    return by_the_way([&] { return client_.range(first, end, limit, revision); });
  }
  Result<EtcdLease> grant(std::chrono::seconds ttl) override { return client_.grant(ttl); }
  Result<std::chrono::seconds> keep_alive(std::int64_t lease) override {
    return client_.keep_alive(lease);
  }
  Status revoke(std::int64_t lease) override { return client_.revoke(lease); }

 private:
  template <class Call>
  auto by_the_way(Call call) -> decltype(call()) {
    const int n = trouble_.requests++;
    if (trouble_.at < 0 || n < trouble_.at) return call();
    if (trouble_.instead) {
      if (n == trouble_.at) trouble_.instead();
      return call();
    }
    if (n == trouble_.at && trouble_.answer_lost) (void)call();
    return Error{Errc::io, "cut off"};
  }

  EtcdClient client_;
  Trouble& trouble_;
};

std::unique_ptr<Journal> open_journal(const EtcdAddress& flock, Trouble* trouble = nullptr) {
  const Ownership mine = next_epoch(flock);
  auto opened = trouble == nullptr
                    ? EtcdJournal::open(flock, mine)
                    : EtcdJournal::open_by({std::make_unique<Troubled>(flock, *trouble),
                                            std::make_unique<Troubled>(flock, *trouble)},
                                           flock, mine);
  if (!opened) FAIL(opened.error().message);
  return std::move(opened).value();
}

/// A flock with a job on GPU 3, one that has ended on GPUs 2 and 3, and one that waits with so much
/// to say that the journal has several entries; a server comes before all of that.
struct EtcdRig : Rig {
  explicit EtcdRig(const EtcdAddress& where) : Rig("n, a, b, c", where.url()), flock(where) {
    // The holder of next_epoch(): one process after the other, none waits.
    const auto dir = before.node_dir("agent-0") / "state";
    std::filesystem::create_directories(dir);
    REQUIRE(write_text(dir / "name", "test").ok());
    JobEnded ended{JobId{0, 9}, {}};
    ended.state.job = ended.job;
    ended.state.phase = JobPhase::finished;
    ended.state.placement = {GpuId{2}, GpuId{3}};
    std::vector<Record> records = of_agent(3);
    records.push_back(JobsArchived{4, 10, Duration{-1}, {ended.job}, {}});
    JobAccepted wordy;
    wordy.submit.spec.id = JobId{0, 2};
    wordy.submit.spec.workers = 64;  // never fits
    wordy.submit.spec.gpus_per_worker = 1;
    wordy.submit.spec.command = {std::string(300'000, 'x')};
    records.push_back(wordy);
    const auto journal = open_journal(flock);
    REQUIRE(journal->recover().ok());
    REQUIRE(journal->archive(4, std::vector<Record>{ended}).ok());
    REQUIRE(journal->append(records).ok());
    REQUIRE(go_over().ok());
    now = read_deployment(before.dir).value();
    REQUIRE(now.generation == 2);
  }
  Status renumber(Journal& journal, std::vector<Record>& records) const {
    return renumber_journal(*now.find("agent-0"), now, after, journal, records);
  }
  /// What the next life finds; whether it is in the new numbers. Fails where it is in neither.
  [[nodiscard]] bool is_new() const {
    const auto journal = open_journal(flock);
    const std::vector<Record> records = journal->recover().value();
    const bool fresh = !all<TopologyRead>(records).empty();
    CHECK(all<AttemptStarting>(records).at(0).gang.at(0).gpus == Placement{GpuId{fresh ? 5U : 3U}});
    CHECK(all<JobAccepted>(records).size() == 2);
    const auto chunks = all<JobsArchived>(records);
    REQUIRE(chunks.size() == 1);
    const auto states = journal->archived(chunks[0].chunk);
    REQUIRE(states.ok());
    const Placement ended = std::get<JobEnded>(states.value().at(0)).state.placement;
    CHECK(ended == (fresh ? Placement{GpuId{4}, GpuId{5}} : Placement{GpuId{2}, GpuId{3}}));
    return fresh;
  }
  /// A life without trouble.
  void live() const {
    const auto journal = open_journal(flock);
    std::vector<Record> records = journal->recover().value();
    REQUIRE(renumber(*journal, records).ok());
    CHECK(all<AttemptStarting>(records).at(0).gang.at(0).gpus == Placement{GpuId{5}});
  }
  EtcdAddress flock;
  Deployment now;
};

TEST_CASE("a life in etcd that is cut off at any request leaves one whole journal") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  int old = 0, fresh = 0;
  bool through = false;
  for (int at = 0; !through; ++at) {
    for (const bool answer_lost : {false, true}) {
      CAPTURE(at);
      CAPTURE(answer_lost);
      const EtcdRig rig(etcd->flock("cut-" + std::to_string(2 * at + (answer_lost ? 1 : 0))));
      Trouble trouble;
      {
        const auto journal = open_journal(rig.flock, &trouble);
        std::vector<Record> records = journal->recover().value();
        trouble.at = trouble.requests + at;
        trouble.answer_lost = answer_lost;
        through = rig.renumber(*journal, records).ok();
      }
      (rig.is_new() ? fresh : old) += 1;
      rig.live();
      CHECK(rig.is_new());
    }
  }
  MESSAGE("cut off " << old + fresh << " times: " << old << " old, " << fresh << " new");
  CHECK(old >= 6);
  CHECK(fresh >= 3);
}

TEST_CASE("a life in etcd that is overtaken at any request changes nothing any more") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  int overtaken = 0;
  for (int at = 0; at == overtaken; ++at) {
    CAPTURE(at);
    const EtcdRig rig(etcd->flock("overtaken-" + std::to_string(at)));
    std::uint64_t position = 0;
    std::size_t keys = 0;
    EtcdClient client(rig.flock);
    const auto count = [&] {
      const std::string root = etcd_root(rig.flock);
      return client.range(root, behind(root), 1000).value().entries.size();
    };
    Trouble trouble;
    const auto journal = open_journal(rig.flock, &trouble);
    std::vector<Record> records = journal->recover().value();
    trouble.at = trouble.requests + at;
    trouble.instead = [&] {
      ++overtaken;
      const auto other = open_journal(rig.flock);
      std::vector<Record> found = other->recover().value();
      REQUIRE(rig.renumber(*other, found).ok());
      position = other->position();
      keys = count();
    };
    const Status late = rig.renumber(*journal, records);
    if (overtaken == at) break;  // it needs no more requests than that
    CHECK_FALSE(late.ok());
    CHECK(count() == keys);
    CHECK(rig.is_new());
    CHECK(open_journal(rig.flock)->recover().ok());
    const auto next = open_journal(rig.flock);
    REQUIRE(next->recover().ok());
    CHECK(next->position() == position);
  }
  CHECK(overtaken >= 6);
}

TEST_CASE(
    "an attempt in etcd on a server that leaves refuses the change, as does the agent that serves "
    "it") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("leaves");
  const Rig rig("b, c", flock.url());
  {
    const auto journal = open_journal(flock);
    REQUIRE(journal->recover().ok());
    REQUIRE(journal->append(rig.of_agent(1)).ok());
  }
  // Its lease, which is not renewed, is waited for.
  next_epoch(flock, "killed");
  const Status busy = rig.go_over();
  REQUIRE_FALSE(busy.ok());
  CHECK(busy.error().code == Errc::busy);
  CHECK(busy.error().message.find("still uses server 'a'") != std::string::npos);
  CHECK(read_deployment(rig.before.dir).value().generation == 1);
  CHECK(newest_servers(rig.before).ok());
  // It is free again.
  const Ownership mine = next_epoch(flock, "elsewhere");
  EtcdAuthorityOptions options;
  options.holder = "elsewhere";
  EtcdAuthority authority(flock, options);
  const auto held =
      await_epoch(authority, PartitionId{0}, AgentId{0}, [](const EpochRefused&) { return true; });
  REQUIRE(held.ok());
  CHECK(held.value().epoch > mine.epoch);
  std::atomic<bool> over{false};
  std::thread renewing([&] {
    for (; !over; std::this_thread::sleep_for(std::chrono::milliseconds(500)))
      authority.renew(held.value());
  });
  const Status served = rig.go_over();
  over = true;
  renewing.join();
  REQUIRE_FALSE(served.ok());
  CHECK(served.error().code == Errc::conflict);
  CHECK(served.error().message.find("does not keep serves partition 0") != std::string::npos);
}

TEST_CASE("an earlier description takes nothing once etcd knows a newer one") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdRig rig(etcd->flock("earlier"));
  const auto take = [](const Deployment& flock) {
    HeldPartitions held(flock);
    const auto taken = held.take(*flock.find("agent-0"));
    CHECK((!taken || held.still_held().ok()));
    return taken ? done() : Status(taken.error());
  };
  CHECK(take(rig.now).ok());
  const Status refused = take(rig.before);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::invalid);
  CHECK(refused.error().message.find("other servers since (generation 2)") != std::string::npos);
  CHECK(take(rig.now).ok());
  // What is taken from its holder is not the holder's any more.
  HeldPartitions held(rig.now);
  REQUIRE(held.take(*rig.now.find("agent-0")).ok());
  next_epoch(rig.flock, "nobody");  // once the lease of `held` is over
  CHECK(held.still_held().error().code == Errc::conflict);
}

}  // namespace
}  // namespace starling
