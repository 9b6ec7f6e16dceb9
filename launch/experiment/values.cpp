// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/values.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/short_number.h"
#include "workload/text/csv.h"

namespace starling {

Result<Duration> read_length(const std::string& text) {
  double unit = 1;
  std::string number = text;
  if (text.ends_with("ms")) {
    unit = 1e-3;
    number.resize(number.size() - 2);
  } else if (!text.empty()) {
    const std::string units = "smhd";
    constexpr double seconds_of[] = {1, 60, 3600, 86'400};
    if (const auto at = units.find(text.back()); at != std::string::npos) {
      unit = seconds_of[at];
      number.pop_back();
    }
  }
  double value = 0;
  if (!parse_number(number, value) || value < 0 || value * unit > 9e9) {
    return {Errc::invalid, "'" + text.substr(0, 60) +
                               "' is no length of time; write e.g. 200ms, 90s, 15m, 36h or 7d"};
  }
  return from_seconds(value * unit);
}

Result<Duration> read_date(const std::string& text) {
  int year = 0, length = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const int date = std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &length);
  bool good = date == 3;
  if (good && static_cast<std::size_t>(length) < text.size()) {
    int rest = 0;
    good =
        std::sscanf(text.c_str() + length, " %2u:%2u:%2u%n", &hour, &minute, &second, &rest) == 3;
    length += rest;
  }
  const std::chrono::year_month_day when{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!good || static_cast<std::size_t>(length) != text.size() || !when.ok() || year < 1970 ||
      year > 2200 || hour > 23 || minute > 59 || second > 59) {
    return {Errc::invalid,
            "'" + text.substr(0, 60) + "' is no date; write 2017-10-23 or 2017-10-23 08:30:00"};
  }
  return Duration(std::chrono::sys_days(when).time_since_epoch()) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second);
}

Result<std::string> expand_variables(const std::string& text, const Variables& variables) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find("${", at);
    out += text.substr(at, open - at);
    if (open == std::string::npos) return out;
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) {
      return {Errc::invalid, "'" + text + "' has no } after ${; write ${NAME}"};
    }
    const std::string name = text.substr(open + 2, close - open - 2);
    const auto given = variables.find(name);
    const char* const set = std::getenv(name.c_str());
    if (given == variables.end() && (set == nullptr || *set == '\0')) {
      return {Errc::not_found, "${" + name + "} has no value; export " + name +
                                   "=VALUE, or give --set " + name +
                                   "=VALUE to 'starling experiment'"};
    }
    out += given != variables.end() ? given->second : std::string(set);
    at = close + 1;
  }
  return out;
}

Result<DurationKnowledge> read_knowledge(const std::string& text) {
  if (text == "exact") return DurationKnowledge{};
  if (text == "none") return DurationKnowledge{DurationKnowledge::none, 0};
  double sigma = 0;
  if (text.rfind("noisy:", 0) == 0 && parse_number(text.substr(6), sigma) && sigma >= 0) {
    return DurationKnowledge{DurationKnowledge::noisy, sigma};
  }
  return {Errc::invalid, "'" + text.substr(0, 60) +
                             "' is no knowledge of durations; write exact, none or noisy: SIGMA"};
}

std::string knowledge_text(const DurationKnowledge& knowledge) {
  if (knowledge.kind == DurationKnowledge::exact) return "exact";
  if (knowledge.kind == DurationKnowledge::none) return "none";
  char text[48];
  std::snprintf(text, sizeof text, "noisy:%.9g", knowledge.sigma);
  return text;
}

std::string knows_text(LengthSource source, const DurationKnowledge& told) {
  const bool reads = source == LengthSource::estimates || source == LengthSource::estimates_or_past;
  if (source == LengthSource::truth) return "everything";
  if (reads && told.kind == DurationKnowledge::exact) return "exact";
  if (reads && told.kind == DurationKnowledge::noisy)
    return "estimates (σ " + short_number(told.sigma) + ")";
  const bool learns = source == LengthSource::past || source == LengthSource::estimates_or_past;
  return learns ? "forecasts" : "nothing";
}

}  // namespace starling
