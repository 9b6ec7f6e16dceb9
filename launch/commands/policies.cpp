// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/wiring/wiring.h"
#include "policies/variants.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const PolicyOption& option) {
  Json json{{"name", option.name}};
  switch (option.type) {
    case PolicyOption::Type::choice:
      json["type"] = "choice";
      json["values"] = option.values;
      break;
    case PolicyOption::Type::number:
      json["type"] = "number";
      json["least"] = option.low;
      json["most"] = std::isfinite(option.high) ? Json(option.high) : Json();
      break;
    case PolicyOption::Type::file:
      json["type"] = "file";
      break;
  }
  json["default"] = option.otherwise.empty() ? Json() : Json(option.otherwise);
  json["help"] = option.help;
  return json;
}

Json to_json(const PolicyVariant& variant) {
  Json json;
  if (!variant.option.empty()) json = {{"option", variant.option}, {"value", variant.value}};
  json["may"] = words(variant.may);
  json["knows"] = words(variant.knows);
  return json;
}

Json to_json(const std::string& name, const PolicyRegistry::Entry& entry) {
  const PolicyFacts& f = entry.facts;
  Json options = Json::array(), changed = Json::array();
  for (const PolicyOption& option : entry.options()) options.push_back(to_json(option));
  const std::vector<PolicyVariant> variants = variants_of(entry);
  for (std::size_t i = 1; i < variants.size(); ++i) changed.push_back(to_json(variants[i]));
  return {{"name", name},
          {"family", std::string(1, static_cast<char>(f.family))},
          {"summary", f.summary},
          {"may", words(variants.front().may)},
          {"knows", words(variants.front().knows)},
          {"may_knows_by_option", changed},
          {"options", options},
          {"preemptive", f.preemptive},
          {"elastic", f.elastic},
          {"shares_gpus", f.shares_gpus},
          {"needs_durations", f.lengths == LengthSource::estimates},
          {"needs_model_file", f.needs_model_file}};
}

/// The table of what all policies may and know, of docs/policies.md.
void print_powers(const PolicyRegistry& policies) {
  std::printf(
      "\nWhat they *may* do and *know* of how long jobs take, as in tables over all families\n"
      "([experiments.md](experiments.md)). *place*: choose a job's GPUs; *order*: choose whose "
      "turn\n"
      "it is, or stop some for others; *resize*: choose how many workers a job has; *rebatch*: "
      "its\n"
      "batch. *forecasts* are learned from jobs that have ended, *estimates* come with a job (in "
      "a\n"
      "simulation they may be exact), *everything* foresees all; of two, the second is for jobs "
      "without\n"
      "the first.\n\n| policy | family | may | knows |\n| --- | --- | --- | --- |\n");
  for (const auto& [name, entry] : policies.entries()) {
    for (const PolicyVariant& variant : variants_of(entry)) {
      const bool plain = variant.option.empty();
      const std::string what = plain ? name : name + ":" + variant.option + "=" + variant.value;
      std::printf("| `%s` | %s | %s | %s |\n", what.c_str(),
                  plain ? std::string(1, static_cast<char>(entry.facts.family)).c_str() : "",
                  text_of(variant.may).c_str(), text_of(variant.knows).c_str());
    }
  }
}

/// docs/policies.md.
int print_page(const PolicyRegistry& policies) {
  std::printf(
      "# Policies and their options\n\n"
      "Made by `starling policies --markdown`; a test holds it to that. What the policies do:\n"
      "[cli.md](cli.md). The first value of a choice is its default.\n");
  print_powers(policies);
  for (const auto& [name, entry] : policies.entries()) {
    std::printf("\n## `%s`\n\nFamily %c: %s.\n", name.c_str(),
                static_cast<char>(entry.facts.family), std::string(entry.facts.summary).c_str());
    const std::vector<PolicyOption> options = entry.options();
    if (options.empty()) continue;
    std::printf("\n| option | value | |\n| --- | --- | --- |\n");
    for (const PolicyOption& option : options) {
      std::string value = option.value_text();
      for (std::size_t bar = 0; (bar = value.find('|', bar)) != std::string::npos; bar += 2)
        value.insert(bar, 1, '\\');
      std::printf("| `%s` | %s | %s |\n", option.name.c_str(), value.c_str(), option.help.c_str());
    }
  }
  return kDone;
}

struct Options {
  std::string name;
  bool json = false, page = false;
};

int list_policies(const Options& o) {
  const PolicyRegistry policies = simulated_policies();
  const std::string only = o.name.substr(0, o.name.find(':'));  // its options stand in the list
  if (!o.name.empty() && !policies.entries().contains(only))
    return bad_input("policies: " + policies.make(only).error().message);
  if (o.page && (o.json || !o.name.empty()))
    return bad_input("policies: --markdown is the page of all policies; give it alone");
  if (o.page) return print_page(policies);
  const auto meant = [&](const std::string& name) { return o.name.empty() || name == only; };
  if (o.json) {
    Json list = Json::array();
    for (const auto& [name, entry] : policies.entries()) {
      if (meant(name)) list.push_back(to_json(name, entry));
    }
    std::printf("%s\n", Json{{"schema", 1}, {"policies", list}}.dump(1).c_str());
    return kDone;
  }
  for (const auto& [name, entry] : policies.entries()) {
    if (!meant(name)) continue;
    std::printf("%-14s %c  %s\n", name.c_str(), static_cast<char>(entry.facts.family),
                std::string(entry.facts.summary).c_str());
    for (const PolicyVariant& variant : variants_of(entry)) {
      const std::string when =
          variant.option.empty() ? "" : variant.option + "=" + variant.value + ": ";
      std::printf("%-17s %smay %s; knows %s\n", "", when.c_str(), text_of(variant.may).c_str(),
                  text_of(variant.knows).c_str());
    }
    for (const PolicyOption& option : entry.options())
      std::printf("%-17s %s=%s%s%s\n", "", option.name.c_str(), option.value_text().c_str(),
                  option.help.empty() ? "" : "  ", option.help.c_str());
  }
  return kDone;
}

}  // namespace

void add_policies(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub("policies", "list the scheduling policies and their options");
  command.positional("NAME", o->name, "one alone (default: all)", false);
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("--markdown", o->page, "the page docs/policies.md");
  command.examples({"starling policies", "starling policies marl --json"});
  command.action([o] { return list_policies(*o); });
}

}  // namespace starling
