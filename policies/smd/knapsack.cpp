// SPDX-License-Identifier: Apache-2.0
#include "policies/smd/knapsack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "policies/programs/lp.h"

namespace starling {
namespace {

constexpr double kSlack = 1e-9;

/// A choice of an item.
struct Form {
  std::size_t item, choice;
};

class Filler {
 public:
  Filler(const Knapsack& all, const KnapsackEffort& effort) : all_(all), best_(all.items.size()) {
    for (std::size_t i = 0; i < all.items.size(); ++i) {
      for (std::size_t c = 0; c < all.items[i].size(); ++c) {
        if (choice({i, c}).gain > 0 && fits(choice({i, c}).needs, all.capacity))
          forms_.push_back({i, c});
      }
    }
    const auto density = [&](const Form& f) { return gain_for_share(choice(f)); };
    std::ranges::stable_sort(forms_, std::ranges::greater{}, density);
    by_density_ = forms_;
    for (std::size_t r = 0; r < all.capacity.size(); ++r) {
      by_need_.push_back(forms_);
      std::ranges::stable_sort(by_need_.back(), [&](const Form& a, const Form& b) {
        return choice(a).gain * choice(b).needs[r] > choice(b).gain * choice(a).needs[r];
      });
    }
    if (forms_.size() > effort.most_variables) forms_.resize(effort.most_variables);
    std::ranges::stable_sort(forms_, std::ranges::greater{},
                             [&](const Form& f) { return choice(f).gain; });
    most_fixed_ = depth(effort);
  }

  KnapsackAnswer fill() {
    if (!forms_.empty()) try_set({forms_.front()}, forms_.size());  // the best one alone
    std::vector<Form> set;
    extend(set, 0);
    return best_;
  }

 private:
  [[nodiscard]] const Knapsack::Choice& choice(const Form& f) const {
    return all_.items[f.item][f.choice];
  }
  static bool fits(const std::vector<double>& needs, const std::vector<double>& left) {
    for (std::size_t r = 0; r < needs.size(); ++r) {
      if (needs[r] > left[r] + kSlack) return false;
    }
    return true;
  }
  [[nodiscard]] double gain_for_share(const Knapsack::Choice& c) const {
    double share = 1e-12;
    for (std::size_t r = 0; r < c.needs.size(); ++r) {
      if (all_.capacity[r] > 0) share = std::max(share, c.needs[r] / all_.capacity[r]);
    }
    return c.gain / share;
  }
  /// Sets of up to q of n are about n^q / q!, each with a program of n variables.
  [[nodiscard]] std::size_t depth(const KnapsackEffort& effort) const {
    const auto n = static_cast<double>(forms_.size());
    double sets = 1, more = 1;
    for (std::size_t q = 1; q <= effort.most_fixed; ++q) {
      more *= (n + 1 - static_cast<double>(q)) / static_cast<double>(q);
      sets += more;
      if (sets * n > static_cast<double>(effort.most_variables)) return q - 1;
    }
    return effort.most_fixed;
  }

  /// Every set that begins with `set`; those that follow are later in the order of gains.
  void extend(std::vector<Form>& set, std::size_t next) {
    try_set(set, next);
    if (set.size() == most_fixed_) return;
    for (std::size_t i = next; i < forms_.size(); ++i) {
      const auto same = [&](const Form& f) { return f.item == forms_[i].item; };
      if (std::ranges::any_of(set, same)) continue;
      set.push_back(forms_[i]);
      extend(set, i + 1);
      set.pop_back();
    }
  }

  /// `next`: the forms from there on may be in beside the set.
  void try_set(const std::vector<Form>& set, std::size_t next) {
    KnapsackAnswer answer(all_.items.size());
    std::vector<double> left = all_.capacity;
    for (const Form& f : set) {
      if (!take(f, answer, left)) return;
    }
    if (bound(answer, left) <= most_) return;
    relax(next, answer, left);
    for (const Form& f : by_density_) (void)take(f, answer, left);
    const double gain = gain_of(all_, answer);
    if (gain <= most_) return;
    most_ = gain;
    best_ = std::move(answer);
  }

  /// No answer that has at least what `answer` has gains more: of each resource alone, fractions go
  /// to the one that gains most for it. A hair above, for sums are rounded.
  [[nodiscard]] double bound(const KnapsackAnswer& answer, const std::vector<double>& left) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < left.size(); ++r) {
      double gain = 0, room = std::max(left[r], 0.0) + kSlack;
      for (const Form& f : by_need_[r]) {
        if (answer[f.item]) continue;
        const double need = choice(f).needs[r];
        if (need >= room) {
          gain += choice(f).gain * room / need;
          break;
        }
        gain += choice(f).gain;
        room -= need;
      }
      least = std::min(least, gain);
    }
    return (gain_of(all_, answer) + least) * (1 + 1e-9);
  }

  bool take(const Form& f, KnapsackAnswer& answer, std::vector<double>& left) const {
    const std::vector<double>& needs = choice(f).needs;
    if (answer[f.item] || !fits(needs, left)) return false;
    answer[f.item] = f.choice;
    for (std::size_t r = 0; r < left.size(); ++r) left[r] -= needs[r];
    return true;
  }

  /// They are together no more than there is left, and each is the only form of its item.
  [[nodiscard]] bool all_fit(const std::vector<Form>& some, std::vector<double> left) const {
    std::set<std::size_t> items;
    for (const Form& f : some) {
      const std::vector<double>& needs = choice(f).needs;
      if (!items.insert(f.item).second || !fits(needs, left)) return false;
      for (std::size_t r = 0; r < left.size(); ++r) left[r] -= needs[r];
    }
    return true;
  }

  /// Takes what the linear program has in whole.
  void relax(std::size_t next, KnapsackAnswer& answer, std::vector<double>& left) const {
    LinearProgram program;
    program.rows.resize(left.size());
    std::vector<Form> variables;
    std::vector<std::vector<std::uint32_t>> of_item(all_.items.size());
    for (std::size_t i = next; i < forms_.size(); ++i) {
      const Form& f = forms_[i];
      if (answer[f.item] || !fits(choice(f).needs, left)) continue;
      const auto variable = static_cast<std::uint32_t>(variables.size());
      program.variables.push_back({choice(f).gain, 1});
      for (std::size_t r = 0; r < left.size(); ++r)
        program.rows[r].terms.emplace_back(variable, choice(f).needs[r]);
      of_item[f.item].push_back(variable);
      variables.push_back(f);
    }
    if (variables.empty()) return;
    if (all_fit(variables, left)) {
      for (const Form& f : variables) (void)take(f, answer, left);
      return;
    }
    // Below the solver's tolerances everything would be as good as the best. The first has most.
    const double most = program.variables.front().gain;
    for (auto& variable : program.variables) variable.gain /= most;
    for (std::size_t r = 0; r < left.size(); ++r) program.rows[r].high = std::max(left[r], 0.0);
    for (const std::vector<std::uint32_t>& forms : of_item) {
      if (forms.size() < 2) continue;
      LinearProgram::Row once;
      for (const std::uint32_t variable : forms) once.terms.emplace_back(variable, 1.0);
      once.high = 1;
      program.rows.push_back(std::move(once));
    }
    const auto solved = solve_lp(program, LpPoint::corner);
    if (!solved) return;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (solved.value()[v] > 1 - 1e-7) (void)take(variables[v], answer, left);
    }
  }

  const Knapsack& all_;
  std::vector<Form> forms_;                 // that a program may have, by gain
  std::vector<Form> by_density_;            // all
  std::vector<std::vector<Form>> by_need_;  // all, by gain for what they need of each resource
  std::size_t most_fixed_ = 0;
  double most_ = -1;
  KnapsackAnswer best_;
};

}  // namespace

double gain_of(const Knapsack& knapsack, const KnapsackAnswer& answer) {
  double sum = 0;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    if (answer[i]) sum += knapsack.items[i][*answer[i]].gain;
  }
  return sum;
}

KnapsackAnswer fill_knapsack(const Knapsack& knapsack, const KnapsackEffort& effort) {
  return Filler(knapsack, effort).fill();
}

}  // namespace starling
