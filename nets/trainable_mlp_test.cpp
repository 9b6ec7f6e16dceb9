// SPDX-License-Identifier: Apache-2.0
#include "nets/trainable_mlp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "nets/mlp.h"

namespace starling {
namespace {

std::vector<float> noise(Rng& rng, std::size_t n) {
  std::vector<float> out(n);
  for (float& x : out) x = static_cast<float>(rng.normal());
  return out;
}

// Half the square of what it answers.
double loss_of(TrainableMlp& net, const std::vector<float>& in, std::size_t rows) {
  double sum = 0;
  for (const float y : net.forward(in, rows)) sum += 0.5 * static_cast<double>(y) * y;
  return sum;
}

}  // namespace

TEST_CASE("gradients are what small changes of each parameter do to the loss") {
  Rng rng(3);
  TrainableMlp net({5, 7, 6, 3}, rng);
  for (float& p : net.parameters()) p += static_cast<float>(0.3 * rng.normal());
  const std::vector<float> in = noise(rng, 4 * 5);
  const auto answered = net.forward(in, 4);
  const std::vector<float> by_out(answered.begin(), answered.end());
  net.backward(by_out);
  const std::vector<float> found(net.gradients().begin(), net.gradients().end());
  std::size_t told = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    constexpr float kSmall = 1e-3F;
    float& p = net.parameters()[k];
    const float was = p;
    p = was + kSmall;
    const double more = loss_of(net, in, 4);
    p = was - kSmall;
    const double less = loss_of(net, in, 4);
    p = was;
    const double expected = (more - less) / (2 * static_cast<double>(kSmall));
    CHECK(found[k] == doctest::Approx(expected).epsilon(0.02).scale(1));
    told += std::abs(expected) > 1e-3 ? 1 : 0;
  }
  CHECK(told > found.size() / 2);
}

TEST_CASE("what it learned runs in an Mlp, and is read back as it was") {
  Rng rng(5);
  TrainableMlp net({4, 8, 2}, rng);
  Weights weights;
  net.put(weights, "actor.");
  Mlp runs = Mlp::make(weights, "actor.").value();
  TrainableMlp back = TrainableMlp::make(weights, "actor.").value();
  const std::vector<float> in = noise(rng, 3 * 4);
  std::vector<float> out(3 * 2);
  runs.run(in, 3, out);
  const auto mine = net.forward(in, 3);
  const std::vector<float> expected(mine.begin(), mine.end());
  const auto again = back.forward(in, 3);
  for (std::size_t i = 0; i < out.size(); ++i) {
    CHECK(out[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    CHECK(again[i] == expected[i]);
  }
  Weights other = weights;
  other.notes["actor.activation"] = "tanh";
  CHECK(TrainableMlp::make(other, "actor.").error().message.find("has relu between") !=
        std::string::npos);
  other = weights;
  other.tensors["actor.input.mean"] = other.tensors["actor.input.scale"] = {{4}, {1, 1, 1, 1}};
  CHECK(TrainableMlp::make(other, "actor.").error().message.find("tensor actor.input.mean") !=
        std::string::npos);
  weights.tensors.erase("actor.1.bias");
  CHECK(TrainableMlp::make(weights, "actor.").error().message.find("actor.1.bias") !=
        std::string::npos);
}

TEST_CASE("it learns which of its inputs is larger, the same way every time") {
  const auto train = [] {
    Rng rng(7);
    TrainableMlp net({2, 16, 1}, rng);
    for (int pass = 0; pass < 400; ++pass) {
      const std::vector<float> in = noise(rng, 64 * 2);
      const auto out = net.forward(in, 64);
      std::vector<float> by_out(64);
      for (std::size_t i = 0; i < 64; ++i) {
        const float wanted = in[2 * i] > in[2 * i + 1] ? 1.0F : -1.0F;
        by_out[i] = (out[i] - wanted) / 64;
      }
      net.backward(by_out);
      net.step(0.01, 1);
    }
    return net;
  };
  TrainableMlp net = train();
  Rng rng(8);
  const std::vector<float> in = noise(rng, 1000 * 2);
  const auto out = net.forward(in, 1000);
  int right = 0;
  for (std::size_t i = 0; i < 1000; ++i) right += (out[i] > 0) == (in[2 * i] > in[2 * i + 1]);
  CHECK(right > 950);
  const TrainableMlp again = train();
  CHECK(std::ranges::equal(again.parameters(), net.parameters()));
}

TEST_CASE("a gradient that is no number changes nothing") {
  Rng rng(9);
  TrainableMlp net({2, 4, 1}, rng);
  const std::vector<float> before(net.parameters().begin(), net.parameters().end());
  net.gradients()[0] = std::nanf("");
  net.step(0.1, 1);
  CHECK(std::ranges::equal(before, net.parameters()));
  for (const float g : net.gradients()) CHECK(g == 0);
}

}  // namespace starling
