// SPDX-License-Identifier: Apache-2.0
#include "policies/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

namespace starling {
namespace {

/// Earlier spellings of choices, which experiments and scripts may still have.
struct RenamedChoice {
  std::string_view key, was, is;
};
constexpr RenamedChoice kRenamed[] = {{"fit", "node", "server"}};

std::string present_spelling(std::string_view key, const std::string& given) {
  for (const RenamedChoice& one : kRenamed)
    if (one.key == key && one.was == given) return std::string(one.is);
  return given;
}

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 64;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

std::string number_text(double x) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  return {buffer, end};
}

std::string range_text(double low, double high) {
  return std::isfinite(high) ? number_text(low) + " to " + number_text(high)
                             : "at least " + number_text(low);
}

}  // namespace

std::string closest(std::string_view text, const std::vector<std::string>& names) {
  if (text.size() > 64) return "";
  std::string best;
  std::size_t least = std::max<std::size_t>(text.size() / 3, 1) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edits(text, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

std::string PolicyOption::value_text() const {
  if (type == Type::file) return "FILE";
  if (type == Type::number) return otherwise + " (" + range_text(low, high) + ")";
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : "|") + values[i];
  return text;
}

const std::string* OptionReader::find(PolicyOption option) {
  declared_.push_back(std::move(option));
  const auto found = options_.find(declared_.back().name);
  return found == options_.end() ? nullptr : &found->second;
}

void OptionReader::fail(std::string message) {
  if (first_error_.empty()) first_error_ = "policy '" + policy_ + "': " + std::move(message);
}

std::string OptionReader::choice(std::string_view key, std::span<const std::string_view> values,
                                 std::string_view help) {
  std::string otherwise(*values.begin());
  const std::string* given = find({.name = std::string(key),
                                   .type = PolicyOption::Type::choice,
                                   .values = {values.begin(), values.end()},
                                   .otherwise = otherwise,
                                   .help = std::string(help)});
  if (given == nullptr) return otherwise;
  std::string meant = present_spelling(key, *given);
  if (std::find(values.begin(), values.end(), meant) != values.end()) return meant;
  std::string list;
  for (const std::string_view value : values)
    list += (list.empty() ? "" : ", ") + std::string(value);
  fail("option " + std::string(key) + " is one of " + list + ", not '" + shortened(*given) + "'");
  return otherwise;
}

double OptionReader::number(std::string_view key, double otherwise, double low, double high,
                            std::string_view help) {
  const std::string* given = find({.name = std::string(key),
                                   .type = PolicyOption::Type::number,
                                   .low = low,
                                   .high = high,
                                   .otherwise = number_text(otherwise),
                                   .help = std::string(help)});
  if (given == nullptr) return otherwise;
  double value = 0;
  const char* end = given->data() + given->size();
  const auto read = std::from_chars(given->data(), end, value);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(value) && value >= low &&
      value <= high) {
    return value;
  }
  fail("option " + std::string(key) + " is a number, " + range_text(low, high) + ", not '" +
       shortened(*given) + "'");
  return otherwise;
}

std::string OptionReader::file(std::string_view key, std::string_view help) {
  const std::string* given =
      find({.name = std::string(key), .type = PolicyOption::Type::file, .help = std::string(help)});
  if (given == nullptr) return "";
  // As a shell variable that is not set leaves it: the default is not what was meant.
  if (given->empty())
    fail("option " + std::string(key) + " is empty; give a file, or leave it out");
  return *given;
}

Status OptionReader::status() const {
  if (!first_error_.empty()) return Error{Errc::invalid, first_error_};
  std::vector<std::string> known;
  for (const PolicyOption& option : declared_) known.push_back(option.name);
  for (const auto& [key, value] : options_) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string message = "policy '" + policy_ + "' has no option '" + shortened(key) + "'; ";
    const std::string meant = closest(key, known);
    if (!meant.empty()) message += "did you mean '" + meant + "'? ";
    if (known.empty()) return Error{Errc::invalid, message + "it takes none"};
    message += "its options are: ";
    for (std::size_t i = 0; i < known.size(); ++i) message += (i == 0 ? "" : ", ") + known[i];
    return Error{Errc::invalid, message};
  }
  return done();
}

}  // namespace starling
