// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/fit.h"

#include <nlohmann/json.hpp>

#include "interference/fit/line.h"
#include "interference/fit/sources.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

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

std::string list(const std::array<double, kPairTerms>& values, const char* format,
                 const char* between) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : between) + line(format, value);
  return text;
}

const char* or_any(const std::string& name) { return name.empty() ? "any" : name.c_str(); }

}  // namespace

Result<FitReport> fit_all(const std::filesystem::path& data_folder) {
  FitReport report;
  for (const auto fit :
       {fit_pollux, fit_elasticflow, fit_gavel, fit_gavel_pairs, fit_lucid_pairs}) {
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
  text += line(
      "\non one GPU: what a job keeps of its speed and leaves to the other\n%-5s %-32s %6s %6s "
      "%s\n",
      "gpu", "job", "keeps", "leaves", " sensitive, rough");
  for (const SharingModel& s : report.sharing) {
    const PairFigures& f = s.figures;
    text +=
        line("%-5s %-32s %6.2f %6.2f  %s, %s\n", or_any(s.gpu), or_any(s.application), f.keeps,
             f.leaves, list(f.sensitive, "%6.2f", "").c_str(), list(f.rough, "%6.2f", "").c_str());
  }
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
    text +=
        line("{\"%s\", \"%s %s\", %.3f, %.4g, %.4g, %.4g, %.4g, %.4g, %g, %g},\n",
             std::string(catalogue()[model_profile(m.application).family].name).c_str(),
             m.source.c_str(), m.gpu.c_str(), m.error, c.gamma, c.server_transfer_s,
             c.server_step_s, c.network_transfer_s - c.server_transfer_s,
             c.network_step_s - c.server_step_s, reference->server_gbps, reference->network_gbps);
  }
  return text;
}

std::string to_sharing_table(const FitReport& report) {
  std::string text =
      "// Written by `starling fit`: GPU type (empty: any), job (empty: any other), what it keeps "
      "of\n"
      "// its speed beside another on the GPU, what it leaves to the other, how sensitive it is, "
      "and\n"
      "// how rough; see interference/sharing.h.\n";
  for (const SharingModel& s : report.sharing) {
    const PairFigures& f = s.figures;
    text += line("{\"%s\", \"%s\", {%.3f, %.3f, {%s}, {%s}}},\n", s.gpu.c_str(),
                 s.application.c_str(), f.keeps, f.leaves, list(f.sensitive, "%.3f", ", ").c_str(),
                 list(f.rough, "%.3f", ", ").c_str());
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
    out["sharing"].push_back({{"gpu", s.gpu},
                              {"application", s.application},
                              {"keeps", s.figures.keeps},
                              {"leaves", s.figures.leaves},
                              {"sensitive", s.figures.sensitive},
                              {"rough", s.figures.rough}});
  }
  return out.dump(2);
}

}  // namespace starling
