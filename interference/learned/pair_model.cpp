// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/pair_model.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

std::int32_t find(const std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<std::int32_t>(at - names.begin());
}

}  // namespace

Result<PairModel> PairModel::make(const Weights& weights, const std::string& prefix) {
  auto net = PairNet::make(weights, prefix);
  if (!net) return net.error();
  auto table = PairTable::load(weights, prefix);
  if (!table) return table.error();
  const PairNet& n = net.value();
  const PairTable& t = table.value();
  if (n.types() != t.types.size() || n.models() != t.models.size() || n.sets() != t.sets.size() ||
      n.config_width() != t.config_width || n.profile_width() != t.profile_width)
    return Error{Errc::invalid,
                 "notes " + prefix + "types, models and sets do not fit its tensors"};
  return PairModel(std::move(net).value(), std::move(table).value());
}

std::int32_t PairModel::type(const std::string& name) const { return find(table_.types, name); }
std::int32_t PairModel::set(const std::string& name) const { return find(table_.sets, name); }

PairSide PairModel::side(const PairType& type) const {
  PairSide out;
  out.config = type.config;
  out.type = this->type(type.name);
  out.model = find(table_.models, type.model);
  if (type.config.size() != table_.config_width) out.model = out.type = -1;
  out.profile = table_.profile_mean;
  if (type.profile.size() == table_.profile_width) {
    out.profile = type.profile;
  } else if (const std::int32_t known = this->type(type.name); known >= 0) {
    out.profile =
        std::span(table_.profiles)
            .subspan(static_cast<std::size_t>(known) * table_.profile_width, table_.profile_width);
  }
  return out;
}

PairGuess PairModel::guess(const PairType& victim, const PairType& other, std::size_t set) const {
  const std::size_t members = net_.members();
  std::vector<float> v(net_.row_width()), o(net_.row_width()), log_slowdown(members);
  const PairSide own = side(victim);
  net_.victim(own, set, v);
  net_.aggressor(side(other), set, o);
  net_.log_slowdown(v, o, log_slowdown);
  double sum = 0, squares = 0;
  for (const float slow : log_slowdown) {
    const double speed = std::exp(-static_cast<double>(slow));
    sum += speed;
    squares += speed * speed;
  }
  const auto n = static_cast<double>(members);
  const double mean = sum / n;
  return {mean * net_.nuisance(own.type, set), std::sqrt(std::max(squares / n - mean * mean, 0.0))};
}

}  // namespace starling
