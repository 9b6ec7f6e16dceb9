// SPDX-License-Identifier: Apache-2.0
#include "bus/decider/decider_frames.h"

#include <string>
#include <utility>
#include <variant>

#include "base/hash.h"
#include "decider_generated.h"

namespace starling {
namespace {

namespace wire = starling_decider;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kLargestAdvice = std::size_t{4} << 20U, kLargestAsk = std::size_t{64} << 20U;
constexpr std::uint32_t kMostTables = 1'000'000;

std::vector<std::uint32_t> numbers(const Placement& gpus) {
  std::vector<std::uint32_t> out;
  out.reserve(gpus.size());
  for (const GpuId gpu : gpus) out.push_back(gpu.value);
  return out;
}

Offset<wire::Job> job_of(FlatBufferBuilder& to, const JobView& job, Instant now, TraceHash& state) {
  const JobSpec& spec = *job.spec;
  const wire::JobId id(spec.id.hi, spec.id.lo);
  const auto model = to.CreateString(spec.model), user = to.CreateString(spec.user),
             queue = to.CreateString(spec.queue);
  const auto placement = to.CreateVector(numbers(job.placement));
  for (const std::uint64_t word : {spec.id.hi, spec.id.lo, std::uint64_t{job.blocked}})
    state.add(word);
  for (const GpuId gpu : job.placement) state.add(std::uint64_t{gpu.value});
  return wire::CreateJob(to, &id, spec.gpus(), spec.gpus_per_worker, spec.min_workers,
                         spec.max_workers, seconds(job.age(now)), seconds(job.served),
                         seconds(spec.duration), spec.priority, job.forwards, job.blocked, model,
                         user, queue, placement);
}

Offset<wire::Server> server_of(FlatBufferBuilder& to, const View& view, const Server& server,
                               TraceHash& state) {
  std::vector<std::uint32_t> free;
  for (std::uint32_t gpu = server.gpus.first; gpu < server.gpus.last; ++gpu) {
    if (!view.gpus.is_free(GpuId{gpu})) continue;
    free.push_back(gpu);
    state.add(std::uint64_t{gpu});
  }
  const auto type = to.CreateString(
      server.gpus.size() > 0 ? view.topology.gpu_types()[server.gpu_type.value].name : "");
  const auto list = to.CreateVector(free);
  return wire::CreateServer(to, server.gpus.first, server.gpus.size(), type, list);
}

/// `room`: GPUs that all decisions may still name. A frame may have one list in many decisions, so
/// its size alone bounds nothing.
Result<Placement> gpus_of(const flatbuffers::Vector<std::uint32_t>* list, const Topology& topology,
                          std::size_t& room) {
  Placement gpus;
  if (list == nullptr) return gpus;
  if (list->size() > room)
    return {Errc::invalid, "names more than " + std::to_string(kMostAdvisedGpus) + " GPUs"};
  room -= list->size();
  for (const std::uint32_t gpu : *list) {
    if (gpu >= topology.gpu_count())
      return {Errc::invalid, "names GPU " + std::to_string(gpu) + ", which is not"};
    gpus.emplace_back(gpu);
  }
  return gpus;
}

/// Null: it is none of this version.
const wire::Message* message_in(const std::vector<std::byte>& bytes, std::size_t most) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (bytes.size() < 8 || bytes.size() > most) return nullptr;
  flatbuffers::Verifier verifier(data, bytes.size(), 8, kMostTables);
  if (!wire::MessageBufferHasIdentifier(data) || !wire::VerifyMessageBuffer(verifier))
    return nullptr;
  const wire::Message* const message = wire::GetMessage(data);
  return message->version() == kVersion ? message : nullptr;
}

Offset<wire::Decision> decision_of(FlatBufferBuilder& to, wire::Kind kind, JobId job,
                                   const Placement& gpus, std::uint32_t agent) {
  const wire::JobId id(job.hi, job.lo);
  return wire::CreateDecision(to, kind, &id, to.CreateVector(numbers(gpus)), agent);
}

}  // namespace

AskFrame ask_frame(const View& view, std::uint64_t number) {
  FlatBufferBuilder to;
  TraceHash state;
  std::vector<Offset<wire::Server>> servers;
  for (std::uint32_t s = view.gpus.servers().first; s < view.gpus.servers().last; ++s)
    servers.push_back(server_of(to, view, view.topology.server(ServerId{s}), state));
  std::vector<Offset<wire::Job>> waiting, running;
  for (const JobView& job : view.waiting) waiting.push_back(job_of(to, job, view.now, state));
  for (const JobView& job : view.running) running.push_back(job_of(to, job, view.now, state));
  std::vector<Offset<wire::Other>> others;
  for (const RemoteDigest& other : view.others) {
    others.push_back(wire::CreateOther(to, other.agent.value, other.gpus, other.free,
                                       other.largest_free_server, other.waiting));
  }
  const auto a = to.CreateVector(servers);
  const auto b = to.CreateVector(waiting), c = to.CreateVector(running);
  const auto d = to.CreateVector(others);
  const auto ask = wire::CreateAsk(to, number, view.me.value, a, b, c, d);
  wire::FinishMessageBuffer(to, wire::CreateMessage(to, kVersion, ask));
  const auto* const first = reinterpret_cast<const std::byte*>(to.GetBufferPointer());
  return {{first, first + to.GetSize()}, state.value()};
}

Result<DeciderAdvice> read_advice(std::span<const std::byte> frame, const Topology& topology) {
  // Aligned as the heap aligns, which a frame of the network need not be.
  const std::vector<std::byte> bytes(frame.begin(), frame.end());
  const wire::Message* const read = message_in(bytes, kLargestAdvice);
  if (read == nullptr || read->advice() == nullptr)
    return {Errc::invalid, "is no advice of decider.fbs, version " + std::to_string(kVersion)};
  const wire::Message& message = *read;
  DeciderAdvice advice{message.advice()->number(), {}};
  if (message.advice()->decisions() == nullptr) return advice;
  if (message.advice()->decisions()->size() > kMostAdvised)
    return {Errc::invalid, "has more than " + std::to_string(kMostAdvised) + " decisions"};
  std::size_t room = kMostAdvisedGpus;
  for (const wire::Decision* const one : *message.advice()->decisions()) {
    const JobId job{one->job()->hi(), one->job()->lo()};
    auto gpus = gpus_of(one->gpus(), topology, room);
    if (!gpus) return gpus.error();
    switch (one->kind()) {
      case wire::Kind::start:
        advice.decisions.push_back(Start{job, std::move(gpus).value()});
        break;
      case wire::Kind::resize:
        advice.decisions.push_back(Resize{job, std::move(gpus).value()});
        break;
      case wire::Kind::preempt:
        advice.decisions.push_back(Preempt{job});
        break;
      case wire::Kind::forward:
        advice.decisions.push_back(Forward{job, AgentId{one->to()}});
        break;
      default:
        return {Errc::invalid, "has a decision of no known kind"};
    }
  }
  return advice;
}

Result<DeciderQuestion> read_ask(std::span<const std::byte> frame) {
  const std::vector<std::byte> bytes(frame.begin(), frame.end());
  const wire::Message* const message = message_in(bytes, kLargestAsk);
  if (message == nullptr || message->ask() == nullptr)
    return {Errc::invalid, "is no ask of decider.fbs, version " + std::to_string(kVersion)};
  const wire::Ask& ask = *message->ask();
  DeciderQuestion question;
  question.number = ask.number();
  question.agent = ask.agent();
  if (ask.servers() != nullptr) {
    for (const wire::Server* const server : *ask.servers()) {
      auto& free = question.free.emplace_back();
      if (server->free() == nullptr) continue;
      for (const std::uint32_t gpu : *server->free()) free.emplace_back(gpu);
    }
  }
  if (ask.waiting() != nullptr) {
    for (const wire::Job* const job : *ask.waiting())
      question.waiting.push_back({{job->id()->hi(), job->id()->lo()}, job->gpus(), job->blocked()});
  }
  return question;
}

std::vector<std::byte> advice_frame(const DeciderAdvice& advice) {
  FlatBufferBuilder to;
  std::vector<Offset<wire::Decision>> all;
  for (const Decision& decision : advice.decisions) {
    if (const auto* start = std::get_if<Start>(&decision))
      all.push_back(decision_of(to, wire::Kind::start, start->job, start->placement, 0));
    if (const auto* resize = std::get_if<Resize>(&decision))
      all.push_back(decision_of(to, wire::Kind::resize, resize->job, resize->placement, 0));
    if (const auto* preempt = std::get_if<Preempt>(&decision))
      all.push_back(decision_of(to, wire::Kind::preempt, preempt->job, {}, 0));
    if (const auto* forward = std::get_if<Forward>(&decision))
      all.push_back(decision_of(to, wire::Kind::forward, forward->job, {}, forward->to.value));
  }
  const auto list = to.CreateVector(all);
  const auto said = wire::CreateAdvice(to, advice.number, list);
  wire::FinishMessageBuffer(to, wire::CreateMessage(to, kVersion, 0, said));
  const auto* const first = reinterpret_cast<const std::byte*>(to.GetBufferPointer());
  return {first, first + to.GetSize()};
}

}  // namespace starling
