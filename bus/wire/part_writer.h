// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bus/wire/frame.h"
#include "wire_generated.h"

namespace starling::wire {

namespace fb = flatbuffers;
using Text = fb::Offset<fb::String>;
using Texts = fb::Offset<fb::Vector<fb::Offset<fb::String>>>;
using Numbers = fb::Offset<fb::Vector<std::uint32_t>>;

template <class To, class From>
To as(From value) {
  return static_cast<To>(value);
}
inline JobId id(const starling::JobId& j) { return {j.hi, j.lo}; }
inline AttemptId id(const starling::AttemptId& a) {
  return {id(a.job), a.home_epoch.value, a.number};
}
inline Fence fence(const starling::Fence& f) { return {f.partition.value, f.epoch.value}; }
inline std::int64_t ns(Duration d) { return d.count(); }

/// Writes what messages are made of into a builder; PartReader reads it. Absent means empty or 0.
class PartWriter {
 public:
  /// `protocol`: of the frame; later fields are not written. `builder` and `limits` outlive it.
  PartWriter(fb::FlatBufferBuilder& builder, const Limits& limits, std::uint16_t protocol)
      : b_(builder),
        limits_(limits),
        two_(protocol >= 2),
        three_(protocol >= 3),
        four_(protocol >= 4),
        five_(protocol >= 5),
        seven_(protocol >= 7),
        eight_(protocol >= 8) {}

 protected:
  Text text(std::string_view s) { return b_.CreateString(s.data(), s.size()); }
  Text name(const std::string& s) { return s.empty() ? Text{} : text(s); }
  Text head(std::string_view s) {
    return s.empty() ? Text{} : text(s.substr(0, text_bytes(limits_)));
  }
  Texts texts(const std::vector<std::string>& list) {
    return list.empty() ? Texts{} : b_.CreateVectorOfStrings(list);
  }
  Numbers placement(const Placement& gpus) {
    std::uint32_t* out = nullptr;
    const Numbers offset = b_.CreateUninitializedVector(gpus.size(), &out);
    for (const GpuId gpu : gpus) *out++ = fb::EndianScalar(gpu.value);
    return offset;
  }
  /// Absent where there are none.
  template <class Id>
  Numbers numbers(const std::vector<Id>& ids) {
    if (ids.empty()) return {};
    std::uint32_t* out = nullptr;
    const Numbers offset = b_.CreateUninitializedVector(ids.size(), &out);
    for (const Id id : ids) *out++ = fb::EndianScalar(id.value);
    return offset;
  }
  fb::Offset<Share> share(const starling::Share& s) {
    return CreateShare(b_, s.partition.value, placement(s.gpus));
  }
  fb::Offset<fb::Vector<fb::Offset<Share>>> gang(const std::vector<starling::Share>& shares) {
    gang_.clear();
    for (const starling::Share& s : shares) gang_.push_back(share(s));
    return b_.CreateVector(gang_);
  }
  fb::Offset<ExitStatus> exit(const starling::ExitStatus& e) {
    const std::size_t most = limits_.log_tail_bytes;
    const std::string_view tail = e.log_tail;
    const Text log =
        tail.empty() ? Text{} : text(tail.substr(tail.size() - std::min(tail.size(), most)));
    return CreateExitStatus(b_, e.code, e.lost, log, e.timed_out);
  }
  fb::Offset<ExitStatus> optional_exit(const starling::ExitStatus& e) {
    return e == starling::ExitStatus{} ? fb::Offset<ExitStatus>{} : exit(e);
  }
  /// Absent where a job runs as it asks.
  fb::Offset<Allocation> allocation(const starling::Allocation& how) {
    if (how.as_asked()) return {};
    return CreateAllocation(b_, how.workers, how.servers, how.local_batch, how.accumulation,
                            how.averaged);
  }
  /// Absent where nothing is said.
  fb::Offset<RunDetails> run(const starling::RunDetails& r) {
    if (!r.any()) return {};
    return CreateRunDetails(b_, r.max_servers, r.server_cpus, r.batch, r.max_batch, r.copies,
                            ns(r.save), ns(r.restore));
  }
  /// Absent where nothing is said.
  fb::Offset<JobTerms> terms(const starling::JobTerms& t) {
    if (!t.any()) return {};
    fb::Offset<fb::Vector<const After*>> others;
    if (!t.after.empty()) {
      After* out = nullptr;
      others = b_.CreateUninitializedVectorOfStructs(t.after.size(), &out);
      for (const starling::After& after : t.after) *out++ = {as<How>(after.how), id(after.job)};
    }
    const JobId array = id(t.array);
    return CreateJobTerms(b_, t.hold, ns(t.begin), others, t.retries, ns(t.retry_after),
                          ns(t.time_limit), t.signal, ns(t.signal_before),
                          t.of_array() ? &array : nullptr, t.task, t.tasks, t.first_task,
                          t.last_task, t.at_once);
  }
  /// Nodes of before refuse a value that they do not know, with all that stands beside it.
  JobReason reason(starling::JobReason r) const {
    return r == starling::JobReason::quota && !eight_ ? JobReason::none : as<JobReason>(r);
  }
  fb::Offset<JobAsk> ask(const starling::JobAsk& a) {
    const Text n = name(a.name);
    const Text user = name(a.user);
    const Text queue = name(a.queue);
    const Text command = name(a.command);
    const Texts types = texts(a.gpu_types);
    const fb::Offset<RunDetails> details = run(a.run);
    const fb::Offset<JobTerms> when = terms(a.terms);
    return CreateJobAsk(b_, n, user, queue, command, types, a.workers, a.gpus_per_worker,
                        a.cpus_per_worker, a.memory_gib_per_worker, a.priority, a.min_workers,
                        a.max_workers, details, when);
  }
  fb::Offset<JobSpec> spec(const starling::JobSpec& s) {
    const JobId j = id(s.id);
    const Text n = name(s.name);
    const Text user = name(s.user);
    const Text queue = name(s.queue);
    const Text model = name(s.model);
    const Texts types = texts(s.gpu_types);
    const Texts command = texts(s.command);
    const Texts environment = texts(s.environment);
    const fb::Offset<RunDetails> details = run(s.run);
    const fb::Offset<JobTerms> when = terms(s.terms);
    return CreateJobSpec(b_, &j, n, user, queue, model, s.workers, s.gpus_per_worker, s.min_workers,
                         s.max_workers, s.cpus_per_worker, s.memory_gib_per_worker, types,
                         s.priority, ns(s.duration), command, environment, s.no_requeue, s.as_user,
                         details, when);
  }

  fb::Offset<Digest> digest(const starling::Digest& m) {
    const Fence f = fence(m.fence);
    fb::Offset<fb::Vector<const TypeRoom*>> types;
    if (two_ && !m.types.empty()) {
      TypeRoom* out = nullptr;
      types = b_.CreateUninitializedVectorOfStructs(m.types.size(), &out);
      for (const starling::TypeRoom& room : m.types)
        *out++ = {room.type.value, room.free, room.largest, room.open};
    }
    fb::Offset<fb::Vector<float>> summary;
    if (two_ && !m.summary.empty()) summary = b_.CreateVector(m.summary);
    fb::Offset<fb::Vector<const ServerRoom*>> rooms;
    if (three_ && !m.rooms.empty()) {
      ServerRoom* out = nullptr;
      rooms = b_.CreateUninitializedVectorOfStructs(m.rooms.size(), &out);
      for (const starling::ServerRoom& room : m.rooms)
        *out++ = {room.type.value, room.free, room.servers, {room.left.cpus, room.left.memory}};
    }
    fb::Offset<fb::Vector<const TypePrice*>> prices;
    if (five_ && !m.prices.empty()) {
      TypePrice* out = nullptr;
      prices = b_.CreateUninitializedVectorOfStructs(m.prices.size(), &out);
      for (const starling::TypePrice& price : m.prices) *out++ = {price.type.value, price.value};
    }
    return CreateDigest(b_, &f, m.version, m.gpus, m.free, m.largest_free_server,
                        m.whole_free_servers, m.waiting, m.waiting_gpus, types, summary,
                        two_ ? m.out_of_service : 0, rooms, prices);
  }

  fb::FlatBufferBuilder& b_;
  const Limits& limits_;
  const bool two_;  ///< fields of protocol 2 are written
  const bool three_;
  const bool four_, five_, seven_, eight_;

 private:
  std::vector<fb::Offset<Share>> gang_;  // scratch
};

}  // namespace starling::wire
