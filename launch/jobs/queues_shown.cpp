// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/queues_shown.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/counted.h"
#include "launch/system/text.h"

namespace starling {
namespace {

using Json = nlohmann::json;

/// A limit; "-": there is none.
std::string limit_text(std::uint32_t gpus) {
  return gpus == QueueSpec::kNoLimit ? "-" : std::to_string(gpus);
}

std::string users_text(const std::vector<std::string>& users) {
  return users.empty() ? "whoever may above it" : joined(users, ", ");
}

/// How a new queue is, as the lines of changes say it.
std::string limits_of(const QueueSpec& queue) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (queue.guaranteed > 0) add("guaranteed " + std::to_string(queue.guaranteed));
  if (queue.most != QueueSpec::kNoLimit) add("most " + limit_text(queue.most));
  if (queue.most_per_user != QueueSpec::kNoLimit)
    add("most_per_user " + limit_text(queue.most_per_user));
  if (queue.weight != 1) add("weight " + std::to_string(queue.weight));
  if (!queue.users.empty()) add("users " + users_text(queue.users));
  return text.empty() ? "no limits" : text;
}

void compare(const QueueSpec& before, const QueueSpec& after, std::vector<std::string>& lines) {
  const auto add = [&](const char* what, const std::string& from, const std::string& to) {
    if (from != to) lines.push_back(after.name + ": " + what + " " + from + " -> " + to);
  };
  add("guaranteed", std::to_string(before.guaranteed), std::to_string(after.guaranteed));
  add("most", limit_text(before.most), limit_text(after.most));
  add("most_per_user", limit_text(before.most_per_user), limit_text(after.most_per_user));
  add("weight", std::to_string(before.weight), std::to_string(after.weight));
  add("users", users_text(before.users), users_text(after.users));
}

}  // namespace

std::string queues_table(const QueuesState& state) {
  std::vector<std::vector<std::string>> rows{
      {"queue", "guaranteed", "most", "may", "used", "wanted", "weight"}};
  const auto add_use = [&](const QueueUse* use, std::vector<std::string> row,
                           const std::string& weight) {
    for (const std::uint32_t gpus : {use == nullptr ? 0 : use->may, use == nullptr ? 0 : use->used,
                                     use == nullptr ? 0 : use->want})
      row.push_back(std::to_string(gpus));
    row.push_back(weight);
    rows.push_back(std::move(row));
  };
  for (const QueueSpec& queue : state.tree.queues) {
    const auto depth = static_cast<std::size_t>(std::ranges::count(queue.name, '/'));
    const std::size_t own = queue.name.rfind('/') + 1;  // 0 where there is none
    const std::string in(2 * depth, ' ');
    const auto whole =
        std::ranges::find(state.uses, QuotaAccount{queue.name, ""}, &QueueUse::account);
    add_use(whole == state.uses.end() ? nullptr : &*whole,
            {in + queue.name.substr(own), std::to_string(queue.guaranteed), limit_text(queue.most)},
            std::to_string(queue.weight));
    for (const QueueUse& use : state.uses) {
      if (use.account.queue == queue.name && !use.account.user.empty())
        add_use(&use, {in + "  user " + use.account.user, "", limit_text(queue.most_per_user)}, "");
    }
  }
  std::string text = table_text(std::move(rows));
  if (!state.tree.fallback.empty())
    text += "jobs that name no queue are in " + state.tree.fallback + "\n";
  if (!state.unaware.empty()) {
    std::vector<std::string> names;
    for (const AgentId agent : state.unaware)
      names.push_back("agent-" + std::to_string(agent.value));
    text += joined(names, ", ") + (names.size() == 1 ? " does" : " do") +
            " not go by these queues yet\n";
  }
  return text;
}

Json queue_tree_json(const QueueTree& tree) {
  Json queues = Json::array();
  for (const QueueSpec& queue : tree.queues) {
    Json one{{"name", queue.name}, {"guaranteed", queue.guaranteed}, {"weight", queue.weight}};
    if (queue.most != QueueSpec::kNoLimit) one["most"] = queue.most;
    if (queue.most_per_user != QueueSpec::kNoLimit) one["most_per_user"] = queue.most_per_user;
    if (!queue.users.empty()) one["users"] = queue.users;
    queues.push_back(std::move(one));
  }
  Json all{{"queues", std::move(queues)}};
  if (!tree.fallback.empty()) all["default"] = tree.fallback;
  return all;
}

Json queues_json(const QueuesState& state) {
  Json uses = Json::array(), unaware = Json::array();
  for (const QueueUse& use : state.uses) {
    Json one{
        {"queue", use.account.queue}, {"may", use.may}, {"used", use.used}, {"wanted", use.want}};
    if (!use.account.user.empty()) one["user"] = use.account.user;
    uses.push_back(std::move(one));
  }
  for (const AgentId agent : state.unaware) unaware.push_back(agent.value);
  return {{"version", state.tree.version},
          {"tree", queue_tree_json(state.tree)},
          {"uses", std::move(uses)},
          {"unaware", std::move(unaware)}};
}

std::vector<std::string> queue_changes(const QueueTree& before, const QueueTree& after) {
  std::vector<std::string> lines;
  std::set<std::string> names;
  for (const QueueTree* tree : {&before, &after})
    for (const QueueSpec& queue : tree->queues) names.insert(queue.name);
  for (const std::string& name : names) {
    const QueueSpec *old = before.find(name), *now = after.find(name);
    if (old == nullptr) lines.push_back(name + ": added, " + limits_of(*now));
    if (now == nullptr) lines.push_back(name + ": removed");
    if (old != nullptr && now != nullptr) compare(*old, *now, lines);
  }
  if (before.fallback != after.fallback)
    lines.push_back("default: " + (before.fallback.empty() ? "none" : before.fallback) + " -> " +
                    (after.fallback.empty() ? "none" : after.fallback));
  return lines;
}

std::string guarantees_beyond(const QueueTree& tree, std::uint64_t gpus) {
  // Of a queue at least those of the ones below it, which stand behind.
  std::map<std::string_view, std::uint64_t> below;
  for (auto queue = tree.queues.rbegin(); queue != tree.queues.rend(); ++queue)
    below[above(queue->name)] += std::max<std::uint64_t>(queue->guaranteed, below[queue->name]);
  const std::uint64_t all = below[{}];
  if (all <= gpus) return {};
  return "the queues are guaranteed " + counted(all, "GPU") + " together, and the flock has " +
         std::to_string(gpus) + ": not all of that can be met";
}

}  // namespace starling
