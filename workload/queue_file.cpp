// SPDX-License-Identifier: Apache-2.0
#include "workload/queue_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/visible.h"
#include "workload/text/text_file.h"
#include "workload/yaml_documents.h"
#include "workload/yaml_values.h"

namespace starling {
namespace {

constexpr std::size_t kQueueFileBytes = std::size_t{1} << 20U;
constexpr int kDeepest = 32;  // levels of `queues`, as the reader calls itself for each
constexpr std::int64_t kMostGpus = 1'000'000'000, kMostWeight = 1'000'000;
constexpr std::string_view kTreeKeys[] = {"default", "queues"};
constexpr std::string_view kQueueKeys[] = {"name",          "guaranteed", "most",  "weight",
                                           "most_per_user", "users",      "queues"};

/// The entries of a mapping by key, each of `known` and there once.
std::map<std::string, YAML::Node> entries_of(const YAML::Node& node, const std::string& what,
                                             std::span<const std::string_view> known) {
  if (!node.IsMap()) throw YamlMistake{node.Mark(), what};
  std::map<std::string, YAML::Node> entries;
  for (const auto& entry : node) {
    const std::string key = yaml_text(entry.first, "a key");
    if (std::ranges::find(known, key) == known.end())
      throw YamlMistake{entry.first.Mark(), unknown_key(key, known)};
    if (!entries.emplace(key, entry.second).second)
      throw YamlMistake{entry.first.Mark(), "key '" + key + "' is there twice"};
  }
  return entries;
}

class QueueReader {
 public:
  QueueTree read(const YAML::Node& root) {
    const auto entries =
        entries_of(root,
                   "a file of queues is " + yaml_shown(root) +
                       "; write a mapping, as queues: [{name: research, most: 64}]",
                   kTreeKeys);
    if (!entries.contains("queues"))
      throw YamlMistake{root.Mark(),
                        "there are no queues; write a list, as queues: [{name: research}]"};
    read_list(entries.at("queues"), "", 1);
    std::ranges::sort(tree_.queues, {}, &QueueSpec::name);
    if (const std::string wrong = check_queues(tree_); !wrong.empty())
      throw YamlMistake{place_of(wrong), wrong};
    if (const auto fallback = entries.find("default"); fallback != entries.end())
      read_fallback(fallback->second);
    return std::move(tree_);
  }

 private:
  void read_list(const YAML::Node& list, const std::string& above, int level) {
    if (!list.IsSequence())
      throw YamlMistake{list.Mark(), "queues is " + yaml_shown(list) +
                                         "; write a list, as [{name: research, most: 64}]"};
    if (level > kDeepest)
      throw YamlMistake{list.Mark(), "queues are nested deeper than " + std::to_string(kDeepest) +
                                         " levels; write fewer"};
    for (const YAML::Node& node : list) read_queue(node, above, level);
  }

  void read_queue(const YAML::Node& node, const std::string& above, int level) {
    const auto entries = entries_of(
        node, "a queue is " + yaml_shown(node) + "; write a mapping, as {name: research, most: 64}",
        kQueueKeys);
    const auto name = entries.find("name");
    if (name == entries.end())
      throw YamlMistake{node.Mark(), "a queue has no name; write one, as name: research"};
    QueueSpec queue;
    queue.name = yaml_text(name->second, "name");
    if (queue.name.empty()) throw YamlMistake{name->second.Mark(), "name is empty; write one"};
    if (!above.empty()) queue.name = above + '/' + queue.name;
    if (!marks_.emplace(queue.name, name->second.Mark()).second)
      throw YamlMistake{name->second.Mark(), "queue '" + queue.name.substr(0, 256) +
                                                 "' is there twice; write all of it in one place"};
    if (marks_.size() > QueueTree::kMost)
      throw YamlMistake{node.Mark(), "there are more than " + std::to_string(QueueTree::kMost) +
                                         " queues; write fewer"};
    const auto whole = [&](const char* key, std::uint32_t& target, std::int64_t low,
                           std::int64_t high) {
      if (const auto at = entries.find(key); at != entries.end())
        target = static_cast<std::uint32_t>(yaml_whole(at->second, key, low, high));
    };
    whole("guaranteed", queue.guaranteed, 0, kMostGpus);
    whole("most", queue.most, 0, kMostGpus);
    whole("most_per_user", queue.most_per_user, 0, kMostGpus);
    whole("weight", queue.weight, 1, kMostWeight);
    if (const auto users = entries.find("users"); users != entries.end()) {
      queue.users = yaml_texts(users->second, "users");
      if (queue.users.empty())
        throw YamlMistake{users->second.Mark(),
                          "users is empty; name who may, or leave it out for whoever may above"};
      std::set<std::string> seen;
      for (const std::string& user : queue.users) {
        if (user.empty() || !seen.insert(user).second)
          throw YamlMistake{users->second.Mark(), "users has '" + user.substr(0, 64) + "'" +
                                                      (user.empty() ? "" : " twice") +
                                                      "; write each name once"};
      }
    }
    const std::string path = queue.name;
    tree_.queues.push_back(std::move(queue));
    if (const auto below = entries.find("queues"); below != entries.end())
      read_list(below->second, path, level + 1);
  }

  void read_fallback(const YAML::Node& node) {
    tree_.fallback = yaml_text(node, "default");
    if (tree_.is_leaf(tree_.fallback)) return;
    std::string leaf;
    for (const QueueSpec& queue : tree_.queues)
      if (leaf.empty() && tree_.is_leaf(queue.name)) leaf = queue.name;
    throw YamlMistake{
        node.Mark(),
        "default is " + yaml_shown(node) + ", which is no queue that has jobs; " +
            (leaf.empty() ? "leave it out" : "name one that has none below it, as " + leaf)};
  }

  /// Of the queue that a message is about: the longest name of one in it.
  [[nodiscard]] YAML::Mark place_of(const std::string& message) const {
    std::size_t longest = 0;
    YAML::Mark place;
    for (const auto& [name, mark] : marks_) {
      if (name.size() > longest &&
          message.find('\'' + visible_line(name) + '\'') != std::string::npos)
        longest = name.size(), place = mark;
    }
    return place;
  }

  QueueTree tree_;
  std::map<std::string, YAML::Mark> marks_;
};

QueueTree read_tree(const std::string& text) {
  if (const std::optional<YAML::Mark> second = second_document(text))
    throw YamlMistake{*second, "a second document starts; a file of queues is one mapping"};
  return QueueReader().read(YAML::Load(text));
}

}  // namespace

Result<QueueTree> read_queue_file(const std::filesystem::path& file) {
  const Result<std::string> text = read_text_file(file, kQueueFileBytes);
  if (!text) return text.error();
  return parse_queue_file(file.string(), text.value());
}

Result<QueueTree> parse_queue_file(const std::string& name, const std::string& text) {
  try {
    return read_tree(text);
  } catch (const YamlMistake& mistake) {
    return yaml_error(name, mistake.mark, mistake.what);
  } catch (const YAML::Exception& error) {
    return yaml_error(name, error.mark, "this is not YAML: " + error.msg);
  }
}

std::string queue_file_text(const QueueTree& tree) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  if (!tree.fallback.empty()) out << YAML::Key << "default" << YAML::Value << tree.fallback;
  out << YAML::Key << "queues" << YAML::Value << YAML::BeginSeq;
  for (const QueueSpec& queue : tree.queues) {
    out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << queue.name;
    const auto whole = [&out](const char* key, std::uint32_t value, std::uint32_t usual) {
      if (value != usual) out << YAML::Key << key << YAML::Value << value;
    };
    whole("guaranteed", queue.guaranteed, 0);
    whole("most", queue.most, QueueSpec::kNoLimit);
    whole("most_per_user", queue.most_per_user, QueueSpec::kNoLimit);
    whole("weight", queue.weight, 1);
    if (!queue.users.empty())
      out << YAML::Key << "users" << YAML::Value << YAML::Flow << queue.users;
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace starling
