// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/part_reader.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "bus/wire/frame.h"
#include "bus/wire/roles.h"

namespace starling::wire {

bool PartReader::spend(std::size_t bytes) {
  if (bytes > budget_) return fail("parts refer to the same bytes"), false;
  budget_ -= bytes;
  return true;
}

PartitionId PartReader::partition(std::uint32_t p) {
  if (p >= limits_.peers) fail("partition: out of range");
  return PartitionId{p};
}

AgentId PartReader::agent(std::uint32_t a) {
  if (a >= limits_.peers) fail("agent: out of range");
  return AgentId{a};
}

ServerId PartReader::server(std::uint32_t s) {
  if (s >= limits_.gpus_total) fail("server: out of range");
  return ServerId{s};
}

NodeId PartReader::watched(std::uint32_t n) {
  const starling::Role role = role_of(NodeId{n});
  if (role != starling::Role::agent && role != starling::Role::executor)
    fail("node: neither an agent nor an executor");
  return NodeId{n};
}

NodeId PartReader::client(std::uint32_t n) {
  if (n != 0 && role_of(NodeId{n}) != starling::Role::client) fail("client: not a client");
  return NodeId{n};
}

Duration PartReader::span(std::int64_t ns) {
  if (ns < 0 || ns > kLongest.count()) fail("duration: negative, or longer than 73 years");
  return Duration{ns};
}

std::uint32_t PartReader::hold(std::uint32_t ms) {
  if (ms > kLongestHold_ms) fail("hold: longer than a day");
  return ms;
}

starling::Demand PartReader::demand(const Demand* each) {
  constexpr std::int64_t kMost = 1'000'000'000'000;  // of a worker (workload/check_job.h)
  if (each == nullptr) return {};
  const bool good =
      each->cpus() >= 0 && each->cpus() <= kMost && each->memory() >= 0 && each->memory() <= kMost;
  if (!good) return fail("demand: negative, or more than a million"), starling::Demand{};
  return {each->cpus(), each->memory()};
}

double PartReader::amount(double x, double most, const char* what) {
  if (!(x >= 0 && x <= most)) return fail(what), 0.0;  // NaN fails too
  return x;
}

std::string PartReader::bounded(const flatbuffers::String* s, std::size_t most, const char* what) {
  if (s == nullptr) return {};
  if (s->size() > most) return fail(what), std::string{};
  if (!spend(s->size())) return {};
  return s->str();
}

std::string PartReader::name(const flatbuffers::String* s) {
  return bounded(s, limits_.name_bytes, "a name is too long");
}

std::string PartReader::text(const flatbuffers::String* s) {
  return bounded(s, text_bytes(limits_), "a text is too long");
}

std::vector<std::string> PartReader::texts(const Strings* list, std::uint32_t count,
                                           std::size_t bytes_each, const char* what) {
  std::vector<std::string> out;
  if (list == nullptr) return out;
  if (list->size() > count) return fail(what), out;
  out.reserve(list->size());
  for (const flatbuffers::String* s : *list) {
    if (error_ != nullptr) break;
    out.push_back(bounded(s, bytes_each, what));
  }
  return out;
}

std::vector<std::string> PartReader::names(const Strings* list) {
  return texts(list, kLines, limits_.name_bytes, "gpu_types: too many or too long");
}

Placement PartReader::gpus(const flatbuffers::Vector<std::uint32_t>& in) {
  Placement out;
  if (in.size() > limits_.gpus_per_job) return fail("gpus: more than a job may have"), out;
  if (!spend(in.size() * sizeof(std::uint32_t))) return out;
  out.reserve(in.size());
  for (const std::uint32_t gpu : in) {
    if (gpu >= limits_.gpus_total) return fail("gpus: id out of range"), out;
    if (!out.empty() && out.back().value >= gpu) return fail("gpus: not ascending"), out;
    out.push_back(GpuId{gpu});
  }
  return out;
}

Placement PartReader::gang_gpus(const flatbuffers::Vector<std::uint32_t>& in) {
  if (in.size() == 0) fail("gpus: none");
  return gpus(in);
}

std::vector<starling::Share> PartReader::gang(
    const flatbuffers::Vector<flatbuffers::Offset<Share>>& in) {
  std::vector<starling::Share> out;
  if (in.size() == 0) return fail("gang: empty"), out;
  if (in.size() > limits_.participants_per_job) return fail("gang: too many partitions"), out;
  out.reserve(in.size());
  std::size_t total = 0;
  std::set<PartitionId> seen;
  for (const Share* s : in) {
    if (error_ != nullptr) break;
    out.push_back(share(*s));
    total += out.back().gpus.size();
    if (in.size() > 1 && !seen.insert(out.back().partition).second) fail("gang: a partition twice");
  }
  if (total > limits_.gpus_per_job) fail("gang: more GPUs than a job may have");
  return out;
}

std::vector<starling::SharedRoom> PartReader::shared_rooms(
    const flatbuffers::Vector<flatbuffers::Offset<SharedRoom>>* in) {
  std::vector<starling::SharedRoom> out;
  if (in == nullptr) return out;
  if (in->size() > starling::SharedRoom::kMost) return fail("shared: too many"), out;
  for (const SharedRoom* room : *in) {
    if (failed()) break;
    out.push_back({attempt(room->tenant()), gang_gpus(*room->gpus()), room->speed(), room->loss()});
    if (room->speed() == 0 || room->speed() > 1'000'000) fail("shared: speed: not in 1..1000000");
    if (room->loss() > std::uint64_t{limits_.gpus_total} * 1'000'000)
      fail("shared: loss: more than a data centre has");
  }
  return out;
}

std::vector<starling::AttemptId> PartReader::tenants(
    const flatbuffers::Vector<const AttemptId*>* in) {
  std::vector<starling::AttemptId> out;
  if (in == nullptr) return out;
  if (in->size() > starling::SharedRoom::kMost) return fail("beside: too many"), out;
  if (!spend(in->size() * sizeof(starling::AttemptId))) return out;
  for (const AttemptId* tenant : *in) out.push_back(attempt(tenant));
  return out;
}

starling::ExitStatus PartReader::exit(const ExitStatus& e) {
  return {e.code(), e.lost(), bounded(e.log_tail(), limits_.log_tail_bytes, "log_tail: too long"),
          e.timed_out()};
}

starling::JobSpec PartReader::own_spec(const JobSpec& t, const AttemptId* a) {
  starling::JobSpec s = spec(t);
  if (s.id != job(&a->job())) fail("spec: of another job than the attempt");
  return s;
}

starling::JobSpec PartReader::spec(const JobSpec& t) {
  starling::JobSpec s;
  s.id = job(t.id());
  s.name = name(t.name());
  s.user = name(t.user());
  s.queue = name(t.queue());
  s.model = name(t.model());
  s.workers = t.workers();
  s.gpus_per_worker = t.gpus_per_worker();
  s.min_workers = t.min_workers();
  s.max_workers = t.max_workers();
  s.cpus_per_worker = amount(t.cpus_per_worker(), 1e6, "cpus_per_worker: not in 0..1e6");
  s.memory_gib_per_worker =
      amount(t.memory_gib_per_worker(), 1e9, "memory_gib_per_worker: not in 0..1e9");
  s.gpu_types = names(t.gpu_types());
  s.priority = t.priority();
  s.no_requeue = t.no_requeue();
  s.as_user = t.as_user();
  s.run = run(t.run());
  s.terms = terms(t.terms());
  s.duration = span(t.duration_ns());
  s.command =
      texts(t.command(), kArguments, limits_.command_bytes, "command: too many or too long");
  s.environment = texts(t.environment(), kArguments, limits_.command_bytes,
                        "environment: too many or too long");
  check(s);
  return s;
}

void PartReader::check(const starling::JobSpec& s) {
  const std::uint64_t most = limits_.gpus_per_job;
  if (s.workers == 0 || s.gpus_per_worker == 0) fail("spec: no workers or no GPUs");
  if (std::uint64_t{s.workers} * s.gpus_per_worker > most)
    fail("spec: more GPUs than a job may have");
  const bool fixed = s.min_workers == 0 && s.max_workers == 0;
  const bool elastic = s.min_workers >= 1 && s.min_workers <= s.workers &&
                       s.workers <= s.max_workers &&
                       std::uint64_t{s.max_workers} * s.gpus_per_worker <= most;
  if (!fixed && !elastic) fail("spec: needs min_workers <= workers <= max_workers");
  std::size_t bytes = 0;
  for (const std::string& word : s.command) bytes += word.size();
  for (const std::string& word : s.environment) bytes += word.size();
  if (bytes > limits_.command_bytes) fail("spec: command and environment too long");
}

std::shared_ptr<const starling::JobAsk> PartReader::ask(const JobAsk& t) {
  auto m = std::make_shared<starling::JobAsk>();
  m->name = name(t.name()), m->user = name(t.user()), m->queue = name(t.queue());
  m->command = bounded(t.command(), starling::JobAsk::kMostCommand, "command: too long");
  m->gpu_types = names(t.gpu_types());
  m->workers = t.workers(), m->gpus_per_worker = t.gpus_per_worker();
  m->cpus_per_worker = amount(t.cpus_per_worker(), 1e6, "cpus_per_worker: not in 0..1e6");
  m->memory_gib_per_worker =
      amount(t.memory_gib_per_worker(), 1e9, "memory_gib_per_worker: not in 0..1e9");
  m->priority = t.priority();
  m->min_workers = t.min_workers(), m->max_workers = t.max_workers();
  m->run = run(t.run());
  m->terms = terms(t.terms());
  return m;
}

starling::RunDetails PartReader::run(const RunDetails* t) {
  if (t == nullptr) return {};
  starling::RunDetails r;
  r.max_servers = t->max_servers(), r.batch = t->batch(), r.max_batch = t->max_batch();
  r.server_cpus = amount(t->server_cpus(), 1e6, "server_cpus: not in 0..1e6");
  r.copies = t->copies();
  r.save = span(t->save_ns()), r.restore = span(t->restore_ns());
  if (std::max({r.max_servers, r.batch, r.max_batch}) > starling::RunDetails::kMost)
    fail("run: more than 10,000,000");
  if (std::max(r.save, r.restore) > starling::RunDetails::kMostRestart)
    fail("run: a restart of more than a week");
  return r;
}

starling::JobTerms PartReader::terms(const JobTerms* t) {
  if (t == nullptr) return {};
  starling::JobTerms m;
  m.hold = t->hold(), m.begin = span(t->begin_ns());
  m.retries = t->retries(), m.retry_after = span(t->retry_after_ns());
  m.time_limit = span(t->time_limit_ns());
  m.signal = t->signal(), m.signal_before = span(t->signal_before_ns());
  if (t->array() != nullptr) m.array = job(t->array());
  m.task = t->task(), m.tasks = t->tasks();
  m.first_task = t->first_task(), m.last_task = t->last_task(), m.at_once = t->at_once();
  using Terms = starling::JobTerms;
  if (std::max({m.begin, m.retry_after, m.time_limit, m.signal_before}) > Terms::kMostTime)
    fail("terms: a time of more than ten years");
  if (m.signal > Terms::kMostSignal) fail("terms: no such signal");
  if (t->after() == nullptr) return m;
  if (t->after()->size() > Terms::kMostAfter) return fail("terms: after: too many"), m;
  if (!spend(t->after()->size() * sizeof(starling::After))) return m;
  for (const After* after : *t->after()) {
    if (after->how() > How::MAX) fail("terms: after: unknown");
    m.after.push_back({static_cast<starling::After::How>(after->how()), job(&after->job())});
  }
  return m;
}

starling::Allocation PartReader::allocation(const Allocation* t) {
  if (t == nullptr) return {};
  const starling::Allocation how{t->workers(), t->servers(), t->local_batch(), t->accumulation(),
                                 t->averaged()};
  if (how.as_asked()) fail("allocation: says nothing");
  if (std::max({how.workers, how.servers, how.local_batch, how.accumulation}) >
      starling::Allocation::kMost)
    fail("allocation: more than 10,000,000");
  return how;
}

starling::Allocation PartReader::own_allocation(const Allocation* t) {
  if (t != nullptr && !four()) fail("allocation: in a frame of an older protocol");
  return allocation(t);
}

starling::SpeedHealth PartReader::speed(const SpeedHealth& h) {
  return {text(h.model()), h.fallbacks(), h.observed(), h.refused(), h.drifts(), text(h.trouble())};
}

std::vector<ServerId> PartReader::drained(const flatbuffers::Vector<std::uint32_t>* in) {
  std::vector<ServerId> all;
  if (in == nullptr) return all;
  if (in->size() > starling::AgentStatus::kMostListed)
    return fail("drained_servers: too many"), all;
  all.reserve(in->size());
  for (const std::uint32_t s : *in) all.push_back(server(s));
  return all;
}

std::string PartReader::page(const flatbuffers::Vector<std::uint8_t>* in) {
  if (in == nullptr) return {};
  if (in->size() > starling::OutputPage::kMost || !spend(in->size()))
    return fail("bytes: too many"), std::string{};
  return {in->begin(), in->end()};
}

starling::Digest PartReader::digest(const Digest& t) {
  starling::Digest m{
      fence(t.fence()),       t.version(), t.gpus(),        t.free(), t.largest_free_server(),
      t.whole_free_servers(), t.waiting(), t.waiting_gpus()};
  if (m.gpus > limits_.gpus_total) fail("gpus: more than a data centre may have");
  if (m.free > m.gpus) fail("free: more than gpus");
  if (m.largest_free_server > m.free) fail("largest_free_server: more than free");
  if (m.whole_free_servers > m.free) fail("whole_free_servers: more than free");
  m.out_of_service = t.out_of_service();
  if (m.out_of_service > m.gpus) fail("out_of_service: more than gpus");
  m.types = types(t.types(), m.gpus, m.free);
  m.rooms = rooms(t.rooms(), m.free);
  m.summary = summary(t.summary());
  if (five()) m.prices = prices(t.prices());
  return m;
}

std::vector<starling::TypeRoom> PartReader::types(const flatbuffers::Vector<const TypeRoom*>* in,
                                                  std::uint32_t gpus, std::uint32_t free) {
  std::vector<starling::TypeRoom> all;
  if (in == nullptr) return all;
  if (in->size() > kMostTypeRooms) return fail("types: too many"), all;
  for (const TypeRoom* room : *in) {
    const starling::TypeRoom one{GpuTypeId{room->type()}, room->free(), room->largest(),
                                 room->open()};
    if (!all.empty() && !(all.back().type < one.type)) fail("types: not ascending");
    if (one.free > free || one.largest > one.free) fail("types: more than is free");
    if (one.open > gpus) fail("types: more than gpus");
    all.push_back(one);
  }
  return all;
}

std::vector<starling::ServerRoom> PartReader::rooms(
    const flatbuffers::Vector<const ServerRoom*>* in, std::uint32_t free) {
  std::vector<starling::ServerRoom> all;
  if (in == nullptr) return all;
  if (in->size() > kMostServerRooms) return fail("rooms: too many"), all;
  std::uint64_t gpus = 0;
  for (const ServerRoom* room : *in) {
    const Demand& left = room->left();
    const starling::ServerRoom one{
        GpuTypeId{room->type()}, room->free(), room->servers(), {left.cpus(), left.memory()}};
    if (one.free == 0 || one.servers == 0) fail("rooms: nothing is free there");
    if (!one.is_sane()) fail("rooms: an amount is negative or too large");
    gpus += std::uint64_t{one.free} * one.servers;
    all.push_back(one);
  }
  if (gpus > free) fail("rooms: more than is free");
  return all;
}

std::vector<starling::TypePrice> PartReader::prices(
    const flatbuffers::Vector<const TypePrice*>* in) {
  std::vector<starling::TypePrice> all;
  if (in == nullptr) return all;
  if (in->size() > kMostTypeRooms) return fail("prices: too many"), all;
  for (const TypePrice* price : *in) {
    const starling::TypePrice one{GpuTypeId{price->type()}, price->value()};
    if (!all.empty() && all.back().type >= one.type) fail("prices: not ascending");
    if (!std::isfinite(one.value) || one.value < 0) fail("prices: not finite, or below zero");
    all.push_back(one);
  }
  return all;
}

std::vector<float> PartReader::summary(const flatbuffers::Vector<float>* in) {
  if (in == nullptr) return {};
  if (in->size() > kMostSummary) return fail("summary: too many"), std::vector<float>{};
  std::vector<float> all(in->begin(), in->end());
  if (!std::ranges::all_of(all, [](float x) { return std::isfinite(x); }))
    fail("summary: not numbers");
  return all;
}

}  // namespace starling::wire
