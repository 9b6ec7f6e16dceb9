// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/predict.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "interference/learned/learned_contention.h"
#include "interference/learned/pair_intervals.h"
#include "interference/pairs/pair_types.h"
#include "interference/sharing.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

struct Wrong {
  std::string what;
};

/// One job of the question. Numbers that make no sense are said in `absurd`.
struct Job {
  ModelProfile model;
  std::string name;
  double gpus = 2, nodes = 2;
};

class Question {
 public:
  Question(const InterferenceNet& net, const Json& json) : net_(net), json_(json) {}

  Json answer() {
    if (!json_.is_object()) throw Wrong{"a question is an object, or an array of them"};
    only(json_, "", {"gpu", "job", "neighbours", "host"});
    if (!json_.contains("job")) throw Wrong{"job is missing: {\"model\": NAME}"};
    const std::string gpu = text(json_, "", "gpu", "V100");
    kind_ = gpu_kind(gpu);
    if (kind_ == GpuKind::other)
      note("gpu: '" + gpu + "' is none that was measured; give e.g. K80, P100 or V100");
    const Job own = job(json_["job"], "job.");
    double log_speed = 0, variance = 0, feasible = 1;
    Json by = Json::array();
    const Json none = Json::array();
    const Json& others = json_.contains("neighbours") ? json_["neighbours"] : none;
    if (!others.is_array()) throw Wrong{"neighbours is an array of jobs"};
    for (std::size_t i = 0; i < others.size(); ++i) {
      const std::string at = "neighbours[" + std::to_string(i) + "].";
      const Job other = job(others[i], at);
      const std::string relation = text(others[i], at, "relation", "gpu");
      Part part;
      if (relation == "gpu") {
        part = on_gpu(own, other);
        feasible = std::min(feasible, net_.feasibility(own.model, other.model, gpu_memory_gib()));
      } else if (relation == "link") {
        part = on_link(own, other);
      } else {
        throw Wrong{at + "relation: '" + relation + "' is wrong; give gpu or link"};
      }
      log_speed -= part.log_slowdown;
      variance += part.deviation * part.deviation;
      by.push_back({{"model", other.name},
                    {"relation", relation},
                    {"relative", rounded(std::exp(-part.log_slowdown))}});
    }
    if (json_.contains("host")) {
      const Json& host = json_["host"];
      only(host, "host.", {"cpus_per_gpu", "memory_gb_per_gpu"});
      const HostCurve& curve = net_.host(own.model);
      const double speed =
          curve.relative(number(host, "host.", "cpus_per_gpu", curve.cpus, 0.01, 4096),
                         number(host, "host.", "memory_gb_per_gpu", curve.memory_gb, 0.1, 1e5));
      log_speed += std::log(std::max(speed, 1e-6));
      by.push_back({{"model", own.name}, {"relation", "server"}, {"relative", rounded(speed)}});
    }
    const double relative = std::exp(log_speed);
    const double deviation = relative * std::sqrt(variance);
    Json out{{"relative", rounded(relative)},
             {"slowdown", rounded(1 / relative)},
             {"deviation", rounded(deviation)},
             {"interval90",
              {rounded(std::max(relative - kSigmas90 * deviation, 0.0)),
               rounded(std::min(relative + kSigmas90 * deviation, 1.0))}},
             {"feasible", rounded(feasible)},
             {"by", by},
             {"model", why_.empty() ? "learned" : "analytic"}};
    if (!why_.empty()) out["why"] = why_;
    return out;
  }

 private:
  struct Part {
    double log_slowdown = 0, deviation = 0;
  };

  static double rounded(double x) { return std::round(x * 1e6) / 1e6; }
  void note(const std::string& why) {
    if (why_.empty()) why_ = why;
  }
  static void only(const Json& json, const std::string& at,
                   std::initializer_list<const char*> keys) {
    if (!json.is_object()) throw Wrong{at + ": an object is expected there"};
    for (const auto& [key, value] : json.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        throw Wrong{at + key + ": there is no such field"};
    }
  }
  static std::string text(const Json& json, const std::string& at, const char* key,
                          const std::string& otherwise) {
    if (!json.contains(key)) return otherwise;
    if (!json[key].is_string()) throw Wrong{at + key + " is a text"};
    return json[key].get<std::string>();
  }
  double number(const Json& json, const std::string& at, const char* key, double otherwise,
                double least, double most) {
    if (!json.contains(key)) return otherwise;
    if (!json[key].is_number()) throw Wrong{at + key + " is a number"};
    const double value = json[key].get<double>();
    if (value >= least && value <= most) return value;
    note(at + key + " is " + json[key].dump() + "; it is " + Json(least).dump() + " to " +
         Json(most).dump());
    return otherwise;
  }

  Job job(const Json& json, const std::string& at) {
    only(json, at, {"model", "relation", "gpus", "nodes", "profile"});
    Job out;
    out.name = text(json, at, "model", "");
    if (out.name.empty() && !json.contains("profile"))
      throw Wrong{at + "model is missing: a name, or a profile"};
    out.model = model_profile(out.name);
    out.gpus = number(json, at, "gpus", 2, 1, 1e6);
    out.nodes = number(json, at, "nodes", 2, 1, 1e6);
    if (json.contains("profile")) {
      const Json& profile = json["profile"];
      const std::string in = at + "profile.";
      only(profile, in,
           {"iteration_s", "memory_gib", "gpu_utilization", "gradient_mib", "cpus_per_gpu",
            "checkpoint_mib"});
      ModelProfile& m = out.model;
      if (!known_model(out.name)) m.gavel_type = -1;
      m.iteration_s = number(profile, in, "iteration_s", m.iteration_s, 1e-5, 1e4);
      m.memory_gib = number(profile, in, "memory_gib", m.memory_gib, 0.01, 1000);
      m.gpu_utilization = number(profile, in, "gpu_utilization", m.gpu_utilization, 0, 1);
      m.gradient_mib = number(profile, in, "gradient_mib", m.gradient_mib, 0.001, 1e7);
      m.cpus_per_gpu = number(profile, in, "cpus_per_gpu", m.cpus_per_gpu, 0.01, 4096);
      m.checkpoint_mib = number(profile, in, "checkpoint_mib", m.checkpoint_mib, 0.001, 1e8);
    }
    return out;
  }

  [[nodiscard]] double gpu_memory_gib() const { return kind_ == GpuKind::k80 ? 12 : 16; }

  Part on_gpu(const Job& own, const Job& other) {
    if (!why_.empty() || !net_.gpu) {
      if (why_.empty()) note("the weights have no part for jobs on one GPU");
      return {-std::log(sharing_speed(own.model, other.model, kind_)), 0.2};
    }
    const PairModel& model = net_.gpu->model;
    const std::int32_t measured = gpu_set_of(model, kind_);
    const auto set = static_cast<std::size_t>(
        std::max(measured >= 0 ? measured : gpu_set_of(model, GpuKind::v100), 0));
    return part_of(*net_.gpu, gpu_type_of(own.model), gpu_type_of(other.model), set,
                   measured >= 0 ? 1 : 1.5);
  }

  Part on_link(const Job& own, const Job& other) {
    if (!net_.link) {
      note("the weights have no part for jobs on one link");
      return {std::log(2.0), 0.3};
    }
    PairData names;
    const auto type = [&](const Job& job) {
      return names.types[add_deepshare_type(names, job.name, job.gpus, job.nodes)];
    };
    return part_of(*net_.link, type(own), type(other), 0, 1);
  }

  static Part part_of(const PairPart& part, const PairType& own, const PairType& other,
                      std::size_t set, double wider) {
    PairGuess guess = part.model.guess(own, other, set);
    guess.mean /= part.model.net().nuisance(part.model.type(own.name), set);
    const bool known = part.model.type(own.name) >= 0 && part.model.type(other.name) >= 0;
    const double mean = std::clamp(guess.mean, 0.01, 1.0);
    return {-std::log(mean), part.intervals.half(guess, set, known) * wider / kSigmas90 / mean};
  }

  const InterferenceNet& net_;
  const Json& json_;
  GpuKind kind_ = GpuKind::v100;
  std::string why_;
};

}  // namespace

Result<std::string> predict_json(const InterferenceNet& net, const std::string& question) {
  try {
    const Json json = Json::parse(question);
    if (!json.is_array()) return Question(net, json).answer().dump(1) + "\n";
    Json out = Json::array();
    for (const Json& one : json) out.push_back(Question(net, one).answer());
    return out.dump(1) + "\n";
  } catch (const Json::parse_error& error) {
    return Error{Errc::invalid, "the question is no JSON: byte " + std::to_string(error.byte)};
  } catch (const Wrong& wrong) {
    return Error{Errc::invalid, wrong.what};
  }
}

}  // namespace starling
