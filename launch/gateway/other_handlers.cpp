// SPDX-License-Identifier: Apache-2.0
#include "launch/client/session.h"
#include "launch/gateway/figures/flock_metrics.h"
#include "launch/gateway/gateway_handlers.h"
#include "launch/gateway/gateway_page.h"
#include "launch/gateway/handler_parts.h"

namespace starling {
namespace {

const char* const kWords = "text/plain; charset=utf-8";

GatewayFigures figures_of(GatewayFlock& flock) {
  GatewayFigures figures{flock.counts(), flock.events().watchers(), flock.events().dropped()};
  figures.ready = flock.not_ready().empty();
  if (const FlockPicturePtr picture = flock.picture())
    figures.picture_age_s = seconds(Session::now() - picture->begun);
  return figures;
}

}  // namespace

void describe(GatewayFlock& /*flock*/, const GatewayCall& /*call*/, const HttpReply& reply) {
  reply({200, "application/json", openapi_document()});
}

void healthz(GatewayFlock& /*flock*/, const GatewayCall& /*call*/, const HttpReply& reply) {
  reply({200, kWords, "ok\n"});
}

void readyz(GatewayFlock& flock, const GatewayCall& /*call*/, const HttpReply& reply) {
  const std::string why = flock.not_ready();
  reply(why.empty() ? HttpAnswer{200, kWords, "ready\n"} : HttpAnswer{503, kWords, why + "\n"});
}

void metrics(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  const bool open = call.accept.find("application/openmetrics-text") != std::string::npos;
  const char* const type = open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                : "text/plain; version=0.0.4; charset=utf-8";
  const bool posted = flock.sorters().post([picture = flock.picture(), figures = figures_of(flock),
                                            open, type, reply](const Result<FlockClient*>&) {
    reply({200, type, flock_metrics(picture.get(), figures, open)});
  });
  if (!posted) reply(too_busy());
}

void page(GatewayFlock& /*flock*/, const GatewayCall& /*call*/, const HttpReply& reply) {
  reply({200, "text/html; charset=utf-8", kGatewayPage});
}

void page_style(GatewayFlock& /*flock*/, const GatewayCall& /*call*/, const HttpReply& reply) {
  reply({200, "text/css; charset=utf-8", kGatewayStyle});
}

void page_script(GatewayFlock& /*flock*/, const GatewayCall& /*call*/, const HttpReply& reply) {
  reply({200, "text/javascript; charset=utf-8", kGatewayScript});
}

}  // namespace starling
