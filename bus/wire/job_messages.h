// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bus/wire/flock_messages.h"
#include "bus/wire/may_say.h"

namespace starling::wire {

// Messages of users and operators: jobs and what they print, lists, why a job waits, servers out of
// service.
template <>
inline constexpr MaySay kMaySay<starling::Submit>{kCA | kAA};
template <>
inline constexpr MaySay kMaySay<starling::Accepted>{kAC | kAA};
template <>
inline constexpr MaySay kMaySay<starling::Busy>{kAC | kAA};
template <>
inline constexpr MaySay kMaySay<starling::Rejected>{kAC | kAA};
template <>
inline constexpr MaySay kMaySay<starling::Cancel>{kCA | kAA};
template <>
inline constexpr MaySay kMaySay<starling::Query>{kCA | kAA};
template <>
inline constexpr MaySay kMaySay<starling::JobState>{kAC | kAA};
template <>
inline constexpr MaySay kMaySay<starling::Explain>{kCA | kAA};
template <>
inline constexpr MaySay kMaySay<starling::Explanation>{kAC | kAA};
template <>
inline constexpr MaySay kMaySay<starling::ListJobs>{kCA};
template <>
inline constexpr MaySay kMaySay<starling::JobList>{kAC};
template <>
inline constexpr MaySay kMaySay<starling::StatusQuery>{kCA};
template <>
inline constexpr MaySay kMaySay<starling::AgentStatus>{kAC};
template <>
inline constexpr MaySay kMaySay<starling::SetDrain>{kCA};
template <>
inline constexpr MaySay kMaySay<starling::DrainState>{kAC};
template <>
inline constexpr MaySay kMaySay<starling::ReadOutput>{kCA | kAE};
template <>
inline constexpr MaySay kMaySay<starling::OutputPage>{kEA | kAC};
template <>
inline constexpr MaySay kMaySay<starling::ChangeJob>{kCA};

using JobKinds = Kinds<Submit, Accepted, Busy, Rejected, Cancel, Query, JobState, Explain,
                       Explanation, ListJobs, JobList, StatusQuery, AgentStatus, SetDrain,
                       DrainState, ReadOutput, OutputPage, ChangeJob>;

/// Writes them, and those of the headers before: one overload of body() for each. Absent means
/// empty or 0.
class JobWriter : public FlockWriter {
 public:
  using FlockWriter::body;
  using FlockWriter::FlockWriter;

  auto body(const starling::Submit& m) {
    return CreateSubmit(b_, spec(m.spec), m.client.value, ns(m.waited), ns(m.served), m.forwards,
                        m.attempts, m.preemptions, std::max<std::int64_t>(ns(m.begun), -1),
                        ns(m.requeued), m.failures);
  }
  auto body(const starling::Accepted& m) {
    const JobId j = id(m.job);
    return CreateAccepted(b_, &j, m.home.value, seven_ ? m.offer : 0);
  }
  auto body(const starling::Busy& m) {
    const JobId j = id(m.job);
    return CreateBusy(b_, &j, m.retry_ms);
  }
  auto body(const starling::Rejected& m) {
    const JobId j = id(m.job);
    return CreateRejected(b_, &j, as<Refusal>(m.why), head(m.reason), seven_ ? m.offer : 0);
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
                          reason(m.reason), m.failures, ns(m.until));
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
  auto body(const starling::ChangeJob& m) {
    const JobId j = id(m.job);
    return CreateChangeJob(b_, &j, as<JobChange>(m.change), m.attempt_epoch.value,
                           m.attempt_number);
  }
};

/// Reads them, and those of the headers before: one overload of read() for each, which checks
/// what every field means.
class JobReader : public FlockReader {
 public:
  using FlockReader::FlockReader;
  using FlockReader::read;

  starling::Submit read(const Submit& t) {
    return {spec(*t.spec()),       client(t.client()),
            span(t.waited_ns()),   span(t.served_ns()),
            t.forwards(),          t.attempts(),
            t.preemptions(),       t.begun_ns() < 0 ? Duration{-1} : span(t.begun_ns()),
            span(t.requeued_ns()), t.failures()};
  }
  starling::Accepted read(const Accepted& t) { return {job(t.job()), agent(t.home()), t.offer()}; }
  starling::Busy read(const Busy& t) { return {job(t.job()), t.retry_ms()}; }
  starling::Rejected read(const Rejected& t) {
    return {job(t.job()), why(t.why()), text(t.reason()), t.offer()};
  }
  starling::Cancel read(const Cancel& t) { return {job(t.job())}; }
  starling::Query read(const Query& t) { return {job(t.job())}; }
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
    m.reason = reason(t.reason());
    m.failures = t.failures();
    m.until = span(t.until_ns());
    m.allocation = allocation(t.allocation());
    return m;
  }
  starling::Explain read(const Explain& t) { return {job(t.job())}; }
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
  starling::StatusQuery read(const StatusQuery&) { return {}; }
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
  starling::SetDrain read(const SetDrain& t) {
    return {server(t.server()), t.drained(), t.evict(), t.version()};
  }
  starling::DrainState read(const DrainState& t) {
    return {server(t.server()), t.drained(), t.attempts(), why(t.why()), t.version()};
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
  starling::ChangeJob read(const ChangeJob& t) {
    return {job(t.job()), known<starling::JobChange>(t.change(), JobChange::MAX, "change: unknown"),
            Epoch{t.attempt_epoch()}, t.attempt_number()};
  }
};

}  // namespace starling::wire
