// SPDX-License-Identifier: Apache-2.0
#include "launch/client/flock_client.h"
#include "launch/gateway/gateway_handlers.h"
#include "launch/gateway/handler_parts.h"
#include "launch/jobs/queues_shown.h"
#include "workload/queue_file.h"

namespace starling {
namespace {

using Json = nlohmann::json;

template <class Id>
Json numbers_of(const std::vector<Id>& ids) {
  Json list = Json::array();
  for (const Id id : ids) list.push_back(id.value);
  return list;
}

/// A view of the picture, made by the thread for what takes time.
void answer_by(GatewayFlock& flock, const HttpReply& reply, Json (*view)(const FlockPicture&)) {
  const FlockPicturePtr picture = flock.picture();
  if (picture == nullptr || picture->topology == nullptr) return reply(nothing_read(flock));
  const bool posted = flock.sorters().post(
      [picture, view, reply](const Result<FlockClient*>&) { reply(json_answer(view(*picture))); });
  if (!posted) reply(too_busy());
}

void set_drain(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply, bool drained) {
  ask_flock(flock, reply,
            [name = call.text("server"), evict = call.flag("evict"), drained](FlockClient& client) {
              const auto server = client.server_named(name);
              if (!server) return http_error(404, "not_found", "there is no such server");
              const auto answer = client.drain({*server, drained, evict, 0});
              if (!answer) return flock_error(answer.error());
              return json_answer({{"server", client.topology().server(*server).name},
                                  {"drained", answer.value().drained},
                                  {"attempts", answer.value().attempts}});
            });
}

HttpAnswer queues_answer(const Result<QueuesState>& state) {
  return state ? json_answer(queues_json(state.value())) : flock_error(state.error());
}

/// The gateway's key is no member's business: what the client refuses here is a conflict.
HttpAnswer member_answer(const Result<MembersChange>& change) {
  if (!change) {
    const Error& error = change.error();
    return error.code == Errc::invalid ? http_error(409, "conflict", error.message)
                                       : flock_error(error);
  }
  Json moves = Json::array();
  for (const MembersChange::Move& move : change.value().moves) {
    moves.push_back(
        {{"partition", move.partition.value}, {"from", move.from.value}, {"to", move.to.value}});
  }
  return json_answer({{"agent", change.value().agent.value}, {"moves", moves}});
}

void change_members(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply,
                    Result<MembersChange> (*change)(FlockClient&, AgentId)) {
  ask_flock(flock, reply, [name = call.text("agent"), change](FlockClient& client) {
    const auto agent = client.agent_named(name);
    if (!agent) return http_error(404, "not_found", "there is no such agent");
    return member_answer(change(client, *agent));
  });
}

}  // namespace

void who_am_i(GatewayFlock& /*flock*/, const GatewayCall& call, const HttpReply& reply) {
  reply(json_answer({{"user", call.caller.user}, {"role", name_of(call.caller.role)}}));
}

void list_agents(GatewayFlock& flock, const GatewayCall& /*call*/, const HttpReply& reply) {
  answer_by(flock, reply, agents_json);
}

void show_topology(GatewayFlock& flock, const GatewayCall& /*call*/, const HttpReply& reply) {
  answer_by(flock, reply, topology_json);
}

void list_servers(GatewayFlock& flock, const GatewayCall& /*call*/, const HttpReply& reply) {
  answer_by(flock, reply, servers_json);
}

void drain_server(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  set_drain(flock, call, reply, true);
}

void undrain_server(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  set_drain(flock, call, reply, false);
}

void show_queues(GatewayFlock& flock, const GatewayCall& /*call*/, const HttpReply& reply) {
  ask_flock(flock, reply, [](FlockClient& client) { return queues_answer(client.queues()); });
}

void change_queues(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  auto tree = parse_queue_file("body", call.body.dump());
  if (!tree) {
    // Lines of a text that the caller has not seen.
    const std::string& told = tree.error().message;
    return reply(http_error(422, "refused", told.substr(told.find(": ") + 2)));
  }
  ask_flock(flock, reply, [tree = std::move(tree).value()](FlockClient& client) {
    return queues_answer(client.set_queues(tree));
  });
}

void list_members(GatewayFlock& flock, const GatewayCall& /*call*/, const HttpReply& reply) {
  ask_flock(flock, reply, [](FlockClient& client) {
    const auto found = client.members();
    if (!found) return flock_error(found.error());
    Json agents = Json::array();
    for (const MemberState& a : found.value().agents) {
      agents.push_back({{"agent", a.agent.value},
                        {"member", a.member},
                        {"should_serve", numbers_of(a.should_serve)},
                        {"serves", numbers_of(a.serves)}});
    }
    return json_answer({{"silent", numbers_of(found.value().silent)}, {"agents", agents}});
  });
}

void add_member(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  change_members(flock, call, reply,
                 [](FlockClient& client, AgentId agent) { return client.add_member(agent); });
}

void remove_member(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  change_members(flock, call, reply,
                 [](FlockClient& client, AgentId agent) { return client.remove_member(agent); });
}

void watch_events(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  HttpAnswer answer{200, "text/event-stream", ""};
  answer.stream = flock.events().watch(call.last_event_id, flock.limits().most_watchers);
  if (answer.stream == nullptr) return reply(too_busy());
  reply(std::move(answer));
}

}  // namespace starling
