#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "agents/record.h"

namespace starling {

/// A disk of the simulated world: keeps records in memory through crashes of its node, and shows
/// each to an observer as it becomes durable.
class SimJournal final : public Journal {
 public:
  using Observer = std::function<void(std::span<const Record>)>;

  explicit SimJournal(Observer observer = nullptr) : observer_(std::move(observer)) {}

  Status append(std::span<const Record> records) override {
    records_.insert(records_.end(), records.begin(), records.end());
    if (observer_) observer_(records);
    return done();
  }
  Result<std::vector<Record>> recover() override { return records_; }
  Status compact(std::span<const Record> records) override {
    records_.assign(records.begin(), records.end());
    return done();
  }
  [[nodiscard]] const std::vector<Record>& records() const noexcept { return records_; }

 private:
  std::vector<Record> records_;
  Observer observer_;
};

}  // namespace starling
