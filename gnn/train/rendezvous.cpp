// SPDX-License-Identifier: Apache-2.0
// The one file that knows c10d. Its store carries what processes gather: a few hundred kB a step,
// and sums in the order of the parts instead of a reduction's own, so that the number of processes
// changes no bit of the result.
#include <algorithm>
#include <chrono>
#include <exception>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "gnn/train/process_group.h"

namespace starling {
namespace {

constexpr std::size_t kChunk = 1U << 20U;  // bytes of one value of the store
constexpr std::chrono::minutes kRendezvousTimeout{5}, kCallTimeout{60};

class StoreProcessGroup final : public ProcessGroup {
 public:
  explicit StoreProcessGroup(const Rendezvous& at) : at_(at) {
    c10d::TCPStoreOptions options;
    options.port = at.port;
    options.isServer = at.rank == 0;
    options.numWorkers = at.size;
    options.timeout = kRendezvousTimeout;
    store_ = std::make_unique<c10d::TCPStore>(at.host, options);
    store_->setTimeout(kCallTimeout);
  }
  ~StoreProcessGroup() override {
    // The store lives in the first process, which therefore goes last.
    try {
      store_->setTimeout(std::chrono::seconds(10));
      store_->set("bye/" + std::to_string(at_.rank), {1});
      for (std::uint32_t r = 1; at_.rank == 0 && r < at_.size; ++r)
        store_->wait({"bye/" + std::to_string(r)});
    } catch (const std::exception&) {
      // A process that is gone needs no store.
    }
  }
  StoreProcessGroup(const StoreProcessGroup&) = delete;
  StoreProcessGroup& operator=(const StoreProcessGroup&) = delete;

  [[nodiscard]] std::uint32_t rank() const override { return at_.rank; }
  [[nodiscard]] std::uint32_t size() const override { return at_.size; }
  [[nodiscard]] Result<std::vector<std::string>> all_gather(const std::string& mine) override {
    try {
      const std::string round = std::to_string(round_++) + "/";
      std::size_t chunks = 0;
      for (std::size_t from = 0; from < mine.size(); from += kChunk) {
        const auto begin = mine.begin() + static_cast<std::ptrdiff_t>(from);
        const auto size = static_cast<std::ptrdiff_t>(std::min(kChunk, mine.size() - from));
        put(round + key(at_.rank, chunks++), {begin, begin + size});
      }
      put(round + key(at_.rank) + "chunks", std::to_string(chunks));
      std::vector<std::string> out(at_.size);
      for (std::uint32_t r = 0; r < at_.size; ++r) {
        if (r == at_.rank) {
          out[r] = mine;
          continue;
        }
        const std::size_t count = std::stoul(take(round + key(r) + "chunks"));
        for (std::size_t p = 0; p < count; ++p) out[r] += take(round + key(r, p));
      }
      // A process that is here has read all of the round before.
      for (const std::string& old : before_) store_->deleteKey(old);
      before_ = std::move(now_);
      now_.clear();
      return out;
    } catch (const std::exception& error) {
      return Error{Errc::io, std::string("train: the processes lost one another: ") + error.what()};
    }
  }

 private:
  static std::string key(std::uint32_t rank) { return std::to_string(rank) + "/"; }
  static std::string key(std::uint32_t rank, std::size_t chunk) {
    return key(rank) + std::to_string(chunk);
  }
  void put(const std::string& name, const std::string& text) {
    store_->set(name, {text.begin(), text.end()});
    now_.push_back(name);
  }
  std::string take(const std::string& name) {
    const std::vector<std::uint8_t> bytes = store_->get(name);
    return {bytes.begin(), bytes.end()};
  }

  Rendezvous at_;
  std::unique_ptr<c10d::TCPStore> store_;
  std::uint64_t round_ = 0;
  std::vector<std::string> now_, before_;  // keys of this round and of the one before
};

}  // namespace

Result<std::unique_ptr<ProcessGroup>> rendezvous(const Rendezvous& at) {
  if (at.size <= 1) return std::make_unique<ProcessGroup>();
  try {
    return std::unique_ptr<ProcessGroup>(std::make_unique<StoreProcessGroup>(at));
  } catch (const std::exception& error) {
    return Error{Errc::io, "train: process " + std::to_string(at.rank) + " of " +
                               std::to_string(at.size) + " found no process at " + at.host + ":" +
                               std::to_string(at.port) + ": " + error.what()};
  }
}

}  // namespace starling
