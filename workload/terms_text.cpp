// SPDX-License-Identifier: Apache-2.0
#include "workload/terms_text.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>
#include <set>

#include "workload/text/csv.h"

namespace starling {
namespace {

using Text = std::string_view;

Error wrong(Text text, const std::string& right) {
  return {Errc::invalid, "'" + std::string(text.substr(0, 64)) + "' is wrong, give " + right};
}

std::vector<Text> parts_of(Text text, char between) {
  std::vector<Text> parts;
  for (;;) {
    const std::size_t at = text.find(between);
    parts.push_back(text.substr(0, at));
    if (at == Text::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::uint32_t> whole(Text text, std::uint32_t most) {
  std::uint32_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty() || n > most)
    return std::nullopt;
  return n;
}

/// "MM:SS", "HH:MM:SS"; behind days "HH", "HH:MM", "HH:MM:SS".
std::optional<Duration> clock_time(Text text, bool behind_days) {
  const std::vector<Text> parts = parts_of(text, ':');
  if (parts.size() > 3 || (!behind_days && parts.size() < 2)) return std::nullopt;
  // What the first number counts, in seconds.
  std::int64_t unit = behind_days || parts.size() == 3 ? 3600 : 60;
  std::int64_t sum = 0;
  for (const Text part : parts) {
    const auto n = whole(part, 1'000'000);
    if (!n) return std::nullopt;
    sum += unit * *n;
    unit /= 60;
  }
  return std::chrono::seconds(sum);
}

struct Signal {
  const char* name;
  std::uint32_t number;
};
constexpr Signal kSignals[] = {{"HUP", 1},   {"INT", 2},   {"QUIT", 3},  {"ABRT", 6},
                               {"KILL", 9},  {"USR1", 10}, {"SEGV", 11}, {"USR2", 12},
                               {"ALRM", 14}, {"TERM", 15}, {"CONT", 18}, {"STOP", 19},
                               {"TSTP", 20}, {"URG", 23},  {"XCPU", 24}, {"WINCH", 28}};

/// By the calendar of this machine; nothing: it is none, or no such day.
std::optional<std::int64_t> date_of(const std::string& text) {
  for (const char* form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* const end = ::strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    const std::tm asked = parts;
    parts.tm_isdst = -1;
    const std::time_t at = std::mktime(&parts);
    if (at == -1 || parts.tm_mday != asked.tm_mday) return std::nullopt;
    return at;
  }
  return std::nullopt;
}

/// The next one.
std::optional<std::int64_t> hour_of(const std::string& text, std::int64_t now) {
  for (const char* form : {"%H:%M:%S", "%H:%M"}) {
    const std::time_t today = now;
    std::tm parts{};
    if (::localtime_r(&today, &parts) == nullptr) return std::nullopt;
    parts.tm_sec = 0;
    const char* const end = ::strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    parts.tm_isdst = -1;
    std::tm tomorrow = parts;
    const std::time_t at = std::mktime(&parts);
    if (at >= now) return at;
    ++tomorrow.tm_mday;
    return std::mktime(&tomorrow);
  }
  return std::nullopt;
}

}  // namespace

Result<Duration> parse_time(Text text) {
  const Error right = wrong(text, "seconds, a number with m, h or d as 2h, or [D-]HH:MM:SS");
  const auto bounded = [&](Duration time) -> Result<Duration> {
    if (time > JobTerms::kMostTime) return wrong(text, "ten years at most");
    return time;
  };
  if (const std::size_t dash = text.find('-'); dash != Text::npos) {
    const auto days = whole(text.substr(0, dash), 10'000);
    const auto rest = clock_time(text.substr(dash + 1), true);
    if (!days || !rest) return right;
    return bounded(std::chrono::hours(24) * *days + *rest);
  }
  if (text.find(':') != Text::npos) {
    const auto time = clock_time(text, false);
    return time ? bounded(*time) : right;
  }
  std::int64_t unit = 1;
  if (!text.empty()) {
    const char last = text.back();
    unit = last == 's' ? 1 : last == 'm' ? 60 : last == 'h' ? 3600 : last == 'd' ? 86'400 : 0;
    if (unit > 0) text.remove_suffix(1);
    unit = std::max<std::int64_t>(unit, 1);
  }
  Duration time{0};
  if (!parse_seconds(std::string(text), time) || time > JobTerms::kMostTime) return right;
  return bounded(time * unit);
}

Result<Duration> parse_begin(Text text, Duration now) {
  Text span = text;
  if (span == "now") return Duration{0};
  if (span.starts_with("now+")) span.remove_prefix(3);
  if (span.starts_with('+')) {
    auto ahead = parse_time(span.substr(1));
    if (!ahead) return wrong(text, "a time ahead, as +90 or now+2h");
    return ahead;
  }
  const std::int64_t today = std::chrono::floor<std::chrono::seconds>(now).count();
  auto at = date_of(std::string(text));
  if (!at) at = hour_of(std::string(text), today);
  if (!at) return wrong(text, "a date, as 2027-01-31T16:00, an hour, as 16:00, or +2h");
  const Duration ahead = std::chrono::seconds(*at) - now;
  if (ahead > JobTerms::kMostTime) return wrong(text, "a time within ten years");
  return std::max(ahead, Duration{0});
}

Result<std::vector<AfterText>> parse_after(Text text) {
  const Error right = wrong(text, "ok:JOB, any:JOB or notok:JOB, several with commas between them");
  std::vector<AfterText> all;
  std::set<Text> seen;
  for (const Text condition : parts_of(text, ',')) {
    const std::vector<Text> parts = parts_of(condition, ':');
    if (parts.size() < 2) return right;
    Text how = parts.front();
    if (how.starts_with("after")) how.remove_prefix(5);
    After::How what = After::How::ok;
    if (how == "any" || how.empty()) {
      what = After::How::any;
    } else if (how == "notok") {
      what = After::How::not_ok;
    } else if (how != "ok") {
      return right;
    }
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (parts[i].empty()) return right;
      if (!seen.insert(parts[i]).second) return wrong(text, "each job once");
      all.push_back({what, std::string(parts[i])});
    }
  }
  return all;
}

Result<SignalText> parse_signal(Text text) {
  const Error right = wrong(text, "a signal and seconds before the limit, as USR1@60");
  SignalText said{0, std::chrono::seconds(60)};
  const std::size_t at = text.find('@');
  Text name = text.substr(0, at);
  if (name.starts_with("B:")) name.remove_prefix(2);
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const Signal& signal : kSignals) {
    if (name == signal.name) said.number = signal.number;
  }
  if (const auto number = whole(name, JobTerms::kMostSignal)) said.number = *number;
  if (said.number == 0) return right;
  if (at == Text::npos) return said;
  const auto before = whole(text.substr(at + 1), 65'535);
  if (!before) return right;
  said.before = std::chrono::seconds(*before);
  return said;
}

Result<ArrayText> parse_array(Text text) {
  const Error right = wrong(text, "indices, as 0-99, 1,3,5 or 0-99:2, and %N for N at once");
  ArrayText said;
  Text list = text;
  if (const std::size_t at = text.find('%'); at != Text::npos) {
    const auto most = whole(text.substr(at + 1), JobTerms::kMostTask);
    if (!most) return right;
    said.at_once = *most;  // 0: all
    list = text.substr(0, at);
  }
  std::set<std::uint32_t> tasks;
  constexpr std::size_t kMost = 1'000'000;
  for (Text range : parts_of(list, ',')) {
    std::uint32_t step = 1;
    if (const std::size_t colon = range.find(':'); colon != Text::npos) {
      const auto n = whole(range.substr(colon + 1), JobTerms::kMostTask);
      if (!n || *n == 0) return right;
      step = *n;
      range = range.substr(0, colon);
    }
    const std::size_t dash = range.find('-');
    const auto first = whole(range.substr(0, dash), JobTerms::kMostTask);
    const auto last =
        dash == Text::npos ? first : whole(range.substr(dash + 1), JobTerms::kMostTask);
    if (!first || !last || *last < *first) return right;
    for (std::uint32_t i = *first; i <= *last; i += step) {
      tasks.insert(i);
      if (tasks.size() > kMost) return wrong(text, "1,000,000 tasks at most");
    }
  }
  said.tasks.assign(tasks.begin(), tasks.end());
  return said;
}

std::string tasks_text(const std::vector<std::uint32_t>& tasks) {
  std::string text;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t last = i;
    while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(tasks[i]);
    if (last > i) text += (last == i + 1 ? "," : "-") + std::to_string(tasks[last]);
    i = last + 1;
  }
  return text;
}

std::string signal_name(std::uint32_t number) {
  for (const Signal& signal : kSignals) {
    if (number == signal.number) return signal.name;
  }
  return "signal " + std::to_string(number);
}

}  // namespace starling
