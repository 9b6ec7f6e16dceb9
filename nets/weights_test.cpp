// SPDX-License-Identifier: Apache-2.0
#include "nets/weights.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "base/hash.h"
#include "base/rng.h"

namespace starling {
namespace {

Weights sample() {
  Weights w;
  w.notes = {{"activation", "tanh"}, {"trained", "seed 1"}};
  w.tensors["0.weight"] = {{2, 3}, {1, 2, 3, 4, 5, -6.5F}};
  w.tensors["0.bias"] = {{2}, {0.25F, 0}};
  w.tensors["scalar"] = {{}, {7}};
  return w;
}

/// Makes the header agree with the body, so that damage gets past the hash to the reader behind it.
void reseal(std::vector<std::byte>& bytes) {
  TraceHash hash;
  const std::span<const std::byte> body(bytes.data() + 32, bytes.size() - 32);
  hash.add(body);
  const std::uint64_t size = body.size(), value = hash.value();
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[16 + i] = static_cast<std::byte>(size >> (8 * i));
    bytes[24 + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

TEST_CASE("what is written is read back, and the hash names it") {
  const Weights w = sample();
  const auto bytes = weights_bytes(w).value();
  const Weights back = parse_weights(bytes).value();
  CHECK(back.notes == w.notes);
  REQUIRE(back.tensors.size() == 3);
  CHECK(back.tensors.at("0.weight").values == w.tensors.at("0.weight").values);
  CHECK(back.tensors.at("0.weight").shape == w.tensors.at("0.weight").shape);
  CHECK(back.tensors.at("scalar").values == std::vector<float>{7});
  CHECK(back.hash() == w.hash());
  Weights other = sample();
  other.tensors["0.bias"].values[1] = 1e-30F;
  CHECK(other.hash() != w.hash());
}

TEST_CASE("every truncation and every flipped bit is refused") {
  const auto bytes = weights_bytes(sample()).value();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(!parse_weights(std::span(bytes).first(size)).ok());
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    CHECK(!parse_weights(damaged).ok());
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  CHECK(!parse_weights(longer).ok());
}

TEST_CASE("damage under a correct hash never crashes, and what is read can be written") {
  const auto bytes = weights_bytes(sample()).value();
  const auto judge = [](std::vector<std::byte> damaged) {
    reseal(damaged);
    const auto read = parse_weights(damaged);
    if (read.ok()) {
      CHECK(weights_bytes(read.value()).value() == damaged);
    } else {
      CHECK(!read.error().message.empty());
    }
  };
  for (std::size_t bit = 32 * 8; bit < bytes.size() * 8; ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    judge(damaged);
  }
  for (std::size_t size = 32; size < bytes.size(); ++size)
    judge({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    auto damaged = bytes;
    for (int k = 0; k < 4; ++k)
      damaged[32 + rng.below(static_cast<std::uint32_t>(bytes.size() - 32))] =
          static_cast<std::byte>(rng.next());
    judge(damaged);
  }
}

TEST_CASE("a network that could not be read back is not written") {
  Weights w = sample();
  SUBCASE("not finite") { w.tensors["0.bias"].values[0] = std::numeric_limits<float>::quiet_NaN(); }
  SUBCASE("infinite") { w.tensors["0.bias"].values[0] = std::numeric_limits<float>::infinity(); }
  SUBCASE("shape and values differ") { w.tensors["0.bias"].values.push_back(1); }
  SUBCASE("empty dimension") { w.tensors["0.bias"] = {{0}, {}}; }
  SUBCASE("too many dimensions") { w.tensors["0.bias"] = {{1, 1, 1, 1, 1}, {1}}; }
  SUBCASE("long name") { w.tensors[std::string(300, 'x')] = {{}, {1}}; }
  CHECK(weights_bytes(w).error().code == Errc::invalid);
}

TEST_CASE("files: errors name the file, success leaves nothing else behind") {
  const auto folder = std::filesystem::temp_directory_path() / "starling-weights-test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  REQUIRE(save_weights(folder / "net.weights", sample()).ok());
  CHECK(load_weights(folder / "net.weights").value().hash() == sample().hash());
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  const auto missing = load_weights(folder / "none.weights");
  CHECK(missing.error().code == Errc::io);
  CHECK(missing.error().message.find("none.weights") != std::string::npos);
  CHECK(save_weights(folder / "no" / "net.weights", sample()).error().code == Errc::io);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a tensor is asked for by name and shape") {
  const Weights w = sample();
  const std::uint32_t good[] = {0, 3}, bad[] = {2, 4};
  CHECK(w.tensor("0.weight", good).ok());
  CHECK(w.tensor("0.weight", bad).error().message ==
        "tensor 0.weight is [2, 3]; it should be [2, 4]");
  CHECK(w.tensor("1.weight", good).error().code == Errc::not_found);
}

}  // namespace
}  // namespace starling
