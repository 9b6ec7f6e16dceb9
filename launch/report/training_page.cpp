// SPDX-License-Identifier: Apache-2.0
#include "launch/report/training_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "launch/report/page.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

Json& stage_of(std::map<std::uint32_t, Json>& stages, std::uint32_t number) {
  const auto [at, fresh] = stages.try_emplace(number);
  if (fresh) {
    at->second = {{"stage", number},       {"name", "in progress"}, {"validation", nullptr},
                  {"kept", nullptr},       {"seconds", 0},          {"iterations", Json::array()},
                  {"fits", Json::array()}, {"runs", Json::array()}};
  }
  return at->second;
}

/// Logs of earlier versions have spaces in their keys.
Json with_present_keys(const Json& record) {
  Json out = Json::object();
  for (const auto& [key, value] : record.items()) {
    std::string name = key;
    std::ranges::replace(name, ' ', '_');
    out[name] = value;
  }
  return out;
}

/// Throws where a record has not what it should.
void read_record(const Json& record, std::map<std::uint32_t, Json>& stages) {
  Json& stage = stage_of(stages, record.at("stage").get<std::uint32_t>());
  if (record.contains("seconds")) stage["seconds"] = record["seconds"].get<double>();
  for (const char* counter : {"iteration", "generation"}) {
    if (!record.contains(counter)) continue;
    Json point{{"at", record[counter].get<std::uint64_t>() + 1}};
    for (const auto& [key, value] : record.items())
      if (key != "stage" && key != counter) point[key] = value.get<double>();
    static_cast<void>(point.at("log_jct"));
    // After a resumed run an iteration may stand there twice: the later one counts.
    Json& all = stage["iterations"];
    while (!all.empty() && all.back()["at"] >= point["at"]) all.erase(all.size() - 1);
    all.push_back(std::move(point));
    if (stage["name"] == "in progress" && std::string(counter) == "generation")
      stage["name"] = "evolve, in progress";
    return;
  }
  if (record.contains("name")) {
    stage["name"] = record["name"].get<std::string>();
    stage["validation"] = record.at("validation").get<double>();
    stage["kept"] = record.at("kept").get<bool>();
  } else if (record.contains("validation")) {
    stage["runs"].push_back({{"name", record["validation"].get<std::string>()},
                             {"log_jct", record.at("log_jct").get<double>()}});
  } else if (record.contains("loss")) {
    Json fit{{"decisions", record.at("decisions").get<std::uint64_t>()}};
    for (const char* pair : {"loss", "best_taken"})
      fit[pair] = {record.at(pair).at(0).get<double>(), record.at(pair).at(1).get<double>()};
    stage["fits"].push_back(std::move(fit));
  }
}

}  // namespace

Result<std::string> training_json(const std::string& log) {
  std::map<std::uint32_t, Json> stages;
  std::istringstream in(log);
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty() || in.eof()) continue;  // a line that is still being written
    try {
      read_record(with_present_keys(Json::parse(line)), stages);
    } catch (const Json::exception& error) {
      return {Errc::invalid, "line " + std::to_string(number) +
                                 " is no record of training: " + std::string(error.what())};
    }
  }
  if (stages.empty()) return {Errc::invalid, "it has no record of training"};
  Json all = Json::array();
  for (auto& [number, stage] : stages) all.push_back(std::move(stage));
  return Json{{"page", "training"}, {"stages", std::move(all)}}.dump(
      -1, ' ', true, Json::error_handler_t::replace);
}

std::string training_text(const std::string& json) {
  std::string out = "stage  what           iterations  JCT of the last  validation  kept\n";
  const Json data = Json::parse(json);
  for (const Json& stage : data.at("stages")) {
    const Json& points = stage.at("iterations");
    const auto change = [](const Json& log) {
      char text[32] = "-";
      if (log.is_number())
        std::snprintf(text, sizeof text, "%+.1f %%", 100 * std::expm1(log.get<double>()));
      return std::string(text);
    };
    char text[256] = "";
    std::snprintf(text, sizeof text, "%5u  %-13s  %10zu  %15s  %10s  %s\n",
                  stage.at("stage").get<std::uint32_t>(),
                  stage.at("name").get<std::string>().c_str(), points.size(),
                  change(points.empty() ? Json() : points.back().at("log_jct")).c_str(),
                  change(stage.at("validation")).c_str(),
                  stage.at("kept").is_null()     ? "-"
                  : stage.at("kept").get<bool>() ? "yes"
                                                 : "no");
    out += text;
  }
  return out;
}

std::string training_page(const std::string& json) { return fill_page(kTrainingPage, json); }

}  // namespace starling
