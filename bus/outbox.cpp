// SPDX-License-Identifier: Apache-2.0
#include "bus/outbox.h"

#include <algorithm>
#include <vector>

namespace starling {
namespace {

struct Waiting {
  std::vector<std::byte> frame;
  Outbox::Count mine, all;
};

/// Called by libzmq, in whatever thread lets go of the frame.
void let_go(void*, void* hint) {
  const std::unique_ptr<Waiting> waiting(static_cast<Waiting*>(hint));
  const std::size_t bytes = waiting->frame.size() + kBytesPerFrame;
  waiting->mine->fetch_sub(bytes);
  waiting->all->fetch_sub(bytes);
}

}  // namespace

bool Outbox::has_room(std::size_t bytes) const noexcept {
  const std::size_t mine = mine_->load(), all = all_->load();
  if (mine == 0 && bytes <= kSmallFrame) return true;
  bytes += kBytesPerFrame;
  if (mine > 0 && mine + bytes > bounds_.one) return false;
  return all + bytes <= (mine == 0 ? 2 * bounds_.all : bounds_.all);
}

zmq::message_t Outbox::message(std::span<const std::byte> frame) const {
  auto waiting = std::make_unique<Waiting>(Waiting{{frame.begin(), frame.end()}, mine_, all_});
  const std::size_t bytes = frame.size() + kBytesPerFrame;
  mine_->fetch_add(bytes);
  all_->fetch_add(bytes);
  Waiting* const kept = waiting.release();
  return zmq::message_t(kept->frame.data(), kept->frame.size(), let_go, kept);
}

}  // namespace starling
