// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace starling {

/// Which jobs are in, and in which of their forms: max sum of gains, at most one choice of each
/// item, within `capacity` of each of R resources. With one choice each it is the 0/1 knapsack of
/// several dimensions.
struct Knapsack {
  struct Choice {
    double gain = 0;            ///< finite, not negative
    std::vector<double> needs;  ///< of each resource, not negative
  };
  using Item = std::vector<Choice>;
  std::vector<double> capacity;
  std::vector<Item> items;
};
/// The choice of each item; nothing: it stays out.
using KnapsackAnswer = std::vector<std::optional<std::size_t>>;
[[nodiscard]] double gain_of(const Knapsack& knapsack, const KnapsackAnswer& answer);

struct KnapsackEffort {
  std::size_t most_fixed = 2;           ///< q below
  std::size_t most_variables = 20'000;  ///< of all linear programs together
};

/// Frieze and Clarke's scheme (1984): every set of up to q choices is taken to be those of the
/// largest gain in the answer, a linear program says of the others, which gain no more, how much of
/// each is in, and what it has in part, of R items at most, is out. At least (1 - R/(q+1)) of the
/// best; and at least 1/(R+1) whatever q, for each item alone is tried as well. What is then left
/// goes to the one that gains most for it.
///
/// q is most_fixed, or the most for which the programs have no more than most_variables in all.
/// Where even one has more, those choices alone are looked at that gain most for their dominant
/// share. Where a program cannot be solved, what its set leaves goes by that, too. Same input, same
/// answer.
[[nodiscard]] KnapsackAnswer fill_knapsack(const Knapsack& knapsack,
                                           const KnapsackEffort& effort = {});

}  // namespace starling
