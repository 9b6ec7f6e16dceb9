// SPDX-License-Identifier: Apache-2.0
#include "workload/text/csv.h"

#include <charconv>
#include <cmath>

namespace starling {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Number>
bool parse_whole(std::string_view text, Number& number) noexcept {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end && !text.empty();
}

}  // namespace

CsvReader::CsvReader(std::string_view text) : text_(text) {
  if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
}

bool CsvReader::quoted_field(std::string_view& field) {
  const std::size_t start = ++at_;
  bool doubled = false;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] != '"') continue;
    if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
      doubled = true;
      ++at_;
      continue;
    }
    field = text_.substr(start, at_ - start);
    ++at_;
    break;
  }
  const bool closed =
      at_ > start && text_[at_ - 1] == '"' &&
      (at_ == text_.size() || text_[at_] == ',' || text_[at_] == '\n' || text_[at_] == '\r');
  if (!closed || field.data() != text_.data() + start) return false;
  if (doubled) {
    std::string& plain = unquoted_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
      plain += field[i];
      if (field[i] == '"') ++i;
    }
    field = plain;
  }
  return true;
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted_.clear();
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'))
    line_ += text_[at_++] == '\n' ? 1 : 0;
  if (at_ >= text_.size() || bad_quote_) return false;
  row_line_ = line_;
  for (;;) {
    std::string_view field;
    if (at_ < text_.size() && text_[at_] == '"') {
      if (!quoted_field(field)) {
        bad_quote_ = true;
        return false;
      }
    } else {
      const std::size_t start = at_;
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') ++at_;
      field = text_.substr(start, at_ - start);
      if ((at_ == text_.size() || text_[at_] == '\n') && !field.empty() && field.back() == '\r')
        field.remove_suffix(1);
    }
    fields.push_back(field);
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ >= text_.size()) return true;
    if (text_[at_] == '\n') {
      ++at_;
      ++line_;
      return true;
    }
    if (text_[at_] != ',') {  // a lone CR inside a row
      bad_quote_ = true;
      return false;
    }
    ++at_;
  }
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

bool parse_number(std::string_view text, double& number) noexcept {
  return parse_whole(text, number) && std::isfinite(number);
}

bool parse_number(std::string_view text, std::int64_t& number) noexcept {
  return parse_whole(text, number);
}

bool parse_seconds(std::string_view text, Duration& duration) noexcept {
  text = trimmed(text);
  constexpr double limit_s = 9.2e9;
  const std::size_t dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const std::string_view part =
      dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  const bool digits = text.find_first_not_of("0123456789.") == std::string_view::npos &&
                      part.find('.') == std::string_view::npos;
  if (digits && !whole.empty() && whole.size() <= 10 && part.size() <= 9) {
    std::int64_t ns = 0;
    for (const char c : whole) ns = ns * 10 + (c - '0');
    if (static_cast<double>(ns) >= limit_s) return false;
    std::int64_t fraction = 0;
    for (std::size_t i = 0; i < 9; ++i)
      fraction = fraction * 10 + (i < part.size() ? part[i] - '0' : 0);
    duration = Duration(ns * 1'000'000'000 + fraction);
    return true;
  }
  double s = 0;
  if (!parse_number(text, s) || s < 0 || s >= limit_s) return false;
  duration = from_seconds(s);
  return true;
}

std::string format_seconds(Duration duration) {
  const std::int64_t ns = duration.count();
  std::string text = std::to_string(ns / 1'000'000'000);
  std::string part = std::to_string(ns % 1'000'000'000);
  part.insert(0, 9 - part.size(), '0');
  part.erase(part.find_last_not_of('0') + 1);
  return part.empty() ? text : text + '.' + part;
}

}  // namespace starling
