// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/asking/flock_workers.h"

#include <utility>

namespace starling {

Result<FlockClient*> current_client(const std::filesystem::path& dir,
                                    std::unique_ptr<FlockClient>& client) {
  if (client == nullptr) {
    auto opened = FlockClient::open(dir);
    if (!opened) return opened.error();
    if (const Status s = opened.value()->connect(); !s.ok()) return s.error();
    client = std::move(opened).value();
  } else if (const auto other = client->reread(); !other) {
    return other.error();
  }
  return client.get();
}

FlockWorkers::FlockWorkers(std::filesystem::path dir, std::size_t threads, std::size_t most_waiting)
    : dir_(std::move(dir)), most_waiting_(most_waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

FlockWorkers::~FlockWorkers() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool FlockWorkers::post(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (over_ || waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void FlockWorkers::run() {
  std::unique_ptr<FlockClient> client;
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
      if (over_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work(dir_.empty() ? Result<FlockClient*>(Errc::unsupported, "without a flock")
                      : current_client(dir_, client));
  }
}

}  // namespace starling
