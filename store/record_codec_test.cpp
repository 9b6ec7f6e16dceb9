// SPDX-License-Identifier: Apache-2.0
#include "store/record_codec.h"

#include <doctest/doctest.h>

#include <set>

#include "base/rng.h"
#include "store/sample_records.h"

using namespace starling;

TEST_CASE("every kind of record survives the way there and back") {
  std::set<std::size_t> kinds;
  for (const Record& record : sample_records()) {
    kinds.insert(record.index());
    std::vector<std::byte> bytes;
    encode_record(record, bytes);
    CHECK(same_records({decode_record(bytes).value()}, {record}));
  }
  CHECK(kinds.size() == std::variant_size_v<RecordKinds>);
  std::vector<std::byte> bytes;
  encode_record(sample_records()[7], bytes);
  const auto committed = std::get<ShareCommitted>(decode_record(bytes).value());
  CHECK(committed.commit.spec.command == sample_spec(0).command);
  CHECK(committed.commit.spec.memory_gib_per_worker == -0.25);
  CHECK(committed.commit.spec.priority == -7);
}

TEST_CASE("a record cut short or with something behind it is refused") {
  for (const Record& record : sample_records()) {
    std::vector<std::byte> bytes;
    encode_record(record, bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CHECK(decode_record(std::span(bytes).first(size)).error().code == Errc::invalid);
    }
    bytes.push_back(std::byte{0});
    CHECK_FALSE(decode_record(bytes).ok());
  }
}

TEST_CASE("of a part without a home elsewhere stands what was written before") {
  ProcessWanted wanted{{JobId{1, 2}, Epoch{3}, 4}, Duration(12)};
  std::vector<std::byte> before, bytes;
  encode_record(wanted, before);
  wanted.by_home = true;
  encode_record(wanted, bytes);
  CHECK(bytes.size() == before.size() + 1);
  CHECK_FALSE(std::get<ProcessWanted>(decode_record(before).value()).by_home);
  CHECK(std::get<ProcessWanted>(decode_record(bytes).value()).by_home);
  bytes.back() = std::byte{0};
  CHECK_FALSE(decode_record(bytes).ok());
}

TEST_CASE(
    "how an attempt runs stands behind what was written before, and only where it says something") {
  const auto bytes_of = [](const Record& record) {
    std::vector<std::byte> bytes;
    encode_record(record, bytes);
    return bytes;
  };
  // As 0.2.0 wrote it: kind 2, job, epoch, number, one share of partition 0 with GPU 5.
  const std::vector<std::byte> before = {std::byte{2}, std::byte{1}, std::byte{2},
                                         std::byte{3}, std::byte{4}, std::byte{1},
                                         std::byte{0}, std::byte{1}, std::byte{5}};
  const auto old = std::get<AttemptStarting>(decode_record(before).value());
  CHECK(old.allocation.as_asked());
  CHECK(old.gang.front().gpus == Placement{GpuId{5}});
  CHECK(bytes_of(old) == before);
  const Allocation how{4, 2, 64, 1, true};
  for (Record record : sample_records()) {
    CAPTURE(record.index());
    const std::vector<std::byte> as_asked = bytes_of(record);
    Allocation* at = nullptr;
    if (auto* r = std::get_if<AttemptStarting>(&record)) at = &r->allocation;
    if (auto* r = std::get_if<AttemptPlan>(&record)) at = &r->restart_as;
    if (auto* r = std::get_if<ShareCommitted>(&record)) at = &r->commit.allocation;
    if (auto* r = std::get_if<ProcessLaunching>(&record)) at = &r->launch.allocation;
    if (auto* r = std::get_if<JobEnded>(&record)) {
      r->state.ask = ask_of(sample_spec(3));
      at = &r->state.allocation;
    }
    if (at == nullptr) continue;
    *at = how;
    const std::vector<std::byte> bytes = bytes_of(record);
    CHECK(bytes.size() > as_asked.size());
    CHECK(std::equal(as_asked.begin(), as_asked.end(), bytes.begin()));
    CHECK(bytes_of(decode_record(bytes).value()) == bytes);
    Record read = decode_record(bytes).value();
    if (auto* r = std::get_if<ProcessLaunching>(&read)) CHECK(r->launch.allocation == how);
    if (auto* r = std::get_if<JobEnded>(&read)) CHECK(r->state.allocation == how);
  }
}

TEST_CASE("fields that came later are written where they say something, and read where they are") {
  JobState state;
  state.job = {1, 2}, state.phase = JobPhase::finished;
  std::vector<std::byte> before, bytes;
  encode_record(JobEnded{state.job, state}, before);
  state.ask = ask_of(sample_spec(3));
  state.submitted = Duration(77), state.begun = true;
  state.attempt_epoch = Epoch{4}, state.attempt_number = 5;
  encode_record(JobEnded{state.job, state}, bytes);
  CHECK(std::equal(before.begin(), before.end(), bytes.begin()));
  const auto old = std::get<JobEnded>(decode_record(before).value());
  CHECK(old.state.ask == nullptr);
  CHECK(old.state.submitted == Duration(-1));
  const auto read = std::get<JobEnded>(decode_record(bytes).value());
  REQUIRE(read.state.ask != nullptr);
  CHECK(read.state.ask->name == sample_spec(3).name);
  CHECK(read.state.ask->gpu_types == sample_spec(3).gpu_types);
  CHECK(read.state.ask->workers == 4);
  CHECK(read.state.submitted == Duration(77));
  CHECK(read.state.begun);
  CHECK(read.state.attempt_number == 5);
  for (std::size_t size = before.size() + 1; size < bytes.size(); ++size)
    CHECK_FALSE(decode_record(std::span(bytes).first(size)).ok());

  Submit submit{sample_spec(1), NodeId{0x0200'0000}, Duration(1), Duration(2), 3};
  before.clear(), bytes.clear();
  encode_record(JobAccepted{submit, 9}, before);
  submit.attempts = 4, submit.preemptions = 1, submit.begun = Duration(5);
  encode_record(JobAccepted{submit, 9}, bytes);
  CHECK(bytes.size() > before.size());
  CHECK(std::get<JobAccepted>(decode_record(before).value()).submit.begun == Duration(-1));
  const auto accepted = std::get<JobAccepted>(decode_record(bytes).value());
  CHECK(accepted.submit.attempts == 4);
  CHECK(accepted.submit.preemptions == 1);
  CHECK(accepted.submit.begun == Duration(5));
  CHECK(accepted.order == 9);
  CHECK(!accepted.submit.spec.no_requeue);

  before = bytes;
  submit.spec.no_requeue = true;
  bytes.clear();
  encode_record(JobAccepted{submit, 9}, bytes);
  CHECK(bytes.size() == before.size() + 1);
  CHECK(std::get<JobAccepted>(decode_record(bytes).value()).submit.spec.no_requeue);
  bytes.back() = std::byte{0};
  CHECK_FALSE(decode_record(bytes).ok());  // what says nothing is not written

  for (const bool once : {false, true}) {
    submit.spec.no_requeue = once, submit.spec.as_user = true;
    bytes.clear();
    encode_record(JobAccepted{submit, 9}, bytes);
    CHECK(bytes.size() == before.size() + 2);
    const auto with_user = std::get<JobAccepted>(decode_record(bytes).value()).submit.spec;
    CHECK(with_user.as_user);
    CHECK(with_user.no_requeue == once);
  }
}

TEST_CASE("up to which offer an answer is owed is kept, and journals of before owe it for all") {
  std::vector<std::byte> before, bytes;
  encode_record(OffersOwed{{{1, 2}, {3, 4}}}, before);
  CHECK(std::get<OffersOwed>(decode_record(before).value()).offers.empty());
  encode_record(OffersOwed{{{1, 2}, {3, 4}}, {5, ~std::uint32_t{0}}}, bytes);
  CHECK(std::equal(before.begin(), before.end(), bytes.begin()));
  const auto read = std::get<OffersOwed>(decode_record(bytes).value());
  CHECK(read.offers == std::vector<std::uint32_t>{5, ~std::uint32_t{0}});
}

TEST_CASE("how else a job may run is kept with it, and journals of before are read") {
  const RunDetails run{8, 1.5, 256, 1024, true, Duration(5), Duration(30)};
  for (Record record : sample_records(1)) {
    std::vector<std::byte> before, bytes;
    encode_record(record, before);
    const auto details = [](Record& r) -> RunDetails* {
      if (auto* job = std::get_if<JobAccepted>(&r)) return &job->submit.spec.run;
      if (auto* share = std::get_if<ShareCommitted>(&r)) return &share->commit.spec.run;
      if (auto* process = std::get_if<ProcessLaunching>(&r)) return &process->launch.spec.run;
      return nullptr;
    };
    if (details(record) == nullptr) continue;
    Record old = decode_record(before).value();
    CHECK(!details(old)->any());
    *details(record) = run;
    encode_record(record, bytes);
    CHECK(bytes.size() > before.size());
    Record read = decode_record(bytes).value();
    CHECK(*details(read) == run);
    for (std::size_t size = before.size() + 1; size < bytes.size(); ++size)
      CHECK_FALSE(decode_record(std::span(bytes).first(size)).ok());
  }
  JobState state;
  state.job = {1, 2}, state.phase = JobPhase::finished;
  JobSpec spec = sample_spec(3);
  spec.run = run;
  state.ask = ask_of(spec);
  std::vector<std::byte> bytes;
  encode_record(JobEnded{state.job, state}, bytes);
  CHECK(std::get<JobEnded>(decode_record(bytes).value()).state.ask->run == run);
}

TEST_CASE("whose a job is stands in every record that it may be started from") {
  for (Record record : sample_records(1)) {
    JobSpec* spec = nullptr;
    if (auto* r = std::get_if<ShareCommitted>(&record)) spec = &r->commit.spec;
    if (auto* r = std::get_if<ProcessLaunching>(&record)) spec = &r->launch.spec;
    if (spec == nullptr) continue;
    std::vector<std::byte> before, bytes;
    encode_record(record, before);
    spec->as_user = true;
    encode_record(record, bytes);
    CHECK(bytes.size() == before.size() + 1);
    const auto as_user = [](const Record& r) {
      const auto* share = std::get_if<ShareCommitted>(&r);
      return share != nullptr ? share->commit.spec.as_user
                              : std::get<ProcessLaunching>(r).launch.spec.as_user;
    };
    CHECK(as_user(decode_record(bytes).value()));
    CHECK(!as_user(decode_record(before).value()));
    bytes.back() = std::byte{0};
    CHECK_FALSE(decode_record(bytes).ok());
  }
}

TEST_CASE("damaged bytes never crash and never allocate what is not there") {
  Rng rng(5);
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::vector<Record> samples = sample_records();
    std::vector<std::byte> bytes;
    encode_record(samples[rng.below(static_cast<std::uint32_t>(samples.size()))], bytes);
    for (std::uint32_t flips = 1 + rng.below(4); flips > 0; --flips) {
      bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))] =
          static_cast<std::byte>(rng.below(256));
    }
    const Result<Record> record = decode_record(bytes);
    if (!record) ++refused;
  }
  CHECK(refused > 1000);
}
