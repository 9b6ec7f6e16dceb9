// SPDX-License-Identifier: Apache-2.0
// Messages and records in words, for transcripts that can be read aloud.
#include "agents/explain/describe_test.h"

#include <doctest/doctest.h>

#include "agents/testing/testing.h"
#include "topology/placement_text.h"

namespace starling {

std::string node_text(NodeId node) {
  if (node.value >= kFirstClient) return "client " + std::to_string(node.value - kFirstClient);
  if (node.value >= kFirstExecutor) {
    return "executor " + std::to_string(node.value - kFirstExecutor);
  }
  return "agent " + std::to_string(node.value - 1);
}

std::string gpus_text(const Placement& gpus) {
  return gpus.empty() ? "none" : placement_text(gpus);
}

std::string attempt_text(const AttemptId& attempt) {
  return "job " + std::to_string(attempt.job.lo) + " try " + std::to_string(attempt.number >> 32U) +
         "." + std::to_string(attempt.number & 0xffffffffU);
}

namespace {

std::string text_of(Duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) + " ms";
}

std::string exit_text(const ExitStatus& exit) {
  return (exit.lost ? std::string("lost") : "code " + std::to_string(exit.code)) +
         (exit.log_tail.empty() ? "" : " (" + exit.log_tail + ")");
}

std::string job_text(JobId job) { return "job " + std::to_string(job.lo); }

std::string tree_text(const QueueTree& tree) {
  return "version " + std::to_string(tree.version) + ", " + std::to_string(tree.queues.size()) +
         " queues";
}

std::string account_text(const QuotaAccount& account) {
  return account.queue + (account.user.empty() ? "" : " of " + account.user);
}

std::string stamp_text(const QuotaStamp& stamp, std::uint64_t tree) {
  return std::to_string(stamp.life.value) + "." + std::to_string(stamp.number) + " of version " +
         std::to_string(tree);
}

struct Words {
  std::string operator()(const Submit& m) const {
    std::string text = job_text(m.spec.id) + ", " + std::to_string(m.spec.gpus()) + " GPUs";
    if (m.forwards > 0) text += ", forwarded " + std::to_string(m.forwards) + " times";
    return text;
  }
  std::string operator()(const Accepted& m) const { return job_text(m.job); }
  std::string operator()(const Busy& m) const { return job_text(m.job); }
  std::string operator()(const Rejected& m) const {
    return job_text(m.job) + ": " + name_of(m.why) + ": " + m.reason;
  }
  std::string operator()(const Cancel& m) const { return job_text(m.job); }
  std::string operator()(const Query& m) const { return job_text(m.job); }
  std::string operator()(const Explain& m) const { return job_text(m.job); }
  std::string operator()(const JobState& m) const {
    std::string text = job_text(m.job) + " " + name_of(m.phase);
    if (m.phase == JobPhase::moved) return text + " to agent " + std::to_string(m.home.value);
    if (!m.placement.empty()) text += ", GPUs " + gpus_text(m.placement);
    if (m.phase == JobPhase::failed) text += ", " + exit_text(m.exit);
    return text;
  }
  std::string operator()(const Explanation& m) const {
    std::string text = job_text(m.job);
    for (const std::string& line : m.lines) text += "\n             | " + line;
    return text;
  }
  std::string operator()(const JobList& m) const {
    std::string text;
    for (const JobState& job : m.jobs) {
      text += (text.empty() ? "" : " ") + std::to_string(job.job.lo);
    }
    return text + (m.more ? " and more" : "");
  }
  std::string operator()(const Digest& m) const {
    return std::to_string(m.free) + " of " + std::to_string(m.gpus) + " free, " +
           std::to_string(m.waiting) + " waiting";
  }
  std::string operator()(const BidRequest& m) const {
    return attempt_text(m.attempt) + ", " + std::to_string(m.gpus) + " GPUs";
  }
  std::string operator()(const Offer& m) const {
    return attempt_text(m.attempt) + ", GPUs " + gpus_text(m.share.gpus);
  }
  std::string operator()(const Reserve& m) const {
    return attempt_text(m.attempt) + ", GPUs " + gpus_text(m.gpus);
  }
  std::string operator()(const ReserveRefused& m) const {
    return attempt_text(m.attempt) + ": " + name_of(m.why);
  }
  std::string operator()(const CommitRefused& m) const {
    return attempt_text(m.attempt) + ": " + name_of(m.why);
  }
  std::string operator()(const Released& m) const {
    return attempt_text(m.attempt) + ", served " + text_of(m.served);
  }
  std::string operator()(const AttemptAnswer& m) const {
    return attempt_text(m.attempt) + ": " +
           (m.life == AttemptLife::live   ? "live"
            : m.life == AttemptLife::dead ? "dead"
                                          : "not ready");
  }
  std::string operator()(const Launch& m) const {
    return attempt_text(m.attempt) + ", GPUs " + gpus_text(m.here);
  }
  std::string operator()(const LaunchResult& m) const {
    return attempt_text(m.attempt) + (m.ok ? ": ok" : ": refused, " + m.reason);
  }
  std::string operator()(const Killed& m) const {
    return attempt_text(m.attempt) + ", served " + text_of(m.served);
  }
  std::string operator()(const Exited& m) const {
    return attempt_text(m.attempt) + ", " + exit_text(m.exit);
  }
  std::string operator()(const Inventory& m) const {
    std::string text = std::to_string(m.items.size()) + " items";
    for (const InventoryItem& item : m.items) {
      text += "; " + attempt_text(item.attempt) + (item.exited ? " exited" : " runs");
    }
    return text;
  }
  std::string operator()(const Goodbye& m) const { return m.reason; }
  std::string operator()(const ProbeFor& m) const { return node_text(m.node); }
  std::string operator()(const ProbeResult& m) const {
    return node_text(m.node) + (m.reached ? ": heard" : ": not heard");
  }
  std::string operator()(const GpuHealth& m) const { return "bad GPUs " + gpus_text(m.sick); }
  std::string operator()(const SetDrain& m) const {
    return "server " + std::to_string(m.server.value) + (m.drained ? ": drain" : ": undo") +
           (m.evict ? ", evict" : "");
  }
  std::string operator()(const DrainState& m) const {
    const std::string server = "server " + std::to_string(m.server.value);
    if (m.why != Refusal::unknown) return server + ": " + name_of(m.why);
    return server + (m.drained ? ": drained, " : ": in use, ") + std::to_string(m.attempts) +
           " attempts there";
  }
  std::string operator()(const AgentStatus& m) const {
    return std::to_string(m.free) + " free, " + std::to_string(m.quarantined) + " quarantined, " +
           std::to_string(m.drained) + " drained; " + std::to_string(m.suspected) + " suspected, " +
           std::to_string(m.cut_off) + " cut off" +
           (m.foreign > 0 ? ", " + std::to_string(m.foreign) + " of another topology" : "");
  }
  std::string operator()(const SetQueues& m) const { return tree_text(m.tree); }
  std::string operator()(const QueuesState& m) const {
    const std::string text = tree_text(m.tree);
    if (m.why != Refusal::unknown) return text + ": " + name_of(m.why) + ": " + m.reason;
    return text + ", " + std::to_string(m.unaware.size()) + " unaware";
  }
  std::string operator()(const QuotaAsk& m) const {
    std::string text = stamp_text(m.stamp, m.tree);
    for (const QuotaWant& row : m.rows) {
      text += "; " + account_text(row.account) + " uses " + std::to_string(row.used) + ", keeps " +
              std::to_string(row.keep) + ", wants " + std::to_string(row.want);
    }
    return text;
  }
  std::string operator()(const QuotaGrant& m) const {
    std::string text = stamp_text(m.stamp, m.tree);
    for (const QuotaMay& row : m.rows) {
      text += "; " + account_text(row.account) + " may " + std::to_string(row.may) +
              (row.bound.empty() ? "" : ", bound by " + row.bound) + (row.scarce ? ", scarce" : "");
    }
    return text;
  }
  template <class M>
  requires requires(const M& m) { m.attempt; }
  std::string operator()(const M& m) const { return attempt_text(m.attempt); }
  template <class M>
  std::string operator()(const M&) const {
    return {};
  }
};

struct RecordWords {
  std::string operator()(const LifeBegan& r) const {
    return "LifeBegan " + std::to_string(r.incarnation.value);
  }
  std::string operator()(const JobAccepted& r) const {
    return "JobAccepted " + job_text(r.submit.spec.id);
  }
  std::string operator()(const AttemptStarting& r) const {
    return "AttemptStarting " + attempt_text(r.attempt);
  }
  std::string operator()(const AttemptDraining& r) const {
    return "AttemptDraining " + attempt_text(r.attempt);
  }
  std::string operator()(const AttemptOver& r) const {
    return "AttemptOver " + attempt_text(r.attempt) + ", served " + text_of(r.served);
  }
  std::string operator()(const JobOffered& r) const {
    return "JobOffered " + job_text(r.job) + " to agent " + std::to_string(r.to.value);
  }
  std::string operator()(const JobMoved& r) const {
    return "JobMoved " + job_text(r.job) + " to agent " + std::to_string(r.to.value);
  }
  std::string operator()(const JobEnded& r) const {
    return "JobEnded " + job_text(r.job) + " " + name_of(r.state.phase);
  }
  std::string operator()(const ShareCommitted& r) const {
    return "ShareCommitted " + attempt_text(r.attempt);
  }
  std::string operator()(const ShareLaunched& r) const {
    return "ShareLaunched " + attempt_text(r.attempt);
  }
  std::string operator()(const ShareReleased& r) const {
    return "ShareReleased " + attempt_text(r.attempt);
  }
  std::string operator()(const ServerDrained& r) const {
    return "ServerDrained server " + std::to_string(r.server.value) + (r.drained ? "" : " no more");
  }
  std::string operator()(const DrainVersion& r) const {
    return "DrainVersion server " + std::to_string(r.server.value) + ", version " +
           std::to_string(r.version);
  }
  std::string operator()(const JobPast& r) const {
    return "JobPast " + job_text(r.job) + (r.first_start < Duration{0} ? ", new" : ", started");
  }
  std::string operator()(const AttemptPlan& r) const {
    constexpr const char* kThen[] = {"wait", "try again", "restart", "cancel",
                                     "fail", "retry it",  "requeue"};
    return "AttemptPlan " + attempt_text(r.attempt) + ", then " +
           kThen[static_cast<std::size_t>(r.after)];
  }
  std::string operator()(const JobStanding& r) const {
    return "JobStanding " + to_string(r.job) + (r.held ? ", held" : "") + ", " +
           std::to_string(r.failures) + " failures";
  }
  std::string operator()(const TombstoneServed& r) const {
    return "TombstoneServed " + attempt_text(r.attempt) + ", " + text_of(r.served);
  }
  std::string operator()(const TombstonesDropped& r) const {
    return "TombstonesDropped " + std::to_string(r.attempts.size());
  }
  std::string operator()(const QueuesSet& r) const { return "QueuesSet " + tree_text(r.tree); }
  std::string operator()(const QuotaPortions& r) const {
    std::string text =
        "QuotaPortions agent " + std::to_string(r.home.value) + ", " + stamp_text(r.stamp, r.tree);
    for (const QuotaPortions::Row& row : r.rows)
      text += "; " + account_text(row.account) + " may " + std::to_string(row.may);
    return text;
  }
  template <class R>
  std::string operator()(const R&) const {
    return "a record of executors";
  }
};

}  // namespace

std::string describe(const Message& message) {
  const std::string words = std::visit(Words{}, message);
  return std::string(name_of(message)) + (words.empty() ? "" : " " + words);
}

std::string describe(const Record& record) { return std::visit(RecordWords{}, record); }

TEST_CASE("words name the kind and what matters of it") {
  const AttemptId attempt{JobId{0, 3}, Epoch{1}, (2ULL << 32U) | 5};
  CHECK(describe(Message{Reserve{attempt, {}, {GpuId{0}, GpuId{1}, GpuId{4}}, 5}}) ==
        "Reserve job 3 try 2.5, GPUs 0-1,4");
  CHECK(describe(Message{StatusQuery{}}) == "StatusQuery");
  CHECK(describe(Record{JobMoved{JobId{0, 3}, AgentId{1}}}) == "JobMoved job 3 to agent 1");
  CHECK(describe(Message{QuotaGrant{{Incarnation{2}, 7}, 3, {{{"a", "ann"}, 4, "a", true}}}}) ==
        "QuotaGrant 2.7 of version 3; a of ann may 4, bound by a, scarce");
  CHECK(describe(Record{QuotaPortions{AgentId{1}, {Incarnation{2}, 7}, 3, {{{"a", ""}, 4}}}}) ==
        "QuotaPortions agent 1, 2.7 of version 3; a may 4");
  CHECK(std::string(name_of(Message{Fenced{}})) == "Fenced");
  CHECK(std::string(name_of(Message{Inventory{}})) == "Inventory");
  CHECK(std::string(name_of(Message{Launch{}})) == "Launch");
  CHECK(std::string(name_of(Message{Hello{}})) == "Hello");
}

}  // namespace starling
