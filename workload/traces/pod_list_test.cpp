// SPDX-License-Identifier: Apache-2.0
#include "workload/traces/pod_list.h"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>

#include "base/test_data.h"
#include "base/test_folder.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {

const std::string kHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli";

Result<PodList> read(const std::string& text) {
  const TestFolder folder("pods");
  std::ofstream(folder.path / "p.csv", std::ios::binary) << text;
  return read_pods(folder.path / "p.csv");
}

std::string message(const std::string& text) {
  const auto pods = read(text);
  REQUIRE_FALSE(pods.ok());
  const std::string& what = pods.error().message;
  return what.substr(what.find("p.csv"));
}

}  // namespace

TEST_CASE("a list of pods: shares, whole GPUs, none") {
  const auto list = read(kHeader + "\nshare,6000,12288,1,460\nfour,1,2,4,1000\ncpu,8000,100,0,0\n");
  REQUIRE(list.ok());
  CHECK_FALSE(list.value().timed);
  REQUIRE(list.value().pods.size() == 3);
  const Pod& share = list.value().pods[0];
  CHECK(share.name == "share");
  CHECK(share.cpu_milli == 6000);
  CHECK(share.memory_mib == 12288);
  CHECK(share.total_gpu_milli() == 460);
  CHECK(list.value().pods[1].total_gpu_milli() == 4000);
  CHECK(list.value().pods[2].total_gpu_milli() == 0);
}

TEST_CASE("models and times are read where they stand; pods that were never scheduled are kept") {
  const auto list =
      read("pod_phase,creation_time,deletion_time,scheduled_time,gpu_spec," + kHeader +
           "\nRunning,5,9,5,V100M16|P100,a,1,1,1,1000\nPending,7,8,,,b,1,1,1,1000\n");
  REQUIRE(list.ok());
  CHECK(list.value().timed);
  REQUIRE(list.value().pods.size() == 2);
  CHECK(list.value().pods[0].gpu_models == std::vector<std::string>{"V100M16", "P100"});
  CHECK(list.value().pods[0].created == 5s);
  CHECK(list.value().pods[0].deleted == 9s);
  CHECK(list.value().pods[1].gpu_models.empty());
}

TEST_CASE("what is wrong with a list of pods is said with its line and what would be right") {
  CHECK(message("").starts_with("p.csv:1: is empty"));
  CHECK(message(kHeader + "\n").starts_with("p.csv:2: there are no pods"));
  CHECK(message("name,cpu_milli,memory_mib,num_gpu\na,1,1,1\n")
            .starts_with("p.csv:1: column 'gpu_milli' is missing"));
  CHECK(
      message(kHeader + ",creation_time\na,1,1,1,1,1\n").starts_with("p.csv:1: creation_time and"));
  CHECK(message(kHeader + "\na,1,1,1\n").starts_with("p.csv:2: has 4 fields; the header has 5"));
  CHECK(message(kHeader + "\na,1,1,1,9\nb,x,1,1,9\n")
            .starts_with("p.csv:3: cpu_milli is 'x'; write a whole number from 0"));
  CHECK(message(kHeader + "\na,1,1,1,1001\n").starts_with("p.csv:2: gpu_milli is '1001'; write"));
  CHECK(
      message(kHeader + "\na,1,1,1,0\n").starts_with("p.csv:2: gpu_milli is '0'; write 1 to 1000"));
  CHECK(
      message(kHeader + "\na,1,1,2,500\n").starts_with("p.csv:2: gpu_milli is '500'; write 1000"));
  CHECK(message(kHeader + "\na,1,1,0,500\n").starts_with("p.csv:2: gpu_milli is '500'; write 0"));
  CHECK(message(kHeader + ",gpu_spec\na,1,1,1,500,T4||A10\n")
            .starts_with("p.csv:2: gpu_spec is 'T4||A10'; write names"));
  CHECK(message(kHeader + ",creation_time,deletion_time\na,1,1,1,500,6,5\n")
            .starts_with("p.csv:2: deletion_time is '5'; write a time"));
  CHECK(message(kHeader + "\n\"a,1,1,1,500\n").starts_with("p.csv:2: a quoted field"));
  CHECK(read_pods("no-such-list.csv").error().code == Errc::io);
}

TEST_CASE("openb's lists are read whole" * doctest::test_suite("published data")) {
  for (const auto& [list, pods, gpus] :
       {std::tuple("openb_pod_list_default.csv.gz", 8152U, 6'086'800),
        std::tuple("openb_pod_list_gpuspec33.csv.gz", 8152U, 6'086'800),
        std::tuple("openb_pod_list_multigpu20.csv.gz", 8324U, 7'086'800)}) {
    const auto file = test_data(std::string("alibaba_openb2023/") + list);
    if (!file) return;
    CAPTURE(list);
    const auto read = read_pods(*file);
    REQUIRE(read.ok());
    CHECK(read.value().pods.size() == pods);
    std::int64_t milli = 0;
    for (const Pod& pod : read.value().pods) milli += pod.total_gpu_milli();
    CHECK(milli == gpus);
  }
}
