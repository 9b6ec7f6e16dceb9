// SPDX-License-Identifier: Apache-2.0
#include "workload/queue_tree.h"

#include <algorithm>

#include "base/counted.h"
#include "base/visible.h"

namespace starling {
namespace {

constexpr std::size_t kNameBytes = 256;
constexpr std::size_t kNamesTold = 8;  // of queues, to people

std::string in_quotes(std::string_view name) { return "'" + visible_line(name) + "'"; }
std::string queue(std::string_view name) { return "queue " + in_quotes(name); }

std::string check_word(std::string_view word) {
  if (word.empty()) return "is empty; name it";
  if (word.size() > kNameBytes)
    return "has " + std::to_string(word.size()) + " bytes; at most 256 are right";
  if (!is_visible_line(word)) return "has control characters; use printable ones";
  if (word.front() == ' ' || word.back() == ' ') return "has blanks around it; leave them out";
  return {};
}

std::string check_path(std::string_view name) {
  if (std::string bad = check_word(name); !bad.empty()) return bad;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part.empty())
      return "has an empty part; names with one '/' between them are right (research/vision)";
    if (part.front() == ' ' || part.back() == ' ')
      return "has blanks around a part; leave them out";
    at = end + 1;
  }
  return {};
}

/// Without what is below it or above.
std::string check_queue(const QueueTree& tree, const QueueSpec& q) {
  if (std::string bad = check_path(q.name); !bad.empty()) return "its name " + bad;
  if (const std::string_view top = above(q.name); !top.empty() && tree.find(top) == nullptr)
    return "there is no " + queue(top) + " above it; give that, too";
  if (q.guaranteed > q.most) {
    return "guaranteed is " + std::to_string(q.guaranteed) + ", above its most (" +
           std::to_string(q.most) + "); at most that is right";
  }
  if (q.weight == 0) return "weight is 0; at least 1 is right";
  if (q.most_per_user != QueueSpec::kNoLimit && !tree.is_leaf(q.name))
    return "most_per_user is of queues without others below; give it to those below";
  for (const std::string& user : q.users) {
    if (std::string bad = check_word(user); !bad.empty()) return "the name of a user " + bad;
  }
  return {};
}

/// Sums of guarantees: of each queue at least those of the ones below it.
std::string check_guarantees(const QueueTree& tree) {
  std::vector<std::uint64_t> below(tree.queues.size());
  for (std::size_t i = tree.queues.size(); i-- > 0;) {  // those below stand behind
    const QueueSpec& q = tree.queues[i];
    const bool has_one = q.guaranteed > 0;
    const std::uint64_t room = has_one ? q.guaranteed : q.most;
    if (below[i] > room && (has_one || q.most != QueueSpec::kNoLimit)) {
      return queue(q.name) + ": the queues below it are guaranteed " + std::to_string(below[i]) +
             " together, above its " + (has_one ? "own guarantee" : "most") + " (" +
             std::to_string(room) + "); at most that is right";
    }
    if (const QueueSpec* top = tree.find(above(q.name)))
      below[static_cast<std::size_t>(top - tree.queues.data())] +=
          std::max<std::uint64_t>(q.guaranteed, below[i]);
  }
  return {};
}

/// The leaves at `top` and below, some of them.
std::string leaves(const QueueTree& tree, std::string_view top) {
  std::string text;
  std::size_t told = 0;
  for (const QueueSpec& q : tree.queues) {
    if (!is_within(q.name, top) || !tree.is_leaf(q.name)) continue;
    if (++told > kNamesTold) return text + ", ...";
    text += (text.empty() ? "" : ", ") + visible_line(q.name);
  }
  return text;
}

/// Empty: the user may.
std::string why_not_used(const QueueTree& tree, std::string_view leaf, const std::string& user) {
  const QueueSpec* at = tree.find(leaf);
  while (at != nullptr && at->users.empty()) at = tree.find(above(at->name));
  if (at == nullptr || std::find(at->users.begin(), at->users.end(), user) != at->users.end())
    return {};
  return queue(leaf) + " is not for " + (user.empty() ? "jobs without a user" : in_quotes(user)) +
         "; who runs the cluster may add " + (user.empty() ? "one" : "that user") +
         " to those of " + queue(at->name);
}

}  // namespace

const QueueSpec* QueueTree::find(std::string_view name) const noexcept {
  const auto at =
      std::lower_bound(queues.begin(), queues.end(), name,
                       [](const QueueSpec& q, std::string_view wanted) { return q.name < wanted; });
  return at == queues.end() || at->name != name ? nullptr : &*at;
}

bool QueueTree::is_leaf(std::string_view name) const noexcept {
  if (find(name) == nullptr) return false;
  // The first that is not before `name/`: "a-b" stands between "a" and "a/b".
  const auto at = std::lower_bound(queues.begin(), queues.end(), name,
                                   [](const QueueSpec& q, std::string_view top) {
                                     const int order = q.name.compare(0, top.size(), top);
                                     if (order != 0 || q.name.size() == top.size())
                                       return order <= 0;
                                     return static_cast<unsigned char>(q.name[top.size()]) < '/';
                                   });
  return at == queues.end() || !is_within(at->name, name);
}

std::string_view above(std::string_view queue) noexcept {
  const std::size_t slash = queue.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : queue.substr(0, slash);
}

bool is_within(std::string_view queue, std::string_view top) noexcept {
  if (top.empty()) return true;
  return queue.starts_with(top) && (queue.size() == top.size() || queue[top.size()] == '/');
}

std::string check_queues(const QueueTree& tree) {
  if (tree.queues.size() > QueueTree::kMost) {
    return "there are " + counted(tree.queues.size(), "queue") + "; at most " +
           std::to_string(QueueTree::kMost) + " are right";
  }
  for (std::size_t i = 1; i < tree.queues.size(); ++i) {
    const std::string &name = tree.queues[i].name, &before = tree.queues[i - 1].name;
    if (name == before) return queue(name) + " is given twice; once is right";
    if (name < before)
      return queue(name) + " stands behind " + queue(before) + "; by ascending name is right";
  }
  for (const QueueSpec& q : tree.queues) {
    if (std::string bad = check_queue(tree, q); !bad.empty()) return queue(q.name) + ": " + bad;
  }
  if (std::string bad = check_guarantees(tree); !bad.empty()) return bad;
  if (tree.fallback.empty() || tree.is_leaf(tree.fallback)) return {};
  const std::string some = leaves(tree, {});
  return "the fallback, " + queue(tree.fallback) + ", is no queue that has jobs; " +
         (some.empty() ? "leave it out" : "one of these is right: " + some);
}

QuotaAccount account_of(const QueueTree& tree, const JobSpec& spec) {
  QuotaAccount account{spec.queue.empty() ? tree.fallback : spec.queue, {}};
  const QueueSpec* leaf = tree.is_leaf(account.queue) ? tree.find(account.queue) : nullptr;
  if (leaf != nullptr && leaf->most_per_user != QueueSpec::kNoLimit) account.user = spec.user;
  return account;
}

std::uint32_t most_of(const QueueTree& tree, const QuotaAccount& account) noexcept {
  if (!tree.is_leaf(account.queue)) return 0;
  const QueueSpec* at = tree.find(account.queue);
  std::uint32_t most = at->most_per_user;
  for (; at != nullptr; at = tree.find(above(at->name))) most = std::min(most, at->most);
  return most;
}

std::uint64_t least_gpus(const JobSpec& spec) noexcept {
  const std::uint32_t workers = spec.elastic() ? std::max(spec.min_workers, 1U) : spec.workers;
  return std::uint64_t{workers} * spec.gpus_per_worker;
}

std::string why_not_queued(const QueueTree& tree, const JobSpec& spec) {
  if (!tree.limits()) return {};
  const QuotaAccount account = account_of(tree, spec);
  if (account.queue.empty()) return "names no queue; one of these is right: " + leaves(tree, {});
  if (tree.find(account.queue) == nullptr)
    return "there is no " + queue(account.queue) + "; one of these is right: " + leaves(tree, {});
  if (!tree.is_leaf(account.queue)) {
    return queue(account.queue) +
           " has others below it, which have the jobs; one of these is right: " +
           leaves(tree, account.queue);
  }
  if (std::string bad = why_not_used(tree, account.queue, spec.user); !bad.empty()) return bad;
  const std::uint64_t least = least_gpus(spec);
  if (least <= most_of(tree, account)) return {};
  std::string_view least_of = account.queue;
  std::uint32_t most = tree.find(account.queue)->most;
  for (std::string_view at = above(account.queue); !at.empty(); at = above(at)) {
    if (const QueueSpec* q = tree.find(at); q != nullptr && q->most < most)
      least_of = at, most = q->most;
  }
  const std::uint32_t of_user = tree.find(account.queue)->most_per_user;
  return "needs " + counted(least, "GPU") + "; " +
         (of_user < most ? "one user of " + queue(account.queue) : queue(least_of)) +
         " may have at most " + std::to_string(std::min(of_user, most));
}

}  // namespace starling
