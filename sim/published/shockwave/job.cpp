// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/job.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "interference/fit/data_table.h"
#include "sim/published/inputs.h"

namespace starling {
namespace {

using SpeedKey = std::tuple<std::string, std::uint32_t, std::uint32_t>;  // model, batch, GPUs
using Speeds = std::map<SpeedKey, double>;

Result<DataTable> read_table(const std::filesystem::path& data, std::string_view name,
                             const std::vector<std::string_view>& columns) {
  const auto file = published_file(data, name);
  if (!file) return file.error();
  return DataTable::read(file.value(), columns);
}

/// Whole numbers of a row; the first that is none is the error.
class Wholes {
 public:
  Wholes(const DataTable& table, std::size_t row) : table_(table), row_(row) {}
  std::uint32_t operator()(std::string_view column, double low) {
    const auto number = table_.number(row_, column);
    if (!number) {
      error = number.error();
    } else if (number.value() >= low && number.value() <= 1e9 &&
               number.value() == std::floor(number.value())) {
      return static_cast<std::uint32_t>(number.value());
    } else {
      error = {Errc::invalid, "row " + std::to_string(row_ + 1) + ": " + std::string(column) +
                                  " must be a whole number up to 1,000,000,000"};
    }
    return static_cast<std::uint32_t>(low);
  }
  std::optional<Error> error;

 private:
  const DataTable& table_;
  std::size_t row_;
};

Result<Speeds> read_speeds(const std::filesystem::path& data) {
  const auto table = read_table(data, "shockwave_traces/tacc_throughputs.csv",
                                {"model", "batch_size", "scale_factor", "tacc_steps_per_s"});
  if (!table) return table.error();
  Speeds speeds;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    Wholes whole(table.value(), row);
    const std::uint32_t batch = whole("batch_size", 0), gpus = whole("scale_factor", 1);
    if (whole.error) return *whole.error;
    const auto speed = table.value().number(row, "tacc_steps_per_s");
    if (!speed) return speed.error();
    if (speed.value() > 0) speeds[{table.value().text(row, "model"), batch, gpus}] = speed.value();
  }
  return speeds;
}

std::optional<BatchMode> mode_of(std::string_view text) {
  if (text == "static") return BatchMode::fixed;
  if (text == "accordion") return BatchMode::accordion;
  if (text == "gns") return BatchMode::gns;
  return std::nullopt;
}

/// What its speeds and its profile are; `invalid` if a speed was not measured.
Status fill(ShockwaveJob& job, const Speeds& speeds) {
  const DynamicBatches& rule = job.batches;
  const std::string model(rule.model().name);
  for (const std::uint32_t batch : rule.all()) {
    const auto speed = speeds.find({model, batch, job.gpus});
    if (speed == speeds.end())
      return {Errc::invalid, model + " of batch " + std::to_string(batch) + " on " +
                                 std::to_string(job.gpus) + " GPUs has no speed"};
    job.steps_per_s[batch] = speed->second;
  }
  const std::int64_t per_epoch = rule.steps_per_epoch(rule.first());
  for (const std::uint32_t batch : rule.profile((job.steps + per_epoch - 1) / per_epoch)) {
    const double steps = static_cast<double>(rule.model().samples) / batch;
    job.profile.push_back({batch, steps / job.steps_per_s.at(batch)});
  }
  return done();
}

Result<ShockwaveJob> read_job(const DataTable& table, std::size_t row, const Speeds& speeds) {
  const ShockwaveModel* model = shockwave_model(table.text(row, "model"));
  const auto mode = mode_of(table.text(row, "batch_mode"));
  if (model == nullptr || !mode)
    return {Errc::invalid, "no model or mode of Shockwave's is " + table.text(row, "model") + ", " +
                               table.text(row, "batch_mode")};
  Wholes whole(table, row);
  const std::uint32_t batch = whole("batch_size", 1), gpus = whole("scale_factor", 1),
                      steps = whole("total_steps", 1);
  if (whole.error) return *whole.error;
  if (batch > model->most_batch)
    return {Errc::invalid,
            "batch_size is more than the " + std::to_string(model->most_batch) + " that fit"};
  const auto arrival = table.number(row, "arrival_s");
  if (!arrival) return arrival.error();
  ShockwaveJob job{
      DynamicBatches(*model, *mode, batch, gpus), gpus, steps, arrival.value(), {}, {}};
  if (Status filled = fill(job, speeds); !filled) return filled.error();
  return job;
}

}  // namespace

double ShockwaveJob::alone_s() const {
  return std::accumulate(profile.begin(), profile.end(), 0.0,
                         [](double sum, const Epoch& e) { return sum + e.duration_s; });
}

Result<std::vector<ShockwaveJob>> read_shockwave_jobs(const std::filesystem::path& data) {
  constexpr std::string_view kTrace = "shockwave_traces/shockwave_120_100.csv";
  const auto speeds = read_speeds(data);
  if (!speeds) return speeds.error();
  const auto table =
      read_table(data, kTrace,
                 {"model", "batch_size", "total_steps", "scale_factor", "batch_mode", "arrival_s"});
  if (!table) return table.error();
  std::vector<ShockwaveJob> jobs;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    auto job = read_job(table.value(), row, speeds.value());
    const bool late = job && !jobs.empty() && job.value().arrival_s < jobs.back().arrival_s;
    if (job && !late) {
      jobs.push_back(std::move(job).value());
      continue;
    }
    return {Errc::invalid, (data / kTrace).string() + ": row " + std::to_string(row + 1) + ": " +
                               (late ? "it arrives before the one above" : job.error().message)};
  }
  if (jobs.empty()) return {Errc::invalid, (data / kTrace).string() + ": there is no job"};
  return jobs;
}

}  // namespace starling
