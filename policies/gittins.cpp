#include "policies/gittins.h"

#include <algorithm>

namespace starling {

void ServiceHistory::add(double total) {
  if (recent_.size() < kWindow) {
    recent_.push_back(total);
  } else {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), recent_[next_]));
    recent_[next_] = total;
    next_ = (next_ + 1) % kWindow;
  }
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), total), total);
}

double ServiceHistory::index(double attained, double d) const {
  if (!knows()) return 0;
  const auto alive = std::upper_bound(sorted_.begin(), sorted_.end(), attained);
  double finish = 0;
  double use = 0;
  for (auto s = alive; s != sorted_.end(); ++s) {
    const double left = *s - attained;
    if (left <= d) finish += 1;
    use += std::min(left, d);
  }
  return use > 0 ? finish / use : 0;
}

}  // namespace starling
