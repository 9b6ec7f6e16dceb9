#pragma once

#include "workload/catalogue.h"

namespace starling {

/// What a job's gradients take longer by, as a part of alone, for a neighbour on the same GPU:
/// suffers(own) + does(other). Fitted to the medians of Gavel's 2020 pairs over batch sizes and GPU
/// types (7 x 7 models, mean absolute error of the relative speed 0.03); other models are given the
/// medians of the seven. With several neighbours the parts add up, which was not measured.
[[nodiscard]] double sharing_cost(const ModelProfile& own, const ModelProfile& other) noexcept;

}  // namespace starling
