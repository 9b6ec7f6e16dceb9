// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/reproduction_output.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "launch/report/page.h"
#include "launch/system/amount.h"
#include "launch/system/text.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

std::string decimal(double x, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, x);
  return text;
}

/// As the digits published show it: 0 where they are equal.
std::string difference_text(const Figure& figure) {
  Figure equal = figure;
  equal.bound = 0.0;
  if (holds(equal)) return "0";
  char text[64];
  std::snprintf(text, sizeof text, "%+.3g %%", 100 * difference(figure));
  return text;
}

std::string bound_text(const Figure& figure) {
  if (!figure.bound) return "none";
  if (*figure.bound == 0) return "equal";
  char text[32];
  std::snprintf(text, sizeof text, "%g %%", 100 * *figure.bound);
  return text;
}

std::vector<std::vector<std::string>> rows_of(const ReproductionReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"figure", "published", "ours", "difference", "bound", ""}};
  for (const Figure& f : report.figures) {
    const std::string unit = f.unit.empty() ? "" : " " + f.unit;
    rows.push_back({f.name, decimal(f.published, f.digits) + unit, decimal(f.ours, f.digits) + unit,
                    difference_text(f), bound_text(f), holds(f) ? "" : "missed"});
  }
  return rows;
}

std::string verdict(const ReproductionReport& report) {
  std::size_t bounded = 0, missed = 0;
  for (const Figure& figure : report.figures) {
    bounded += figure.bound ? 1 : 0;
    missed += holds(figure) ? 0 : 1;
  }
  const std::string all = amount(bounded, "bound");
  return missed == 0 ? "all of " + all + " held" : with_commas(missed) + " of " + all + " missed";
}

Json to_json(const Reproduced& one) {
  Json figures = Json::array();
  for (const Figure& f : one.report.figures) {
    figures.push_back({{"name", f.name},
                       {"unit", f.unit},
                       {"published", f.published},
                       {"ours", f.ours},
                       {"difference", difference(f)},
                       {"bound", f.bound ? Json(*f.bound) : Json()},
                       {"digits", f.digits},
                       {"holds", holds(f)}});
  }
  return {{"name", one.what.name},
          {"title", one.what.title},
          {"source", one.what.source},
          {"inputs", one.what.inputs},
          {"command", reproduction_command(one.what.name)},
          {"holds", one.report.holds()},
          {"figures", figures},
          {"notes", one.report.notes}};
}

Json to_json(std::span<const Reproduced> all) {
  Json list = Json::array();
  for (const Reproduced& one : all) list.push_back(to_json(one));
  const bool held =
      std::all_of(all.begin(), all.end(), [](const Reproduced& one) { return one.report.holds(); });
  return {{"schema", 1}, {"holds", held}, {"reproductions", list}};
}

void add_row(std::string& text, const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) text += "| " + cell + ' ';
  text += "|\n";
}

}  // namespace

std::string reproduction_command(std::string_view name) {
  return "starling reproduce " + std::string(name) + " --data DATA";
}

std::string reproduction_json(std::span<const Reproduced> all) {
  return to_json(all).dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string reproduction_text(const Reproduced& one) {
  std::string text = std::string(one.what.name) + ": " + std::string(one.what.title) +
                     "\npublished by " + std::string(one.what.source) +
                     "\nagain: " + reproduction_command(one.what.name) + "\n" +
                     table_text(rows_of(one.report));
  for (const std::string& note : one.report.notes) text += "note: " + note + "\n";
  return text + verdict(one.report) + "\n";
}

std::string reproduction_markdown(std::span<const Reproduced> all) {
  std::string text = "# Published figures, made again\n\nDATA is the published data folder.\n";
  for (const Reproduced& one : all) {
    text += "\n## " + std::string(one.what.name) + "\n\n" + std::string(one.what.title) +
            ". Published by " + std::string(one.what.source) + ". `" +
            reproduction_command(one.what.name) + "`, from " + std::string(one.what.inputs) + ": " +
            verdict(one.report) + ".\n\n";
    const auto rows = rows_of(one.report);
    add_row(text, rows.front());
    text += "| --- | ---: | ---: | ---: | ---: | --- |\n";
    for (std::size_t i = 1; i < rows.size(); ++i) add_row(text, rows[i]);
    if (!one.report.notes.empty()) text += "\n";
    for (const std::string& note : one.report.notes) text += "* " + note + "\n";
  }
  return text;
}

std::string reproduction_page(std::span<const Reproduced> all) {
  Json data = to_json(all);
  data["page"] = "reproduction";
  for (std::size_t i = 0; i < all.size(); ++i) {
    data["reproductions"][i]["rows"] = rows_of(all[i].report);
    data["reproductions"][i]["verdict"] = verdict(all[i].report);
  }
  return fill_page(kReproductionPage, data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace starling
