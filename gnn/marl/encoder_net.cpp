// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/encoder_net.h"

#include <string>

#include "gnn/marl/graph_shape.h"

namespace starling {

Result<EncoderNet> EncoderNet::make(const Weights& weights) {
  EncoderNet net;
  net.data_center = weights.note("data-center", "yes") == "yes";
  constexpr std::uint32_t w = kWidth;
  struct Layer {
    const char* name;
    Dense* dense;
    std::uint32_t in;
  };
  const Layer layers[] = {{"gpu", &net.gpu, kGpu},
                          {"island", &net.island, w + GraphShape::kIslandFeatures},
                          {"socket", &net.socket, w},
                          {"server", &net.server, w + kServer},
                          {"tree", &net.tree, w + GraphShape::kTree},
                          {"inside", &net.inside, 2 * w},
                          {"place", &net.place, 2 * w},
                          {"group", &net.group, 3 * w}};
  for (const Layer& layer : layers) {
    auto dense = Dense::make(weights, std::string("encoder.") + layer.name, layer.in, w);
    if (!dense) return dense.error();
    *layer.dense = std::move(dense).value();
  }
  return net;
}

}  // namespace starling
