// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "interference/fit/data_table.h"
#include "sim/published/muri/muri_simulator.h"

namespace starling {
namespace {

/// Seconds that starting a model was measured to take, on 1, 2, 4, 8, 16 and 32 GPUs.
struct StartOverhead {
  std::string_view model;
  std::array<double, 6> seconds;
};
constexpr StartOverhead kOverheads[] = {
    {"vgg16", {7, 7, 8, 9, 9, 10}},     {"vgg19", {7, 7, 8, 9, 10, 10}},
    {"resnet18", {4, 5, 5, 7, 7, 7}},   {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
    {"bert", {10, 10, 10, 10, 10, 10}}, {"gpt2", {10, 10, 10, 10, 10, 10}},
    {"a2c", {38, 39, 39, 46, 46, 46}},  {"dqn", {5, 5, 6, 6, 8, 8}}};
constexpr double kOtherOverhead = 10;
/// What the scheduler itself was measured to cost an iteration.
constexpr double kIterationOverhead = 1.015;

double overhead_of(std::string_view model, std::uint32_t gpus) {
  for (const StartOverhead& known : kOverheads) {
    if (known.model != model) continue;
    for (std::size_t i = 0; i < known.seconds.size(); ++i)
      if (gpus == 1U << i) return known.seconds[i];
  }
  return kOtherOverhead;
}

}  // namespace

Result<std::vector<MuriJob>> read_muri_jobs(const std::filesystem::path& file, bool at_once) {
  const auto table = DataTable::read(
      file, {"num_gpu", "submit_time", "iterations", "model_name", "duration", "iteration_time",
             "resource_time_0", "resource_time_1", "resource_time_2"});
  if (!table) return table.error();
  std::vector<MuriJob> jobs;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    std::array<double, 8> numbers{};
    std::size_t at = 0;
    for (const char* column : {"num_gpu", "submit_time", "iterations", "iteration_time", "duration",
                               "resource_time_0", "resource_time_1", "resource_time_2"}) {
      const auto number = table.value().number(row, column);
      if (!number) return number.error();
      numbers[at++] = number.value();
    }
    MuriJob job;
    job.gpus = static_cast<std::uint32_t>(numbers[0]);
    job.submit_s = at_once ? 0 : numbers[1] / 1000;
    job.iterations_left = numbers[2];
    job.iteration_s = numbers[3] * kIterationOverhead / 1000;
    job.overhead_s = overhead_of(table.value().text(row, "model_name"), job.gpus);
    job.duration_s = numbers[4] / 1000;
    for (std::size_t i = 0; i < job.stages_s.size(); ++i) job.stages_s[i] = numbers[5 + i] / 1000;
    jobs.push_back(job);
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const MuriJob& a, const MuriJob& b) { return a.submit_s < b.submit_s; });
  return jobs;
}

}  // namespace starling
