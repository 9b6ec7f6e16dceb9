// SPDX-License-Identifier: Apache-2.0
#include "nets/dense.h"

#include <doctest/doctest.h>

#include "base/rng.h"
#include "nets/mlp.h"

using namespace starling;

TEST_CASE("a dense layer agrees with a network of one layer") {
  Rng rng(3);
  Weights w;
  w.tensors["a.0.weight"] = {{5, 7}, std::vector<float>(35)};
  w.tensors["a.0.bias"] = {{5}, std::vector<float>(5)};
  for (auto& [name, tensor] : w.tensors)
    for (float& v : tensor.values) v = static_cast<float>(rng.normal());
  const Dense dense = Dense::make(w, "a.0", 7, 5).value();
  Mlp mlp = Mlp::make(w, "a.").value();
  std::vector<float> x(7), y(5), z(5);
  for (float& v : x) v = static_cast<float>(rng.normal());
  x[2] = 0;
  dense.run(x, y);
  mlp.run(x, 1, z);
  for (std::size_t i = 0; i < 5; ++i) CHECK(y[i] == doctest::Approx(z[i]).epsilon(1e-5));
  dense.relu(x, y);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(y[i] == doctest::Approx(std::max(z[i], 0.0F)).epsilon(1e-5));
  CHECK_FALSE(Dense::make(w, "a.0", 6, 5));
  CHECK_FALSE(Dense::make(w, "b.0", 7, 5));
}
