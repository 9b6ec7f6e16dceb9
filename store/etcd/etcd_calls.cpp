// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_calls.h"

#include <utility>

namespace starling {

EtcdCompare EtcdCompare::revision_is(std::string key, std::int64_t revision) {
  return {std::move(key), false, revision, {}};
}
EtcdCompare EtcdCompare::value_is(std::string key, std::string value) {
  return {std::move(key), true, 0, std::move(value)};
}
EtcdOp EtcdOp::put(std::string key, std::string value, std::int64_t lease) {
  return {Kind::put, std::move(key), {}, std::move(value), lease};
}
EtcdOp EtcdOp::get(std::string key) { return {Kind::get, std::move(key), {}, {}, 0}; }
EtcdOp EtcdOp::erase(std::string key) { return {Kind::erase, std::move(key), {}, {}, 0}; }
EtcdOp EtcdOp::erase_range(std::string first, std::string end) {
  return {Kind::erase, std::move(first), std::move(end), {}, 0};
}

Result<std::optional<EtcdEntry>> EtcdCalls::get(const std::string& key) {
  auto page = range(key, key + '\0', 1);
  if (!page) return page.error();
  auto& entries = page.value().entries;
  return entries.empty() ? std::nullopt : std::optional(std::move(entries.front()));
}

}  // namespace starling
