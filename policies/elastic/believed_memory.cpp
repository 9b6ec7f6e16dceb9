// SPDX-License-Identifier: Apache-2.0
// What BelievedCurves keep beyond their process.
#include <algorithm>
#include <utility>

#include "policies/elastic/believed_curves.h"

namespace starling {
namespace {

constexpr std::size_t kMostText = 256, kShapeWords = 5;
constexpr std::size_t kKindWords = 3 + OnlineFit::kParameters + 1;
constexpr std::size_t kSampleWords = kShapeWords + 3;
constexpr std::size_t kCurveWords = 2 + 3 + kShapeWords + 3 + OnlineFit::kParameters;
constexpr double kMostBatch = 1e9, kMostNumber = 1e15, kMostReplicas = 1e7;

void write(MemoryWriter& out, const StepShape& shape) {
  out.number(shape.local_batch);
  for (const std::uint32_t word : {shape.accumulation, shape.replicas, shape.servers})
    out.word(word);
  out.word(static_cast<std::uint64_t>(shape.tier));
}

StepShape read_shape(MemoryReader& in) {
  const auto whole = [&](std::uint32_t least) {
    const std::uint64_t value = in.word();
    if (value < least || static_cast<double>(value) > kMostReplicas) in.fail();
    return in.ok() ? static_cast<std::uint32_t>(value) : least;
  };
  StepShape shape;
  shape.local_batch = in.number(1e-9, kMostBatch);
  if (!in.ok()) return {};
  shape.accumulation = whole(0), shape.replicas = whole(1), shape.servers = whole(1);
  const std::uint64_t tier = in.word();
  if (tier >= kTiers) in.fail();
  if (in.ok()) shape.tier = static_cast<Tier>(tier);
  return shape;
}

void write(MemoryWriter& out, const OnlineFit::Parameters& at) {
  for (const double number : at) out.number(number);
}

OnlineFit::Parameters read_parameters(MemoryReader& in) {
  OnlineFit::Parameters at{};
  for (double& number : at) number = in.number(-kMostNumber, kMostNumber);
  return at;
}

}  // namespace

void BelievedCurves::save(MemoryWriter& out) const {
  const auto write_kind = [&](const Kind& kind) {
    out.text(std::get<0>(kind).substr(0, kMostText));
    out.word(std::get<1>(kind)), out.word(std::get<2>(kind));
  };
  out.word(kinds_.size());
  for (const auto& [kind, known] : kinds_) {
    write_kind(kind);
    out.word(known.used);
    write(out, known.parameters);
  }
  std::size_t jobs = 0, samples = 0;
  for (const auto& [job, curve] : curves_) {
    samples += curve.fit.distinct();
    if (samples > kSamplesKept) break;
    ++jobs;
  }
  out.word(jobs);
  auto at = curves_.begin();
  for (; jobs > 0; --jobs, ++at) {
    const Curve& curve = at->second;
    out.job(at->first);
    write_kind(curve.kind);
    out.number(curve.local_batch), out.number(curve.fit.noise());
    write(out, curve.fit.asked());
    write(out, curve.fit.parameters());
    out.word(curve.fit.samples().size());
    for (const OnlineFit::Sample& sample : curve.fit.samples()) {
      write(out, sample.shape);
      out.number(sample.type_speed), out.number(sample.log_pace), out.number(sample.weight);
    }
  }
}

void BelievedCurves::restore(MemoryReader& in) {
  BelievedCurves all;
  const auto read_kind = [&] {
    Kind kind;
    std::get<0>(kind) = in.text(kMostText);
    std::get<1>(kind) = static_cast<std::uint32_t>(in.word());
    std::get<2>(kind) = static_cast<std::uint32_t>(in.word());
    return kind;
  };
  for (std::size_t left = in.count(kMostKinds, kKindWords); left > 0 && in.ok(); --left) {
    KindKnown& known = all.kinds_[read_kind()];
    known.used = in.word();
    all.uses_ = std::max(all.uses_, known.used);
    known.parameters = read_parameters(in);
  }
  for (std::size_t left = in.count(kMostJobs, kCurveWords); left > 0 && in.ok(); --left) {
    const JobId job = in.job();
    Kind kind = read_kind();
    const double local = in.number(1e-9, kMostBatch), noise = in.number(0, kMostNumber);
    OnlineFit fit(read_shape(in));
    const OnlineFit::Parameters at = read_parameters(in);
    std::vector<OnlineFit::Sample> samples(in.count(OnlineFit::kMostSamples, kSampleWords));
    for (OnlineFit::Sample& sample : samples) {
      sample.shape = read_shape(in);
      sample.type_speed = in.number(1e-6, 1e6);
      sample.log_pace = in.number(-50, 50);
      sample.weight = in.number(1, OnlineFit::kMostWeight);
    }
    if (!in.ok()) return;
    fit.set_noise(noise);
    fit.restore(at, std::move(samples));
    all.curves_.emplace(job, Curve{std::move(kind), std::move(fit), local, true});
    all.due_.push_back(job);
  }
  if (in.whole()) *this = std::move(all);
}

}  // namespace starling
