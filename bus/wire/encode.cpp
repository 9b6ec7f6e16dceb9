// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "bus/wire/frame.h"
#include "bus/wire/part_writer.h"

namespace starling::wire {
namespace {

/// One overload of body() for each message, in the order of agents/message.h. Absent means empty or
/// 0.
class Encoder : public PartWriter {
 public:
  using PartWriter::PartWriter;

  auto body(const starling::Hello& m) {
    return CreateHello(b_, as<Role>(m.role), m.protocol_min, m.protocol_max, name(m.build),
                       m.topology);
  }
  auto body(const starling::Welcome& m) {
    const Fence f = fence(m.fence);
    return CreateWelcome(b_, &f, m.topology);
  }
  auto body(const starling::Goodbye& m) {
    return CreateGoodbye(b_, head(m.reason), m.life.value, m.written, m.of_life.value, m.of_born);
  }
  auto body(const starling::Ping& m) { return CreatePing(b_, m.sequence); }
  auto body(const starling::Pong& m) { return CreatePong(b_, m.sequence, m.loop_lag_us); }
  auto body(const starling::Digest& m) { return digest(m); }
  auto body(const starling::Submit& m) {
    return CreateSubmit(b_, spec(m.spec), m.client.value, ns(m.waited), ns(m.served), m.forwards,
                        m.attempts, m.preemptions, std::max<std::int64_t>(ns(m.begun), -1),
                        ns(m.requeued), m.failures);
  }
  auto body(const starling::Accepted& m) {
    const JobId j = id(m.job);
    return CreateAccepted(b_, &j, m.home.value);
  }
  auto body(const starling::Busy& m) {
    const JobId j = id(m.job);
    return CreateBusy(b_, &j, m.retry_ms);
  }
  auto body(const starling::Rejected& m) {
    const JobId j = id(m.job);
    return CreateRejected(b_, &j, as<Refusal>(m.why), head(m.reason));
  }
  auto body(const starling::Cancel& m) {
    const JobId j = id(m.job);
    return CreateCancel(b_, &j);
  }
  auto body(const starling::Query& m) {
    const JobId j = id(m.job);
    return CreateQuery(b_, &j);
  }
  fb::Offset<JobState> body(const starling::JobState& m) {
    const JobId j = id(m.job);
    const Numbers gpus = m.placement.empty() ? Numbers{} : placement(m.placement);
    const fb::Offset<ExitStatus> end = optional_exit(m.exit);
    const fb::Offset<JobAsk> asked = m.ask == nullptr ? fb::Offset<JobAsk>{} : ask(*m.ask);
    const fb::Offset<Allocation> how = allocation(m.allocation);
    return CreateJobState(b_, &j, as<JobPhase>(m.phase), m.home.value, ns(m.queued), ns(m.elapsed),
                          ns(m.served), m.attempts, m.forwards, m.preemptions, gpus, end, asked,
                          std::max<std::int64_t>(ns(m.submitted), -1), m.begun,
                          m.attempt_epoch.value, m.attempt_number, ns(m.requeued), how,
                          as<JobReason>(m.reason), m.failures, ns(m.until));
  }
  auto body(const starling::Explain& m) {
    const JobId j = id(m.job);
    return CreateExplain(b_, &j);
  }
  auto body(const starling::Explanation& m) {
    const JobId j = id(m.job);
    std::vector<Text> lines;
    for (const std::string& line : m.lines) {
      if (lines.size() == kLines) break;
      lines.push_back(text(std::string_view(line).substr(0, text_bytes(limits_))));
    }
    return CreateExplanation(b_, &j, b_.CreateVector(lines));
  }
  auto body(const starling::ListJobs& m) {
    const JobId j = id(m.after);
    return CreateListJobs(b_, &j, m.limit);
  }
  auto body(const starling::JobList& m) {
    std::vector<fb::Offset<JobState>> jobs;
    jobs.reserve(m.jobs.size());
    for (const starling::JobState& job : m.jobs) jobs.push_back(body(job));
    return CreateJobList(b_, b_.CreateVector(jobs), m.more);
  }
  auto body(const starling::StatusQuery&) { return CreateStatusQuery(b_); }
  auto body(const starling::AgentStatus& m) {
    const Fence f = fence(m.fence);
    const Numbers servers = two_ ? numbers(m.drained_servers) : Numbers{};
    const Numbers sick = two_ ? numbers(m.sick_gpus) : Numbers{};
    fb::Offset<SpeedHealth> speed;
    if (two_ && !m.speed.model.empty()) {
      const auto& h = m.speed;
      const auto trouble = head(h.trouble);
      speed = CreateSpeedHealth(b_, name(h.model), h.fallbacks, h.observed, h.refused, h.drifts,
                                trouble);
    }
    std::vector<Text> lines;
    for (const std::string& line : m.troubles) {
      if (!two_ || lines.size() == starling::AgentStatus::kMostTroubles) break;
      lines.push_back(text(std::string_view(line).substr(0, text_bytes(limits_))));
    }
    const auto troubles = lines.empty() ? Texts{} : b_.CreateVector(lines);
    const auto later = [this](std::uint32_t n) { return two_ ? n : 0; };
    return CreateAgentStatus(b_, m.agent.value, &f, m.gpus, m.free, m.quarantined, m.waiting,
                             m.running, m.accepted, m.finished, m.failed, m.forwards,
                             m.cross_partition_gangs, m.preemptions, m.resizes, m.decisions,
                             m.refused_frames, m.messages, m.decision_p50_us, m.decision_p99_us,
                             static_cast<std::uint16_t>(later(m.protocol)), later(m.suspected),
                             later(m.cut_off), later(m.patience), later(m.drained), later(m.sick),
                             servers, sick, speed, later(m.foreign), later(m.resting), troubles);
  }
  auto body(const starling::BidRequest& m) {
    const AttemptId a = id(m.attempt);
    const Demand each{m.each.cpus, m.each.memory};
    return CreateBidRequest(b_, &a, m.gpus, m.gpus_per_worker, texts(m.gpu_types),
                            two_ ? m.claim_ms : 0, two_ ? ns(m.waited) : 0,
                            m.each.any() ? &each : nullptr, four_ ? m.gang : 0,
                            four_ ? name(m.model) : Text{}, five_ ? m.priority : 0);
  }
  auto body(const starling::Offer& m) {
    const AttemptId a = id(m.attempt);
    std::vector<fb::Offset<SharedRoom>> rooms;
    for (const starling::SharedRoom& room : m.shared) {
      if (!four_ || rooms.size() == starling::SharedRoom::kMost) break;
      const AttemptId tenant = id(room.tenant);
      rooms.push_back(CreateSharedRoom(b_, &tenant, placement(room.gpus), room.speed, room.loss));
    }
    const auto shared =
        rooms.empty() ? fb::Offset<fb::Vector<fb::Offset<SharedRoom>>>{} : b_.CreateVector(rooms);
    return CreateOffer(b_, &a, share(m.share), m.valid_ms, shared);
  }
  auto body(const starling::NoOffer& m) {
    const AttemptId a = id(m.attempt);
    return CreateNoOffer(b_, &a, m.partition.value, head(m.reason));
  }
  auto body(const starling::Reserve& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    const Demand each{m.each.cpus, m.each.memory};
    std::vector<AttemptId> tenants;
    for (const starling::AttemptId& tenant : m.beside) {
      if (four_) tenants.push_back(id(tenant));
    }
    const auto beside = tenants.empty() ? fb::Offset<fb::Vector<const AttemptId*>>{}
                                        : b_.CreateVectorOfStructs(tenants);
    return CreateReserve(b_, &a, &f, placement(m.gpus), m.hold_ms, m.each.any() ? &each : nullptr,
                         beside);
  }
  auto body(const starling::Reserved& m) {
    const AttemptId a = id(m.attempt);
    return CreateReserved(b_, &a, m.partition.value);
  }
  auto body(const starling::ReserveRefused& m) {
    const AttemptId a = id(m.attempt);
    return CreateReserveRefused(b_, &a, m.partition.value, as<Refusal>(m.why));
  }
  auto body(const starling::Commit& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    const auto s = spec(m.spec);
    const auto shares = gang(m.gang);
    return CreateCommit(b_, &a, &f, s, shares, ns(m.served), allocation(m.allocation));
  }
  auto body(const starling::Committed& m) {
    const AttemptId a = id(m.attempt);
    return CreateCommitted(b_, &a, m.partition.value);
  }
  auto body(const starling::CommitRefused& m) {
    const AttemptId a = id(m.attempt);
    return CreateCommitRefused(b_, &a, m.partition.value, as<Refusal>(m.why));
  }
  auto body(const starling::StartAttempt& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    return CreateStartAttempt(b_, &a, &f);
  }
  auto body(const starling::Started& m) {
    const AttemptId a = id(m.attempt);
    return CreateStarted(b_, &a, m.partition.value);
  }
  auto body(const starling::Release& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    return CreateRelease(b_, &a, &f);
  }
  auto body(const starling::Released& m) {
    const AttemptId a = id(m.attempt);
    return CreateReleased(b_, &a, m.partition.value, ns(m.served));
  }
  auto body(const starling::AttemptQuery& m) {
    const AttemptId a = id(m.attempt);
    return CreateAttemptQuery(b_, &a, m.partition.value, two_ ? m.token : 0);
  }
  auto body(const starling::AttemptAnswer& m) {
    const AttemptId a = id(m.attempt);
    return CreateAttemptAnswer(b_, &a, as<AttemptLife>(m.life), two_ ? m.token : 0,
                               two_ ? ns(m.age) : 0);
  }
  auto body(const starling::Launch& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    const auto s = spec(m.spec);
    const auto shares = gang(m.gang);
    const auto here = placement(m.here);
    return CreateLaunch(b_, &a, &f, s, shares, here, ns(m.served), allocation(m.allocation));
  }
  auto body(const starling::LaunchResult& m) {
    const AttemptId a = id(m.attempt);
    return CreateLaunchResult(b_, &a, m.ok, head(m.reason));
  }
  auto body(const starling::Kill& m) {
    const AttemptId a = id(m.attempt);
    const Fence f = fence(m.fence);
    return CreateKill(b_, &a, &f);
  }
  auto body(const starling::Killed& m) {
    const AttemptId a = id(m.attempt);
    return CreateKilled(b_, &a, ns(m.served));
  }
  auto body(const starling::Exited& m) {
    const AttemptId a = id(m.attempt);
    return CreateExited(b_, &a, m.partition.value, exit(m.exit), ns(m.served));
  }
  auto body(const starling::ExitedAck& m) {
    const AttemptId a = id(m.attempt);
    return CreateExitedAck(b_, &a, m.partition.value);
  }
  auto body(const starling::Progress& m) {
    const AttemptId a = id(m.attempt);
    return CreateProgress(b_, &a, ns(m.served), m.rate, five_ ? m.noise : 0, five_ ? m.batch : 0);
  }
  auto body(const starling::InventoryRequest& m) {
    const Fence f = fence(m.fence);
    return CreateInventoryRequest(b_, &f, m.topology);
  }
  auto body(const starling::Inventory& m) {
    const Fence f = fence(m.fence);
    std::vector<fb::Offset<InventoryItem>> items;
    items.reserve(m.items.size());
    for (const starling::InventoryItem& item : m.items) {
      const AttemptId a = id(item.attempt);
      const Numbers gpus = placement(item.gpus);
      const Demand each{item.each.cpus, item.each.memory};
      items.push_back(CreateInventoryItem(b_, &a, gpus, item.exited, optional_exit(item.exit),
                                          ns(item.served), item.each.any() ? &each : nullptr));
    }
    const auto all = b_.CreateVector(items);
    const Numbers sick = two_ ? numbers(m.sick) : Numbers{};
    return CreateInventory(b_, &f, all, two_ ? m.health : 0, sick);
  }
  auto body(const starling::Fenced& m) {
    return CreateFenced(b_, m.partition.value, m.epoch.value);
  }
  auto body(const starling::ProbeFor& m) { return CreateProbeFor(b_, m.node.value); }
  auto body(const starling::ProbeResult& m) {
    return CreateProbeResult(b_, m.node.value, m.reached);
  }
  auto body(const starling::GpuHealth& m) {
    return CreateGpuHealth(b_, m.version, numbers(m.sick));
  }
  auto body(const starling::GpuHealthSeen& m) { return CreateGpuHealthSeen(b_, m.version); }
  auto body(const starling::SetDrain& m) {
    return CreateSetDrain(b_, m.server.value, m.drained, m.evict, m.version);
  }
  auto body(const starling::DrainState& m) {
    return CreateDrainState(b_, m.server.value, m.drained, m.attempts, as<Refusal>(m.why),
                            m.version);
  }
  auto body(const starling::ReadOutput& m) {
    const AttemptId a = id(m.attempt);
    return CreateReadOutput(b_, &a, m.server.value, m.client.value, m.file, m.offset, m.from_end);
  }
  auto body(const starling::OutputPage& m) {
    const AttemptId a = id(m.attempt);
    const std::size_t most = starling::OutputPage::kMost;
    const auto bytes = b_.CreateVector(reinterpret_cast<const std::uint8_t*>(m.bytes.data()),
                                       std::min(m.bytes.size(), most));
    const Text trouble = head(m.trouble);
    return CreateOutputPage(b_, &a, m.server.value, m.client.value, m.asked_file, m.asked_offset,
                            m.file, m.next, m.more, m.gap, bytes, trouble);
  }
  auto body(const starling::Digests& m) {
    std::vector<fb::Offset<DigestWord>> words;
    words.reserve(m.words.size());
    for (const starling::Digests::Word& word : m.words)
      words.push_back(CreateDigestWord(b_, digest(word.digest), word.age_ms));
    return CreateDigests(b_, b_.CreateVector(words));
  }
  auto body(const starling::ChangeJob& m) {
    const JobId j = id(m.job);
    return CreateChangeJob(b_, &j, as<JobChange>(m.change), m.attempt_epoch.value,
                           m.attempt_number);
  }
};

// The union and the variant list the same kinds in the same order, so one index serves both.
static_assert(static_cast<std::size_t>(Body::MAX) == std::variant_size_v<MessageKinds>);
static_assert(static_cast<std::size_t>(starling::Role::client) ==
              static_cast<std::size_t>(Role::MAX));
static_assert(static_cast<std::size_t>(starling::Refusal::denied) ==
              static_cast<std::size_t>(Refusal::MAX));
static_assert(static_cast<std::size_t>(starling::JobPhase::moved) ==
              static_cast<std::size_t>(JobPhase::MAX));
static_assert(static_cast<std::size_t>(starling::JobReason::dependency_never) ==
              static_cast<std::size_t>(JobReason::MAX));
static_assert(static_cast<std::size_t>(starling::JobChange::requeue_hold) ==
              static_cast<std::size_t>(JobChange::MAX));
static_assert(static_cast<std::size_t>(starling::After::How::not_ok) ==
              static_cast<std::size_t>(How::MAX));
static_assert(static_cast<std::size_t>(starling::AttemptLife::not_ready) ==
              static_cast<std::size_t>(AttemptLife::MAX));

}  // namespace

void encode_frame(fb::FlatBufferBuilder& builder, const Limits& limits, const FrameHeader& header,
                  const Message& message) {
  Encoder encoder(builder, limits, header.protocol);
  const auto type = static_cast<Body>(message.index() + 1);
  const fb::Offset<void> body =
      std::visit([&](const auto& m) { return encoder.body(m).Union(); }, message);
  const std::uint16_t speaks = header.speaks > 1 ? header.speaks : std::uint16_t{0};
  FinishFrameBuffer(
      builder,
      CreateFrame(builder, header.protocol, header.incarnation.value, header.sequence, type, body,
                  speaks, header.meant_for.value, header.born, header.written, header.began));
}

}  // namespace starling::wire
