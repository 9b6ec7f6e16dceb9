// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/hosted_memory.h"

#include <utility>

#include "launch/deployment/etcd_memory.h"
#include "launch/system/files.h"
#include "launch/system/log.h"

namespace starling {

HostedMemory::HostedMemory(const Deployment& deployment, const Ownership& mine,
                           std::filesystem::path file, std::string prefix)
    : deployment_(deployment), mine_(mine), file_(std::move(file)), prefix_(std::move(prefix)) {}

std::string HostedMemory::read() {
  auto text =
      deployment_.state.empty() ? read_text(file_) : read_etcd_memory(deployment_, mine_.partition);
  if (text) return std::move(text).value();
  if (text.error().code != Errc::not_found)
    log_error(prefix_ + "what the policy has learned cannot be read: " + text.error().message);
  return {};
}

void HostedMemory::keep(std::span<const std::byte> memory) {
  waiting_.assign(reinterpret_cast<const char*>(memory.data()), memory.size());
  flush(false);
}

void HostedMemory::flush(bool last) {
  const auto now = std::chrono::steady_clock::now();
  if (waiting_.empty() || (!last && now < next_)) return;
  const bool in_etcd = !deployment_.state.empty();
  const Status written =
      in_etcd ? keep_etcd_memory(deployment_, mine_, std::as_bytes(std::span(waiting_)))
              : write_text(file_, waiting_, 0600);
  if (kept_ && !written.ok())
    log_error(prefix_ + "what the policy learns is not kept: " + written.error().message);
  kept_ = written.ok();
  if (in_etcd || !kept_) next_ = now + kEtcdApart;
  if (kept_) waiting_.clear();
}

}  // namespace starling
