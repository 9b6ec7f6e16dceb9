// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/features.h"

#include <doctest/doctest.h>

#include <array>

namespace starling {
namespace {

TEST_CASE("inputs have the places that shipped weights were trained on") {
  CHECK(index_of(Input::work_left) == 10);
  CHECK(index_of(Input::smaller_part) == 15);
  CHECK(index_of(Input::net_gain) == 16 + 3);
  CHECK(index_of(Input::is_tight) + 4 == index_of(Input::is_server));
  CHECK(index_of(Input::alone_speed) == 16 + 22);
  CHECK(index_of(Input::waits_queue_gpus) == 39);
  CHECK(index_of(Input::type_work_left) == 52);
  CHECK(index_of(Input::rule_faster) == 53 + 9);
}

TEST_CASE("products are of waiting with the queue, and of sharing, gain, inflicted loss and type") {
  std::array<float, Features::kOwn> values{};
  const InputRow row(values);
  row[Input::waits] = 1;
  row[Input::queue_gpus] = 2;
  row[Input::free_part] = 3;
  row[Input::gang] = 5;
  row[Input::waited] = 7;
  row[Input::smaller_part] = 11;
  row[Input::work_left] = 13;
  crossed_inputs(row);
  for (const auto& [input, product] :
       {std::pair{Input::waits_queue_gpus, 2.0F}, std::pair{Input::waits_free_part, 3.0F},
        std::pair{Input::waits_gang, 5.0F}, std::pair{Input::waits_waited, 7.0F},
        std::pair{Input::waits_smaller_part, 11.0F}, std::pair{Input::waits_work_left, 13.0F},
        std::pair{Input::shares_queue_gpus, 0.0F}, std::pair{Input::type_work_left, 0.0F}})
    CHECK(row[input] == product);
  row[Input::waits] = 0;
  row[Input::is_server] = 1;
  row[Input::net_gain] = 17;
  row[Input::inflicted_loss] = 19;
  row[Input::type_speed] = 23;
  crossed_inputs(row);
  for (const auto& [input, product] :
       {std::pair{Input::waits_queue_gpus, 0.0F}, std::pair{Input::waits_work_left, 0.0F},
        std::pair{Input::shares_queue_gpus, 2.0F}, std::pair{Input::gain_queue_gpus, 34.0F},
        std::pair{Input::inflicted_queue_gpus, 38.0F}, std::pair{Input::type_queue_gpus, 46.0F},
        std::pair{Input::shares_work_left, 13.0F}, std::pair{Input::gain_work_left, 221.0F},
        std::pair{Input::inflicted_work_left, 247.0F}, std::pair{Input::type_work_left, 299.0F}})
    CHECK(row[input] == product);
}

}  // namespace
}  // namespace starling
