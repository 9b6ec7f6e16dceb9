// SPDX-License-Identifier: Apache-2.0
// How long a takeover takes, and what the loop is held up by, with many remembered jobs.
//
//   remembered STATE fill N BYTES [log]   writes N ended jobs with BYTES of output each
//   remembered STATE run SECONDS [PID]    takes the partition over and serves it, with a compaction
//
// PID is that of an etcd on this machine: of the longest cycles it is then told how long its
// threads were ready to run and had no processor (the kernel's /proc/PID/task/*/schedstat).
// STATE is a directory (SQLite) or etcd://HOST:PORT/NAME. `log`: as journals were before there was
// an archive, every job in what a takeover reads.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/step/state.h"
#include "bus/wire/node.h"
#include "bus/wire/test_inbox.h"
#include "interference/models.h"
#include "policies/registry.h"
#include "store/await_epoch.h"
#include "store/etcd/etcd_authority.h"
#include "store/etcd/etcd_journal.h"
#include "store/sqlite/sqlite_journal.h"
#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling {
namespace {

using Wall = std::chrono::steady_clock;

double since(Wall::time_point begin) {
  return std::chrono::duration<double>(Wall::now() - begin).count();
}

/// Of this process's threads.
double cpu() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "remembered: %s\n", error.message.c_str());
  std::exit(1);
}
void need(const Status& status) {
  if (!status.ok()) fail(status.error());
}

std::string memory() {
  std::ifstream status("/proc/self/status");
  std::string line, text;
  while (std::getline(status, line)) {
    if (line.rfind("VmRSS", 0) == 0 || line.rfind("VmHWM", 0) == 0) text += " " + line;
  }
  std::erase(text, '\t');
  return text;
}

/// A journal, and for one in etcd the lease, which is renewed as daemons do.
struct State {
  explicit State(const std::string& where) {
    if (!EtcdAddress::is_one(where)) {
      auto opened = SqliteJournal::open(where + "/journal.db");
      if (!opened) fail(opened.error());
      journal = std::move(opened).value();
      return;
    }
    auto flock = EtcdAddress::parse(where);
    if (!flock) fail(flock.error());
    EtcdAuthorityOptions options;
    options.holder = "remembered";
    authority = std::make_unique<EtcdAuthority>(flock.value(), options);
    const auto granted = await_epoch(*authority, PartitionId{0}, AgentId{0},
                                     [](const EpochRefused&) { return true; });
    if (!granted) fail(granted.error());
    mine = granted.value();
    auto opened = EtcdJournal::open(flock.value(), mine, {}, [this] { renew(); });
    if (!opened) fail(opened.error());
    journal = std::move(opened).value();
  }
  void renew() {
    if (authority == nullptr || since(renewed) < 0.5) return;
    renewed = Wall::now();
    authority->renew(mine);
    if (authority->holds_for(mine) <= Duration{0}) std::printf("the lease has lapsed\n");
  }
  std::unique_ptr<EtcdAuthority> authority;
  Ownership mine;
  Wall::time_point renewed = Wall::now();
  std::unique_ptr<Journal> journal;
};

JobId job_number(std::uint64_t n) { return {n * 0x9e3779b97f4a7c15ULL, n}; }

JobState ended_job(std::uint64_t n, std::size_t output) {
  JobState state;
  state.job = job_number(n);
  state.phase = JobPhase::finished;
  state.queued = state.elapsed = state.served = Duration(123'456'789'012);
  state.attempts = 1;
  state.placement = {GpuId{1}};
  state.exit.log_tail = std::string(output, 'x');
  return state;
}

int fill(const std::string& where, std::uint64_t jobs, std::size_t output, bool log) {
  State state(where);
  if (const auto earlier = state.journal->recover(); !earlier) fail(earlier.error());
  const auto begin = Wall::now();
  const Limits limits;
  std::uint64_t number = 0;
  for (std::uint64_t n = 0; n < jobs;) {
    JobsArchived record;
    record.chunk = ++number;
    std::vector<Record> chunk;
    while (n < jobs && record.bytes < limits.archive_chunk_bytes) {
      JobState over = ended_job(n++, output);
      record.bytes += 68 + output;
      record.jobs.push_back(over.job);
      chunk.emplace_back(JobEnded{over.job, std::move(over)});
    }
    if (log) {
      need(state.journal->append(chunk));
    } else {
      need(state.journal->archive(record.chunk, chunk));
      need(state.journal->append(std::vector<Record>{record}));
    }
    state.renew();
  }
  std::printf("%llu jobs written in %.1f s\n", static_cast<unsigned long long>(jobs), since(begin));
  return 0;
}

/// A client that submits, cancels and asks.
struct Callers final : testing::Inbox {
  bool send(NodeId, std::span<const std::byte> frame) override {
    const auto said = codec.decode(frame);
    if (said && std::holds_alternative<JobState>(said.value().message)) {
      const auto& state = std::get<JobState>(said.value().message);
      if (state.phase == JobPhase::finished) ++recalled;
    }
    return true;
  }
  void say(const Message& message) {
    const auto bytes = codec.encode({kNewestProtocol, Incarnation{1}, ++sequence}, message);
    waiting.push_back({client_node(0), {bytes.begin(), bytes.end()}});
  }
  Codec codec;
  std::uint64_t sequence = 0, recalled = 0;
};

/// Seconds for which threads of process `pid` have been ready to run without a processor: this
/// thread alone, or all.
double kept_waiting(const std::string& pid, bool this_thread) {
  namespace fs = std::filesystem;
  const auto of = [](const fs::path& file) {
    std::ifstream in(file);
    double ran = 0, waited = 0;
    in >> ran >> waited;
    return waited * 1e-9;
  };
  if (this_thread) return of("/proc/thread-self/schedstat");
  double all = 0;
  std::error_code failed;
  for (const auto& thread : fs::directory_iterator("/proc/" + pid + "/task", failed))
    all += of(thread.path() / "schedstat");
  return all;
}

/// How long each of some things took, how much of it this thread had a processor or was ready for
/// one, and how long etcd's threads were, if `etcd` is its process.
class Times {
 public:
  explicit Times(std::string etcd = {}) : etcd_(std::move(etcd)) {}
  void begin() { begun_ = now(); }
  void end() {
    const Moment end = now();
    times_.push_back({end.wall - begun_.wall, end.processor - begun_.processor,
                      end.ready - begun_.ready, end.etcd - begun_.etcd});
  }
  [[nodiscard]] std::size_t size() const { return times_.size(); }
  void tell(const char* what) {
    std::sort(times_.begin(), times_.end(),
              [](const Moment& a, const Moment& b) { return a.wall < b.wall; });
    const auto ms = [&](std::size_t i) { return times_[i].wall * 1e3; };
    std::printf("%zu %s: median %.1f ms, 99 %% %.1f ms, longest %.1f ms\n", size(), what,
                ms(size() / 2), ms(size() * 99 / 100), ms(size() - 1));
    for (std::size_t i = size(); i > 0 && i + 3 > size(); --i) {
      const Moment& one = times_[i - 1];
      std::printf("  %.1f ms: %.1f on a processor, %.1f ready for one, %.1f asleep", one.wall * 1e3,
                  one.processor * 1e3, one.ready * 1e3,
                  (one.wall - one.processor - one.ready) * 1e3);
      if (!etcd_.empty()) std::printf("; etcd's threads %.1f ready for one", one.etcd * 1e3);
      std::printf("\n");
    }
  }

 private:
  struct Moment {
    double wall, processor, ready, etcd;
  };
  [[nodiscard]] Moment now() const {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return {std::chrono::duration<double>(Wall::now().time_since_epoch()).count(),
            static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9,
            kept_waiting({}, true), etcd_.empty() ? 0 : kept_waiting(etcd_, false)};
  }
  std::string etcd_;
  Moment begun_{};
  std::vector<Moment> times_;
};

int run(const std::string& where, double seconds_of_service, const std::string& etcd) {
  const auto begin = Wall::now();
  State state(where);
  auto records = state.journal->recover();
  if (!records) fail(records.error());
  std::printf("read %zu records, %.1f MB in %.2f s (%.2f s of processor);%s\n",
              records.value().size(), static_cast<double>(state.journal->bytes()) / 1e6,
              since(begin), cpu(), memory().c_str());
  GeneratorOptions size;
  size.servers = 4, size.gpus_per_server = 2;
  const Topology topology = generate_flat(size).value();
  AgentConfig config;
  const std::vector<Partition> parts = partition(topology, 1).value();
  for (const Partition& part : parts) config.flock.push_back({AgentId{0}, part});
  config.executors = {{executor_node(0), {0, 4}}};
  config.incarnation = Incarnation{2};
  config.epoch = Epoch{1};
  const auto speed = make_flat_speed();
  Callers callers;
  AgentNode node(
      Agent(std::move(config), topology, *speed,
            make_policy_registry().make("fifo:queue=skip").value(), Rng(1), records.value()),
      callers, *state.journal);
  records = std::vector<Record>{};
  state.renew();
  const auto now = [&] { return Instant(Duration(static_cast<std::int64_t>(since(begin) * 1e9))); };
  if (const auto cycle = node.pump(now()); !cycle) fail(cycle.error());
  std::printf("serves after %.2f s (%.2f s of processor);%s\n", since(begin), cpu(),
              memory().c_str());
  const auto& old = node.core().state().home.remembered;
  std::printf("%zu jobs in memory, %zu in the archive, %zu chunks\n", old.ended.size(),
              old.archive.jobs().size(), old.archive.chunks().size());

  Times cycles(etcd), steps(etcd);
  double compacted = 0;
  bool compacting = true;
  std::uint64_t n = 0;
  const auto served = Wall::now();
  while (since(served) < seconds_of_service || (compacting && since(served) < 600)) {
    for (int i = 0; i < 10; ++i) {
      JobSpec spec;
      spec.id = {~0ULL, ++n};
      callers.say(Submit{spec, {}});
      callers.say(Cancel{spec.id});
    }
    callers.say(Query{job_number(n * 7919 % 1'000'000)});
    cycles.begin();
    if (const auto cycle = node.pump(now()); !cycle) fail(cycle.error());
    cycles.end();
    if (compacting) {
      steps.begin();
      const auto more = node.compact_some();
      if (!more) fail(more.error());
      steps.end();
      compacting = more.value();
      compacted = since(served);
    }
    state.renew();
  }
  if (EtcdAddress::is_one(where)) {
    // What no journal in this etcd on this machine can be faster than.
    const EtcdAddress flock = EtcdAddress::parse(where).value();
    EtcdClient client(flock);
    Times writes(etcd);
    for (int i = 0; i < 500; ++i) {
      writes.begin();
      if (!client.txn({{}, {EtcdOp::put(etcd_root(flock) + "write", "x")}, {}})) break;
      writes.end();
      state.renew();
    }
    if (writes.size() > 0) writes.tell("single writes of one byte");
  }
  cycles.tell("cycles");
  steps.tell("steps of a compaction");
  std::printf("compacted in %.1f s; %llu of %llu old jobs answered from the archive;%s\n",
              compacted, static_cast<unsigned long long>(callers.recalled),
              static_cast<unsigned long long>(cycles.size()), memory().c_str());
  return 0;
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (argc >= 5 && std::strcmp(argv[2], "fill") == 0)
    return starling::fill(argv[1], number(3), number(4), argc > 5);
  if ((argc == 4 || argc == 5) && std::strcmp(argv[2], "run") == 0)
    return starling::run(argv[1], std::atof(argv[3]), argc == 5 ? argv[4] : "");
  std::fprintf(stderr, "remembered STATE fill N BYTES [log] | STATE run SECONDS [PID]\n");
  return 2;
}
