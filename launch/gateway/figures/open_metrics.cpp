// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/figures/open_metrics.h"

#include <cmath>
#include <utility>

#include "base/short_number.h"

namespace starling {
namespace {

/// Backslashes, quotes and ends of lines, as both formats want them in labels.
std::string escaped_label(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

const char* kind_text(OpenMetrics::Kind kind) {
  return kind == OpenMetrics::Kind::gauge     ? "gauge"
         : kind == OpenMetrics::Kind::counter ? "counter"
                                              : "histogram";
}

}  // namespace

void OpenMetrics::family(const std::string& name, Kind kind, const std::string& help) {
  name_ = name;
  kind_ = kind;
  const std::string heading = name + (kind == Kind::counter && !open_ ? "_total" : "");
  text_ += "# HELP " + heading + " " + help + "\n# TYPE " + heading + " " + kind_text(kind) + "\n";
}

void OpenMetrics::sample(const Labels& labels, double value) {
  sample(kind_ == Kind::counter ? "_total" : "", labels, value);
}

void OpenMetrics::sample(const std::string& suffix, const Labels& labels, double value) {
  text_ += name_ + suffix;
  if (!labels.empty()) {
    text_ += '{';
    for (const auto& [name, text] : labels) {
      if (text_.back() != '{') text_ += ',';
      text_ += name + "=\"" + escaped_label(text) + '"';
    }
    text_ += '}';
  }
  // Whole numbers up to 2^53 with all their digits.
  const bool whole = value == std::floor(value) && std::fabs(value) < 9e15;
  text_ +=
      ' ' + (whole ? std::to_string(static_cast<long long>(value)) : short_number(value)) + '\n';
}

void OpenMetrics::single(const std::string& name, Kind kind, const std::string& help,
                         double value) {
  family(name, kind, help);
  sample(Labels{}, value);
}

std::string OpenMetrics::finish() {
  if (open_) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace starling
