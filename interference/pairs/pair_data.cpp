// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/pair_data.h"

#include <cmath>

#include "interference/fit/data_table.h"
#include "interference/learned/features.h"
#include "interference/pairs/pair_types.h"

namespace starling {
namespace {

/// Reads numbers and keeps the first mistake.
class Fields {
 public:
  explicit Fields(const DataTable& table) : table_(table) {}
  double number(std::size_t row, std::string_view column) {
    const auto value = table_.number(row, column);
    if (value) return value.value();
    if (status) status = value.error();
    return 0;
  }
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const {
    return table_.text(row, column);
  }
  Status status = done();

 private:
  const DataTable& table_;
};

Result<PairData> gavel(const DataTable& table) {
  PairData data;
  data.source = PairSource::gavel;
  Fields f(table);
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::uint32_t set = data.set_of(f.text(row, "campaign") + "/" + f.text(row, "gpu"));
    const auto type = [&](const char* model, const char* batch) {
      return add_gavel_type(data, f.text(row, model), f.number(row, batch));
    };
    const std::uint32_t a = type("model_a", "batch_a"), b = type("model_b", "batch_b");
    const bool ran = !f.text(row, "norm_a").empty();
    data.fits.push_back({set, a, b, ran});
    if (!ran) {
      ++data.left_out;
      continue;
    }
    const auto add = [&](std::uint32_t victim, std::uint32_t other, double speed) {
      // The campaign of 2020 was clipped to the speed alone.
      const bool clipped = f.text(row, "campaign") == "2020" && speed >= 1;
      data.rows.push_back({set, victim, other, static_cast<float>(speed), clipped, data.pairs});
    };
    add(a, b, f.number(row, "norm_a"));
    if (a != b) add(b, a, f.number(row, "norm_b"));
    ++data.pairs;
  }
  if (!f.status) return f.status.error();
  return data;
}

Result<PairData> lucid(const DataTable& table) {
  PairData data;
  data.source = PairSource::lucid;
  data.set_of("all");
  Fields f(table);
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto type = [&](const std::string& n) {
      return add_lucid_type(data, f.text(row, "model" + n), f.text(row, "dataset" + n),
                            f.number(row, "batchsize" + n), f.number(row, "amp" + n));
    };
    const std::uint32_t a = type("1"), b = type("2");
    const auto add = [&](std::uint32_t victim, std::uint32_t other, double speed) {
      // The speed of these two was not measured; the file says 1 everywhere.
      const std::string& model = data.types[victim].model;
      if (model == "PPO" || model == "TD3") {
        ++data.left_out;
      } else {
        data.rows.push_back({0, victim, other, static_cast<float>(speed), false, data.pairs});
      }
    };
    add(a, b, f.number(row, "speed1"));
    if (a != b) add(b, a, f.number(row, "speed2"));
    ++data.pairs;
  }
  if (!f.status) return f.status.error();
  return data;
}

Result<PairData> deepshare(const DataTable& table) {
  PairData data;
  data.source = PairSource::deepshare;
  data.set_of("all");
  Fields f(table);
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::uint32_t a = add_deepshare_type(data, f.text(row, "model"), f.number(row, "gpus"),
                                               f.number(row, "nodes"));
    const std::uint32_t b =
        add_deepshare_type(data, f.text(row, "other_model"), f.number(row, "other_gpus"),
                           f.number(row, "other_nodes"));
    const double speed = f.number(row, "throughput_ratio");
    if (f.number(row, "extrapolated") != 0) {
      ++data.left_out;
      continue;
    }
    data.rows.push_back({0, a, b, static_cast<float>(speed), speed >= 1, data.pairs++});
  }
  if (!f.status) return f.status.error();
  return data;
}

}  // namespace

const char* to_string(PairSource source) noexcept {
  switch (source) {
    case PairSource::gavel:
      return "gavel";
    case PairSource::lucid:
      return "lucid";
    case PairSource::deepshare:
      return "deepshare";
  }
  return "";
}

std::uint32_t PairData::set_of(const std::string& name) {
  const auto [at, added] = set_index_.emplace(name, sets.size());
  if (added) sets.push_back(name);
  return at->second;
}

std::uint32_t PairData::type_of(const std::string& name) {
  const auto [at, added] = type_index_.emplace(name, types.size());
  if (added) types.push_back({name, "", {}, {}});
  return at->second;
}

Result<PairData> read_pairs(const std::filesystem::path& file) {
  const auto table = DataTable::read(file, {});
  if (!table) return table.error();
  const auto has = [&](const char* column) { return table.value().has(column); };
  const auto read = [&](std::initializer_list<std::string_view> needs, auto parse) {
    const auto whole = DataTable::read(file, needs);
    return whole ? parse(whole.value()) : Result<PairData>(whole.error());
  };
  Result<PairData> data =
      has("norm_a")
          ? read({"campaign", "gpu", "model_a", "batch_a", "model_b", "batch_b", "norm_b"}, gavel)
      : has("speed1") ? read({"model1", "dataset1", "batchsize1", "amp1", "model2", "dataset2",
                              "batchsize2", "amp2", "speed2"},
                             lucid)
      : has("throughput_ratio")
          ? read({"model", "gpus", "nodes", "other_model", "other_gpus", "other_nodes",
                  "extrapolated"},
                 deepshare)
          : Result<PairData>(
                Error{Errc::invalid, file.string() +
                                         ":1: no pairs; give the columns of gavel/colocated.csv "
                                         "(norm_a), lucid/colocate.csv (speed1) or "
                                         "deepshare/network_contention.csv (throughput_ratio)"});
  if (!data) return data;
  for (const PairRow& row : data.value().rows) {
    if (row.speed >= static_cast<float>(kSlowest) && row.speed < 10) continue;
    return Error{Errc::invalid, file.string() + ": the speed of " +
                                    data.value().types[row.victim].name + " beside " +
                                    data.value().types[row.other].name + " is " +
                                    std::to_string(row.speed) + "; it is 0.01 to 10 of alone"};
  }
  if (data.value().rows.empty())
    return Error{Errc::invalid, file.string() + ": no pair has a measured speed"};
  return data;
}

}  // namespace starling
