// SPDX-License-Identifier: Apache-2.0
#include "interference/sharing.h"

#include <algorithm>
#include <array>
#include <vector>

namespace starling {
namespace {

struct Figures {
  double keeps = 0, leaves = 0;
  std::array<double, 3> sensitive{}, rough{};
};

struct Row {
  std::string_view gpu;  // "": any
  std::string_view job;  // "": any that has no row of its own
  Figures figures;
};
constexpr Row kRows[] = {
#include "interference/sharing.inc"
};

constexpr std::array kMeasured = {GpuKind::k80, GpuKind::p100, GpuKind::v100};

std::size_t measured(GpuKind kind) noexcept {
  return kind == GpuKind::k80 ? 0 : kind == GpuKind::p100 ? 1 : 2;
}

// The rows by what is asked for.
struct Table {
  std::array<std::vector<Figures>, kMeasured.size()> gavel;   // by gavel_type
  std::array<std::vector<Figures>, kMeasured.size()> family;  // by family

  Table() {
    for (const Row& row : kRows) {
      if (!row.job.empty()) continue;
      const std::size_t kind = measured(gpu_kind(row.gpu));
      gavel[kind].assign(gavel_models().size(), row.figures);
      family[kind].assign(catalogue().size(), row.figures);
    }
    for (const Row& row : kRows) {
      if (row.job.empty()) continue;
      const ModelProfile& model = model_profile(row.job);
      for (const GpuKind kind : kMeasured) {
        if (!row.gpu.empty() && gpu_kind(row.gpu) != kind) continue;
        auto& rows = model.gavel_type >= 0 ? gavel[measured(kind)] : family[measured(kind)];
        rows[model.gavel_type >= 0 ? static_cast<std::size_t>(model.gavel_type) : model.family] =
            row.figures;
      }
    }
  }
};

const Figures& figures(const ModelProfile& model, GpuKind kind) noexcept {
  static const Table table;
  return model.gavel_type >= 0
             ? table.gavel[measured(kind)][static_cast<std::size_t>(model.gavel_type)]
             : table.family[measured(kind)][model.family];
}

}  // namespace

double sharing_speed(const ModelProfile& own, const ModelProfile& other, GpuKind kind) noexcept {
  const Figures& mine = figures(own, kind);
  const Figures& its = figures(other, kind);
  double speed = mine.keeps + its.leaves;
  for (std::size_t k = 0; k < mine.sensitive.size(); ++k) speed += mine.sensitive[k] * its.rough[k];
  return std::clamp(speed, 0.03, 1.0);
}

}  // namespace starling
