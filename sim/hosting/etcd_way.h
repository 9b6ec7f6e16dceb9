// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/rng.h"
#include "sim/hosting/sim_etcd.h"
#include "sim/hosting/tasks.h"
#include "sim/world/local_clock.h"
#include "store/etcd/etcd_client.h"

namespace starling {

/// How etcd and the ways to it are at present.
struct EtcdWeather {
  bool away = false;          ///< no majority: nothing is answered, nothing is done
  Duration delay{1'000'000};  ///< each way, on average
  double bytes_per_s = 200e6;
  double request_lost = 0, answer_lost = 0;
  double late = 0;  ///< of requests: etcd takes them up to 15 s after none waits for them any more
};

/// A process's machine, as its tasks see it.
struct HostMachine {
  Tasks& tasks;
  Tasks::Group group;
  LocalClock clock;
  bool cut = false;  ///< from etcd
  Duration slow{0};  ///< more for each way to etcd and back
};

class HostClock final : public Clock {
 public:
  explicit HostClock(HostMachine& host) : host_(host) {}
  [[nodiscard]] Instant now() const noexcept override { return host_.clock.at(host_.tasks.now()); }
  void wait(Duration lasts) const { host_.tasks.wait_until(host_.clock.when(later(now(), lasts))); }

 private:
  HostMachine& host_;
};

/// The way of one task to etcd, with the promises of EtcdClient and no better: a call ends in time,
/// and what it asked for was done once, twice, not at all, or will be.
class SimEtcdWay final : public EtcdCalls {
 public:
  /// All but `options` outlive it.
  SimEtcdWay(SimEtcd& etcd, HostMachine& host, const EtcdWeather& weather, Rng rng,
             const EtcdOptions& options)
      : etcd_(etcd), host_(host), weather_(weather), rng_(rng), options_(options) {}

  Result<EtcdAnswer> txn(const EtcdTxn& txn) override;
  Result<EtcdPage> range(const std::string& first, const std::string& end, std::int64_t limit,
                         std::int64_t revision) override;
  Result<EtcdLease> grant(std::chrono::seconds ttl) override;
  Result<std::chrono::seconds> keep_alive(std::int64_t lease) override;
  Status revoke(std::int64_t lease) override;

 private:
  /// Bytes that an answer takes.
  template <class T>
  using Size = std::function<double(const T&)>;
  template <class T>
  Result<T> call(double bytes, const std::function<Result<T>(SimEtcd&)>& ask, const Size<T>& size);
  [[nodiscard]] Duration way(double bytes);

  SimEtcd& etcd_;
  HostMachine& host_;
  const EtcdWeather& weather_;
  Rng rng_;
  EtcdOptions options_;
};

}  // namespace starling
