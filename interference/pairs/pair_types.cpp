// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/pair_types.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "interference/fit/data_table.h"
#include "interference/learned/features.h"
#include "workload/catalogue.h"
#include "workload/gavel_throughput.h"

namespace starling {
namespace {

float log2_of(double x) { return x > 0 ? static_cast<float>(std::log2(x)) : 0; }
float log10_of(double x) { return static_cast<float>(std::log10(std::max(x, 1e-6))); }
std::string whole(double x) { return std::to_string(static_cast<long>(std::lround(x))); }

Status read_lucid_profiles(const DataTable& table, PairData& data) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    double value[6] = {};
    const char* columns[] = {"batchsize", "amp", "speed", "gpu_util", "gmem_util", "gmem"};
    for (std::size_t c = 0; c < 6; ++c) {
      const auto number = table.number(row, columns[c]);
      if (!number) return number.error();
      value[c] = number.value();
    }
    const auto type = add_lucid_type(data, table.text(row, "model"), table.text(row, "dataset"),
                                     value[0], value[1]);
    // Below and above what is full: nothing waits for a GPU that idles.
    data.types[type].profile = {static_cast<float>(value[3] / 100),
                                static_cast<float>(value[4] / 100),
                                log10_of(value[5]),
                                static_cast<float>(std::max(value[3] - 50, 0.0) / 100),
                                log2_of(value[0]),
                                static_cast<float>(value[1])};
  }
  return done();
}

Status read_deepshare_profiles(const DataTable& table, PairData& data) {
  std::map<std::string, std::map<std::pair<double, double>, double>> speeds;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto gpus = table.number(row, "gpus");
    const auto nodes = table.number(row, "nodes");
    const auto speed = table.number(row, "samples_per_s");
    if (!gpus) return gpus.error();
    if (!nodes) return nodes.error();
    if (!speed) return speed.error();
    speeds[table.text(row, "model")][{gpus.value(), nodes.value()}] = speed.value();
  }
  for (const auto& [model, by_size] : speeds) {
    const auto smallest = by_size.begin();
    const double each = smallest->second / smallest->first.first;
    for (const auto& [size, speed] : by_size) {
      const auto type = add_deepshare_type(data, model, size.first, size.second);
      data.types[type].profile = {
          log2_of(size.first), log2_of(size.second), static_cast<float>(size.first / size.second),
          static_cast<float>(speed / (each * size.first))};  // what more GPUs cost each
    }
  }
  return done();
}

}  // namespace

std::uint32_t add_gavel_type(PairData& data, const std::string& model, double batch) {
  const std::string name = batch > 0 ? model + " (batch size " + whole(batch) + ")" : model;
  const std::uint32_t index = data.type_of(name);
  PairType& type = data.types[index];
  if (type.model.empty()) {
    type.model = model;
    type.config = {log2_of(batch)};
    const auto profile = gpu_profile(model_profile(name));
    type.profile.assign(profile.begin(), profile.end());
  }
  return index;
}

std::uint32_t add_lucid_type(PairData& data, const std::string& model, const std::string& dataset,
                             double batch, double amp) {
  const std::uint32_t index =
      data.type_of(model + "/" + dataset + "/" + whole(batch) + "/" + whole(amp));
  data.types[index].model = model;
  data.types[index].config = {log2_of(batch), static_cast<float>(amp)};
  return index;
}

std::uint32_t add_deepshare_type(PairData& data, const std::string& model, double gpus,
                                 double nodes) {
  const std::uint32_t index = data.type_of(model + "/" + whole(gpus) + "/" + whole(nodes));
  data.types[index].model = model;
  data.types[index].config = {log2_of(gpus), log2_of(nodes)};
  return index;
}

Status read_profiles(const std::filesystem::path& file, PairData& data) {
  const bool lucid = data.source == PairSource::lucid;
  const auto table = lucid ? DataTable::read(file, {"model", "dataset", "batchsize", "amp", "speed",
                                                    "gpu_util", "gmem_util", "gmem"})
                           : DataTable::read(file, {"model", "gpus", "nodes", "samples_per_s"});
  if (!table) return table.error();
  return lucid ? read_lucid_profiles(table.value(), data)
               : read_deepshare_profiles(table.value(), data);
}

}  // namespace starling
