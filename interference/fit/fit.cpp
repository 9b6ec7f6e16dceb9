#include "interference/fit/fit.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "interference/fit/sources.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

template <class... Args>
std::string line(const char* format, Args... args) {
  char text[256];
  const int size = std::snprintf(text, sizeof text, format, args...);
  return {text, static_cast<std::size_t>(std::min<int>(size, sizeof text - 1))};
}

// The machines whose links are known well enough to carry the constants over to others. Pollux: T4s
// on PCIe x8; 5 Gbit/s is what one flow gets between its EC2 servers. Gavel's P100s: PCIe x16 and
// 10 Gbit/s between cloud servers (assumed). ElasticFlow's A100 times are bounded by something that
// is no link (they stay the same from 8 GPUs to 64), Gavel's K80 ratios are about 1, and its V100
// ratios are noise.
struct Reference {
  std::string_view source, gpu;
  double server_gbps, network_gbps;
};
constexpr Reference kReferences[] = {{"pollux", "T4", 64, 5}, {"gavel", "p100", 128, 10}};

// Pollux before Gavel, where both ran the model.
const Reference* reference_of(const FittedModel& model) {
  if (model.source == "gavel" && model.application.starts_with("ResNet")) return nullptr;
  for (const Reference& r : kReferences) {
    if (r.source == model.source && r.gpu == model.gpu) return &r;
  }
  return nullptr;
}

}  // namespace

Result<FitReport> fit_all(const std::filesystem::path& data_folder) {
  FitReport report;
  for (const auto fit : {fit_pollux, fit_elasticflow, fit_gavel, fit_sharing}) {
    if (Status fitted = fit(data_folder, report); !fitted) return fitted.error();
  }
  return report;
}

std::string to_text(const FitReport& report) {
  std::string text = line("%-12s %-46s %6s %6s %8s %8s %8s\n", "source", "measure", "rows", "noisy",
                          "error", "target", "with all");
  for (const SourceError& s : report.sources) {
    text +=
        line("%-12s %-46s %6zu %6zu %7.1f%% %7.1f%% %7.1f%%\n", s.source.c_str(), s.measure.c_str(),
             s.rows, s.noisy, 100 * s.error, 100 * s.target, 100 * s.error_all);
  }
  text += line("\n%-12s %-5s %-17s %5s %5s %7s %8s  %9s %9s %9s %9s %9s %9s %6s\n", "source", "gpu",
               "application", "rows", "noisy", "error", "with all", "compute_s", "sample_s",
               "srv_xfer", "srv_step", "net_xfer", "net_step", "gamma");
  for (const FittedModel& m : report.models) {
    const TierConstants& c = m.constants;
    text += line(
        "%-12s %-5s %-17s %5zu %5zu %6.1f%% %7.1f%%  %9.3g %9.3g %9.3g %9.3g %9.3g %9.3g %6.2f\n",
        m.source.c_str(), m.gpu.c_str(), m.application.c_str(), m.rows, m.noisy, 100 * m.error,
        100 * m.error_all, c.compute_s, c.sample_s, c.server_transfer_s, c.server_step_s,
        c.network_transfer_s, c.network_step_s, c.gamma);
  }
  text += line("\n%-17s %8s %8s\n", "on one GPU", "suffers", "does");
  for (const SharingModel& s : report.sharing)
    text += line("%-17s %8.3f %8.3f\n", s.application.c_str(), s.suffers, s.does);
  if (!report.noise.empty()) text += "\nleft out as noise:\n";
  for (const std::string& row : report.noise) text += "  " + row + '\n';
  return text;
}

std::string to_constants(const FitReport& report) {
  std::string text =
      "// Written by `starling fit`: model, source, mean relative error, gamma, then seconds of "
      "the\n"
      "// exchange within a server (transfer, step) and what leaving it adds (transfer, step), at "
      "the\n"
      "// Gbit/s within a server and between servers that it was measured at.\n";
  for (const FittedModel& m : report.models) {
    const Reference* reference = reference_of(m);
    if (reference == nullptr) continue;
    const TierConstants& c = m.constants;
    text += line("{\"%s\", \"%s %s\", %.3f, %.4g, %.4g, %.4g, %.4g, %.4g, %g, %g},\n",
                 std::string(model_profile(m.application).name).c_str(), m.source.c_str(),
                 m.gpu.c_str(), m.error, c.gamma, c.server_transfer_s, c.server_step_s,
                 c.network_transfer_s - c.server_transfer_s, c.network_step_s - c.server_step_s,
                 reference->server_gbps, reference->network_gbps);
  }
  return text;
}

std::string to_json(const FitReport& report) {
  using nlohmann::json;
  json out = {{"sources", json::array()},
              {"models", json::array()},
              {"sharing", json::array()},
              {"noise", report.noise}};
  for (const SourceError& s : report.sources) {
    out["sources"].push_back({{"source", s.source},
                              {"measure", s.measure},
                              {"rows", s.rows},
                              {"noisy", s.noisy},
                              {"error", s.error},
                              {"error_all", s.error_all},
                              {"target", s.target}});
  }
  for (const FittedModel& m : report.models) {
    const TierConstants& c = m.constants;
    out["models"].push_back({{"source", m.source},
                             {"gpu", m.gpu},
                             {"application", m.application},
                             {"rows", m.rows},
                             {"noisy", m.noisy},
                             {"error", m.error},
                             {"error_all", m.error_all},
                             {"compute_s", c.compute_s},
                             {"sample_s", c.sample_s},
                             {"server_transfer_s", c.server_transfer_s},
                             {"server_step_s", c.server_step_s},
                             {"network_transfer_s", c.network_transfer_s},
                             {"network_step_s", c.network_step_s},
                             {"gamma", c.gamma}});
  }
  for (const SharingModel& s : report.sharing) {
    out["sharing"].push_back(
        {{"application", s.application}, {"suffers", s.suffers}, {"does", s.does}});
  }
  return out.dump(2);
}

}  // namespace starling
