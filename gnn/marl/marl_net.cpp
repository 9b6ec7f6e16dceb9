// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/marl_net.h"

#include "base/check.h"
#include "gnn/marl/features.h"

namespace starling {

Result<MarlNet> MarlNet::make(const Weights& weights) {
  MarlNet net;
  net.waits_ = weights.note("waits", "yes") == "yes";
  if (weights.tensors.contains("encoder.gpu.weight")) {
    auto encoder = EncoderNet::make(weights);
    if (!encoder) return encoder.error();
    net.encoder_ = std::move(encoder).value();
  }
  const auto own = static_cast<std::uint32_t>(Features::kOwn);
  const auto skip = weights.tensor("skip", std::span(&own, 1));
  if (!skip) return skip.error();
  net.skip_ = skip.value()->values;
  auto actor = Mlp::make(weights, "actor.");
  if (!actor) return actor.error();
  if (actor.value().inputs() != Features::kRow || actor.value().outputs() != 1) {
    return Error{Errc::invalid, "actor takes " + std::to_string(actor.value().inputs()) +
                                    " values and gives " + std::to_string(actor.value().outputs()) +
                                    "; a policy's takes " + std::to_string(Features::kRow) +
                                    " and gives 1"};
  }
  net.actor_ = std::move(actor).value();
  return net;
}

void MarlNet::score(std::span<const float> rows, std::span<float> scores) {
  STARLING_CHECK(rows.size() == scores.size() * Features::kRow);
  actor_->run(rows, scores.size(), scores);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const float* const row = rows.data() + i * Features::kRow;
    for (std::size_t k = 0; k < skip_.size(); ++k) scores[i] += skip_[k] * row[k];
  }
}

}  // namespace starling
