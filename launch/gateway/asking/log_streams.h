// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/ids.h"
#include "launch/gateway/http/byte_stream.h"

namespace starling {

/// A thread that reads what jobs print for all callers who want to see it, one after the other, so
/// that any number of them reads with one client's place.
class LogStreams {
 public:
  struct Wish {
    JobId job;
    std::optional<std::uint32_t> rank = {};
    std::uint32_t tail = 0;  ///< bytes of each server
    bool follow = false;     ///< until it has ended
  };
  LogStreams(std::filesystem::path dir, std::size_t most);
  /// Closes all streams.
  ~LogStreams();
  LogStreams(const LogStreams&) = delete;
  LogStreams& operator=(const LogStreams&) = delete;

  /// Null: there are `most` already. Errors are a line in the stream that begins "starling: ".
  [[nodiscard]] std::shared_ptr<ByteStream> open(const Wish& wish);

  static constexpr std::size_t kMostWaiting = 32U << 20U;

 private:
  struct Reading;
  void run();

  const std::filesystem::path dir_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Reading>> fresh_;
  std::size_t open_ = 0;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace starling
