// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling {

/// The value that stands in `map` at `key`; null: none. Lives as long as the entry.
template <class Map, class Key>
[[nodiscard]] auto* find_value(Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

}  // namespace starling
