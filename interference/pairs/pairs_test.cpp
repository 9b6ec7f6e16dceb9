// SPDX-License-Identifier: Apache-2.0
// Reading published pairs, judging a model on them, and asking it.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/test_data.h"
#include "interference/models.h"
#include "interference/pairs/measured_contention.h"
#include "interference/pairs/pair_report.h"
#include "interference/pairs/predict.h"
#include "topology/generate/generate.h"

using namespace starling;

namespace {

struct File {
  explicit File(const std::string& text)
      : path(std::filesystem::temp_directory_path() / "starling-pairs-test.csv") {
    std::ofstream(path) << text;
  }
  ~File() { std::filesystem::remove(path); }
  std::filesystem::path path;
};

constexpr const char* kGavelHeader =
    "campaign,gpu,model_a,batch_a,model_b,batch_b,steps_per_s_a,steps_per_s_b,iso_a,iso_b,norm_a,"
    "norm_b,flag\n";

InterferenceNet net() { return InterferenceNet::make(shipped_interference().value()).value(); }

nlohmann::json ask(const std::string& question) {
  const auto answer = predict_json(net(), question);
  REQUIRE_MESSAGE(answer.ok(), (answer.ok() ? std::string() : answer.error().message));
  return nlohmann::json::parse(answer.value());
}

}  // namespace

TEST_CASE("both directions of a pair count, of one type with itself once, and failures apart") {
  const File file(std::string(kGavelHeader) +
                  "2020,k80,A3C,0,LM,10,1,1,2,2,0.5,0.25,\n"
                  "2020,k80,LM,10,LM,10,1,1,2,2,1.0,1.0,clipped_ab\n"
                  "2020,v100,A3C,0,ResNet-50,128,0,0,2,2,,,infeasible_or_unmeasured\n");
  const PairData data = read_pairs(file.path).value();
  CHECK(data.source == PairSource::gavel);
  CHECK(data.rows.size() == 3);
  CHECK(data.pairs == 2);
  CHECK(data.left_out == 1);
  CHECK(data.fits.size() == 3);
  CHECK(!data.fits[2].ran);
  CHECK(data.rows[1].speed == 0.25F);
  CHECK(!data.rows[0].at_least);
  CHECK(data.rows[2].at_least);
  CHECK(data.types[0].name == "A3C");
  CHECK(data.types[1].name == "LM (batch size 10)");

  const PairReport report = report_pairs(net(), data).value();
  CHECK(report.all.rows == 3);
  CHECK(report.groups.at("2020/k80").rows == 3);
  CHECK(report.feasibility_auc.has_value());
  const auto json = nlohmann::json::parse(to_json(report));
  for (const char* key : {"rows", "mae", "rmse", "coverage90", "groups"}) CHECK(json.contains(key));
  REQUIRE(report.worth.size() == 2);
  CHECK(report.worth[0].pairs == 2);
}

TEST_CASE("a file that is none is refused with what would be right") {
  std::string text, part;
  SUBCASE("other columns") { text = "a,b\n1,2\n", part = "gavel/colocated.csv"; }
  SUBCASE("a column is missing") { text = "norm_a,gpu\n1,k80\n", part = "campaign"; }
  SUBCASE("no number") {
    text = std::string(kGavelHeader) + "2020,k80,A3C,zero,LM,10,1,1,2,2,0.5,0.25,\n";
    part = "batch_a";
  }
  SUBCASE("an absurd speed") {
    text = std::string(kGavelHeader) + "2020,k80,A3C,0,LM,10,1,1,2,2,50,0.25,\n";
    part = "A3C";
  }
  SUBCASE("nothing measured") {
    text = std::string(kGavelHeader) + "2020,k80,A3C,0,LM,10,0,0,2,2,,,infeasible\n";
    part = "no pair";
  }
  const File file(text);
  const auto data = read_pairs(file.path);
  REQUIRE(!data.ok());
  CHECK(data.error().message.find(part) != std::string::npos);
}

TEST_CASE("the shipped weights know the pairs that they were fitted to, and Lucid's roughly" *
          doctest::test_suite("published data")) {
  const auto gavel = test_data("gavel/colocated.csv");
  const auto deepshare = test_data("deepshare/network_contention.csv");
  const auto lucid = test_data("lucid/colocate.csv");
  if (!gavel || !deepshare || !lucid) return;
  const InterferenceNet shipped = net();
  const PairReport pairs = report_pairs(shipped, read_pairs(*gavel).value()).value();
  for (const auto& [set, errors] : pairs.groups) {
    MESSAGE(set << ": " << errors.mae << ", in 90 % " << errors.coverage90);
    CHECK(errors.mae < 0.3 * errors.mean_mae);
    CHECK(errors.coverage90 > 0.85);
  }
  CHECK(pairs.feasibility_auc.value() > 0.95);
  const PairReport links = report_pairs(shipped, read_pairs(*deepshare).value()).value();
  CHECK(links.all.mae < 0.08);
  // Not fitted to Lucid's, whose licence forbids it: judged by the catalogue's profiles.
  const PairReport foreign = report_pairs(shipped, read_pairs(*lucid).value()).value();
  CHECK(!foreign.note.empty());
  CHECK(foreign.all.rows > 1000);
}

TEST_CASE("questions in JSON") {
  const auto pair = ask(
      R"json({"gpu": "V100", "job": {"model": "ResNet-50 (batch size 64)"},
              "neighbours": [{"model": "LM (batch size 20)"}]})json");
  CHECK(pair["model"] == "learned");
  CHECK(pair["relative"] > 0.2);
  CHECK(pair["relative"] < 1);
  CHECK(pair["interval90"][0] < pair["relative"]);
  CHECK(pair["feasible"] > 0.9);
  const auto alone = ask(R"json({"job": {"model": "A3C"}})json");
  CHECK(alone["relative"] == 1);
  const auto starved = ask(R"json({"job": {"model": "alexnet"}, "host": {"cpus_per_gpu": 1}})json");
  CHECK(starved["relative"] < 0.6);
  const auto link = ask(
      R"json([{"job": {"model": "MoE", "gpus": 4, "nodes": 2}, "neighbours":
               [{"model": "MoE", "gpus": 4, "nodes": 4, "relation": "link"}]}])json");
  CHECK(link[0]["relative"] < 0.9);
}

TEST_CASE("absurd fields are answered by the analytic model; what is no question is refused") {
  const auto absurd = ask(
      R"json({"job": {"model": "new", "profile": {"gpu_utilization": 7}},
              "neighbours": [{"model": "A3C"}]})json");
  CHECK(absurd["model"] == "analytic");
  CHECK(absurd["why"].get<std::string>().find("job.profile.gpu_utilization") == 0);
  const auto unknown =
      ask(R"json({"gpu": "GX9", "job": {"model": "A3C"}, "neighbours": [{"model": "A3C"}]})json");
  CHECK(unknown["model"] == "analytic");
  CHECK(unknown["why"].get<std::string>().find("gpu: 'GX9'") == 0);
  const char* const wrong[] = {
      "{",
      "7",
      "{}",
      R"json({"job": {"model": 3}})json",
      R"json({"job": {"model": "A3C", "batch": 3}})json",
      R"json({"job": {"model": "A3C"}, "neighbours": [{"model": "A3C", "relation": "moon"}]})json"};
  for (const char* question : wrong) CHECK(!predict_json(net(), question).ok());
}

TEST_CASE("the world runs pairs as measured where it is given them") {
  const File file(std::string(kGavelHeader) + "2020,v100,A3C,0,LM,10,1,1,2,2,0.61,0.17,\n");
  const auto measured = read_measured_contention(file.path).value();
  const ModelProfile* a3c = &model_profile("A3C");
  const ModelProfile* lm = &model_profile("LM (batch size 10)");
  CHECK(1 / (1 + measured->on_gpu(*a3c, {&lm, 1}, GpuKind::v100)) == doctest::Approx(0.61));
  CHECK(1 / (1 + measured->on_gpu(*lm, {&a3c, 1}, GpuKind::v100)) == doctest::Approx(0.17));
  CHECK(measured->on_gpu(*a3c, {&lm, 1}, GpuKind::k80) ==
        fitted_contention().on_gpu(*a3c, {&lm, 1}, GpuKind::k80));
}

TEST_CASE(
    "measured pairs are of use where two models of the jobs were measured on a GPU type there") {
  const File file(std::string(kGavelHeader) + "2020,v100,A3C,0,LM,10,1,1,2,2,0.61,0.17,\n");
  const auto measured = read_measured_contention(file.path).value();
  const auto jobs_of = [](std::initializer_list<const char*> models) {
    Trace jobs;
    for (const char* model : models) jobs.jobs.emplace_back().spec.model = model;
    return jobs;
  };
  const auto servers_of = [](const char* type) {
    return generate_flat({.servers = 1, .gpu_type = type}).value();
  };
  CHECK(measured->measures(servers_of("V100"), jobs_of({"LM (batch size 10)", "A3C"})));
  CHECK(!measured->measures(servers_of("K80"), jobs_of({"LM (batch size 10)", "A3C"})));
  CHECK(!measured->measures(servers_of("V100"), jobs_of({"A3C", "resnet18"})));
  CHECK(!measured->measures(servers_of("V100"), jobs_of({})));
}

TEST_CASE("of a file with several campaigns the world runs the one that is named") {
  const File file(std::string(kGavelHeader) + "2020,v100,A3C,0,LM,10,1,1,2,2,0.61,0.17,\n" +
                  "2026-11-mps,h100,A3C,0,LM,10,1,1,2,2,0.45,0.25,\n");
  const auto measured = read_measured_contention(file.path.string() + "@2026-11-mps").value();
  const ModelProfile* a3c = &model_profile("A3C");
  const ModelProfile* lm = &model_profile("LM (batch size 10)");
  CHECK(1 / (1 + measured->on_gpu(*a3c, {&lm, 1}, GpuKind::h100)) == doctest::Approx(0.45));
  CHECK(measured->on_gpu(*a3c, {&lm, 1}, GpuKind::v100) ==
        fitted_contention().on_gpu(*a3c, {&lm, 1}, GpuKind::v100));
  const auto wrong = read_measured_contention(file.path.string() + "@2018");
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().message.find("no campaign '2018'; write FILE@CAMPAIGN with one of: 2020, "
                                   "2026-11-mps") != std::string::npos);
}
