// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace starling {

/// What goes to one caller piece by piece: their maker pushes, the connection takes. Any
/// thread. Bounded: a caller that does not read what waits for it is given up.
class ByteStream {
 public:
  using Piece = std::shared_ptr<const std::string>;
  explicit ByteStream(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// False: it is closed, or full and closed by that.
  bool push(const Piece& piece);
  bool push(std::string text) { return push(std::make_shared<const std::string>(std::move(text))); }
  /// What was pushed before still goes out.
  void close();
  /// The caller is gone: nothing goes out any more.
  void abandon();
  [[nodiscard]] bool closed() const;
  /// It was closed because it was full.
  [[nodiscard]] bool overflowed() const;
  /// How much waits.
  [[nodiscard]] std::size_t waiting() const;

  /// All that waits, and whether nothing follows.
  struct Taken {
    std::deque<Piece> pieces;
    bool over = false;
  };
  [[nodiscard]] Taken take();
  /// Called after each push or close from then on, and at once; not under a lock of this.
  void on_change(std::function<void()> wake);

 private:
  void wake() const;

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::deque<Piece> pieces_;
  std::size_t bytes_ = 0;
  bool closed_ = false, overflowed_ = false;
  std::function<void()> wake_;
};

}  // namespace starling
