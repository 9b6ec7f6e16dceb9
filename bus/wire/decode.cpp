// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "bus/wire/frame.h"
#include "bus/wire/part_reader.h"
#include "bus/wire/roles.h"

namespace starling::wire {
namespace {

/// Translates a verified frame, message by message.
class Decoder : public PartReader {
 public:
  using PartReader::PartReader;

  Message message(const Frame& f) { return message(f, All{}); }

 private:
  template <class... Kind>
  struct Kinds {};
  // In the order of the union, as all that is known of a frame is its number.
  using All =
      Kinds<Hello, Welcome, Goodbye, Ping, Pong, Digest, Submit, Accepted, Busy, Rejected, Cancel,
            Query, JobState, Explain, Explanation, ListJobs, JobList, StatusQuery, AgentStatus,
            BidRequest, Offer, NoOffer, Reserve, Reserved, ReserveRefused, Commit, Committed,
            CommitRefused, StartAttempt, Started, Release, Released, AttemptQuery, AttemptAnswer,
            Launch, LaunchResult, Kill, Killed, Exited, ExitedAck, Progress, InventoryRequest,
            Inventory, Fenced, ProbeFor, ProbeResult, GpuHealth, GpuHealthSeen, SetDrain,
            DrainState, ReadOutput, OutputPage, Digests, ChangeJob>;

  static constexpr bool in_order(std::initializer_list<Body> kinds) {
    std::size_t last = 0;
    for (const Body kind : kinds) {
      if (static_cast<std::size_t>(kind) != ++last) return false;
    }
    return last == static_cast<std::size_t>(Body::MAX);
  }
  template <class... Kind>
  Message message(const Frame& f, Kinds<Kind...>) {
    static constexpr std::array readers{&Decoder::body<Kind>...};
    static_assert(in_order({BodyTraits<Kind>::enum_value...}));
    const auto kind = static_cast<std::size_t>(f.body_type());
    if (kind > 0 && kind <= readers.size()) return (this->*readers[kind - 1])(f);
    fail("unknown kind of message");
    return starling::StatusQuery{};
  }
  template <class Kind>
  Message body(const Frame& f) {
    return read(*f.body_as<Kind>());
  }

  starling::Welcome read(const Welcome& t) { return {fence(t.fence()), t.topology()}; }
  starling::Ping read(const Ping& t) { return {t.sequence()}; }
  starling::Pong read(const Pong& t) { return {t.sequence(), t.loop_lag_us()}; }
  starling::Digest read(const Digest& t) { return digest(t); }
  starling::Accepted read(const Accepted& t) { return {job(t.job()), agent(t.home())}; }
  starling::Busy read(const Busy& t) { return {job(t.job()), t.retry_ms()}; }
  starling::Cancel read(const Cancel& t) { return {job(t.job())}; }
  starling::Query read(const Query& t) { return {job(t.job())}; }
  starling::Explain read(const Explain& t) { return {job(t.job())}; }
  starling::StatusQuery read(const StatusQuery&) { return {}; }
  starling::Reserved read(const Reserved& t) { return about<starling::Reserved>(t); }
  starling::ReserveRefused read(const ReserveRefused& t) {
    return refusal<starling::ReserveRefused>(t);
  }
  starling::Committed read(const Committed& t) { return about<starling::Committed>(t); }
  starling::CommitRefused read(const CommitRefused& t) {
    return refusal<starling::CommitRefused>(t);
  }
  starling::StartAttempt read(const StartAttempt& t) { return fenced<starling::StartAttempt>(t); }
  starling::Started read(const Started& t) { return about<starling::Started>(t); }
  starling::Release read(const Release& t) { return fenced<starling::Release>(t); }
  starling::Kill read(const Kill& t) { return fenced<starling::Kill>(t); }
  starling::ExitedAck read(const ExitedAck& t) { return about<starling::ExitedAck>(t); }
  starling::InventoryRequest read(const InventoryRequest& t) {
    return {fence(t.fence()), t.topology()};
  }
  starling::ProbeFor read(const ProbeFor& t) { return {watched(t.node())}; }
  starling::ProbeResult read(const ProbeResult& t) { return {watched(t.node()), t.reached()}; }
  starling::GpuHealth read(const GpuHealth& t) { return {t.version(), optional_gpus(t.sick())}; }
  starling::GpuHealthSeen read(const GpuHealthSeen& t) { return {t.version()}; }
  starling::SetDrain read(const SetDrain& t) {
    return {server(t.server()), t.drained(), t.evict(), t.version()};
  }
  starling::DrainState read(const DrainState& t) {
    return {server(t.server()), t.drained(), t.attempts(), why(t.why()), t.version()};
  }
  starling::Goodbye read(const Goodbye& m) {
    return {text(m.reason()), Incarnation{m.life()}, m.written(), Incarnation{m.of_life()},
            m.of_born()};
  }
  starling::Hello read(const Hello& t) {
    starling::Hello m;
    m.role = known<starling::Role>(t.role(), Role::MAX, "role: unknown");
    if (m.role == starling::Role::unknown) fail("role: unknown");
    m.protocol_min = t.protocol_min();
    m.protocol_max = t.protocol_max();
    if (m.protocol_min == 0 || m.protocol_min > m.protocol_max)
      fail("protocol: not a range from 1");
    m.build = name(t.build());
    m.topology = t.topology();
    return m;
  }
  starling::Digests read(const Digests& t) {
    starling::Digests m;
    if (t.words() == nullptr) return m;
    if (t.words()->size() > starling::Digests::kMost) return fail("words: too many"), m;
    m.words.reserve(t.words()->size());
    for (const DigestWord* word : *t.words())
      m.words.push_back({digest(*word->digest()), word->age_ms()});
    return m;
  }
  starling::Submit read(const Submit& t) {
    return {spec(*t.spec()),       client(t.client()),
            span(t.waited_ns()),   span(t.served_ns()),
            t.forwards(),          t.attempts(),
            t.preemptions(),       t.begun_ns() < 0 ? Duration{-1} : span(t.begun_ns()),
            span(t.requeued_ns()), t.failures()};
  }
  starling::ChangeJob read(const ChangeJob& t) {
    return {job(t.job()), known<starling::JobChange>(t.change(), JobChange::MAX, "change: unknown"),
            Epoch{t.attempt_epoch()}, t.attempt_number()};
  }
  starling::Rejected read(const Rejected& t) {
    return {job(t.job()), why(t.why()), text(t.reason())};
  }
  starling::JobState read(const JobState& t) {
    starling::JobState m;
    m.job = job(t.job());
    m.phase = known<starling::JobPhase>(t.phase(), JobPhase::MAX, "phase: unknown");
    m.home = agent(t.home());
    m.queued = span(t.queued_ns());
    m.elapsed = span(t.elapsed_ns());
    m.served = span(t.served_ns());
    m.attempts = t.attempts();
    m.forwards = t.forwards();
    m.preemptions = t.preemptions();
    if (t.placement() != nullptr) m.placement = gpus(*t.placement());
    if (t.exit() != nullptr) m.exit = exit(*t.exit());
    if (t.ask() != nullptr) m.ask = ask(*t.ask());
    if (t.submitted_ns() >= 0) m.submitted = Duration{t.submitted_ns()};
    m.begun = t.begun();
    m.attempt_epoch = Epoch{t.attempt_epoch()};
    m.attempt_number = t.attempt_number();
    m.requeued = span(t.requeued_ns());
    if (t.reason() > JobReason::MAX) fail("reason: unknown");
    m.reason = static_cast<starling::JobReason>(t.reason());
    m.failures = t.failures();
    m.until = span(t.until_ns());
    m.allocation = allocation(t.allocation());
    return m;
  }
  starling::ReadOutput read(const ReadOutput& t) {
    return {attempt(t.attempt()), server(t.server()), client(t.client()), t.file(),
            t.offset(),           t.from_end()};
  }
  starling::OutputPage read(const OutputPage& t) {
    return {attempt(t.attempt()),
            server(t.server()),
            client(t.client()),
            t.asked_file(),
            t.asked_offset(),
            t.file(),
            t.next(),
            t.more(),
            t.gap(),
            page(t.bytes()),
            text(t.trouble())};
  }
  starling::Explanation read(const Explanation& t) {
    return {job(t.job()),
            texts(t.lines(), kLines, text_bytes(limits()), "lines: too many or too long")};
  }
  starling::ListJobs read(const ListJobs& t) {
    starling::ListJobs m{job(t.after()), t.limit()};
    if (m.limit == 0 || m.limit > kJobsPerList) fail("limit: not in 1..1000");
    return m;
  }
  starling::JobList read(const JobList& t) {
    starling::JobList m;
    m.more = t.more();
    if (t.jobs() == nullptr) return m;
    if (t.jobs()->size() > kJobsPerList) return fail("jobs: more than 1000"), m;
    m.jobs.reserve(t.jobs()->size());
    for (const JobState* state : *t.jobs()) {
      if (failed()) break;
      m.jobs.push_back(read(*state));
      if (m.jobs.size() > 1 && !(m.jobs[m.jobs.size() - 2].job < m.jobs.back().job))
        fail("jobs: not ascending");
    }
    return m;
  }
  starling::AgentStatus read(const AgentStatus& t) {
    starling::AgentStatus m;
    m.agent = agent(t.agent());
    m.fence = fence(t.fence());
    m.gpus = t.gpus();
    m.free = t.free();
    m.quarantined = t.quarantined();
    m.waiting = t.waiting();
    m.running = t.running();
    m.accepted = t.accepted();
    m.finished = t.finished();
    m.failed = t.failed();
    m.forwards = t.forwards();
    m.cross_partition_gangs = t.cross_partition_gangs();
    m.preemptions = t.preemptions();
    m.resizes = t.resizes();
    m.decisions = t.decisions();
    m.refused_frames = t.refused_frames();
    m.messages = t.messages();
    m.decision_p50_us = t.decision_p50_us();
    m.decision_p99_us = t.decision_p99_us();
    if (two()) {
      m.protocol = std::max(t.protocol(), kOldestProtocol);
      m.suspected = t.suspected();
      m.cut_off = t.cut_off();
      m.patience = std::max(t.patience(), 1U);
      m.drained = t.drained();
      m.sick = t.sick();
      m.foreign = t.foreign();
      m.resting = t.resting();
      if (t.troubles() != nullptr) {
        m.troubles = texts(t.troubles(), starling::AgentStatus::kMostTroubles, text_bytes(limits()),
                           "troubles: too many or too long");
      }
      m.drained_servers = drained(t.drained_servers());
      m.sick_gpus = optional_gpus(t.sick_gpus());
      if (t.speed() != nullptr) m.speed = speed(*t.speed());
    }
    if (m.gpus > limits().gpus_total) fail("gpus: more than a data centre may have");
    if (m.free > m.gpus) fail("free: more than gpus");
    if (m.quarantined > m.gpus) fail("quarantined: more than gpus");
    if (m.drained > m.gpus) fail("drained: more than gpus");
    if (m.resting > m.quarantined) fail("resting: more than quarantined");
    if (m.sick > m.quarantined) fail("sick: more than quarantined");
    return m;
  }
  starling::BidRequest read(const BidRequest& t) {
    starling::BidRequest m{attempt(t.attempt()),
                           t.gpus(),
                           t.gpus_per_worker(),
                           names(t.gpu_types()),
                           two() ? hold(t.claim_ms()) : 0,
                           two() ? span(t.waited_ns()) : Duration{0},
                           demand(t.each())};
    if (four()) m.gang = t.gang(), m.model = name(t.model());
    if (five()) m.priority = t.priority();
    if (m.gpus == 0 || std::max(m.gpus, m.gang) > limits().gpus_per_job)
      fail("gpus: none, or more than a job may have");
    if (m.gpus_per_worker == 0 || m.gpus_per_worker > m.gpus)
      fail("gpus_per_worker: not in 1..gpus");
    return m;
  }
  starling::Offer read(const Offer& t) {
    auto rooms = shared_rooms(four() ? t.shared() : nullptr);
    return {attempt(t.attempt()), share(*t.share(), !rooms.empty()), hold(t.valid_ms()), rooms};
  }
  starling::NoOffer read(const NoOffer& t) {
    return {attempt(t.attempt()), partition(t.partition()), text(t.reason())};
  }
  starling::Reserve read(const Reserve& t) {
    return {attempt(t.attempt()), fence(t.fence()), gang_gpus(*t.gpus()),
            hold(t.hold_ms()),    demand(t.each()), tenants(four() ? t.beside() : nullptr)};
  }
  starling::Commit read(const Commit& t) {
    return {attempt(t.attempt()), fence(t.fence()),    own_spec(*t.spec(), t.attempt()),
            gang(*t.gang()),      span(t.served_ns()), own_allocation(t.allocation())};
  }
  starling::Released read(const Released& t) {
    return {attempt(t.attempt()), partition(t.partition()), span(t.served_ns())};
  }
  starling::AttemptQuery read(const AttemptQuery& t) {
    return {attempt(t.attempt()), partition(t.partition()), two() ? t.token() : 0};
  }
  starling::AttemptAnswer read(const AttemptAnswer& t) {
    starling::AttemptAnswer m{
        attempt(t.attempt()),
        known<starling::AttemptLife>(t.life(), AttemptLife::MAX, "life: unknown"),
        two() ? t.token() : 0, two() ? span(t.age_ns()) : Duration{0}};
    if (m.life == starling::AttemptLife::unknown) fail("life: unknown");
    return m;
  }
  starling::Launch read(const Launch& t) {
    return {attempt(t.attempt()),
            fence(t.fence()),
            own_spec(*t.spec(), t.attempt()),
            gang(*t.gang()),
            gang_gpus(*t.here()),
            span(t.served_ns()),
            own_allocation(t.allocation())};
  }
  starling::LaunchResult read(const LaunchResult& t) {
    return {attempt(t.attempt()), t.ok(), text(t.reason())};
  }
  starling::Killed read(const Killed& t) { return {attempt(t.attempt()), span(t.served_ns())}; }
  starling::Exited read(const Exited& t) {
    return {attempt(t.attempt()), partition(t.partition()), exit(*t.exit()), span(t.served_ns())};
  }
  starling::Progress read(const Progress& t) {
    return {attempt(t.attempt()), span(t.served_ns()), amount(t.rate(), 1e6, "rate: not in 0..1e6"),
            noise(five() ? t.noise() : 0), samples(five() ? t.batch() : 0)};
  }
  starling::Inventory read(const Inventory& t) {
    starling::Inventory m{fence(t.fence()), {}, 0, {}};
    if (two()) {
      m.health = t.health();
      m.sick = optional_gpus(t.sick());
    }
    if (t.items() == nullptr) return m;
    if (t.items()->size() > kItemsPerInventory) return fail("items: too many"), m;
    m.items.reserve(t.items()->size());
    for (const InventoryItem* item : *t.items()) {
      if (failed()) break;
      m.items.push_back({attempt(item->attempt()), gang_gpus(*item->gpus()), item->exited(),
                         item->exit() == nullptr ? starling::ExitStatus{} : exit(*item->exit()),
                         span(item->served_ns()), demand(item->each())});
    }
    return m;
  }
  starling::Fenced read(const Fenced& t) { return {partition(t.partition()), Epoch{t.epoch()}}; }
};

std::string protocols_text(std::uint16_t oldest, std::uint16_t newest) {
  return oldest == newest ? std::to_string(oldest) + " is"
                          : std::to_string(oldest) + " to " + std::to_string(newest) + " are";
}

}  // namespace

Result<starling::Frame> decode_frame(const std::uint8_t* data, std::size_t size,
                                     const Limits& limits, std::uint16_t protocol) {
  if (!FrameBufferHasIdentifier(data)) return {Errc::invalid, "frame: not of this protocol"};
  flatbuffers::Verifier verifier(data, size, kDepth, kTables);
  if (!VerifyFrameBuffer(verifier)) return {Errc::invalid, "frame: malformed"};

  const Frame& frame = *GetFrame(data);
  if (frame.protocol() < kOldestProtocol || frame.protocol() > protocol) {
    return {Errc::invalid, "frame: protocol " + std::to_string(frame.protocol()) + ", only " +
                               protocols_text(kOldestProtocol, protocol) + " spoken"};
  }
  const auto kind = static_cast<std::size_t>(frame.body_type());
  const std::uint16_t known = std::min(frame.protocol(), protocol);
  if (kind > 0 && kind <= std::variant_size_v<MessageKinds> && protocol_of(kind - 1) > known)
    return {Errc::invalid, "unknown: unknown kind of message"};
  Decoder decoder(limits, size, known);
  starling::Frame out{{frame.protocol(), Incarnation{frame.incarnation()}, frame.sequence(),
                       std::max(frame.speaks(), frame.protocol()), Incarnation{frame.meant_for()},
                       frame.born(), frame.written(), frame.began()},
                      decoder.message(frame)};
  if (decoder.error() != nullptr)
    return {Errc::invalid, std::string(kind_name(kind - 1)) + ": " + decoder.error()};
  return out;
}

}  // namespace starling::wire
