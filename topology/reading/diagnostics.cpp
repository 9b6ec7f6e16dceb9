// SPDX-License-Identifier: Apache-2.0
#include "topology/reading/diagnostics.h"

#include <algorithm>
#include <utility>

#include "base/edit_distance.h"

namespace starling {
namespace {

constexpr std::size_t kLinesMax = 20;

}  // namespace

std::string Diagnostics::line_of(SourcePlace place, const std::string& message) const {
  std::string line = file_ + ":";
  if (place.line > 0) {
    line += std::to_string(place.line) + ":";
    if (place.column > 0) line += std::to_string(place.column) + ":";
  }
  return line + " " + message;
}

void Diagnostics::accept_old_spellings(std::vector<std::string>& notes,
                                       std::map<std::string, std::string> renamed) {
  notes_ = &notes;
  renamed_ = std::move(renamed);
}

std::string Diagnostics::present_spelling(const std::string& key) const {
  if (notes_ == nullptr) return key;
  if (const auto now = renamed_.find(key); now != renamed_.end()) return now->second;
  std::string now = key;
  std::replace(now.begin(), now.end(), '-', '_');
  return now;
}

void Diagnostics::note(SourcePlace place, const std::string& message) {
  if (notes_ != nullptr) notes_->push_back(line_of(place, message));
}

void Diagnostics::add(SourcePlace place, const std::string& message) {
  std::string line = line_of(place, message);
  // One place can be read many times, as defaults are that many entries share.
  if (std::find(lines_.begin(), lines_.end(), line) != lines_.end()) return;
  ++found_;
  if (lines_.size() < kLinesMax) lines_.push_back(std::move(line));
}

Error Diagnostics::error() const {
  std::string all;
  for (const std::string& line : lines_) all += (all.empty() ? "" : "\n") + line;
  if (found_ > lines_.size()) {
    all += "\n" + file_ + ": and " + std::to_string(found_ - lines_.size()) + " more";
  }
  return {Errc::invalid, all};
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t searched_max = 20'000;
  constexpr std::size_t listed_max = 12;
  constexpr std::size_t word_max = 64;
  if (known.empty()) return {};
  std::size_t best = word.size() <= 3 ? 2 : std::min<std::size_t>(3, word.size() / 3 + 1);
  const std::string* nearest = nullptr;
  for (std::size_t i = 0; word.size() <= word_max && i < std::min(known.size(), searched_max);
       ++i) {
    if (known[i].size() > word_max) continue;
    const std::size_t distance = edit_distance(word, known[i]);
    if (distance < best) {
      best = distance;
      nearest = &known[i];
    }
  }
  if (nearest != nullptr) return "; did you mean '" + *nearest + "'?";
  std::string list = "; there is ";
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (i == listed_max) return list + " and " + std::to_string(known.size() - i) + " more";
    if (i > 0) list += i + 1 == known.size() ? " and " : ", ";
    list += known[i];
  }
  return list;
}

}  // namespace starling
