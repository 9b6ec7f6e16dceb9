// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/job.h"

#include <doctest/doctest.h>

#include <string>

#include "base/test_folder.h"
#include "workload/text/text_file.h"

using namespace starling;

namespace {

constexpr const char* kHeader = "model,batch_size,total_steps,scale_factor,batch_mode,arrival_s\n";

/// Reads a trace with the rows beside speeds of LM on one GPU.
Result<std::vector<ShockwaveJob>> read(const std::string& rows) {
  const TestFolder folder("shockwave_jobs");
  std::filesystem::create_directories(folder.path / "shockwave_traces");
  const auto write = [&](const char* name, const std::string& text) {
    REQUIRE(write_text_file(folder.path / "shockwave_traces" / name, text).ok());
  };
  write("tacc_throughputs.csv",
        "model,batch_size,scale_factor,tacc_steps_per_s\nLM,10,1,100\nLM,20,1,60\nLM,40,1,40\n"
        "LM,80,1,20\nLM,5,1,0\n");
  write("shockwave_120_100.csv", kHeader + rows);
  return read_shockwave_jobs(folder.path);
}

std::string message(const std::string& rows) {
  const auto jobs = read(rows);
  REQUIRE_FALSE(jobs.ok());
  CHECK(jobs.error().code == Errc::invalid);
  return jobs.error().message.substr(jobs.error().message.find(".csv") + 4);
}

}  // namespace

TEST_CASE("a job has the speeds of all its batches, and the time of each epoch") {
  const auto jobs = read("LM,10,119360,1,gns,0\nLM,20,2984,1,static,5\n");
  REQUIRE(jobs.ok());
  REQUIRE(jobs.value().size() == 2);
  const ShockwaveJob& grows = jobs.value()[0];
  CHECK(grows.steps_per_s.size() == 4);
  REQUIRE(grows.profile.size() == 20);
  CHECK(grows.profile[0].duration_s == doctest::Approx(59'675 / 10.0 / 100));
  CHECK(grows.profile[12].duration_s == doctest::Approx(59'675 / 20.0 / 60));
  CHECK(jobs.value()[1].arrival_s == 5);
  CHECK(jobs.value()[1].alone_s() == doctest::Approx(59'675 / 20.0 / 60));
}

TEST_CASE("what is wrong in a trace is named") {
  CHECK(message("").find("there is no job") != std::string::npos);
  CHECK(message("GPT-2,10,1,1,gns,0\n").find("row 1: no model or mode") != std::string::npos);
  CHECK(message("LM,10,1,1,often,0\n").find("row 1: no model or mode") != std::string::npos);
  CHECK(message("LM,10,1.5,1,gns,0\n").find("total_steps must be a whole") != std::string::npos);
  CHECK(message("LM,10,1,0,gns,0\n").find("scale_factor must be a whole") != std::string::npos);
  CHECK(message("LM,160,1,1,gns,0\n").find("more than the 80 that fit") != std::string::npos);
  CHECK(message("LM,5,1,1,static,0\n").find("LM of batch 5 on 1 GPUs has no speed") !=
        std::string::npos);
  CHECK(message("LM,10,1,1,gns,9\nLM,10,1,1,gns,8\n").find("row 2: it arrives before") !=
        std::string::npos);
}
