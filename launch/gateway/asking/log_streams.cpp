// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/asking/log_streams.h"

#include <iterator>
#include <utility>

#include "launch/client/flock_client.h"
#include "launch/client/output_of_job.h"
#include "launch/gateway/asking/flock_workers.h"

namespace starling {
namespace {

constexpr Duration kReadPatience = std::chrono::seconds(2);
constexpr auto kReadPause = std::chrono::milliseconds(300);
/// With so much waiting nothing is read for a caller until it has taken some.
constexpr std::size_t kEnoughWaiting = 1U << 20U;

}  // namespace

struct LogStreams::Reading {
  Wish wish;
  std::shared_ptr<ByteStream> stream;
  std::unique_ptr<OutputOfJob> output = {};

  void note(const std::string& text) const { stream->push("starling: " + text + "\n"); }
  /// One read. False: it is over.
  bool read(FlockClient& flock);
};

bool LogStreams::Reading::read(FlockClient& flock) {
  if (stream->closed()) return false;
  if (stream->waiting() > kEnoughWaiting) return true;
  if (output == nullptr) {
    output = std::make_unique<OutputOfJob>(
        flock, OutputOfJob::Options{wish.rank, wish.tail},
        [stream = stream](const std::string& text) { stream->push(text); },
        [stream = stream](const std::string& text) { stream->push("starling: " + text + "\n"); });
  }
  const auto state = flock.job(wish.job, kReadPatience);
  if (!state) {
    if (wish.follow && state.error().code == Errc::not_ready) return true;
    return note(state.error().message), false;
  }
  const bool over = terminal(state.value().phase);
  if (const Status there = output->look_at(state.value()); !there.ok()) {
    const Errc code = there.error().code;
    if (code == Errc::conflict || (code == Errc::not_ready && wish.follow && !over)) return true;
    if (code != Errc::not_ready || state.value().attempts > 0) note(there.error().message);
    return false;
  }
  const bool all = output->read(kReadPatience);
  if (wish.follow && !over) return true;
  output->finish();
  if (const std::string why = output->trouble(); !why.empty()) note(why);
  if (!all) {
    for (const std::string& server : output->silent())
      note("nothing is heard of " + server + ", which has some of the output");
  }
  return false;
}

LogStreams::LogStreams(std::filesystem::path dir, std::size_t most)
    : dir_(std::move(dir)), most_(most), thread_([this] { run(); }) {}

LogStreams::~LogStreams() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::shared_ptr<ByteStream> LogStreams::open(const Wish& wish) {
  auto stream = std::make_shared<ByteStream>(kMostWaiting);
  {
    const std::lock_guard lock(mutex_);
    if (over_ || open_ >= most_) return nullptr;
    ++open_;
    fresh_.push_back(std::make_unique<Reading>(Reading{wish, stream}));
  }
  changed_.notify_one();
  return stream;
}

void LogStreams::run() {
  std::unique_ptr<FlockClient> client;
  std::vector<std::unique_ptr<Reading>> readings;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto due = [this] { return over_ || !fresh_.empty(); };
      if (readings.empty()) {
        changed_.wait(lock, due);
      } else {
        changed_.wait_for(lock, kReadPause, due);
      }
      std::move(fresh_.begin(), fresh_.end(), std::back_inserter(readings));
      fresh_.clear();
      if (over_) break;
    }
    const auto flock = current_client(dir_, client);
    const std::size_t before = readings.size();
    std::erase_if(readings, [&](const std::unique_ptr<Reading>& reading) {
      if (!flock) reading->note(flock.error().message);
      if (flock && reading->read(*flock.value())) return false;
      reading->stream->close();
      return true;
    });
    const std::lock_guard lock(mutex_);
    open_ -= before - readings.size();
  }
  for (const auto& reading : readings) reading->stream->close();
}

}  // namespace starling
