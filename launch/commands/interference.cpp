// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "interference/pairs/pair_report.h"
#include "interference/pairs/predict.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/learning.h"
#include "launch/report/page.h"
#include "launch/system/files.h"

namespace starling {
namespace {

struct Options {
  std::string pairs, weights, out = "interference.html", question;
  bool json = false;
};

Result<InterferenceNet> net_of(const Options& options) {
  const auto weights =
      options.weights.empty() ? shipped_interference() : load_weights(options.weights);
  if (!weights) return Error{Errc::invalid, "--weights: " + weights.error().message};
  auto net = InterferenceNet::make(weights.value());
  if (!net && !options.weights.empty())
    return Error{Errc::invalid, "--weights: " + options.weights + ": " + net.error().message};
  return net;
}

struct Looked {
  InterferenceNet net;
  PairData data;
  PairReport report;
};

Result<Looked> look(const Options& options) {
  if (options.pairs.empty())
    return Error{Errc::invalid,
                 "--pairs FILE is missing: the columns of gavel/colocated.csv, lucid/colocate.csv "
                 "or deepshare/network_contention.csv"};
  auto net = net_of(options);
  if (!net) return net.error();
  auto data = read_pairs(options.pairs);
  if (!data) return Error{Errc::invalid, "--pairs: " + data.error().message};
  auto report = report_pairs(net.value(), data.value());
  if (!report) return Error{Errc::invalid, "--pairs: " + report.error().message};
  return Looked{std::move(net).value(), std::move(data).value(), std::move(report).value()};
}

int eval(const Options& options) {
  const auto looked = look(options);
  if (!looked) return bad_input("interference eval: " + looked.error().message);
  const PairReport& report = looked.value().report;
  if (!report.note.empty()) std::fprintf(stderr, "starling: %s\n", report.note.c_str());
  std::fputs((options.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return kDone;
}

double rounded(double x) { return std::round(x * 1e4) / 1e4; }

std::string page_of(const Options& options, const Looked& looked) {
  using Json = nlohmann::ordered_json;
  const PairReport& report = looked.report;
  const Json figures = Json::parse(to_json(report));
  Json rows = Json::array(), types = Json::array();
  for (const PairType& type : looked.data.types) types.push_back(type.name);
  for (const PairReport::Row& row : report.rows) {
    const PairRow& r = looked.data.rows[row.row];
    rows.push_back({r.set, r.victim, r.other, rounded(static_cast<double>(r.speed)),
                    rounded(row.answer.speed), rounded(row.answer.half)});
  }
  Json all = figures;
  all.erase("groups");
  Json notes = Json::object();
  for (const char* key : {"network", "date", "command", "seed", "split", "gpu.data", "link.data",
                          "lucid.data", "licence"}) {
    const auto at = looked.net.notes().find(key);
    if (at != looked.net.notes().end()) notes[key] = at->second;
  }
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(looked.net.hash()));
  notes["hash"] = hash;
  const Json data{{"page", "interference"},
                  {"file", options.pairs},
                  {"note", report.note},
                  {"all", all},
                  {"groups", figures["groups"]},
                  {"worth", figures["worth_sharing"]},
                  {"auc", figures["feasibility_auc"]},
                  {"sets", looked.data.sets},
                  {"types", types},
                  {"rows", rows},
                  {"notes", notes}};
  return fill_page(kInterferencePage, data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

int show(const Options& options) {
  if (auto good = check_out_file(options.out, OutKind::page); !good)
    return bad_input("interference show: --out: " + good.error().message);
  const auto looked = look(options);
  if (!looked) return bad_input("interference show: " + looked.error().message);
  if (auto written = write_text(options.out, page_of(options, looked.value())); !written)
    return failed(written.error());
  std::fprintf(stderr, "starling: wrote %s\n", options.out.c_str());
  return kDone;
}

int predict(const Options& options) {
  const auto net = net_of(options);
  if (!net) return bad_input("interference predict: " + net.error().message);
  std::string question = options.question;
  if (question.empty() || question == "-") {
    question.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (question.front() != '{' && question.front() != '[') {
    const auto text = read_text(question);
    if (!text) return bad_input("interference predict: " + text.error().message);
    question = text.value();
  }
  const auto answer = predict_json(net.value(), question);
  if (!answer) return bad_input("interference predict: " + answer.error().message);
  std::fputs(answer.value().c_str(), stdout);
  return kDone;
}

}  // namespace

void add_interference(const Command& root) {
  const Command command = root.sub(
      "interference", "how much jobs slow one another: ask the trained model, and judge it");
  const auto o = std::make_shared<Options>();
  const auto pairs = [o](const Command& c) {
    c.option("--pairs", o->pairs, "FILE",
             "measured pairs: columns as gavel/colocated.csv, lucid/colocate.csv or "
             "deepshare/network_contention.csv");
    c.option("--weights", o->weights, "FILE", "a trained model; default: the one shipped");
  };
  const Command evaluates = command.sub("eval", "errors on measured pairs");
  pairs(evaluates);
  evaluates.flag("--json", o->json, "only JSON on stdout");
  evaluates.examples({"starling interference eval --pairs shared/data/gavel/colocated.csv --json"});
  evaluates.action([o] { return eval(*o); });
  const Command shows = command.sub("show", "a page: scatter, calibration, worst pairs");
  pairs(shows);
  shows.option("--out", o->out, "FILE", "the page (default interference.html)");
  shows.examples(
      {"starling interference show --pairs shared/data/gavel/colocated.csv --out gavel.html"});
  shows.action([o] { return show(*o); });
  const Command predicts = command.sub("predict", "a question in JSON, the answer in JSON");
  predicts.positional("QUESTION", o->question, "JSON, a file of it, or - (default) for stdin",
                      false);
  predicts.option("--weights", o->weights, "FILE", "a trained model; default: the one shipped");
  predicts.examples(
      {"echo '{\"gpu\": \"V100\", \"job\": {\"model\": \"ResNet-50 (batch size 64)\"}, "
       "\"neighbours\": [{\"model\": \"LM (batch size 20)\"}]}' | starling interference predict"});
  predicts.action([o] { return predict(*o); });
  add_adaptation(command);
}

}  // namespace starling
