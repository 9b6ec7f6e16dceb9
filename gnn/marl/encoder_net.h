// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "nets/dense.h"

namespace starling {

/// What the hierarchical encoder knows of each vertex, and the layers that it applies. W is the
/// width of every embedding; [a; b] is one vector after the other; mean is over the children.
///
/// Up, the same weights for every vertex of a layer (t for racks, pods and the partition):
///   g = relu(gpu x)                       x [kGpu]
///   m = relu(island [mean g; x])          x [GraphShape::kIslandFeatures]
///   o = relu(socket mean m)
///   s = relu(server [mean o; x])          x [kServer]
///   t = relu(tree [mean below; x])        x [GraphShape::kTree]
/// Down, what surrounds it:
///   d = t for the partition, else relu(inside [t; d of the vertex above])
///   e = relu(place [s; d of its rack]),  of a server
///   u = relu(group [m; o; e]),           of an island: a GPU group
///
/// Tensors encoder.gpu.weight [W, kGpu], encoder.gpu.bias [W], and so on by the names above.
struct EncoderNet {
  static constexpr std::uint32_t kWidth = 16;
  /// free, one tenant, two, out of use, speed of the type, memory; summed over the tenants: size of
  /// the gang, how busy it keeps a GPU, what it sends for each second of computing.
  static constexpr std::uint32_t kGpu = 9;
  /// GPUs, bandwidth of NIC, of the inside; gangs that cross the NIC, tenants, free part.
  static constexpr std::uint32_t kServer = 6;
  /// Of a candidate: mean e of its servers, mean u of its GPU groups.
  static constexpr std::uint32_t kPlace = 2 * kWidth;

  /// `not_found` or `invalid` names the tensor.
  [[nodiscard]] static Result<EncoderNet> make(const Weights& weights);

  /// Note data-center "no": embeddings end at the server, as if nothing were around it.
  bool data_center = true;
  Dense gpu, island, socket, server, tree, inside, place, group;
};

}  // namespace starling
