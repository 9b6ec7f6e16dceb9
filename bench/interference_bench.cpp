// SPDX-License-Identifier: Apache-2.0
// What a question to the learned interference model costs: a job beside three others on its GPU,
// by the network (rows made once per job), alone and in batches, and by the whole speed model.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "interference/learned/interference_net.h"
#include "interference/models.h"
#include "interference/models/learned_speed.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

constexpr std::size_t kNeighbours = 3;

InterferenceNet net() { return InterferenceNet::make(shipped_interference().value()).value(); }

// Rows of all Gavel types on a V100.
struct Rows {
  explicit Rows(const PairModel& model) {
    const auto set = static_cast<std::size_t>(gpu_set_of(model, GpuKind::v100));
    for (const ModelProfile& profile : gavel_models()) {
      const PairType type = gpu_type_of(profile);
      victims.emplace_back(model.net().row_width());
      aggressors.emplace_back(model.net().row_width());
      model.net().victim(model.side(type), set, victims.back());
      model.net().aggressor(model.side(type), set, aggressors.back());
    }
  }
  std::vector<std::vector<float>> victims, aggressors;
};

float predict(const PairNet& pairs, const Rows& rows, std::size_t question,
              std::vector<float>& members, std::vector<float>& sum) {
  const std::size_t types = rows.victims.size();
  std::fill(sum.begin(), sum.end(), 0.0F);
  for (std::size_t n = 0; n < kNeighbours; ++n) {
    pairs.log_slowdown(rows.victims[question % types], rows.aggressors[(question + 7 * n) % types],
                       members);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += members[k];
  }
  float mean = 0;
  for (const float slow : sum) mean += std::exp(-slow);
  return mean / static_cast<float>(sum.size());
}

void BM_NetworkBatch(benchmark::State& state) {
  const InterferenceNet model = net();
  const PairNet& pairs = model.gpu->model.net();
  const Rows rows(model.gpu->model);
  std::vector<float> members(pairs.members()), sum(pairs.members());
  const auto batch = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    for (std::size_t i = 0; i < batch; ++i)
      benchmark::DoNotOptimize(predict(pairs, rows, i, members, sum));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_NetworkBatch)->Arg(1)->Arg(256);

// Of jobs that were never asked about: their rows are made, too.
void BM_NetworkNewJob(benchmark::State& state) {
  const InterferenceNet model = net();
  const PairModel& pair = model.gpu->model;
  const PairType types[] = {gpu_type_of(model_profile("vgg16")), gpu_type_of(model_profile("vit")),
                            gpu_type_of(model_profile("gpt2")), gpu_type_of(model_profile("dlrm"))};
  const auto set = static_cast<std::size_t>(gpu_set_of(pair, GpuKind::v100));
  std::vector<float> v(pair.net().row_width()), o(pair.net().row_width()),
      members(pair.net().members());
  for (auto _ : state) {
    pair.net().victim(pair.side(types[0]), set, v);
    for (std::size_t n = 1; n <= kNeighbours; ++n) {
      pair.net().aggressor(pair.side(types[n]), set, o);
      pair.net().log_slowdown(v, o, members);
      benchmark::DoNotOptimize(members.data());
    }
  }
}
BENCHMARK(BM_NetworkNewJob);

void BM_SpeedModel(benchmark::State& state) {
  const Topology topology = generate_leaf_spine({.servers = 16}).value();
  const auto speed = make_learned_speed(topology, shipped_interference().value()).value();
  const Placement here = {GpuId(3)};
  const Neighbours beside = {{{"LM (batch size 20)", 1, 0}, here},
                             {{"ResNet-18 (batch size 64)", 1, 0}, here},
                             {{"A3C", 1, 0}, here}};
  const JobProfile job{"ResNet-50 (batch size 64)", 1, 0};
  for (auto _ : state) benchmark::DoNotOptimize(speed->speed(job, here, beside));
}
BENCHMARK(BM_SpeedModel);

}  // namespace
}  // namespace starling
