// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/pair_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace starling {
namespace {

constexpr const char* kHeader =
    "campaign,gpu,model_a,batch_a,model_b,batch_b,norm_a,norm_b,flag,norm_a_low,norm_a_high,"
    "norm_b_low,norm_b_high\n";

struct File {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("pair_file_test." + std::to_string(::getpid()) + ".csv");
  explicit File(const std::string& text) { std::ofstream(path) << text; }
  ~File() { std::filesystem::remove(path); }
};

std::string row(int a, int b, double norm_a, double norm_b, const char* flag = "") {
  char text[160];
  std::snprintf(text, sizeof text, "c,g,m,%d,m,%d,%.4f,%.4f,%s,%.4f,%.4f,,\n", a, b, norm_a, norm_b,
                flag, norm_a - 0.01, norm_a + 0.03);
  return text;
}

/// Ten types that keep and leave by turns more and less.
std::string additive_pairs() {
  std::string text = kHeader;
  const auto speed = [](int own, int other) { return 0.5 + 0.03 * own - 0.02 * other; };
  for (int a = 0; a < 10; ++a) {
    for (int b = a; b < 10; ++b) text += row(a, b, speed(a, b), speed(b, a));
  }
  return text;
}

TEST_CASE("an additive form meets additive pairs, the mean does not, and noise is the intervals'") {
  const File file(additive_pairs());
  const auto sets = fit_pair_file(file.path);
  REQUIRE(sets.ok());
  REQUIRE(sets.value().size() == 1);
  const PairFileErrors& errors = sets.value()[0];
  CHECK(errors.set == "c/g");
  CHECK(errors.pairs == 55);
  CHECK(errors.mean > 0.05);
  CHECK(errors.products[0] < 0.01);
  REQUIRE(errors.noise.has_value());
  CHECK(*errors.noise == doctest::Approx(0.02));
}

TEST_CASE("noisy pairs and those that did not run are left out") {
  const File file(additive_pairs() + row(3, 4, 9, 9, "noisy") + "c,g,m,1,m,2,,,infeasible,,,,\n");
  CHECK(fit_pair_file(file.path).value()[0].pairs == 55);
}

TEST_CASE("what is no table of pairs is refused by file, line and column") {
  const File no_column("campaign,gpu\n");
  CHECK(fit_pair_file(no_column.path).error().message.find(":1: column 'model_a' is missing") !=
        std::string::npos);
  const File no_number(kHeader + std::string("c,g,m,1,m,2,fast,0.5,,,,,\n"));
  CHECK(fit_pair_file(no_number.path).error().message.find(":2: norm_a is 'fast'") !=
        std::string::npos);
  const File empty(kHeader);
  CHECK(fit_pair_file(empty.path).error().message.find("no pair") != std::string::npos);
  CHECK_FALSE(fit_pair_file("/nowhere.csv").ok());
}

}  // namespace
}  // namespace starling
