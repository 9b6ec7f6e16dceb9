// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>

namespace starling {

/// Answers that are dearer to find than to keep, each by its question. It keeps `kMost` at most:
/// with one more it forgets them all, so that questions which differ in what users write, of which
/// there is no end, do not fill the memory.
template <class Key, class Value, std::size_t kMost = 4096>
class Memo {
 public:
  /// What `find()` said when this was asked first, since it last forgot. Valid until the next call.
  template <class Find>
  const Value& of(const Key& key, Find find) {
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    Value found = find();
    if (known_.size() >= kMost) known_.clear();
    return known_.emplace(key, std::move(found)).first->second;
  }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

 private:
  std::map<Key, Value> known_;
};

}  // namespace starling
