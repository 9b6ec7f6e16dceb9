// SPDX-License-Identifier: Apache-2.0
#include "launch/train/policy_config.h"

#include <cstdlib>
#include <fstream>

#include "base/test_folder.h"
#include "gnn/train/test_checks.h"

namespace starling {
namespace {

const std::string kStages = "stages: [{imitate: {runs: 1}}]\n";

/// What is wrong with the configuration, without its folder; empty: nothing.
std::string mistake(const std::string& text) {
  const TestFolder folder("config");
  const std::filesystem::path file = folder.path / "x.yaml";
  std::ofstream(file) << "suite: s.yaml\n" << text;
  const auto read = load_policy_config(file);
  return read ? "" : read.error().message.substr(folder.path.string().size() + 1);
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

TEST_CASE("train names a policy that is trained so") {
  CHECK(mistake(kStages).empty());
  CHECK(mistake("train: marl\n" + kStages).empty());
  CHECK(mistake("train: harmony\n" + kStages).empty());
  CHECK(mistake("train: interference\n" + kStages) ==
        "x.yaml:2:8: train policy trains no 'interference'; there is marl and harmony");
  CHECK(has(mistake("train: marrl\n" + kStages), "x.yaml:2:8: "));
  CHECK(has(mistake("train: marrl\n" + kStages), "did you mean 'marl'?"));
}

TEST_CASE("a teacher is a placement policy that can judge the net's places") {
  const auto of = [](const std::string& options) {
    return "stages: [{imitate: {runs: 1, " + options + "}}]\n";
  };
  CHECK(mistake(of("threshold: 0.5")).empty());
  CHECK(mistake(of("teacher: smart-greedy")).empty());
  CHECK(mistake(of("teacher: \"lif:threshold=0.5\"")).empty());
  CHECK(mistake(of("teacher: marl")).empty());
  CHECK(has(mistake(of("threshold: 2")), "threshold"));
  CHECK(has(mistake(of("teacher: lif, threshold: 0.5")), "write teacher: lif:threshold=T"));
  CHECK(has(mistake(of("teacher: tetris")), "lists places of its own"));
  CHECK(has(mistake(of("teacher: fifo")), "does not choose among places"));
  CHECK(has(mistake(of("teacher: liff")), "did you mean 'lif'?"));
}

TEST_CASE("keys in an earlier spelling are read, and named") {
  const TestFolder folder("config");
  const std::filesystem::path file = folder.path / "x.yaml";
  const auto read = [&](const std::string& text) {
    std::ofstream(file) << "suite: s.yaml\n" << text;
    return load_policy_config(file);
  };
  const auto old = read("validation-runs: 3\nyardstick: lif\n" + kStages);
  REQUIRE(old.ok());
  CHECK(old.value().validation_runs == 3);
  CHECK(old.value().train.baseline == "lif");
  CHECK(old.value().notes ==
        std::vector<std::string>{
            file.string() + ":2:1: 'validation-runs' is written validation_runs now",
            file.string() + ":3:1: 'yardstick' is written baseline now"});
  CHECK(read("validation_runs: 3\n" + kStages).value().notes.empty());
  CHECK(has(mistake("baseline: lif\nyardstick: lif\n" + kStages), "is given twice"));
  CHECK(read("net: {data-center: no}\n" + kStages).value().notes ==
        std::vector<std::string>{file.string() + ":2:7: 'data-center' is written data_center now"});
  const auto number = read("interference: 0\nnet: {encoder: 0}\n" + kStages);
  REQUIRE(number.ok());
  CHECK(number.value().mask.interference);
  CHECK(number.value().train.net.at("encoder") == std::vector<std::uint32_t>{0});
  CHECK(number.value().notes ==
        std::vector<std::string>{
            file.string() + ":2:15: 'interference: 0' is written interference: no now",
            file.string() + ":3:16: 'encoder: 0' is written encoder: no now"});
  const auto stages = read(
      "stages: [{imitate: {runs: 1, stay: 0.3}},\n"
      "{actor-critic: {copies: 3, lanes: 2}}]\n");
  REQUIRE(stages.ok());
  const std::vector<TrainStage>& found = stages.value().train.stages;
  CHECK(std::get<ImitateStage>(found.at(0)).fit.kl_weight == 0.3);
  CHECK(std::get<ActorCriticStage>(found.at(1)).options.group_size == 3);
  CHECK(std::get<ActorCriticStage>(found.at(1)).options.shards == 2);
  CHECK(stages.value().notes ==
        std::vector<std::string>{file.string() + ":2:30: 'stay' is written kl_weight now",
                                 file.string() + ":3:2: 'actor-critic' is written actor_critic now",
                                 file.string() + ":3:17: 'copies' is written group_size now",
                                 file.string() + ":3:28: 'lanes' is written shards now"});
}

TEST_CASE("what is on or off is yes or no") {
  CHECK(mistake("interference: no\nnet: {encoder: no, waits: yes}\n" + kStages).empty());
  CHECK(mistake("interference: 2\n" + kStages) ==
        "x.yaml:2:15: interference is '2'; write yes or no");
  CHECK(has(mistake("net: {waits: never}\n" + kStages), "waits is 'never'; write yes or no"));
  CHECK(has(mistake("interference: [no]\n" + kStages), "interference is a list; write yes or no"));
}

TEST_CASE("loads, seeds and agents are in their ranges") {
  CHECK(mistake("loads: [0.7, 1.1]\nseeds: [1, 12]\nagents: [1, 8]\n" + kStages).empty());
  CHECK(mistake("loads: [0.9, 0]\n" + kStages) ==
        "x.yaml:2:14: loads has '0'; write offered loads above 0, as 0.9");
  CHECK(has(mistake("loads: [-1]\n" + kStages), "loads has '-1'"));
  CHECK(has(mistake("loads: [nan]\n" + kStages), "loads has 'nan'"));
  CHECK(mistake("seeds: [0]\n" + kStages) ==
        "x.yaml:2:9: seeds has '0'; write whole numbers from 1 to 1000000");
  CHECK(mistake("agents: [1, 0]\n" + kStages) ==
        "x.yaml:2:13: agents has '0'; write whole numbers from 1 to 4096");
  CHECK(has(mistake("agents: [-1]\n" + kStages), "agents has '-1'"));
  CHECK(has(mistake("agents: [[1]]\n" + kStages), "agents has 'a list'"));
  CHECK(has(mistake("net: {hidden: [-1]}\n" + kStages), "hidden has '-1'"));
}

TEST_CASE("a tensor that the net of this shape does not have is found when the file is read") {
  const auto of = [](const std::string& tensor) {
    return "stages:\n  - imitate: {runs: 1}\n  - evolve: {tensors: [skip, " + tensor + "]}\n";
  };
  CHECK(mistake(of("actor.2.weight")).empty());
  CHECK(mistake(of("skip.forward")).empty());
  CHECK(has(mistake(of("skp")), "x.yaml:4:30: "));
  CHECK(has(mistake(of("skp")), "no tensor 'skp'; there are actor.0.bias, actor.0.weight, "));
  CHECK(has(mistake(of("skp")), ", skip, skip.forward"));
  CHECK(mistake(of("encoder.gpu.bias")).empty());
  CHECK(has(mistake("net: {encoder: no}\n" + of("encoder.gpu.bias")), "encoder.gpu.bias"));
}

TEST_CASE("every example of a training is read, and none in an earlier spelling") {
  const char* source = std::getenv("STARLING_SOURCE");
  REQUIRE_MESSAGE(source != nullptr, "set STARLING_SOURCE to the source tree");
  const auto folder = std::filesystem::path(source) / "examples" / "training";
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    // What refine starts from is the outcome of another training.
    if (entry.path().extension() != ".yaml" || entry.path().stem() == "marl-refine") continue;
    INFO(entry.path());
    const auto read = load_policy_config(entry.path());
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    CHECK(read.value().notes.empty());
    ++found;
  }
  CHECK(found >= 5);
}

TEST_CASE("whether a suite needs the data folder, and where it says so") {
  const TestFolder folder("config");
  const std::filesystem::path suite = folder.path / "s.yaml";
  const auto place = [&](const std::string& text) {
    std::ofstream(suite) << text;
    const std::string found = place_of_data(suite);
    return found.empty() ? found : found.substr(folder.path.string().size() + 1);
  };
  CHECK(place("# ${DATA}: here\nworkloads:\n  - {name: w, file: jobs.csv}\n").empty());
  CHECK(place("workloads:\n  - {name: w, file: \"${DATA}/jobs.csv\"}\n") == "s.yaml:2:21");
  CHECK(place("defaults: {file: \"${DATA}/j\"}\n") == "s.yaml:1:18");
  CHECK(place("a: [\n").empty());
  CHECK(place("&a [*a]\n").empty());
  std::filesystem::remove(suite);
  CHECK(place_of_data(suite).empty());
}

}  // namespace
}  // namespace starling
