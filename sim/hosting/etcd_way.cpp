// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/etcd_way.h"

#include <algorithm>
#include <optional>

namespace starling {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(50);
constexpr double kLatest_s = 15;

template <class T>
double nothing(const T&) {
  return 0;
}

double bytes_of(const std::vector<EtcdEntry>& entries) {
  double bytes = 0;
  for (const EtcdEntry& entry : entries)
    bytes += static_cast<double>(entry.key.size() + entry.value.size());
  return bytes;
}

}  // namespace

Duration SimEtcdWay::way(double bytes) {
  return from_seconds(seconds(weather_.delay) * rng_.exponential() + bytes / weather_.bytes_per_s) +
         host_.slow;
}

template <class T>
Result<T> SimEtcdWay::call(double bytes, const std::function<Result<T>(SimEtcd&)>& ask,
                           const Size<T>& size) {
  const Error unanswered{
      Errc::io, "etcd has not answered within " + std::to_string(options_.call.count()) + " ms"};
  if (host_.tasks.ending()) return unanswered;
  const HostClock clock(host_);
  const Instant until = clock.now() + options_.call;
  while (clock.now() < until) {
    const Instant sent = clock.now(), left_at = std::min(until, sent + options_.attempt);
    const bool late = rng_.chance(weather_.late);
    const bool lost = rng_.chance(weather_.request_lost),
               unheard = rng_.chance(weather_.answer_lost);
    const Duration there = way(bytes);
    const auto out_of_reach = [this] { return weather_.away || host_.cut; };
    if (late && !lost) {
      host_.tasks.at(
          host_.tasks.now() + options_.attempt + from_seconds(kLatest_s * rng_.uniform()),
          [&etcd = etcd_, &weather = weather_, ask] {
            if (!weather.away) (void)ask(etcd).ok();
          });
    } else if (!lost && sent + there < left_at) {
      clock.wait(there);
      if (!out_of_reach()) {
        Result<T> answer = ask(etcd_);
        const Duration back = way(answer ? size(answer.value()) : 0);
        if (!unheard && clock.now() + back < left_at) {
          clock.wait(back);
          if (!out_of_reach()) return answer;
        }
      }
    }
    if (clock.now() < left_at) clock.wait(left_at - clock.now());
    clock.wait(kPause);
  }
  return unanswered;
}

Result<EtcdAnswer> SimEtcdWay::txn(const EtcdTxn& txn) {
  double bytes = 0;
  for (const EtcdOp& op : txn.then) bytes += static_cast<double>(op.key.size() + op.value.size());
  const auto size = [](const EtcdAnswer& answer) {
    double all = 0;
    for (const auto& found : answer.found) all += bytes_of(found);
    return all;
  };
  return call<EtcdAnswer>(
      bytes, [txn](SimEtcd& etcd) { return etcd.txn(txn); }, size);
}

Result<EtcdPage> SimEtcdWay::range(const std::string& first, const std::string& end,
                                   std::int64_t limit, std::int64_t revision) {
  const auto ask = [=](SimEtcd& etcd) { return etcd.range(first, end, limit, revision); };
  return call<EtcdPage>(0, ask, [](const EtcdPage& page) { return bytes_of(page.entries); });
}

Result<EtcdLease> SimEtcdWay::grant(std::chrono::seconds ttl) {
  return call<EtcdLease>(
      0, [=](SimEtcd& etcd) { return etcd.grant(ttl); }, nothing<EtcdLease>);
}

Result<std::chrono::seconds> SimEtcdWay::keep_alive(std::int64_t lease) {
  const auto ask = [=](SimEtcd& etcd) { return etcd.keep_alive(lease); };
  return call<std::chrono::seconds>(0, ask, nothing<std::chrono::seconds>);
}

Status SimEtcdWay::revoke(std::int64_t lease) {
  const auto ask = [=](SimEtcd& etcd) -> Result<bool> {
    const Status revoked = etcd.revoke(lease);
    if (!revoked.ok()) return revoked.error();
    return true;
  };
  try {  // destructors call this
    const Result<bool> revoked = call<bool>(0, ask, nothing<bool>);
    return revoked ? done() : Status(revoked.error());
  } catch (const Tasks::Ended&) {
    return {Errc::io, "this process ends"};
  }
}

}  // namespace starling
