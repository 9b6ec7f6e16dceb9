// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/http/byte_stream.h"

#include <utility>

namespace starling {

bool ByteStream::push(const Piece& piece) {
  bool taken = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    if (bytes_ + piece->size() > most_bytes_) {
      closed_ = overflowed_ = true;
    } else {
      bytes_ += piece->size();
      pieces_.push_back(piece);
      taken = true;
    }
  }
  wake();
  return taken;
}

void ByteStream::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  wake();
}

void ByteStream::abandon() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  pieces_.clear();
  bytes_ = 0;
  wake_ = nullptr;
}

bool ByteStream::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

bool ByteStream::overflowed() const {
  const std::lock_guard lock(mutex_);
  return overflowed_;
}

std::size_t ByteStream::waiting() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

ByteStream::Taken ByteStream::take() {
  const std::lock_guard lock(mutex_);
  bytes_ = 0;
  return {std::exchange(pieces_, {}), closed_};
}

void ByteStream::on_change(std::function<void()> wake) {
  {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  this->wake();
}

void ByteStream::wake() const {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    wake = wake_;
  }
  if (wake) wake();
}

}  // namespace starling
