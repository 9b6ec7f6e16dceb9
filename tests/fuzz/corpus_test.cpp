// SPDX-License-Identifier: Apache-2.0
// Every input that was ever of interest, through its target; and changed at random for a moment.
// STARLING_FUZZ_SECONDS: how long per target. With clang the preset `fuzz` searches instead.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tests/fuzz/targets.h"

namespace starling::fuzz {
namespace {

using Input = std::vector<std::uint8_t>;

std::vector<Input> corpus(const std::string& target) {
  const char* source = std::getenv("STARLING_SOURCE");
  REQUIRE(source != nullptr);
  std::vector<std::filesystem::path> files;
  const std::filesystem::path dir = std::filesystem::path(source) / "tests/fuzz/corpus" / target;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Input> inputs;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

void change(Input& input, const std::vector<Input>& others, Rng& rng) {
  const auto below = [&rng](std::size_t n) { return rng.below(static_cast<std::uint32_t>(n)); };
  for (std::uint32_t n = 1 + rng.below(4); n > 0; --n) {
    const std::size_t at = below(input.size() + 1);
    switch (rng.below(5)) {
      case 0:
        if (at < input.size()) input[at] ^= static_cast<std::uint8_t>(1U << rng.below(8));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<std::uint8_t>(rng.below(256));
        break;
      case 2:
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(at),
                     static_cast<std::uint8_t>(rng.below(256)));
        break;
      case 3:
        input.resize(at);
        break;
      default: {  // a piece of another one
        const Input& other = others[below(others.size())];
        const std::size_t from = below(other.size() + 1);
        const std::size_t many = below(std::min<std::size_t>(other.size() - from, 64) + 1);
        const auto first = other.begin() + static_cast<std::ptrdiff_t>(from);
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), first,
                     first + static_cast<std::ptrdiff_t>(many));
      }
    }
  }
}

TEST_CASE("no input of the corpus, nor one like it, breaks an invariant") {
  const char* asked = std::getenv("STARLING_FUZZ_SECONDS");
  const auto budget = std::chrono::duration<double>(asked != nullptr ? std::atof(asked) : 1.0);
  for (const Target& target : kTargets) {
    const std::string name(target.name);
    const std::vector<Input> inputs = corpus(name);
    REQUIRE_MESSAGE(!inputs.empty(), name);
    for (const Input& input : inputs) target.run(input);
    Rng rng(20261121);
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t runs = 0;
    for (; std::chrono::steady_clock::now() - start < budget; ++runs) {
      Input input = inputs[rng.below(static_cast<std::uint32_t>(inputs.size()))];
      change(input, inputs, rng);
      target.run(input);
    }
    MESSAGE(name << ": " << inputs.size() << " inputs, " << runs << " changed ones");
    CHECK(runs > 0);
  }
}

}  // namespace
}  // namespace starling::fuzz
