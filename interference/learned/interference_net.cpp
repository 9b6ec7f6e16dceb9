// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/interference_net.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "interference/learned/features.h"
#include "workload/gavel_throughput.h"

namespace starling {
namespace {

Result<std::optional<PairPart>> part_of(const Weights& weights, const std::string& prefix) {
  if (!weights.notes.contains(prefix + "types")) return std::optional<PairPart>();
  auto model = PairModel::make(weights, prefix);
  if (!model) return model.error();
  auto intervals = PairIntervals::load(weights, prefix);
  if (!intervals) return intervals.error();
  if (intervals.value().known.size() != model.value().net().sets())
    return Error{Errc::invalid, "tensor " + prefix + "interval has not one row for each set"};
  return std::optional<PairPart>(PairPart{std::move(model).value(), std::move(intervals).value()});
}

}  // namespace

double HostCurve::relative(double cpus_here, double memory_gb_here) const noexcept {
  double lost = 0;
  if (cpus_here < cpus) lost += cpu_slope * std::log(cpus / std::max(cpus_here, 1e-3));
  if (memory_gb_here < memory_gb)
    lost += memory_slope * std::log(memory_gb / std::max(memory_gb_here, 1e-3));
  return std::exp(-lost);
}

Result<InterferenceNet> InterferenceNet::make(const Weights& weights) {
  const std::string version = weights.note("interference");
  if (version != kVersion) {
    return Error{Errc::invalid,
                 version.empty()
                     ? "these weights are no interference model; 'starling train interference' "
                       "makes one"
                     : "the interference model has format " + version.substr(0, 32) +
                           "; this program reads " + kVersion + ": train it again"};
  }
  InterferenceNet net;
  for (const auto& [prefix, into] :
       {std::pair{"gpu.", &net.gpu}, {"link.", &net.link}, {"lucid.", &net.lucid}}) {
    auto part = part_of(weights, prefix);
    if (!part) return part.error();
    *into = std::move(part).value();
  }
  net.host_.resize(catalogue().size());
  net.host_known_.resize(catalogue().size());
  if (weights.tensors.contains("host.figures")) {
    std::vector<std::string> names;
    std::istringstream lines(weights.note("host.models"));
    for (std::string line; std::getline(lines, line);) names.push_back(line);
    const std::uint32_t shape[] = {static_cast<std::uint32_t>(names.size() + 1), 4};
    const auto figures = weights.tensor("host.figures", shape);
    if (!figures) return figures.error();
    const auto curve = [&](std::size_t row) {
      const float* v = &figures.value()->values[4 * row];
      return HostCurve{static_cast<double>(v[0]), static_cast<double>(v[1]),
                       static_cast<double>(v[2]), static_cast<double>(v[3])};
    };
    std::fill(net.host_.begin(), net.host_.end(), curve(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!known_model(names[i])) continue;
      const std::uint16_t family = model_profile(names[i]).family;
      net.host_[family] = curve(i);
      net.host_known_[family] = true;
    }
  }
  if (weights.tensors.contains("memory.gib")) {
    const std::uint32_t types[] = {static_cast<std::uint32_t>(gavel_job_types().size())};
    const auto gib = weights.tensor("memory.gib", types);
    if (!gib) return gib.error();
    const std::uint32_t two[] = {2};
    const auto curve = weights.tensor("memory.logistic", two);
    if (!curve) return curve.error();
    net.memory_gib_.assign(gib.value()->values.begin(), gib.value()->values.end());
    net.steepness_ = static_cast<double>(curve.value()->values[0]);
    net.margin_ = static_cast<double>(curve.value()->values[1]);
  }
  net.hash_ = weights.hash();
  net.notes_ = weights.notes;
  return net;
}

double InterferenceNet::memory_gib(const ModelProfile& model) const noexcept {
  if (model.gavel_type < 0 || memory_gib_.empty()) return model.memory_gib;
  return memory_gib_[static_cast<std::size_t>(model.gavel_type)];
}

double InterferenceNet::feasibility(const ModelProfile& one, const ModelProfile& other,
                                    double gpu_memory_gib) const noexcept {
  const double need = std::max(memory_gib(one) + memory_gib(other), 1e-3);
  const double room = std::log2(std::max(gpu_memory_gib, 1e-3)) - std::log2(need) + margin_;
  return 1 / (1 + std::exp(-steepness_ * room));
}

PairType gpu_type_of(const ModelProfile& model) {
  PairType out;
  if (model.gavel_type >= 0) {
    const GavelJobType& type = gavel_job_types()[static_cast<std::size_t>(model.gavel_type)];
    out.name = type.job_model();
    out.model = std::string(type.model);
    out.config = {type.batch > 0 ? std::log2(static_cast<float>(type.batch)) : 0.0F};
  }
  const auto profile = gpu_profile(model);
  out.profile.assign(profile.begin(), profile.end());
  return out;
}

std::int32_t gpu_set_of(const PairModel& model, GpuKind kind) {
  switch (kind) {
    case GpuKind::k80:
      return model.set("2020/k80");
    case GpuKind::p100:
      return model.set("2020/p100");
    case GpuKind::v100:
      return model.set("2020/v100");
    default:
      return -1;
  }
}

}  // namespace starling
