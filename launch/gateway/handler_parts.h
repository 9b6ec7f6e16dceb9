// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/result.h"
#include "launch/gateway/gateway_flock.h"
#include "launch/gateway/http/http.h"

namespace starling {

// What handlers answer with.

[[nodiscard]] HttpAnswer json_answer(const nlohmann::json& json, unsigned status = 200);
/// An error of the flock's client as HTTP says it.
[[nodiscard]] HttpAnswer flock_error(const Error& error);
[[nodiscard]] HttpAnswer too_busy();
/// Nothing was read of the flock until now.
[[nodiscard]] HttpAnswer nothing_read(const GatewayFlock& flock);

/// Has `ask` called by a thread with a client; its answer, or why there is no client, is replied.
template <class Ask>
void ask_flock(GatewayFlock& flock, const HttpReply& reply, Ask ask) {
  const bool posted =
      flock.workers().post([reply, ask = std::move(ask)](const Result<FlockClient*>& client) {
        reply(client ? ask(*client.value()) : flock_error(client.error()));
      });
  if (!posted) reply(too_busy());
}

}  // namespace starling
