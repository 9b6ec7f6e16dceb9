// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/goodput_fit.h"
#include "interference/fit/line.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

std::string cell(const RowError& e) { return line(" %5zu %5.1f%%", e.rows, 100 * e.error); }

std::string cells(const StepErrors& e) {
  return cell(e.placements) + cell(e.own) + cell(e.scale) + cell(e.withheld) + cell(e.paper) +
         cell(e.paper_scale);
}

// `wrapped`: on two lines of the committed table.
std::string list(const std::array<double, kNoiseParts.size()>& values, const char* format,
                 bool wrapped = false) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* between = i == 0 ? "" : wrapped && i == values.size() / 2 ? ",\n   " : ", ";
    text += between + line(format, values[i]);
  }
  return '{' + text + '}';
}

std::string constants(const StepTime& t) {
  return line("{%.4g, %.4g, {%.4g, %.4g}, {%.4g, %.4g}, {%.4g, %.4g},\n  %.4g, %.3f, %.3f}",
              t.compute_s, t.sample_s, t.server.two_s, t.server.growth_s, t.rack.two_s,
              t.rack.growth_s, t.network.two_s, t.network.growth_s, t.crowd_s, t.bend, t.gamma);
}

}  // namespace

std::string to_text(const GoodputReport& report) {
  std::string text = "mean relative error of the step time; rows before each\n" +
                     line("%-13s %12s %12s %12s %12s %12s %12s\n", "pollux", "placements",
                          "own batches", "6-64 GPUs", "withheld", "paper", "its 6-64");
  StepErrors all;
  for (const FittedGoodput& f : report.applications) {
    text += line("%-13s", f.application.c_str()) + cells(f.errors) + '\n';
    all.add(f.errors);
  }
  text += line("%-13s", "all") + cells(all) + "\n\nmean absolute error of the efficiency; phi at " +
          "the own batch in the parts of the training\n";
  RowError efficiency;
  for (const FittedGoodput& f : report.applications) {
    text += line("%-13s", f.application.c_str()) + cell(f.efficiency) + "  " +
            list(f.noise.at_own, "%.3g") + '\n';
    efficiency.add(f.efficiency);
  }
  text += line("%-13s", "all") + cell(efficiency) +
          line("\n\n%-22s %12s %12s\n", "elasticflow", "all", "withheld");
  RowError scaling;
  RowError withheld;
  for (const FittedScaling& f : report.scaling) {
    text +=
        line("%-5s %-16s", f.gpu.c_str(), f.model.c_str()) + cell(f.all) + cell(f.withheld) + '\n';
    scaling.add(f.all);
    withheld.add(f.withheld);
  }
  return text + line("%-22s", "all") + cell(scaling) + cell(withheld) + '\n';
}

std::string to_profiles(const GoodputReport& report) {
  std::string text =
      "// Written by `starling fit --goodput --constants`: model, source, errors of step time and\n"
      "// efficiency, limits of the batch, constants of the step time, noise scale by part of the\n"
      "// training; see interference/goodput/profiles.h.\n";
  for (const FittedGoodput& f : report.applications) {
    const BatchLimits& b = f.limits;
    text += line("{\"%s\", \"pollux T4\", %.3f, %.3f, {%g, %g, %g, %g},\n",
                 std::string(catalogue()[model_profile(f.application).family].name).c_str(),
                 f.errors.placements.error, f.efficiency.error, b.own, b.largest, b.least_local,
                 b.most_local);
    text += " " + constants(f.time) + ",\n";
    text += line(" {%g, %g,\n  ", f.noise.own_batch, f.noise.largest_batch) +
            list(f.noise.at_own, "%.3g", true) + ",\n  " + list(f.noise.slope, "%.3f") + "}},\n";
  }
  return text;
}

}  // namespace starling
