// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/reference_net.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"
#include "nets/mlp.h"

namespace starling {
namespace {

TEST_CASE("nets and libtorch give the same answers") {
  Rng rng(11);
  for (const char* activation : {"relu", "tanh"}) {
    Weights w;
    w.notes["a.activation"] = activation;
    const std::uint32_t widths[] = {19, 64, 48, 32, 5};
    const auto add = [&](const std::string& name, std::vector<std::uint32_t> shape) {
      Tensor t{std::move(shape), {}};
      const std::size_t count = Tensor::element_count(t.shape).value();
      for (std::size_t i = 0; i < count; ++i)
        t.values.push_back(static_cast<float>(rng.normal() * 0.2));
      w.tensors["a." + name] = std::move(t);
    };
    for (std::size_t i = 0; i < 4; ++i) {
      add(std::to_string(i) + ".weight", {widths[i + 1], widths[i]});
      add(std::to_string(i) + ".bias", {widths[i + 1]});
    }
    add("input.mean", {19});
    add("input.scale", {19});
    Mlp mlp = Mlp::make(w, "a.").value();
    for (const std::size_t rows : {1U, 3U, 200U}) {
      std::vector<float> in(rows * 19), out(rows * 5);
      for (float& x : in) x = static_cast<float>(rng.normal() * 3);
      mlp.run(in, rows, out);
      const std::vector<float> reference = reference_forward(w, in, rows, "a.");
      REQUIRE(reference.size() == out.size());
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::abs(out[i] - reference[i]) < 1e-5F);
    }
  }
}

}  // namespace
}  // namespace starling
