// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

/// `n` jobs that ended with some output.
inline std::vector<Record> ended_jobs(std::uint64_t from, std::uint64_t n, std::size_t output) {
  std::vector<Record> records;
  for (std::uint64_t i = from; i < from + n; ++i) {
    JobState state;
    state.job = {i, ~i};
    state.phase = JobPhase::finished;
    state.exit.log_tail = std::string(output, static_cast<char>('a' + i % 26));
    records.emplace_back(JobEnded{state.job, state});
  }
  return records;
}

/// What every Journal must do that compacts in steps and has an archive.
inline void steps_battery(
    const std::function<std::unique_ptr<Journal>(std::unique_ptr<Journal>)>& next_life) {
  auto journal = next_life(nullptr);
  CHECK(journal->recover().value().empty());
  std::vector<Record> expected = ended_jobs(1, 700, 900);
  REQUIRE(journal->append(expected).ok());
  const auto add = [&](std::vector<Record>& to, const std::vector<Record>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  std::uint64_t number = 10'000;
  bool over = false;
  for (int stop = 0; !over; ++stop) {
    CAPTURE(stop);
    std::vector<Record> next = ended_jobs(5'000 + static_cast<std::uint64_t>(stop), 600, 1000);
    REQUIRE(journal->begin_compaction(next).ok());
    INFO("between its steps appends go on, and a life that ends there finds the old or the new");
    for (int step = 0; step < stop && !over; ++step) {
      const auto more = journal->step_compaction();
      REQUIRE(more.ok());
      over = !more.value();
      const std::vector<Record> meanwhile = ended_jobs(number, 3, 50);
      number += 3;
      REQUIRE(journal->append(meanwhile).ok());
      add(expected, meanwhile);
      add(next, meanwhile);
    }
    const std::uint64_t bytes = journal->bytes();
    journal = next_life(std::move(journal));
    const std::vector<Record> found = journal->recover().value();
    const bool switched = same_records(found, next);
    CHECK((switched || same_records(found, expected)));
    CHECK((!over || switched));
    CHECK(journal->bytes() == bytes);
    expected = found;
  }

  INFO("chunks of the archive outlive lives and compactions, and no recovery reads them");
  const std::vector<Record> first = ended_jobs(1, 50, 1000), other = ended_jobs(90, 5, 10);
  CHECK(journal->archived(7).error().code == Errc::not_found);
  for (const std::uint64_t chunk : {7U, 8U, 9U}) REQUIRE(journal->archive(chunk, first).ok());
  REQUIRE(journal->archive(8, other).ok());  // again, after a life that ended in between
  journal = next_life(std::move(journal));
  CHECK(same_records(journal->recover().value(), expected));
  REQUIRE(journal->compact(expected).ok());
  CHECK(same_records(journal->archived(7).value(), first));
  CHECK(same_records(journal->archived(8).value(), other));
  REQUIRE(journal->forget(8).ok());
  journal = next_life(std::move(journal));
  CHECK(same_records(journal->recover().value(), expected));
  CHECK(journal->archived(7).error().code == Errc::not_found);
  CHECK(journal->archived(8).error().code == Errc::not_found);
  CHECK(same_records(journal->archived(9).value(), first));
}

}  // namespace starling
