// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace starling {

/// What is remembered of each job from call to call, by a key that is the job's alone. Lists of
/// jobs change little between calls, so each is found where the last call had it, and newcomers
/// alone are looked up. Keys come out in their order.
template <class Key, class Value>
class JobMemo {
 public:
  JobMemo() = default;
  JobMemo(JobMemo&&) noexcept = default;
  JobMemo& operator=(JobMemo&&) noexcept = default;
  struct Look {
    Value& value;
    bool fresh;  ///< it was not known
  };
  /// A call begins.
  void begin() {
    last_.swap(now_);
    now_.clear();
    gone_.clear();
    at_ = 0;
    ++call_;
  }
  /// A job of this call.
  Look see(const Key& key) {
    const std::size_t most = std::min(at_ + kAhead, last_.size());
    for (std::size_t at = at_; at < most; ++at) {
      if (last_[at]->first == key) return {found(at), false};
    }
    const auto [known, fresh] = known_.try_emplace(key);
    const Kept& kept = known->second;
    const bool near = kept.call + 1 == call_ && kept.position >= at_ && kept.position < at_ + kFar;
    return {near ? found(kept.position) : keep(*known), fresh};
  }
  /// The call has shown all: forgets every other, `gone(key, value)` of each before, in their
  /// order. How many.
  template <class Gone>
  std::size_t end(Gone gone) {
    if (now_.size() == known_.size()) return 0;
    for (; at_ < last_.size(); ++at_) gone_.push_back(last_[at_]);
    std::erase_if(gone_, [this](const Entry* entry) { return entry->second.call == call_; });
    std::ranges::sort(gone_, {}, [](const Entry* entry) { return entry->first; });
    if (now_.size() + gone_.size() != known_.size()) {  // some were there before any call
      gone_.clear();
      for (Entry& entry : known_) {
        if (entry.second.call != call_) gone_.push_back(&entry);
      }
    }
    for (const Entry* entry : gone_) gone(entry->first, entry->second.value);
    for (const Entry* entry : gone_) known_.erase(entry->first);
    return gone_.size();
  }

  [[nodiscard]] Value& at(const Key& key) { return known_.at(key).value; }
  [[nodiscard]] const Value& at(const Key& key) const { return known_.at(key).value; }
  /// Null: it is not known.
  [[nodiscard]] const Value* find(const Key& key) const {
    const auto at = known_.find(key);
    return at == known_.end() ? nullptr : &at->second.value;
  }
  /// Of a job that was known before any call.
  Value& add(const Key& key) { return known_[key].value; }
  void clear() { *this = JobMemo(); }
  /// f(key, value) of all.
  template <class F>
  void each(F f) const {
    for (const auto& [key, kept] : known_) f(key, kept.value);
  }

 private:
  struct Kept {
    Value value = {};
    std::uint64_t call = 0;    // that saw it last
    std::size_t position = 0;  // then
  };
  using Known = std::map<Key, Kept>;
  using Entry = typename Known::value_type;
  /// So many before a job may have gone at once, and it is found without a look; where so many
  /// have, those after it are.
  static constexpr std::size_t kAhead = 4, kFar = 256;

  Value& keep(Entry& entry) {
    Kept& kept = entry.second;
    if (kept.call == call_) return kept.value;
    kept.call = call_;
    kept.position = now_.size();
    now_.push_back(&entry);
    return kept.value;
  }
  Value& found(std::size_t at) {
    for (; at_ < at; ++at_) gone_.push_back(last_[at_]);
    ++at_;
    return keep(*last_[at]);
  }

  Known known_;
  std::vector<Entry*> last_, now_;  // those of the last call and of this one, in their order
  std::vector<const Entry*> gone_;  // of the last call, passed over in this one
  std::size_t at_ = 0;              // of last_
  std::uint64_t call_ = 1;
};

}  // namespace starling
