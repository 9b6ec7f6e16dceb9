#include "launch/transport.h"

#include <time.h>

#include <cstdlib>

#include "bus/flock.h"
#include "bus/keys.h"
#include "bus/zmq_endpoint.h"
#include "launch/chaos/faulty_endpoint.h"
#include "launch/chaos/hooks.h"

namespace starling {
namespace {

class MachineClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return Instant(Duration(t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec));
  }
};

}  // namespace

const Clock& machine_clock() {
  static const MachineClock clock;
  return clock;
}

Result<std::unique_ptr<Endpoint>> open_endpoint(const Deployment& deployment, NodeId me,
                                                const std::filesystem::path& key_file,
                                                const Limits& limits, std::uint32_t seat) {
  const char* const members_file = std::getenv(chaos_live::kMembersVariable);
  auto members = read_flock(members_file != nullptr ? std::filesystem::path(members_file)
                                                    : deployment.dir / "flock.json");
  if (!members) return members.error();
  auto keys = read_key_file(key_file);
  if (!keys) return keys.error();
  ZmqOptions options;
  options.me = me;
  options.seat = seat;
  options.keys = keys.value();
  options.limits = limits;
  auto endpoint = ZmqEndpoint::open(options, std::move(members).value(), machine_clock());
  if (!endpoint) return endpoint.error();
  const char* const faults = std::getenv(chaos_live::kFramesVariable);
  if (faults == nullptr) return std::unique_ptr<Endpoint>(std::move(endpoint).value());
  return std::unique_ptr<Endpoint>(std::make_unique<chaos_live::FaultyEndpoint>(
      std::move(endpoint).value(), faults, Rng(deployment.seed).fork(me.value).fork(seat),
      machine_clock()));
}

}  // namespace starling
