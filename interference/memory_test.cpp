// SPDX-License-Identifier: Apache-2.0
#include "interference/memory.h"

#include <doctest/doctest.h>

#include <map>

#include "base/test_data.h"
#include "topology/generate/generate.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"

using namespace starling;

namespace {

JobProfile gavel_job(std::string_view model, std::string_view batch) {
  const std::string name(model);
  return {batch == "0" ? name : name + " (batch size " + std::string(batch) + ')', 1, 0};
}

}  // namespace

TEST_CASE("two jobs fit together where the GPU has what both need") {
  const JobProfile large = gavel_job("ResNet-50", "128");
  const JobProfile small = gavel_job("LM", "20");
  CHECK(fits_together(large, small, 16));
  CHECK(!fits_together(large, small, 12));
  CHECK(!fits_together(large, large, 16));
  CHECK(fits_together(large, large, 32));
  CHECK(fits_together({"vgg16", 1, 0}, {"", 1, 0}, 17));

  GeneratorOptions mixed;
  mixed.groups = {{1, "K80"}, {1, "V100"}};
  const Topology topology = generate_flat(mixed).value();
  CHECK(!fits_together(large, small, topology, GpuId(0)));
  CHECK(fits_together(small, large, topology, GpuId(8)));
}

TEST_CASE("which of Gavel's pairs ran at all is told for 97 of 100, on each GPU type" *
          doctest::test_suite("published data")) {
  const auto file = test_data("gavel/colocated.csv");
  if (!file) return;
  const std::map<std::string_view, double> memory = {{"k80", 12}, {"p100", 16}, {"v100", 16}};
  struct Told {
    int right = 0, ran_after_all = 0, failed_after_all = 0;
  };
  std::map<std::string, Told> told;
  const std::string text = read_text_file(*file).value();
  CsvReader csv(text);
  std::vector<std::string_view> row;
  while (csv.next(row)) {
    if (row[0] != "2020") continue;
    const bool ran = row[12] != "infeasible_or_unmeasured";
    const bool fits =
        fits_together(gavel_job(row[2], row[3]), gavel_job(row[4], row[5]), memory.at(row[1]));
    Told& here = told[std::string(row[1])];
    ++(fits == ran ? here.right : ran ? here.ran_after_all : here.failed_after_all);
  }
  REQUIRE(told.size() == 3);
  for (const auto& [gpu, here] : told) {
    MESSAGE(gpu << ": " << here.right << " pairs told right, " << here.failed_after_all
                << " that should fit did not run, " << here.ran_after_all
                << " that should not did");
    const int all = here.right + here.ran_after_all + here.failed_after_all;
    CHECK(here.right >= 0.97 * all);
    CHECK(here.ran_after_all <= 1);
  }
}
