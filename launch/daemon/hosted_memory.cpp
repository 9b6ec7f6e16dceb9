// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/hosted_memory.h"

#include <utility>

#include "launch/deployment/etcd_memory.h"
#include "launch/system/files.h"
#include "launch/system/log.h"
#include "launch/system/plain_file.h"

namespace starling {

HostedMemory::HostedMemory(const Deployment& deployment, const Ownership& mine,
                           std::filesystem::path file, std::string prefix)
    : deployment_(deployment), mine_(mine), file_(std::move(file)), prefix_(std::move(prefix)) {}

/// Nothing is empty; what it does not say: it is not known what is there.
Result<std::string> HostedMemory::load() const {
  if (!deployment_.state.empty()) return read_etcd_memory(deployment_, mine_.partition);
  auto text = read_plain(file_);
  if (!text && text.error().code == Errc::not_found) return std::string();
  return text;
}

std::string HostedMemory::read() {
  auto text = load();
  if (!text) text = load();
  read_ = text.ok();
  if (read_) return std::move(text).value();
  log_error(prefix_ + "what the policy has learned cannot be read: " + text.error().message);
  return {};
}

void HostedMemory::keep(std::span<const std::byte> memory) {
  waiting_.emplace(reinterpret_cast<const char*>(memory.data()), memory.size());
  dropped_ = false;
  flush(false);
}

void HostedMemory::drop(const std::string& why) {
  if (dropped_) return;
  dropped_ = true;
  log_error(prefix_ + "what the policy has learned is not kept any longer: " + why);
  waiting_.emplace();
  flush(false);
}

void HostedMemory::look_again(std::chrono::steady_clock::time_point now) {
  const auto there = load();
  read_ = there.ok();
  if (!read_) {
    next_ = now + kEtcdApart;
  } else if (!there.value().empty()) {
    spared_ = now + kSpared;
  }
}

Status HostedMemory::write() const {
  return deployment_.state.empty()
             ? write_text(file_, *waiting_, 0600)
             : keep_etcd_memory(deployment_, mine_, std::as_bytes(std::span(*waiting_)));
}

void HostedMemory::flush(bool last) {
  const auto now = std::chrono::steady_clock::now();
  if (!waiting_ || now < spared_ || (!last && now < next_)) return;
  if (!read_) look_again(now);
  if (!read_ || now < spared_) return;
  const Status written = write();
  if (kept_ && !written.ok())
    log_error(prefix_ + "what the policy learns is not kept: " + written.error().message);
  kept_ = written.ok();
  if (!deployment_.state.empty() || !kept_) next_ = now + kEtcdApart;
  if (kept_) waiting_.reset();
}

}  // namespace starling
