// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/gateway/gateway_flock.h"
#include "launch/gateway/gateway_routes.h"

namespace starling {

// What each route does (gateway_routes.cpp). Called by the server's one thread, so none waits: what
// has to ask the flock is left to another thread, which replies.

void list_jobs(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void submit_job(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void show_job(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void cancel_job(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void explain_job(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void job_logs(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);

void who_am_i(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void list_agents(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void show_topology(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void list_servers(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void drain_server(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void undrain_server(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void show_queues(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void change_queues(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void list_members(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void add_member(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void remove_member(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void watch_events(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);

void describe(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void healthz(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void readyz(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void metrics(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void page(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void page_style(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);
void page_script(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);

}  // namespace starling
