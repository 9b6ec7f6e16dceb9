// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/lease_requests.h"

namespace starling {

void LeaseRequests::Request::make(EpochAuthority& leases) const {
  switch (kind) {
    case Kind::acquire:
      return leases.acquire(what.partition, what.epoch, what.owner);
    case Kind::renew:
      return leases.renew(what);
    case Kind::release:
      return leases.release(what);
  }
}

bool LeaseRequests::add(const Request& request) {
  const bool repeated = request.kind == Request::Kind::renew && !requests_.empty() &&
                        requests_.back().kind == Request::Kind::renew &&
                        requests_.back().what == request.what;
  if (!repeated) requests_.push_back(request);
  return !repeated;
}

void LeaseRequests::stop() {
  stopped_ = true;
  std::erase_if(requests_, [](const Request& r) { return r.kind != Request::Kind::release; });
}

std::optional<LeaseRequests::Request> LeaseRequests::next() {
  if (requests_.empty()) return std::nullopt;
  const Request request = requests_.front();
  requests_.pop_front();
  return request;
}

}  // namespace starling
