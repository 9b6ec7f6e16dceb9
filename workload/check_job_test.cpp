// SPDX-License-Identifier: Apache-2.0
#include "workload/check_job.h"

#include <doctest/doctest.h>

#include <limits>

using namespace starling;

namespace {

std::string why(const JobSpec& spec) {
  const Status status = check_job(spec, Limits{});
  return status ? "" : status.error().message;
}

template <class Change>
std::string why_with(Change change) {
  JobSpec spec;
  spec.name = "job";
  REQUIRE(why(spec).empty());
  change(spec);
  return why(spec);
}

}  // namespace

TEST_CASE("each way in which a job makes no sense is named") {
  CHECK(why_with([](JobSpec& s) { s.workers = 0; }) == "workers is 0; a job needs at least 1");
  CHECK(why_with([](JobSpec& s) { s.gpus_per_worker = 0; }).starts_with("gpus_per_worker is 0"));
  CHECK(why_with([](JobSpec& s) {
          s.workers = 1U << 31U, s.gpus_per_worker = 2;
        }).starts_with("gpus of the gang"));
  CHECK(why_with([](JobSpec& s) {
          s.workers = 2, s.min_workers = 3, s.max_workers = 4;
        }).starts_with("min_workers"));
  CHECK(why_with([](JobSpec& s) {
          s.workers = 2, s.min_workers = 1, s.max_workers = 1;
        }).starts_with("max_workers"));
  CHECK(why_with([](JobSpec& s) { s.min_workers = 1; }).starts_with("max_workers"));
  CHECK(why_with([](JobSpec& s) { s.min_workers = 4, s.max_workers = 2; }) ==
        "min_workers is 4, above max_workers (2); min_workers <= workers <= max_workers is right");
  CHECK(why_with([](JobSpec& s) {
          s.min_workers = 1, s.max_workers = 9000;
        }).starts_with("gpus of the gang"));
  CHECK(why_with([](JobSpec& s) { s.cpus_per_worker = -1; }).starts_with("cpus_per_worker"));
  CHECK(why_with([](JobSpec& s) {
          s.memory_gib_per_worker = std::numeric_limits<double>::quiet_NaN();
        }).starts_with("memory_gib_per_worker"));
  CHECK(why_with([](JobSpec& s) {
          s.name = std::string(257, 'x');
        }).starts_with("name has 257 bytes"));
  CHECK(why_with([](JobSpec& s) { s.user = "a\nb"; }).starts_with("user has control characters"));
  CHECK(
      why_with([](JobSpec& s) { s.gpu_types = {""}; }).starts_with("gpu_types has an empty name"));
  CHECK(why_with([](JobSpec& s) {
          s.gpu_types.assign(65, "V100");
        }).starts_with("gpu_types names 65 types"));
  CHECK(why_with([](JobSpec& s) { s.duration = Duration(-1); }).starts_with("duration is below 0"));
  CHECK(why_with([](JobSpec& s) { s.environment = {"PATH"}; }) ==
        "environment has the entry 'PATH'; NAME=value is right");
  CHECK(why_with([](JobSpec& s) {
          s.environment = {"=x"};
        }).starts_with("environment has the entry"));
  CHECK(why_with([](JobSpec& s) {
          s.command = {""};
        }).starts_with("command starts with an empty word"));
  CHECK(why_with([](JobSpec& s) {
          s.command = {std::string("a\0b", 3)};
        }).starts_with("command has a zero byte"));
  CHECK(why_with([](JobSpec& s) {
          s.command = {std::string(70'000, 'a')};
        }).starts_with("command and environment"));
}

TEST_CASE("what a job says of how else it may run makes sense, or is told what would") {
  CHECK(why_with([](JobSpec& s) { s.run.max_servers = 10'000'001; }) ==
        "max_servers is 10000001; 0 to 10000000 is right");
  CHECK(why_with([](JobSpec& s) { s.run.server_cpus = -1; }).starts_with("server_cpus is -1"));
  CHECK(why_with([](JobSpec& s) { s.run.server_cpus = 2; }) ==
        "server_cpus is given for no servers; say max_servers, too");
  CHECK(why_with([](JobSpec& s) {
          s.cpus_per_worker = 1e6, s.run.max_servers = 1, s.run.server_cpus = 1;
        }).starts_with("server_cpus and cpus are together more than 1000000"));
  CHECK(why_with([](JobSpec& s) { s.workers = 8, s.run.batch = 4; }) ==
        "batch is 4; 8 (a sample for each GPU) to 10000000 is right, or 0: not said");
  CHECK(why_with([](JobSpec& s) { s.run.max_batch = 64; }) ==
        "max_batch is 64; say the batch that it is the largest of, too");
  CHECK(why_with([](JobSpec& s) { s.run.batch = 128, s.run.max_batch = 64; }) ==
        "max_batch is 64; 128 (the batch) to 10000000 is right");
  CHECK(why_with([](JobSpec& s) { s.run.save = Duration(-1); }).starts_with("save is -0"));
  CHECK(why_with([](JobSpec& s) { s.run.restore = std::chrono::hours(200); }) ==
        "restore is 720000.000000 s; 0 to 604800 (a week) is right");
  JobSpec spec;
  spec.run = {8, 2, 256, 1024, true, std::chrono::seconds(5), std::chrono::seconds(30)};
  CHECK(why(spec).empty());
  CHECK(run_details_text(spec.run) ==
        "up to 8 parameter servers of 2 CPUs, batches of 256 to 1024, in copies, saves for 5 s, "
        "restores for 30 s");
  CHECK(run_details_text({}).empty());
}

TEST_CASE("sensible jobs pass: large, elastic, with a program") {
  JobSpec spec;
  spec.workers = 1024;
  spec.gpus_per_worker = 8;
  spec.min_workers = 1;
  spec.max_workers = 1024;
  spec.command = {"/bin/true", ""};
  spec.environment = {"A=", "B=x=y"};
  CHECK(why(spec).empty());
}
