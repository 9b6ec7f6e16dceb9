// SPDX-License-Identifier: Apache-2.0
// Every published job log is read whole: jobs, what was dropped, the time they span, GPU hours.
#include <doctest/doctest.h>

#include <fstream>

#include "base/limits.h"
#include "base/rng.h"
#include "base/test_data.h"
#include "base/test_folder.h"
#include "workload/check_job.h"
#include "workload/stats.h"
#include "workload/traces/trace.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {

struct Published {
  const char* file;
  std::size_t jobs;
  std::uint32_t dropped;
  double span_s;
  double gpu_hours;
};
constexpr Published kPublished[] = {
#include "workload/traces/published_test.inc"
};

Result<Trace> read(const std::string& name, const std::string& text,
                   const std::string& format = {}) {
  const TestFolder folder("published");
  std::ofstream(folder.path / name, std::ios::binary) << text;
  TraceOptions options;
  options.format = format;
  return read_trace(folder.path / name, options);
}

std::string message(const Result<Trace>& trace) {
  const std::string& text = trace.error().message;
  return text.substr(text.find("t.csv"));
}

}  // namespace

TEST_CASE("every published job log is read whole" * doctest::test_suite("published data")) {
  Limits limits;
  limits.gpus_per_job = 4096;
  for (const Published& expected : kPublished) {
    const auto file = test_data(expected.file);
    if (!file) return;
    CAPTURE(expected.file);
    const Result<Trace> trace = read_trace(*file, {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    const TraceSummary s = summarize(trace.value());
    CHECK(s.jobs == expected.jobs);
    CHECK(s.dropped == expected.dropped);
    CHECK(s.span_s == doctest::Approx(expected.span_s).epsilon(1e-9));
    CHECK(s.gpu_hours == doctest::Approx(expected.gpu_hours).epsilon(1e-5));
    for (const TraceJob& job : trace.value().jobs) {
      const Status good = check_job(job.spec, limits);
      REQUIRE_MESSAGE(good.ok(), good.error().message);
    }
  }
}

TEST_CASE("Muri's times are milliseconds, Tiresias' are seconds") {
  const Trace muri = read("t.csv",
                          "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,"
                          "interval,iteration_time,resource_time_0,resource_time_1,"
                          "resource_time_2,priority\n"
                          "1,16,1534000,1463,vgg16,16,281500,28000,214,82.0,75,66.0,1\n")
                         .value();
  REQUIRE(muri.jobs.size() == 1);
  CHECK(muri.jobs[0].submit == 1534s);
  CHECK(muri.jobs[0].spec.duration == 281'500ms);
  CHECK(muri.jobs[0].spec.model == "vgg16");
  CHECK(muri.jobs[0].spec.workers == 2);
  CHECK(muri.jobs[0].spec.gpus_per_worker == 8);
  const Trace tiresias = read("t.csv",
                              "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
                              "1,8,30,133,vgg11,147,23\n")
                             .value();
  CHECK(tiresias.jobs[0].submit == 30s);
  CHECK(tiresias.jobs[0].spec.duration == 147s);
}

TEST_CASE("Gavel's steps become time on V100s; a given duration counts; unknown types are told") {
  const std::string head =
      "model,batch_size,total_steps,scale_factor,batch_mode,priority_weight,slo,duration_s,"
      "arrival_s\n";
  const Trace trace = read("t.csv", head +
                                        "ResNet-50,64,4390,1,,1.0,-1.0,,5.5\n"
                                        "LM,10,134583,2,gns,1.0,-1.0,1418,60\n"
                                        "A3C,0,0,1,,1.0,-1.0,,61\n")
                          .value();
  REQUIRE(trace.jobs.size() == 2);
  CHECK(trace.dropped == 1);
  CHECK(seconds(trace.jobs[0].spec.duration) == doctest::Approx(1000).epsilon(0.01));
  CHECK(trace.jobs[0].submit == 5500ms);
  CHECK(trace.jobs[0].spec.model == "ResNet-50 (batch size 64)");
  CHECK(trace.jobs[1].spec.duration == 1418s);
  CHECK(trace.jobs[1].spec.gpus() == 2);
  CHECK(message(read("t.csv", head + "VGG,64,10,1,,1.0,-1.0,,0\n"))
            .starts_with("t.csv:2: model is 'VGG'; write a job type whose speed on 1 V100s"));
  CHECK(message(read("t.csv", head + "LM,10,10,-1,,1.0,-1.0,,0\n"))
            .starts_with("t.csv:2: scale_factor is '-1'; write a whole number from 0 to"));
}

TEST_CASE("openb: pods without GPU or never scheduled are dropped; types, cores and memory stay") {
  const std::string head =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n";
  const Trace trace = read("t.csv", head +
                                        "a,12500,16384,1,460,V100M16|P100,LS,Running,10,100,30\n"
                                        "b,6000,1,0,0,,BE,Running,1,20,3\n"
                                        "c,6000,1,1,1000,,BE,Pending,1,20,\n"
                                        "d,1,1,8,1000,,BE,Failed,1,20,2\n")
                          .value();
  CHECK(trace.dropped == 2);
  REQUIRE(trace.jobs.size() == 2);
  CHECK(trace.jobs[0].spec.name == "d");
  CHECK(trace.jobs[0].spec.workers == 1);
  CHECK(trace.jobs[0].spec.gpus_per_worker == 8);
  const JobSpec& a = trace.jobs[1].spec;
  CHECK(a.duration == 70s);
  CHECK(a.gpus() == 1);
  CHECK(a.cpus_per_worker == 12.5);
  CHECK(a.memory_gib_per_worker == 16);
  CHECK(a.gpu_types == std::vector<std::string>{"V100M16", "P100"});
  CHECK(a.queue == "LS");
  CHECK(message(read("t.csv", head + "a,1,1,1,1,,LS,Running,10,20,30\n")) ==
        "t.csv:2: deletion_time is '20'; write a time that is not before scheduled_time");
  CHECK(message(read("t.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n", "openb"))
            .starts_with("t.csv:1: column 'gpu_spec' is missing"));
}

TEST_CASE("Pollux: iterations to the target times the step time; an unknown size is told") {
  const std::string head = "name,time,application,num_replicas,batch_size\n";
  const Trace trace = read("t.csv", head + "cifar10-0,107,cifar10,6,2048\n").value();
  CHECK(trace.jobs.at(0).submit == 107s);
  CHECK(trace.jobs.at(0).spec.duration == 825s);
  CHECK(trace.jobs.at(0).spec.workers == 1);
  CHECK(message(read("t.csv", head + "x,1,cifar10,5,2048\n"))
            .starts_with("t.csv:2: application is 'cifar10'; write an application, replicas"));
}

TEST_CASE("SWF: processors are GPUs; unknown ones fall back to requested; the rest is dropped") {
  const std::string text =
      "; Version: 2.2\n;\n"
      "  1 100 3 60.5 16 -1 -1 16 100 -1 1 5 1 -1 2 -1 -1 -1\n"
      "\n2 90 3 60 -1 -1 -1 3 100 -1 1 -1 1 -1 -1 -1 -1 -1\r\n"
      "3 110 3 0 4 -1 -1 4 100 -1 0 5 1 -1 2 -1 -1 -1\n"
      "4 110 3 9 -1 -1 -1 -1 100 -1 0 5 1 -1 2 -1 -1 -1\n";
  const Trace trace = read("t.csv", text).value();
  CHECK(trace.dropped == 2);
  REQUIRE(trace.jobs.size() == 2);
  CHECK(trace.jobs[0].spec.name == "2");
  CHECK(trace.jobs[0].spec.gpus() == 3);
  CHECK(trace.jobs[0].submit == 0s);
  CHECK(trace.jobs[1].submit == 10s);
  CHECK(trace.jobs[1].spec.duration == 60'500ms);
  CHECK(trace.jobs[1].spec.workers == 2);
  CHECK(trace.jobs[1].spec.user == "user5");
  CHECK(trace.jobs[1].spec.queue == "queue2");
  CHECK(read("t.csv", text, "swf").ok());
  CHECK(message(read("t.csv", ";\n1 2 3\n")) ==
        "t.csv:2: has 3 fields; a job of the Standard Workload Format has 18");
  CHECK(message(read("t.csv", "1 x 3 60.5 16 -1 -1 16 100 -1 1 5 1 -1 2 -1 -1 -1\n")) ==
        "t.csv:1: field 2 is 'x'; write a number from 0, or -1 for not known");
}

TEST_CASE("mutated rows of any format are read or refused with their line, never worse") {
  const std::string good[] = {
      "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
      "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\n"
      "1,16,1534000,1463,vgg16,16,281500,28000,214,82.0,75,66.0,1\n",
      "model,batch_size,total_steps,scale_factor,batch_mode,priority_weight,slo,duration_s,"
      "arrival_s\nResNet-50,64,4390,1,,1.0,-1.0,,5.5\nLM,10,134583,2,gns,1.0,-1.0,1418,60\n",
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\na,12500,16384,1,460,V100M16|P100,LS,Running,10,100,30\n",
      "name,time,application,num_replicas,batch_size\ncifar10-0,107,cifar10,6,2048\n",
      ";\n1 100 3 60.5 16 -1 -1 16 100 -1 1 5 1 -1 2 -1 -1 -1\n",
  };
  Rng rng(9);
  const TestFolder folder("published-fuzz");
  const std::filesystem::path file = folder.path / "t.csv";
  for (const std::string& whole : good) {
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
      std::string text = whole;
      for (std::uint32_t n = 1 + rng.below(3); n > 0; --n) {
        const std::uint32_t at = rng.below(static_cast<std::uint32_t>(text.size()));
        constexpr std::string_view bytes = "\",\n\r9-.eE|;\0\xff a";
        if (rng.chance(0.6)) {
          text[at] = bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))];
        } else {
          text.erase(at, 1 + rng.below(5));
        }
      }
      std::ofstream(file, std::ios::binary) << text;
      const Result<Trace> trace = read_trace(file, {});
      if (trace) continue;
      ++refused;
      REQUIRE(trace.error().message.find("t.csv:") != std::string::npos);
    }
    CHECK(refused > 20);
  }
}
