// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "launch/gateway/asking/flock_picture.h"

namespace starling {

/// A thread that makes one picture of a flock after the other: every second, or less often where
/// one takes so long that it would keep the agents busy for more than a twentieth of the time.
class PictureReader {
 public:
  /// `show` gets each picture, in this thread.
  PictureReader(std::filesystem::path dir, std::function<void(FlockPicturePtr)> show);
  ~PictureReader();
  PictureReader(const PictureReader&) = delete;
  PictureReader& operator=(const PictureReader&) = delete;

 private:
  void run();

  const std::filesystem::path dir_;
  const std::function<void(FlockPicturePtr)> show_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace starling
