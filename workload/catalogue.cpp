// SPDX-License-Identifier: Apache-2.0
#include "workload/catalogue.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>

#include "workload/gavel_throughput.h"

namespace starling {
namespace {

// CPUs per GPU: where Synergy's sensitivity curve (V100) stops rising; models it has not are given
// their nearest relative's. Memory and utilisation: rounded from Lucid's and Alnair's solo
// profiles, or a relative's. Checkpoints: the weights, and the moments of the usual optimiser (Adam
// two, SGD with momentum one, plain SGD none). Of the seven families that Gavel ran, memory is that
// of the batch size that the time is of; see kGavelFamilies.
//
// name, task, iteration_s, gradient_mib, cpus_per_gpu, memory_gib, gpu_utilization, checkpoint_mib,
// speed on {K80, P100, V100, T4, A100, H100}, sources; sorted by name.
// clang-format off
constexpr auto kEntries = std::to_array<ModelProfile>({
    {"a3c", "reinforcement learning", 0.139, 5, 4, 2, 0.20, 15, {0.479, 0.791, 1, 0, 0, 0},
     "time, K80, P100: Gavel; bytes: Mnih 2016"},
    {"alexnet", "image classification", 0.110, 233, 12, 5, 0.60, 466, {},
     "time: resnet50 by FLOPs; bytes: torchvision; CPUs: Synergy"},
    {"bert-base", "language model", 0.178, 420, 1, 8, 0.90, 1260, {0, 0, 1, 0.39, 2.53, 0},
     "time: Muri b4; bytes: Devlin 2018; CPUs: Synergy; T4: Pollux b4; A100: MISO b4"},
    {"bert-large", "language model", 0.550, 1278, 1, 14, 0.97, 3834, {},
     "time: bert-base by FLOPs; bytes: Devlin 2018"},
    {"cyclegan", "image translation", 0.226, 108, 2, 6, 0.95, 324, {0.114, 0.543, 1, 0, 1.57, 0},
     "time, K80, P100: Gavel; bytes: Zhu 2017; A100: MISO b1"},
    {"dcgan", "image generation", 0.0275, 24, 2, 3, 0.94, 72, {},
     "time, memory, utilisation: Lucid b128; bytes: Radford 2015"},
    {"deepspeech2", "speech recognition", 0.483, 145, 3, 9, 0.70, 290, {0, 0, 1, 0.50, 1.46, 0},
     "time, A100: ElasticFlow b32; bytes: Amodei 2016; CPUs: Synergy; T4: Pollux b28"},
    {"densenet121", "image classification", 0.160, 30.4, 4, 9, 0.93, 61, {},
     "time: resnet50 by FLOPs; bytes: torchvision"},
    {"dlrm", "recommendation", 0.060, 36, 4, 6, 0.35, 2160, {},
     "time: assumed; bytes: dense part and embeddings looked up, Naumov 2019"},
    {"dqn", "reinforcement learning", 0.490, 6.4, 4, 2, 0.15, 19, {},
     "time: Muri b128; bytes: Mnih 2015"},
    {"efficientnet-v2", "image classification", 0.466, 82, 6, 10, 0.93, 164, {},
     "time: resnet50 by FLOPs; bytes: torchvision (S)"},
    {"generic", "unknown", 0.200, 100, 3, 8, 0.60, 300, {},
     "assumed: the middle of the others"},
    {"gnmt", "translation", 0.120, 610, 1, 9, 0.90, 1830, {},
     "time, CPUs: Synergy b128; bytes: Wu 2016"},
    {"googlenet", "image classification", 0.083, 25.3, 6, 5, 0.80, 51, {},
     "time: resnet50 by FLOPs; bytes: torchvision"},
    {"gpt2", "language model", 0.426, 475, 1, 10, 0.95, 1425, {},
     "time: Muri b4; bytes: Radford 2018"},
    {"gpt2-xl", "language model", 1.330, 5943, 1, 28, 0.98, 17829, {},
     "time: gpt2 by FLOPs; bytes: Radford 2018"},
    {"graphsage", "graph learning", 0.020, 1, 4, 3, 0.30, 3, {},
     "time, bytes: assumed"},
    {"inception-bn", "image classification", 0.570, 42.1, 4, 8, 0.90, 84, {},
     "time: DL2 on a GTX 1080 Ti x 0.7; bytes: DL2"},
    {"inception3", "image classification", 0.303, 91, 4, 9, 0.92, 182, {},
     "time: ElasticFlow A100 b64 x 1.46; bytes: torchvision"},
    {"inception4", "image classification", 0.680, 163, 4, 12, 0.95, 326, {},
     "time: resnet50 by FLOPs; bytes: Szegedy 2016"},
    {"lstm-lm", "language model", 0.0154, 53, 1, 2, 0.65, 53, {0.265, 0.899, 1, 0, 0, 0},
     "time, K80, P100: Gavel b20; bytes: PyTorch's word language model; CPUs: Synergy"},
    {"mobilenet-v2", "image classification", 0.090, 13.4, 6, 6, 0.75, 27, {},
     "time: resnet50 by FLOPs; bytes: torchvision; CPUs: Synergy"},
    {"mobilenet-v3", "image classification", 0.070, 20.9, 6, 5, 0.70, 42, {},
     "time: resnet50 by FLOPs; bytes: torchvision; CPUs: Synergy"},
    {"neumf", "recommendation", 0.006, 5, 1, 2, 0.12, 15, {},
     "time: Pollux T4 b1025 x 0.67; bytes: its sync times; utilisation: Lucid"},
    {"recommendation-ncf", "recommendation", 0.134, 121, 2, 3, 0.30, 364, {1, 1, 1, 0, 0, 0},
     "time: Gavel b2048; bytes: MLPerf NCF; K80, P100: Gavel, where a V100 short of CPUs was slower, capped"},
    {"resnet101", "image classification", 0.390, 170, 4, 11, 0.95, 340, {},
     "time: resnet50 by FLOPs; bytes: torchvision"},
    {"resnet152", "image classification", 0.560, 230, 4, 14, 0.96, 460, {},
     "time: resnet50 by FLOPs; bytes: torchvision"},
    {"resnet18", "image classification", 0.0556, 44.6, 9, 2, 0.75, 89, {0.101, 0.649, 1, 0.58, 0, 0},
     "time, K80, P100: Gavel b128; bytes: torchvision; CPUs: Synergy; T4: Pollux b182"},
    {"resnet34", "image classification", 0.111, 83, 6, 5, 0.85, 166, {},
     "time: resnet18 by FLOPs; bytes: torchvision"},
    {"resnet50", "image classification", 0.2275, 97.5, 4, 6.25, 0.92, 195, {0.141, 0.597, 1, 0.68, 1.56, 0},
     "time, K80, P100: Gavel b64; bytes: torchvision; CPUs: Synergy; T4: Pollux b81; A100: ElasticFlow b64"},
    {"resnet50-cifar10", "image classification", 0.051, 90, 3, 4, 0.80, 180, {},
     "time: ElasticFlow A100 b64 x 1.46; bytes: torchvision"},
    {"resnext110", "image classification", 0.158, 6.9, 3, 4, 0.85, 14, {},
     "time: DL2 on a GTX 1080 Ti x 0.7; bytes: DL2"},
    {"roberta-base", "language model", 0.178, 476, 1, 9, 0.92, 1428, {},
     "time: bert-base, the same layers; bytes: Liu 2019"},
    {"seq2seq", "translation", 0.053, 36.5, 1, 3, 0.60, 110, {},
     "time: DL2 on a GTX 1080 Ti x 0.7; bytes: DL2"},
    {"shufflenet-v2", "image classification", 0.059, 8.7, 9, 4, 0.60, 17, {},
     "time: Muri b128, GPU stage; bytes: torchvision; CPUs: Synergy"},
    {"transformer", "translation", 0.116, 248, 1, 3, 0.85, 744, {0.203, 0.590, 1, 0, 1.70, 0},
     "time, K80, P100: Gavel b64; bytes: Vaswani 2017; CPUs: Synergy; A100: MISO b64"},
    {"vgg11", "image classification", 0.142, 507, 4, 7, 0.95, 1014, {},
     "time: vgg16 by FLOPs; bytes: torchvision"},
    {"vgg16", "image classification", 0.289, 528, 4, 9, 0.97, 1056, {},
     "time: ElasticFlow A100 b64 x 1.46; bytes: torchvision"},
    {"vgg19", "image classification", 0.365, 548, 4, 10, 0.97, 1096, {},
     "time: vgg16 by FLOPs; bytes: torchvision"},
    {"vit", "image classification", 0.330, 330, 4, 9, 0.95, 990, {},
     "time: resnet50 by FLOPs; bytes: torchvision (B/16)"},
    {"wlm", "language model", 0.108, 19.2, 1, 3, 0.60, 20, {},
     "time: DL2 on a GTX 1080 Ti x 0.7; bytes: DL2"},
    {"yolov3", "object detection", 0.218, 236, 4, 9, 0.85, 472, {0, 0, 1, 0.67, 0, 0},
     "time, T4: Pollux b8; bytes: Redmon 2018"},
});
// clang-format on

// The family of each model that Gavel ran, and the type whose figures the family has.
struct GavelFamily {
  std::string_view model;
  std::string_view family;
  std::int16_t type;
};
constexpr GavelFamily kGavelFamilies[] = {
    {"A3C", "a3c", 0},
    {"CycleGAN", "cyclegan", 1},
    {"LM", "lstm-lm", 4},                         // batch size 20
    {"Recommendation", "recommendation-ncf", 9},  // 2048
    {"ResNet-18", "resnet18", 15},                // 128
    {"ResNet-50", "resnet50", 19},                // 64
    {"Transformer", "transformer", 23},           // 64
};

// GPU memory of Gavel's types in GiB. Fitted to which pairs of colocated.csv ran at all on K80 (12
// GiB), P100 and V100 (16 GiB), in both campaigns, never less for a larger batch: 98 % of the 843
// pairs of 2020 are told right. Where small jobs ran beside everything, 2 is a guess.
constexpr std::size_t kGavelTypes = 26;
constexpr std::array<double, kGavelTypes> kGavelMemoryGib = {
    2,                           // A3C
    6,                           // CycleGAN
    2,    2,    2,    2,  5.75,  // LM, 5 to 80
    2,    2,    3,    6,  6,     // Recommendation, 512 to 8192
    2,    2,    2,    2,  2.25,  // ResNet-18, 16 to 256
    5.75, 5.75, 6.25, 13,        // ResNet-50, 16 to 128
    2,    2,    3,    6,  10,    // Transformer, 16 to 256
};

// As the papers count them: Krizhevsky 2012, Simonyan 2014, Szegedy 2014, He 2015, Huang 2016,
// Devlin 2018, Radford 2018 and 2019.
struct Layers {
  std::string_view model;
  std::uint16_t count;
};
constexpr Layers kLayers[] = {{"alexnet", 8},       {"vgg16", 16},     {"vgg19", 19},
                              {"googlenet", 22},    {"resnet18", 18},  {"resnet50", 50},
                              {"densenet121", 121}, {"bert-base", 12}, {"bert-large", 24},
                              {"gpt2", 12},         {"gpt2-xl", 48}};

constexpr auto kModels = [] {
  auto models = kEntries;
  for (std::size_t i = 0; i < models.size(); ++i) {
    models[i].family = static_cast<std::uint16_t>(i);
    for (const Layers& of : kLayers) {
      if (of.model == models[i].name) models[i].layers = of.count;
    }
    for (const GavelFamily& of : kGavelFamilies) {
      if (of.family == models[i].name) models[i].gavel_type = of.type;
    }
  }
  return models;
}();

// Speed of one GPU of a type in V100s; at most 1, for a V100 was slower only where it was short of
// CPUs.
double relative_speed(const GavelJobType& type, GpuKind kind) {
  return std::min(1.0, type.speed(kind, 1) / type.speed(GpuKind::v100, 1));
}

// The types as profiles.
struct GavelModels {
  std::array<std::string, kGavelTypes> names;
  std::array<ModelProfile, kGavelTypes> models;

  GavelModels() {
    for (std::size_t t = 0; t < kGavelTypes; ++t) {
      const GavelJobType& type = gavel_job_types()[t];
      const auto* of = std::find_if(std::begin(kGavelFamilies), std::end(kGavelFamilies),
                                    [&](const GavelFamily& f) { return f.model == type.model; });
      const auto* family = std::find_if(kModels.begin(), kModels.end(), [&](const ModelProfile& m) {
        return m.name == of->family;
      });
      names[t] = type.job_model();
      ModelProfile& model = models[t];
      model = *family;
      model.name = names[t];
      model.iteration_s = 1 / type.speed(GpuKind::v100, 1);
      model.memory_gib = kGavelMemoryGib[t];
      for (const GpuKind kind : {GpuKind::k80, GpuKind::p100})
        model.speed[static_cast<std::size_t>(kind)] = relative_speed(type, kind);
      model.sources = "time, K80, P100: Gavel; memory: its pairs; the rest: the family";
      model.gavel_type = static_cast<std::int16_t>(t);
    }
  }
};

const GavelModels& gavel() {
  static const GavelModels all;
  return all;
}

// Other names of the same models, folded: those of Gavel, Muri, Pollux and ElasticFlow traces.
struct Alias {
  std::string_view folded;
  std::string_view name;
};
constexpr Alias kAliases[] = {
    {"a2c", "a3c"},
    {"bert", "bert-base"},
    {"cifar10", "resnet18"},
    {"deepspeech", "deepspeech2"},
    {"imagenet", "resnet50"},
    {"inceptionv3", "inception3"},
    {"lm", "lstm-lm"},
    {"lstm", "lstm-lm"},
    {"mobilenet", "mobilenet-v3"},
    {"ncf", "neumf"},
    {"shufflenetv2x10", "shufflenet-v2"},
    {"shufflenet", "shufflenet-v2"},
    {"effnetv2", "efficientnet-v2"},
    {"resnext", "resnext110"},
    {"recommendation", "recommendation-ncf"},
    {"yolo", "yolov3"},
};

// Lower-case letters and digits up to the first '(': "ResNet-50 (batch size 64)" is resnet50.
struct Folded {
  std::array<char, 32> text{};
  std::size_t size = 0;

  explicit constexpr Folded(std::string_view name) noexcept {
    for (const char c : name.substr(0, name.find('('))) {
      const char low = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      if (!(low >= 'a' && low <= 'z') && !(low >= '0' && low <= '9')) continue;
      if (size == text.size()) break;
      text[size++] = low;
    }
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text.data(), size}; }
};

// Folded names and aliases, sorted, so that a name in another spelling costs one binary search.
struct Key {
  Folded folded{""};
  std::size_t model = 0;
};
constexpr auto kKeys = [] {
  std::array<Key, kModels.size() + std::size(kAliases)> keys;
  for (std::size_t i = 0; i < kModels.size(); ++i) keys[i] = {Folded(kModels[i].name), i};
  for (std::size_t a = 0; a < std::size(kAliases); ++a) {
    std::size_t i = 0;
    while (kModels[i].name != kAliases[a].name) ++i;
    keys[kModels.size() + a] = {Folded(kAliases[a].folded), i};
  }
  std::sort(keys.begin(), keys.end(),
            [](const Key& a, const Key& b) { return a.folded.view() < b.folded.view(); });
  return keys;
}();

// Names exactly as the tables have them: speeds are asked for by name, so this is looked up often.
const ModelProfile* exactly(std::string_view name) noexcept {
  static const std::unordered_map<std::string_view, const ModelProfile*> all = [] {
    std::unordered_map<std::string_view, const ModelProfile*> out;
    for (const ModelProfile& model : kModels) out.emplace(model.name, &model);
    for (const ModelProfile& model : gavel().models) out.emplace(model.name, &model);
    return out;
  }();
  const auto at = all.find(name);
  return at != all.end() ? at->second : nullptr;
}

const ModelProfile* find(std::string_view name) noexcept {
  if (const ModelProfile* model = exactly(name)) return model;
  const Folded folded(name);
  const auto at =
      std::lower_bound(kKeys.begin(), kKeys.end(), folded.view(),
                       [](const Key& key, std::string_view n) { return key.folded.view() < n; });
  return at != kKeys.end() && at->folded.view() == folded.view() ? &kModels[at->model] : nullptr;
}

}  // namespace

std::span<const ModelProfile> catalogue() noexcept { return kModels; }
std::span<const ModelProfile> gavel_models() noexcept { return gavel().models; }

const ModelProfile& model_profile(std::string_view name) noexcept {
  static const ModelProfile& generic = *exactly("generic");
  if (name.empty()) return generic;
  const ModelProfile* model = find(name);
  return model == nullptr ? generic : *model;
}

double speed_on(const ModelProfile& model, GpuKind kind) noexcept {
  if (kind == GpuKind::other) return 1;
  const double measured = model.speed[static_cast<std::size_t>(kind)];
  return measured > 0 ? measured : typical_speed(kind);
}

bool known_model(std::string_view name) noexcept { return find(name) != nullptr; }

}  // namespace starling
