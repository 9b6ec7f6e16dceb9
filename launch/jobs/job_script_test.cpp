// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/job_script.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/test_folder.h"
#include "launch/jobs/what_to_submit.h"

using namespace starling;

namespace {

std::string wrong(const std::string& lines) {
  const auto read = read_job_script("s", "#!/bin/sh\n" + lines + "\n");
  return read ? "read" : read.error().message;
}

}  // namespace

TEST_CASE("a script's lines above its first command ask for something") {
  const auto read = read_job_script("s", R"(#!/usr/bin/env bash

# a comment
#STARLING --gpus 2 --name "two words"   # and why
#STARLING --queue=night
#SBATCH -J slurms -n4 --time=1:00:00 -o out.txt --mail-type=END
#SBATCH --gpus-per-task a100:1 --mem-per-gpu=8G
echo hello
#SBATCH --cpus-per-task=9
)");
  REQUIRE(read.ok());
  const JobScript& script = read.value();
  CHECK(script.shell);
  CHECK(script.asks);
  CHECK(script.interpreter == std::vector<std::string>{"/usr/bin/env", "bash"});
  CHECK(script.options == JobOptions{{"--gpus", "2"},
                                     {"--name", "two words"},
                                     {"--queue", "night"},
                                     {"--workers", "4"},
                                     {"--gpu-type", "a100"},
                                     {"--memory-gib", "8"},
                                     {"--time-limit", "1:00:00"}});
  REQUIRE(script.warnings.size() == 2);
  CHECK(script.warnings[0].find("--mail-type has no meaning here") != std::string::npos);
  CHECK(script.warnings[1].find("--output has no meaning here") != std::string::npos);
}

TEST_CASE("sbatch counts per node and in all, here workers do") {
  const auto options = [](const std::string& line) {
    return read_job_script("s", "#!/bin/sh\n#SBATCH " + line + "\n").value().options;
  };
  CHECK(options("--nodes=2 --gres=gpu:4") == JobOptions{{"--gpus", "4"}, {"--workers", "2"}});
  CHECK(options("-N2 --ntasks-per-node=4 --gpus-per-node=v100:8") ==
        JobOptions{{"--gpus", "2"}, {"--gpu-type", "v100"}, {"--workers", "8"}});
  CHECK(options("-n 4 -G 8") == JobOptions{{"--gpus", "2"}, {"--workers", "4"}});
  CHECK(options("--mem=64G -c 8") == JobOptions{{"--cpus", "8"}, {"--memory-gib", "64"}});
  CHECK(options("-t 90 --signal=USR1@30") ==
        JobOptions{{"--time-limit", "5400"}, {"--signal", "USR1@30"}});
  CHECK(options("--time=UNLIMITED --signal=USR1@30").empty());
  CHECK(options("-H -a 0-3%2 -d afterok:12") ==
        JobOptions{{"--after", "afterok:12"}, {"--array", "0-3%2"}, {"--hold", "yes"}});
  CHECK(options("--mem 512") == JobOptions{{"--memory-gib", "0.5"}});
  CHECK(options("--nice=10 -p gpu -D /w --export=NONE") == JobOptions{{"--priority", "-10"},
                                                                      {"--queue", "gpu"},
                                                                      {"--directory", "/w"},
                                                                      {"--environment", "NONE"}});
  CHECK(options("--no-requeue") == JobOptions{{"--requeue", "no"}});
  CHECK(options("--requeue") == JobOptions{{"--requeue", "yes"}});
  CHECK(read_job_script("s", "#!/bin/sh\n#SBATCH -W\n").value().wait);
}

TEST_CASE("mistakes are told with their line") {
  CHECK(wrong("#STARLING --gpu 2") == "s:2: '--gpu' is no option of a job; did you mean '--gpus'?");
  CHECK(wrong("\n#STARLING --name") == "s:3: '--name' needs a value");
  CHECK(wrong("#STARLING --name \"a") == "s:2: a quote is not closed");
  CHECK(wrong("#SBATCH job") == "s:2: 'job' is no option of sbatch");
  CHECK(wrong("#SBATCH --nodes=two") ==
        "s: #SBATCH --nodes: 'two' is wrong, give a whole number from 1 to 8192");
  CHECK(wrong("#SBATCH -n 2 -G 3") ==
        "s: #SBATCH --gpus: 3 GPUs cannot be shared out evenly among 2 tasks");
  CHECK(wrong("#SBATCH --mem=much").find("an amount of memory") != std::string::npos);
  CHECK(read_job_script("s", "#!/bin/sh\r\n").error().message.find("s:1: its lines end") == 0);
  CHECK(read_job_script("s", "").error().message.find("it is empty") != std::string::npos);
  CHECK(read_job_script("s", "#!\n").error().message.find("s:1: a script begins with") == 0);
}

TEST_CASE("only shells take a script's text") {
  const auto shell = [](const std::string& line) {
    return read_job_script("s", line + "\n").value().shell;
  };
  CHECK(shell("#!/bin/sh -e"));
  CHECK(shell("#! /usr/bin/env zsh"));
  CHECK_FALSE(shell("#!/usr/bin/env python3"));
  CHECK_FALSE(shell("#!/usr/bin/perl"));
}

TEST_CASE("what is there and can be no command is asked about") {
  const TestFolder folder("words");
  const auto told = [&](std::vector<std::string> words, bool dashes) {
    SubmitWords said;
    said.words = std::move(words), said.dashes = dashes;
    const auto what = what_to_submit(said, Submitter{folder.path, {}});
    return what ? "taken" : what.error().message;
  };
  CHECK(told({folder.path}, false).find("is a folder; give a job file") != std::string::npos);
  CHECK(told({folder.path}, true) == "taken");
  CHECK(told({"/dev/null"}, false).find("'/dev/null' is a file, and neither") != std::string::npos);
  CHECK(told({"/bin/sh"}, false) == "taken");
  CHECK(told({"nowhere-here"}, false) == "taken");
  for (const char* name : {"no/such", "./nosuch", "/opt/nosuch", "data.csv", "model.pt",
                           "train.ipynb", "train.py", "python3.99"}) {
    const std::string word = name, why = told({word, "--lr", "3"}, false);
    CHECK_MESSAGE(why.find("there is no file or program '" + word + "' here") != std::string::npos,
                  why);
    CHECK(why.find("write '-- " + word + "' for a program that is on the servers") !=
          std::string::npos);
    CHECK(told({word, "--lr", "3"}, true) == "taken");
  }
  CHECK(told({"", "x"}, true).find("program has no name") != std::string::npos);
}

TEST_CASE("a path is one in the folder where the job runs") {
  const TestFolder folder("directory");
  const std::string program = folder.path / "run", script = folder.path / "job.sh";
  std::ofstream(program) << "\x7f";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::ofstream(script) << "#!/bin/sh\n#SBATCH --gpus 2\n";
  const auto submitted = [&](const std::string& word, const std::string& directory) {
    SubmitWords said;
    said.words = {word};
    if (!directory.empty()) said.options["--directory"] = directory;
    return what_to_submit(said, Submitter{"/", {}});
  };
  const auto found = submitted("./run", folder.path);
  REQUIRE(found.ok());
  CHECK(found.value().jobs.front().command == std::vector<std::string>{"./run"});
  CHECK(submitted("./run", "").error().message.find("no file or program './run'") !=
        std::string::npos);
  CHECK(submitted("./nosuch", folder.path)
            .error()
            .message.find("'" + (folder.path / "nosuch").string() + "'") != std::string::npos);
  const auto asks = submitted("./job.sh", folder.path);
  REQUIRE(asks.ok());
  CHECK(asks.value().jobs.front().gpus_per_worker == 2);
  CHECK(submitted(program, "/").ok());
}

TEST_CASE("a whole command in quotes is no program, and is told how it is written") {
  for (const char* word : {"python train.py", "python -m train", "./run now"}) {
    SubmitWords said;
    said.words = {word};
    const auto what = what_to_submit(said, Submitter{"/", {}});
    REQUIRE_FALSE(what.ok());
    CHECK(what.error().message.find("sh -c '" + std::string(word) + "'") != std::string::npos);
    said.dashes = true;
    CHECK(what_to_submit(said, Submitter{"/", {}}).ok());
  }
}

TEST_CASE("a duration without a command is a job to emulate") {
  const auto submitted = [&](JobOptions options, std::vector<std::string> words) {
    SubmitWords said;
    said.words = std::move(words), said.options = std::move(options);
    return what_to_submit(said, Submitter{"/", {}});
  };
  const auto emulated = submitted({{"--duration", "2h"}, {"--user", "ann"}, {"--gpus", "2"}}, {});
  REQUIRE(emulated.ok());
  const JobSpec& job = emulated.value().jobs.front();
  CHECK(job.command.empty());
  CHECK(job.duration == std::chrono::hours(2));
  CHECK(job.user == "ann");
  CHECK(job.gpus_per_worker == 2);
  // With a command it is what it is said to take.
  const auto both = submitted({{"--duration", "90"}}, {"true"});
  REQUIRE(both.ok());
  CHECK(both.value().jobs.front().command == std::vector<std::string>{"true"});
  CHECK(both.value().jobs.front().duration == std::chrono::seconds(90));
  for (const char* text : {"0", "-1", "soon"})
    CHECK(submitted({{"--duration", text}}, {}).error().message.find("--duration") !=
          std::string::npos);
  CHECK(submitted({{"--duration", "5"}, {"--model", "nosuch"}}, {})
            .error()
            .message.find("not in the catalogue") != std::string::npos);
  CHECK(submitted({{"--user", "ann"}}, {}).error().message.find("give a job file") !=
        std::string::npos);
}

TEST_CASE("an option of submit's behind a script is asked about; after '--' it is the script's") {
  const TestFolder folder("script");
  const std::string file = folder.path / "train.sh";
  std::ofstream(file) << "#!/bin/sh\necho \"$@\"\n";
  const auto submitted = [&](std::vector<std::string> words, bool dashes) {
    SubmitWords said;
    said.words = std::move(words), said.words.insert(said.words.begin(), file);
    said.dashes = dashes, said.flags = {"--gpus", "-f", "--follow"};
    const auto what = what_to_submit(said, Submitter{folder.path, {}});
    if (!what) return what.error().message;
    const std::vector<std::string>& command = what.value().jobs.front().command;
    std::string arguments;  // those after -c, the text and the script's name
    for (std::size_t i = 4; i < command.size(); ++i) arguments += command[i] + ";";
    return arguments;
  };
  const std::string why = submitted({"--gpus", "4"}, false);
  CHECK(why.find("'--gpus' stands behind the script '" + file + "' and would be its own") !=
        std::string::npos);
  CHECK(why.find("'" + file + " -- ...'") != std::string::npos);
  CHECK(submitted({"x", "--gpus=4"}, false).find("'--gpus=4' stands") != std::string::npos);
  CHECK(submitted({"-f"}, false).find("'-f' stands behind") != std::string::npos);
  CHECK(submitted({"--epochs", "4", "-g"}, false) == "--epochs;4;-g;");
  CHECK(submitted({"--", "--gpus", "4"}, false) == "--gpus;4;");
  CHECK(submitted({"--gpus", "4"}, true) == "--gpus;4;");
  CHECK(submitted({"--", "--gpus", "4"}, true) == "--;--gpus;4;");
  CHECK(submitted({"x", "--", "--gpus"}, false) == "x;--;--gpus;");

  // One that can be run, and asks for nothing, is a command; it has its words alike.
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  CHECK(submitted({"--gpus", "4"}, false) == why);
  CHECK(submitted({"a", "b", "c", "--gpus"}, true) == "--gpus;");
  CHECK(submitted({"--", "b", "c", "d", "--gpus"}, false) == "--gpus;");
}
