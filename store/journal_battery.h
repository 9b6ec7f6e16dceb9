#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <utility>

#include "agents/record.h"
#include "store/sample_records.h"

namespace starling {

/// What every Journal must do. `next_life` ends the one it is given (null at first) and opens the
/// same storage anew.
inline void journal_battery(
    const std::function<std::unique_ptr<Journal>(std::unique_ptr<Journal>)>& next_life) {
  std::vector<Record> expected;
  auto journal = next_life(nullptr);
  CHECK(journal->recover().value().empty());

  INFO("what was appended comes back in order, also over several lives");
  for (std::uint64_t life = 0; life < 3; ++life) {
    for (std::uint64_t batch = 0; batch < 3; ++batch) {
      const std::vector<Record> records = sample_records(life * 10 + batch);
      REQUIRE(journal->append(records).ok());
      expected.insert(expected.end(), records.begin(), records.end());
    }
    journal = next_life(std::move(journal));
    CHECK(same_records(journal->recover().value(), expected));
  }

  INFO("an empty append changes nothing");
  CHECK(journal->append({}).ok());
  journal = next_life(std::move(journal));
  CHECK(same_records(journal->recover().value(), expected));

  INFO("compaction replaces everything, and appends go on behind it");
  expected = sample_records(77);
  CHECK(journal->compact(expected).ok());
  const std::vector<Record> more = {AttemptDraining{{{0, 1}, Epoch{1}, 1}}};
  CHECK(journal->append(more).ok());
  expected.insert(expected.end(), more.begin(), more.end());
  journal = next_life(std::move(journal));
  CHECK(same_records(journal->recover().value(), expected));

  INFO("compaction to nothing, twice");
  CHECK(journal->compact({}).ok());
  CHECK(journal->compact({}).ok());
  journal = next_life(std::move(journal));
  CHECK(journal->recover().value().empty());
  CHECK(journal->append(more).ok());
  journal = next_life(std::move(journal));
  CHECK(same_records(journal->recover().value(), more));
}

}  // namespace starling
