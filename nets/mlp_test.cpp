// SPDX-License-Identifier: Apache-2.0
#include "nets/mlp.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"

// Counts what is allocated, also by Eigen, which does not go through operator new. Sanitizers bring
// a malloc of their own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STARLING_COUNTS_MALLOC 1
extern "C" void* __libc_malloc(std::size_t size);
static std::size_t allocations = 0;
extern "C" void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
#endif

namespace starling {
namespace {

Tensor random_tensor(Rng& rng, std::vector<std::uint32_t> shape) {
  Tensor t{std::move(shape), {}};
  const std::size_t count = Tensor::element_count(t.shape).value();
  for (std::size_t i = 0; i < count; ++i)
    t.values.push_back(static_cast<float>(rng.normal()) * 0.3F);
  return t;
}

Weights network(Rng& rng, const std::vector<std::uint32_t>& widths, const char* activation) {
  Weights w;
  w.notes["activation"] = activation;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    w.tensors[std::to_string(i) + ".weight"] = random_tensor(rng, {widths[i + 1], widths[i]});
    w.tensors[std::to_string(i) + ".bias"] = random_tensor(rng, {widths[i + 1]});
  }
  w.tensors["input.mean"] = random_tensor(rng, {widths[0]});
  w.tensors["input.scale"] = random_tensor(rng, {widths[0]});
  return w;
}

/// The same in double precision, one multiplication at a time.
std::vector<double> by_hand(const Weights& w, std::size_t layers, bool tanh,
                            std::span<const float> row) {
  std::vector<double> x;
  for (std::size_t i = 0; i < row.size(); ++i) {
    x.push_back(
        (static_cast<double>(row[i]) - static_cast<double>(w.tensors.at("input.mean").values[i])) *
        static_cast<double>(w.tensors.at("input.scale").values[i]));
  }
  for (std::size_t l = 0; l < layers; ++l) {
    const Tensor& weight = w.tensors.at(std::to_string(l) + ".weight");
    std::vector<double> y;
    for (std::size_t o = 0; o < weight.shape[0]; ++o) {
      double sum = static_cast<double>(w.tensors.at(std::to_string(l) + ".bias").values[o]);
      for (std::size_t i = 0; i < x.size(); ++i)
        sum += static_cast<double>(weight.values[o * x.size() + i]) * x[i];
      y.push_back(l + 1 == layers ? sum : tanh ? std::tanh(sum) : std::max(sum, 0.0));
    }
    x = y;
  }
  return x;
}

TEST_CASE("a batch of rows gives what the formula gives") {
  for (const char* activation : {"relu", "tanh"}) {
    Rng rng(5);
    const Weights w = network(rng, {7, 33, 16, 3}, activation);
    Mlp mlp = Mlp::make(w).value();
    REQUIRE(mlp.inputs() == 7);
    REQUIRE(mlp.outputs() == 3);
    for (const std::size_t rows : {1U, 2U, 64U, 5U}) {
      std::vector<float> in(rows * 7), out(rows * 3);
      for (float& x : in) x = static_cast<float>(rng.normal());
      mlp.run(in, rows, out);
      for (std::size_t r = 0; r < rows; ++r) {
        const auto expected =
            by_hand(w, 3, std::string(activation) == "tanh", std::span(in).subspan(r * 7, 7));
        for (std::size_t o = 0; o < 3; ++o) {
          CHECK(std::abs(static_cast<double>(out[r * 3 + o]) - expected[o]) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("after the first call a run allocates nothing") {
  Rng rng(6);
  Mlp mlp = Mlp::make(network(rng, {16, 64, 64, 1}, "relu")).value();
  std::vector<float> in(32 * 16, 0.5F), out(32);
  mlp.run(in, 32, out);
#ifdef STARLING_COUNTS_MALLOC
  const std::size_t before = allocations;
  REQUIRE(before > 0);
  for (int i = 0; i < 100; ++i) mlp.run(in, 32, out);
  mlp.run(std::span(in).first(16), 1, std::span(out).first(1));
  CHECK(allocations == before);
#endif
}

TEST_CASE("a network whose tensors do not fit together is refused by name") {
  Rng rng(7);
  Weights w = network(rng, {4, 8, 2}, "relu");
  std::string part;
  SUBCASE("no layer") { w.tensors.erase("0.weight"), part = "0.weight"; }
  SUBCASE("no bias") { w.tensors.erase("1.bias"), part = "1.bias"; }
  SUBCASE("widths differ") { w.tensors["1.weight"] = random_tensor(rng, {2, 9}), part = "[2, 9]"; }
  SUBCASE("half of a normalisation") { w.tensors.erase("input.scale"), part = "input.scale"; }
  SUBCASE("normalisation of another width") {
    w.tensors["input.mean"] = random_tensor(rng, {5}), part = "input.mean";
  }
  SUBCASE("activation") { w.notes["activation"] = "gelu", part = "gelu"; }
  const auto made = Mlp::make(w);
  REQUIRE(!made.ok());
  CHECK(made.error().message.find(part) != std::string::npos);
}

}  // namespace
}  // namespace starling
