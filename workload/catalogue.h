// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "workload/gpu_kind.h"

namespace starling {

/// A training job people run, by name: what it computes and exchanges per iteration. Figures are
/// per GPU, on a V100, at the batch size that `sources` names.
struct ModelProfile {
  std::string_view name;      ///< e.g. resnet50
  std::string_view task;      ///< image classification, language model, ...
  double iteration_s = 0.1;   ///< compute time of one iteration on one V100
  double gradient_mib = 100;  ///< bytes all-reduced per iteration
  double cpus_per_gpu = 3;    ///< below this the input pipeline slows the job
  double memory_gib = 8;      ///< GPU memory, what the framework holds included
  double gpu_utilization = 0.8;
  double checkpoint_mib = 300;            ///< weights and optimiser state
  std::array<double, kGpuKinds> speed{};  ///< on one GPU of a kind, in V100s; 0: see speed_on
  std::string_view sources = {};          ///< where the figures come from
  std::uint16_t family = 0;  ///< index in catalogue(): its own, or of what it is a batch size of
  /// Index in gavel_job_types() of the job type that it is, or that the family's figures are of.
  std::int16_t gavel_type = -1;
  /// Layers whose gradients parameter servers get one by one, while the rest is computed: those
  /// with weights, or blocks of a transformer, as its authors count them. 1: not known.
  std::uint16_t layers = 1;
};

/// All models, by name.
[[nodiscard]] std::span<const ModelProfile> catalogue() noexcept;
/// Gavel's job types, a model at a batch size each, in the order of gavel_job_types() and named as
/// their job_model(): "ResNet-50 (batch size 64)". Times, speeds and memory are the type's own, the
/// rest is its family's.
[[nodiscard]] std::span<const ModelProfile> gavel_models() noexcept;
/// The Gavel type or else the model of that name (also as Muri, Pollux and ElasticFlow write it,
/// and as Gavel does at a batch size that it did not measure), or the catalogue's "generic" entry
/// for an unknown or empty name.
[[nodiscard]] const ModelProfile& model_profile(std::string_view name) noexcept;
/// Speed of the model on one GPU of that kind, in V100s: as measured, or a typical job's.
[[nodiscard]] double speed_on(const ModelProfile& model, GpuKind kind) noexcept;
[[nodiscard]] bool known_model(std::string_view name) noexcept;

}  // namespace starling
