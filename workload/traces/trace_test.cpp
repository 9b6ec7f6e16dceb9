// SPDX-License-Identifier: Apache-2.0
#include "workload/traces/trace.h"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>

#include "base/rng.h"
#include "base/test_data.h"
#include "base/test_folder.h"
#include "workload/text/text_file.h"
#include "workload/traces/trace_csv.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {

Result<Trace> read(const std::string& text, const TraceOptions& options = {}) {
  const TestFolder folder("trace");
  std::ofstream(folder.path / "t.csv", std::ios::binary) << text;
  return read_trace(folder.path / "t.csv", options);
}

std::string message(const Result<Trace>& trace) {
  const std::string& text = trace.error().message;
  return text.substr(text.find("t.csv"));
}

bool same(const TraceJob& a, const TraceJob& b) {
  const JobSpec& x = a.spec;
  const JobSpec& y = b.spec;
  return a.submit == b.submit && x.name == y.name && x.user == y.user && x.queue == y.queue &&
         x.model == y.model && x.workers == y.workers && x.gpus_per_worker == y.gpus_per_worker &&
         x.min_workers == y.min_workers && x.max_workers == y.max_workers &&
         x.cpus_per_worker == y.cpus_per_worker &&
         x.memory_gib_per_worker == y.memory_gib_per_worker && x.gpu_types == y.gpu_types &&
         x.priority == y.priority && x.duration == y.duration && x.run == y.run;
}

}  // namespace

TEST_CASE("rows of Starling's CSV become jobs, with gangs split over workers") {
  const Result<Trace> trace = read(
      "job_id,submit_s,gpus,duration_s,model,workers,gpu_types,min_workers,max_workers,work\r\n"
      "late,10.5,16,60,resnet50,,V100|P100,1,4,\r\n"
      "\"a, \"\"b\"\"\",1,4,0.000000001,,2,,,,\r\n"
      "odd,1,12,7,,,,,,\r\n"
      "none,2,0,7,,,,,,\r\n"
      "zero,2,1,0,,,,,,\n"
      "counted,3,1,,resnet50,,,,,1000\n");
  REQUIRE(trace.ok());
  const std::vector<TraceJob>& jobs = trace.value().jobs;
  REQUIRE(jobs.size() == 4);
  CHECK(trace.value().dropped == 2);
  CHECK(jobs[0].spec.name == "a, \"b\"");
  CHECK(jobs[0].spec.workers == 2);
  CHECK(jobs[0].spec.gpus_per_worker == 2);
  CHECK(jobs[0].spec.duration == 1ns);
  CHECK(jobs[1].spec.workers == 12);
  CHECK(jobs[1].spec.id == trace_job_id(2));
  CHECK(jobs[2].spec.duration == from_seconds(227.5));
  CHECK(jobs[3].submit == 10500ms);
  CHECK(jobs[3].spec.workers == 2);
  CHECK(jobs[3].spec.gpus_per_worker == 8);
  CHECK(jobs[3].spec.gpu_types == std::vector<std::string>{"V100", "P100"});
  CHECK(jobs[3].spec.elastic());
}

TEST_CASE("options cut a window, take the first jobs and scale the load, in that order") {
  const std::string text =
      "job_id,submit_s,gpus,duration_s\na,0,1,1\nb,10,1,1\nc,20,1,1\nd,30,1,1\ne,40,1,1\n";
  TraceOptions options;
  options.from = 10s;
  options.length = 30s;
  options.max_jobs = 2;
  options.load = 4;
  const Trace trace = read(text, options).value();
  REQUIRE(trace.jobs.size() == 2);
  CHECK(trace.jobs[0].spec.name == "b");
  CHECK(trace.jobs[0].submit == 0s);
  CHECK(trace.jobs[1].submit == 2500ms);
  options.load = 0;
  CHECK(read(text, options).error().code == Errc::invalid);
}

TEST_CASE("a mistake is told with its line, what it is and what would be right") {
  const std::string head = "job_id,submit_s,gpus,duration_s,workers\n";
  CHECK(message(read(head + "a,0,1,1,\nb,x,1,1,\n")) ==
        "t.csv:3: submit_s is 'x'; write seconds from 0, as 66 or 66.5");
  CHECK(message(read(head + "a,-1,1,1,\n")) ==
        "t.csv:2: submit_s is '-1'; write seconds from 0, as 66 or 66.5");
  CHECK(message(read(head + "a,0,1.5,1,\n")) ==
        "t.csv:2: gpus is '1.5'; write a whole number from 0 to 1048576");
  CHECK(message(read(head + "a,0,4,1,3\n")) ==
        "t.csv:2: workers is '3'; write a divisor of gpus, which is 4");
  CHECK(message(read(head + "a,0,4,1\n")) == "t.csv:2: has 4 fields; the header has 5");
  CHECK(message(read(head + "\n\"a,0,4,1,\n")).starts_with("t.csv:3: a quoted field does not end"));
  CHECK(message(read("job_id,submit_s,gpus\n"))
            .starts_with("t.csv:1: column 'duration_s' is missing"));
  CHECK(message(read("job_id,submit_s,gpus,duration_s,modle\n"))
            .starts_with("t.csv:1: column 'modle' is unknown"));
  CHECK(message(read("foo,bar\n"))
            .starts_with("t.csv:1: this header belongs to no known trace format"));
  for (const char* json : {"{\"jobs\": []}", "{\n  \"jobs\": []\n}", " [1]\n"})
    CHECK(message(read(json)).starts_with("t.csv:1: is JSON, which no trace format is; known are"));
  CHECK(message(read("timestamp,duration_s,num_gpus,gpu_time_s,vc\n2017-10-32 00:00:00,1,1,1,v\n"))
            .starts_with("t.csv:2: timestamp is '2017-10-32 00:00:00'"));
  CHECK(message(read("")).starts_with("t.csv:1: is empty"));
  TraceOptions unknown;
  unknown.format = "excel";
  CHECK(read(head, unknown)
            .error()
            .message.starts_with("trace format 'excel' is unknown; known are starling, philly, "));
  for (const std::string& name : trace_formats())
    CHECK(read(head, unknown).error().message.find(name) != std::string::npos);
  CHECK(read_trace("no/such/file.csv", {}).error().code == Errc::io);
}

TEST_CASE("what is written reads back as the same jobs, plain and gzip; a cut gzip is told") {
  const TestFolder folder("trace-write");
  bool details = false;
  SUBCASE("with columns of before") {}
  SUBCASE("with those of how else jobs may run") { details = true; }
  Trace trace;
  for (std::uint32_t i = 0; i < 500; ++i) {
    TraceJob& job = trace.jobs.emplace_back();
    job.submit = Duration(i * 1'234'567'891LL);
    job.spec.name = i % 7 == 0 ? "quo\"ted, name" : "j" + std::to_string(i);
    job.spec.model = "bert-base";
    job.spec.user = "u";
    job.spec.queue = "vc";
    job.spec.workers = 1 + i % 3;
    job.spec.gpus_per_worker = 1 + i % 4;
    job.spec.min_workers = i % 2;
    job.spec.max_workers = i % 2 * 9;
    job.spec.cpus_per_worker = 0.1 * i;
    job.spec.priority = static_cast<std::int32_t>(i) - 5;
    if (i % 3 == 0) job.spec.gpu_types = {"V100", "A100"};
    if (details && i % 5 == 0)
      job.spec.run = {i % 4, 0.5, 12 + i, 12 + 2 * i, i % 2 == 0, 5s, 250ms};
    job.spec.duration = Duration(1 + i * 999'999'999'999LL);
  }
  for (const char* name : {"t.csv", "t.csv.gz"}) {
    CAPTURE(name);
    REQUIRE(write_trace(folder.path / name, trace).ok());
    const Result<Trace> back = read_trace(folder.path / name, {});
    REQUIRE(back.ok());
    CHECK(std::equal(trace.jobs.begin(), trace.jobs.end(), back.value().jobs.begin(),
                     back.value().jobs.end(), same));
  }
  CHECK(std::filesystem::file_size(folder.path / "t.csv.gz") <
        std::filesystem::file_size(folder.path / "t.csv") / 2);
  CHECK((trace_csv(trace).find(",max_servers,") != std::string::npos) == details);
  std::filesystem::resize_file(folder.path / "t.csv.gz", 2000);
  CHECK(read_trace(folder.path / "t.csv.gz", {}).error().code == Errc::io);
}

TEST_CASE("what a row says of how else its job may run makes sense, or the row is named") {
  const auto why = [](const std::string& fields) {
    const auto trace = read(
        "job_id,submit_s,gpus,duration_s,max_servers,server_cpus,batch,max_batch,copies,save_s,"
        "restore_s\na,0,8,60," +
        fields + "\n");
    return trace.ok() ? std::string() : message(trace);
  };
  CHECK(why("4,1.5,64,256,yes,5,30").empty());
  CHECK(why(",,,,,,").empty());
  CHECK(why("0,0,0,0,no,0,0").empty());
  CHECK(why(",,4,,,,").find("batch is '4'; write a whole number from 8 to 10000000") !=
        std::string::npos);
  CHECK(why(",,,64,,,").find("max_batch is '64'; write the batch, too, or neither") !=
        std::string::npos);
  CHECK(why(",,64,8,,,").find("max_batch is '8'; write a whole number from 64") !=
        std::string::npos);
  CHECK(why(",,,,maybe,,").find("copies is 'maybe'; write yes or no") != std::string::npos);
  CHECK(why(",,,,,700000,").find("save_s is '700000'; write seconds from 0 to 604800") !=
        std::string::npos);
}

TEST_CASE("mutated traces are read or refused, never worse") {
  const std::string good =
      "job_id,submit_s,gpus,duration_s,model,user,vc,workers,min_workers,max_workers,gpu_types,"
      "cpus,memory_gib,"
      "priority,work\n\"a\"\"b\",1.5,16,60,bert,u,v,2,1,4,V100|P100,3,4.5,-1,10\nb,2,3,1e3,,,,,,,,,"
      ",,\n";
  Rng rng(5);
  const TestFolder folder("trace-fuzz");
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (std::uint32_t n = 1 + rng.below(4); n > 0; --n) {
      const std::uint32_t at = rng.below(static_cast<std::uint32_t>(text.size()));
      constexpr std::string_view bytes = "\",\n\r9-.eE|\0\xff a";
      switch (rng.below(3)) {
        case 0:
          text[at] = bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))];
          break;
        case 1:
          text.erase(at, 1 + rng.below(5));
          break;
        default:
          text.insert(
              at, text.substr(rng.below(static_cast<std::uint32_t>(text.size())), rng.below(9)));
      }
    }
    std::ofstream(folder.path / "t.csv", std::ios::binary) << text;
    const Result<Trace> trace = read_trace(folder.path / "t.csv", {});
    if (!trace) {
      ++refused;
      CHECK(!trace.error().message.empty());
    }
  }
  CHECK(refused > 200);
  CHECK(refused < 1990);
}

TEST_CASE(
    "the published Philly trace is read whole and fast; its second October week is the conformance "
    "trace" *
    doctest::test_suite("published data")) {
  const auto philly = test_data("philly/jobs.csv.gz");
  const auto week = test_data("conformance/philly_week.csv.gz");
  if (!philly || !week) return;
  const auto start = std::chrono::steady_clock::now();
  const Result<Trace> whole = read_trace(*philly, {});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  REQUIRE(whole.ok());
  CHECK(whole.value().jobs.size() + whole.value().dropped == 64'871);
  CHECK(whole.value().jobs.front().submit == 0s);
  MESSAGE("read 64,871 rows in " << took.count() << " ms");

  TraceOptions options;  // the trace starts at 2017-09-04 10:30:41
  options.from = std::chrono::hours(35 * 24) - (10h + 30min + 41s);
  options.length = std::chrono::hours(7 * 24);
  const Trace ours = read_trace(*philly, options).value();
  const Trace expected = read_trace(*week, {}).value();
  REQUIRE(ours.jobs.size() == 12'329);
  REQUIRE(expected.jobs.size() == ours.jobs.size());
  for (std::size_t i = 0; i < ours.jobs.size(); ++i) {
    REQUIRE(ours.jobs[i].submit == expected.jobs[i].submit);
    REQUIRE(ours.jobs[i].spec.gpus() == expected.jobs[i].spec.gpus());
    REQUIRE(ours.jobs[i].spec.duration == expected.jobs[i].spec.duration);
  }
}
