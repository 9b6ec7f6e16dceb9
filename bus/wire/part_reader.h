// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "bus/wire/codec.h"
#include "wire_generated.h"

namespace starling::wire {

/// Reads what messages are made of from a verified frame, and checks what the verifier cannot:
/// meaning. The first thing that is wrong is kept; later reads go on with harmless values, and the
/// whole is to be refused at the end.
class PartReader {
 public:
  /// `protocol`: of the frame; later fields are not read. `limits` outlives it.
  PartReader(const Limits& limits, std::size_t frame_bytes, std::uint16_t protocol)
      : limits_(limits), budget_(frame_bytes), protocol_(protocol) {}

  /// What was wrong first; null if nothing was.
  [[nodiscard]] const char* error() const { return error_; }

 protected:
  [[nodiscard]] const Limits& limits() const { return limits_; }
  /// Fields of protocol 2 are there.
  [[nodiscard]] bool two() const { return protocol_ >= 2; }
  /// Fields of protocol 4 are there.
  [[nodiscard]] bool four() const { return protocol_ >= 4; }
  /// Fields of protocol 5 are there.
  [[nodiscard]] bool five() const { return protocol_ >= 5; }
  /// Fields and values of protocol 8 are there.
  [[nodiscard]] bool eight() const { return protocol_ >= 8; }
  [[nodiscard]] bool failed() const { return error_ != nullptr; }
  void fail(const char* what) {
    if (error_ == nullptr) error_ = what;
  }
  template <class To, class From>
  To known(From value, From most, const char* what) {
    if (value > most) return fail(what), To::unknown;
    return static_cast<To>(value);
  }
  starling::Refusal why(Refusal r) {
    return known<starling::Refusal>(r, Refusal::MAX, "why: unknown");
  }

  starling::JobReason reason(JobReason r) {
    if (r > (eight() ? JobReason::MAX : JobReason::dependency_never)) fail("reason: unknown");
    return static_cast<starling::JobReason>(r);
  }

  static starling::JobId job(const JobId* j) { return {j->hi(), j->lo()}; }
  static starling::AttemptId attempt(const AttemptId* a) {
    return {job(&a->job()), Epoch{a->home_epoch()}, a->number()};
  }
  PartitionId partition(std::uint32_t p);
  AgentId agent(std::uint32_t a);
  ServerId server(std::uint32_t s);
  NodeId watched(std::uint32_t n);  ///< an agent or an executor
  NodeId client(std::uint32_t n);   ///< one, or 0: none
  starling::Fence fence(const Fence* f) { return {partition(f->partition()), Epoch{f->epoch()}}; }
  Duration span(std::int64_t ns);
  std::uint32_t hold(std::uint32_t ms);
  starling::Demand demand(const Demand* each);  ///< null: nothing
  double amount(double x, double most, const char* what);
  double noise(double x) {
    return amount(x, starling::Progress::kMostNoise, "noise: not in 0..1e15");
  }
  std::uint32_t samples(std::uint32_t x) {
    if (x > starling::Progress::kMostBatch) fail("batch: more than 1,000,000,000");
    return x;
  }

  using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;
  std::string name(const flatbuffers::String* s);
  std::string text(const flatbuffers::String* s);
  std::vector<std::string> names(const Strings* list);
  std::vector<std::string> texts(const Strings* list, std::uint32_t count, std::size_t bytes_each,
                                 const char* what);
  std::string bounded(const flatbuffers::String* s, std::size_t most, const char* what);
  /// What is copied out of a frame is never more than the frame: many references to one long text
  /// would otherwise turn a small frame into gigabytes.
  bool spend(std::size_t bytes);

  /// Ascending ids below gpus_total.
  Placement gpus(const flatbuffers::Vector<std::uint32_t>& in);
  Placement optional_gpus(const flatbuffers::Vector<std::uint32_t>* in) {
    return in == nullptr ? Placement{} : gpus(*in);
  }
  Placement gang_gpus(const flatbuffers::Vector<std::uint32_t>& in);  ///< one at least
  starling::Share share(const Share& s, bool may_be_empty = false) {
    return {partition(s.partition()), may_be_empty ? gpus(*s.gpus()) : gang_gpus(*s.gpus())};
  }
  std::vector<starling::SharedRoom> shared_rooms(
      const flatbuffers::Vector<flatbuffers::Offset<SharedRoom>>* in);  ///< null: none
  /// Of a Reserve; null: none. No more than a gang has GPUs.
  std::vector<starling::AttemptId> tenants(const flatbuffers::Vector<const AttemptId*>* in);
  std::vector<starling::Share> gang(const flatbuffers::Vector<flatbuffers::Offset<Share>>& in);
  starling::ExitStatus exit(const ExitStatus& e);
  starling::JobSpec spec(const JobSpec& t);
  starling::JobSpec own_spec(const JobSpec& t, const AttemptId* a);  ///< of the attempt's job
  std::shared_ptr<const starling::JobAsk> ask(const JobAsk& t);
  starling::RunDetails run(const RunDetails* t);         ///< null: nothing is said
  starling::JobTerms terms(const JobTerms* t);           ///< null: nothing is said
  starling::Allocation allocation(const Allocation* t);  ///< null: as it asks
  /// Of an attempt that is to be carried out: an older frame has none.
  starling::Allocation own_allocation(const Allocation* t);
  starling::SpeedHealth speed(const SpeedHealth& h);
  std::vector<ServerId> drained(const flatbuffers::Vector<std::uint32_t>* in);
  std::string page(const flatbuffers::Vector<std::uint8_t>* in);  ///< of an OutputPage

  starling::Digest digest(const Digest& t);
  // What it says beyond its counts; null: nothing.
  std::vector<starling::TypeRoom> types(const flatbuffers::Vector<const TypeRoom*>* in,
                                        std::uint32_t gpus, std::uint32_t free);
  std::vector<starling::ServerRoom> rooms(const flatbuffers::Vector<const ServerRoom*>* in,
                                          std::uint32_t free);
  std::vector<float> summary(const flatbuffers::Vector<float>* in);
  std::vector<starling::TypePrice> prices(const flatbuffers::Vector<const TypePrice*>* in);

  // Messages that are nothing but these.
  template <class To, class From>
  To about(const From& t) {
    return {attempt(t.attempt()), partition(t.partition())};
  }
  template <class To, class From>
  To refusal(const From& t) {
    return {attempt(t.attempt()), partition(t.partition()), why(t.why())};
  }
  template <class To, class From>
  To fenced(const From& t) {
    return {attempt(t.attempt()), fence(t.fence())};
  }

 private:
  void check(const starling::JobSpec& s);

  const Limits& limits_;
  std::size_t budget_;
  std::uint16_t protocol_;
  const char* error_ = nullptr;
};

}  // namespace starling::wire
