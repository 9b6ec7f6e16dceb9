// Gavel's consolidated and unconsolidated throughputs: how much a job loses when it is spread.
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "interference/fit/data_table.h"
#include "interference/fit/sources.h"

namespace starling {
namespace {

// A measured ratio above this says that spreading a job made it faster; an iteration that is so
// much slower than on more GPUs, or faster than on fewer, says that more exchange cost less. Either
// is noise.
constexpr double kFaster = 1.05;
constexpr double kSwing = 1.15;
constexpr double kTarget = 0.15;

struct Point {
  double near_s = 0;  // of one iteration, consolidated
  double far_s = 0;
};
// By batch and number of GPUs.
using Points = std::map<std::pair<double, std::uint32_t>, Point>;

std::string why_noisy(const Points& points, Points::const_iterator at) {
  const auto& [key, point] = *at;
  char text[96];
  if (point.near_s / point.far_s > kFaster) {
    std::snprintf(text, sizeof text, "%.2f times as fast spread as packed",
                  point.near_s / point.far_s);
    return text;
  }
  for (const auto& [other, its] : points) {
    if (other.first != key.first) continue;
    for (const auto& [mine_s, its_s, where] :
         {std::tuple{point.near_s, its.near_s, "packed"}, {point.far_s, its.far_s, "spread"}}) {
      if (mine_s <= 0 || its_s <= 0) continue;
      const bool fewer = other.second < key.second && mine_s * kSwing < its_s;
      const bool more = other.second > key.second && mine_s > its_s * kSwing;
      if (!fewer && !more) continue;
      std::snprintf(text, sizeof text, "%s, an iteration takes %.2f of what it takes on %u GPUs",
                    where, mine_s / its_s, other.second);
      return text;
    }
  }
  return {};
}

struct GavelFit {
  FittedModel model;
  double clean_sum = 0;
};

GavelFit fit_group(const std::string& gpu, const std::string& name, const Points& points,
                   std::vector<std::string>& noise) {
  std::vector<TierSample> samples;
  std::vector<RatioSample> ratios;
  GavelFit out;
  for (auto at = points.begin(); at != points.end(); ++at) {
    const auto& [key, point] = *at;
    if (key.second == 1) {
      if (point.near_s > 0) samples.push_back({key.first, 1, 1, false, point.near_s});
      continue;
    }
    if (point.near_s <= 0 || point.far_s <= 0) continue;
    ++out.model.rows;
    if (const std::string why = why_noisy(points, at); !why.empty()) {
      ++out.model.noisy;
      noise.push_back("gavel " + gpu + ' ' + name + " batch " +
                      std::to_string(static_cast<int>(key.first)) + " on " +
                      std::to_string(key.second) + " GPUs: " + why);
      continue;
    }
    ratios.push_back({samples.size(), samples.size() + 1});
    samples.push_back({key.first, 1, key.second, false, point.near_s});
    samples.push_back({key.first, 1, key.second, true, point.far_s});
  }
  out.model.source = "gavel";
  out.model.gpu = gpu;
  out.model.application = name;
  if (ratios.empty()) return out;
  out.model.constants = fit_tiers(samples, ratios);
  const auto time = [&](const TierSample& s) {
    return out.model.constants.iteration_s(s.batch, s.micro, s.gpus, s.across);
  };
  for (const RatioSample& r : ratios) {
    const double measured = samples[r.near].iteration_s / samples[r.far].iteration_s;
    out.clean_sum += std::abs(time(samples[r.near]) / time(samples[r.far]) / measured - 1);
  }
  out.model.error = out.clean_sum / static_cast<double>(ratios.size());
  return out;
}

}  // namespace

Status fit_gavel(const std::filesystem::path& folder, FitReport& report) {
  const auto table = DataTable::read(
      folder / "gavel" / "isolated.csv",
      {"campaign", "gpu", "placement", "model", "batch_size", "scale_factor", "steps_per_s"});
  if (!table) return table.error();
  std::map<std::pair<std::string, std::string>, Points> groups;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    if (table.value().text(row, "campaign") != "2020_sim") continue;
    const Result<double> batch = table.value().number(row, "batch_size");
    const Result<double> gpus = table.value().number(row, "scale_factor");
    const Result<double> speed = table.value().number(row, "steps_per_s");
    if (!batch) return batch.error();
    if (!gpus) return gpus.error();
    if (!speed) return speed.error();
    if (speed.value() <= 0) continue;  // does not fit
    Point& point = groups[{table.value().text(row, "gpu"), table.value().text(row, "model")}]
                         [{batch.value(), static_cast<std::uint32_t>(gpus.value())}];
    // Steps of all workers are counted together.
    const double iteration_s = gpus.value() / speed.value();
    (table.value().text(row, "placement") == "consolidated" ? point.near_s : point.far_s) =
        iteration_s;
  }
  SourceError all{"gavel", "unconsolidated / consolidated speed", 0, 0, 0, kTarget};
  for (const auto& [key, points] : groups) {
    GavelFit fit = fit_group(key.first, key.second, points, report.noise);
    if (fit.model.rows == 0) continue;
    all.rows += fit.model.rows;
    all.noisy += fit.model.noisy;
    all.error += fit.clean_sum;
    report.models.push_back(std::move(fit.model));
  }
  if (all.rows > all.noisy) all.error /= static_cast<double>(all.rows - all.noisy);
  report.sources.push_back(std::move(all));
  return done();
}

}  // namespace starling
