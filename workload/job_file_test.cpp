// SPDX-License-Identifier: Apache-2.0
#include "workload/job_file.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/rng.h"
#include "base/test_folder.h"

using namespace starling;

namespace {

Result<std::vector<JobSpec>> read(const std::string& text) {
  const TestFolder folder("job");
  std::ofstream(folder.path / "j.yaml", std::ios::binary) << text;
  return read_job_file(folder.path / "j.yaml");
}

std::string message(const std::string& text) {
  const Result<std::vector<JobSpec>> jobs = read(text);
  if (jobs) return "read";
  return jobs.error().message.substr(jobs.error().message.find("j.yaml"));
}

const std::string kGood = R"(- name: train
  user: ann
  model: resnet50
  command: python train.py --epochs 3
  workers: 2
  gpus_per_worker: 4
  min_workers: 1
  max_workers: 4
  cpus: 12.5
  memory_gib: 64
  gpu_types: [V100, A100]
  priority: -3
  requeue: no
  max_servers: 8
  server_cpus: 1.5
  batch: 256
  max_batch: 1024
  copies: yes
  save_s: 2.5
  restore_s: 30
  environment: {SEED: 7, EMPTY: , PATH: "/bin:/usr/bin"}
- {name: emulated, model: vgg16, duration_s: 0.25, gpu_types: T4}
- command: [/bin/echo, "a b"]
)";

}  // namespace

TEST_CASE("a list of jobs is read with every key; defaults are one GPU on one worker") {
  const Result<std::vector<JobSpec>> jobs = read(kGood);
  REQUIRE(jobs.ok());
  REQUIRE(jobs.value().size() == 3);
  const JobSpec& train = jobs.value()[0];
  CHECK(train.name == "train");
  CHECK(train.command == std::vector<std::string>{"/bin/sh", "-c", "python train.py --epochs 3"});
  CHECK(train.gpus() == 8);
  CHECK(train.elastic());
  CHECK(train.cpus_per_worker == 12.5);
  CHECK(train.memory_gib_per_worker == 64);
  CHECK(train.gpu_types == std::vector<std::string>{"V100", "A100"});
  CHECK(train.priority == -3);
  CHECK(train.no_requeue);
  CHECK(!jobs.value()[1].no_requeue);
  CHECK(train.run == RunDetails{8, 1.5, 256, 1024, true, std::chrono::milliseconds(2500),
                                std::chrono::seconds(30)});
  CHECK(!jobs.value()[1].run.any());
  CHECK(train.environment == std::vector<std::string>{"SEED=7", "EMPTY=", "PATH=/bin:/usr/bin"});
  CHECK(jobs.value()[1].duration == std::chrono::milliseconds(250));
  CHECK(jobs.value()[1].gpu_types == std::vector<std::string>{"T4"});
  CHECK(jobs.value()[2].command == std::vector<std::string>{"/bin/echo", "a b"});
  CHECK(jobs.value()[2].gpus() == 1);
  CHECK(read("name: one\nduration_s: 5\n").value().size() == 1);
}

TEST_CASE("a mistake is told with line and column, what it is and what would be right") {
  CHECK(message("name: a\nworker: 2\nduration_s: 1\n") ==
        "j.yaml:2:1: key 'worker' is unknown; did you mean 'workers'?");
  CHECK(
      message("xyzzy: 2\n").starts_with("j.yaml:1:1: key 'xyzzy' is unknown; keys are name, user"));
  CHECK(message("duration_s: 1\nworkers: two\n") ==
        "j.yaml:2:10: workers is 'two'; write a whole number from 1 to 1048576");
  CHECK(message("duration_s: 0\n") ==
        "j.yaml:1:13: duration_s is '0'; write seconds above 0, as 600 or 0.5");
  CHECK(message("name: a\n").starts_with("j.yaml:1:1: the job has nothing to do"));
  CHECK(message("command: ' '\n").starts_with("j.yaml:1:10: command is empty; write a shell line"));
  CHECK(message("name: a\n").ends_with("a duration_s to emulate"));
  CHECK(message("name: \"a\ncommand: true\n").ends_with("is a quote not closed?)"));
  CHECK(message("duration_s: 1\nmodel: resnet5O\n") ==
        "j.yaml:2:8: model 'resnet5O' cannot be emulated: it is not in the catalogue; did you mean "
        "'resnet50'?");
  CHECK(message("duration_s: 1\nname: [a]\n") ==
        "j.yaml:2:7: name is not one value; write one text");
  CHECK(message("duration_s: 1\nduration_s: 2\n") == "j.yaml:2:1: key 'duration_s' is there twice");
  CHECK(message("duration_s: 1\nenvironment: [A=1]\n")
            .starts_with("j.yaml:2:14: environment is not one value"));
  CHECK(message("duration_s: 1\nenvironment: {A=B: 1}\n")
            .starts_with("j.yaml:2:15: environment has the name"));
  CHECK(message("- duration_s: 1\n- 5\n") ==
        "j.yaml:2:3: a job is '5'; write a mapping, as {name: a, duration_s: 60}");
  CHECK(message("duration_s: 1\nworkers: 2\nmin_workers: 3\nmax_workers: 4\n")
            .starts_with("j.yaml:1:1: min_workers is 3"));
  CHECK(message("duration_s: 1\nmax_servers: some\n") ==
        "j.yaml:2:14: max_servers is 'some'; write a whole number from 0 to 10000000");
  CHECK(message("duration_s: 1\ncopies: 2\n") == "j.yaml:2:9: copies is '2'; write yes or no");
  CHECK(message("duration_s: 1\nsave_s: -1\n") ==
        "j.yaml:2:9: save_s is '-1'; write seconds from 0, as 30 or 0.5");
  CHECK(message("duration_s: 1\nmax_batch: 8\n") ==
        "j.yaml:1:1: max_batch is 8; say the batch that it is the largest of, too");
  CHECK(message("duration_s: 1\nworkers: 9000\n")
            .starts_with("j.yaml:1:1: gpus of the gang are 9000"));
  CHECK(message("duration_s: [1\n").starts_with("j.yaml:2:1: this is not YAML"));
  CHECK(message("").starts_with("j.yaml:1:1: there is no job"));
  CHECK(message("duration_s: 1\n---\nduration_s: 2\n")
            .starts_with("j.yaml:2:1: a second document starts"));
  CHECK(message("- duration_s: 1\nname: a\n").starts_with("j.yaml:2:1: a second document starts"));
  CHECK(message(", a").starts_with("j.yaml:1:1: a second document starts"));
  CHECK(read_job_file("no/such.yaml").error().code == Errc::io);
}

TEST_CASE("mutated job files are read or refused, never worse") {
  Rng rng(9);
  const TestFolder folder("job-fuzz");
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = kGood;
    for (std::uint32_t n = 1 + rng.below(5); n > 0 && !text.empty(); --n) {
      const auto size = static_cast<std::uint32_t>(text.size());
      const std::uint32_t at = rng.below(size);
      constexpr std::string_view bytes = "[]{}:,-?&*!|>'\"%@`#\n\t \0\xff~<";
      switch (rng.below(4)) {
        case 0:
          text[at] = bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))];
          break;
        case 1:
          text.erase(at, 1 + rng.below(20));
          break;
        case 2:
          text.insert(at, text.substr(rng.below(size), rng.below(40)));
          break;
        default:
          text.insert(at, 1, bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))]);
      }
    }
    std::ofstream(folder.path / "j.yaml", std::ios::binary) << text;
    const Result<std::vector<JobSpec>> jobs = read_job_file(folder.path / "j.yaml");
    if (!jobs) {
      ++refused;
      CHECK(jobs.error().message.find("j.yaml:") != std::string::npos);
    }
  }
  CHECK(refused > 1000);
  CHECK(refused < 2990);
}

TEST_CASE("deep nesting and repeated aliases are refused without harm") {
  CHECK(message("name: " + std::string(5000, '[')).starts_with("j.yaml:"));
  std::string bomb = "a: &a [x,x]\n";
  for (char c = 'b'; c < 'z'; ++c) {
    const char before = static_cast<char>(c - 1);
    bomb += std::string(1, c) + ": &" + c + " [*" + before + ",*" + before + "]\n";
  }
  CHECK(message(bomb).starts_with("j.yaml:1:1: key 'a' is unknown"));
}
