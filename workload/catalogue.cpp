#include "workload/catalogue.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace starling {
namespace {

// Sources.
// Gradients: published parameter counts x 4 bytes: torchvision (resnet, vgg, inception3, alexnet,
// mobilenet, vit),
//   Vaswani 2017 (transformer base, 65 M), Devlin 2018 (BERT 110 M, 335 M), Radford 2019 (GPT-2 124
//   M, 1558 M), Amodei 2016 (Deep Speech 2, 38 M), MLPerf (NCF, 31.8 M), Redmon 2018 (YOLOv3, 62
//   M), Zhu 2017 (CycleGAN, 28.3 M), the PyTorch word language model (13.9 M); DLRM exchanges its
//   dense part and the looked-up embeddings.
// Iteration times on a V100: Gavel's isolated throughputs (resnet18 b128, resnet50 b64, transformer
// b64, LM b20,
//   A3C, CycleGAN), Muri's stage times (bert-base b4, gpt2 b4); ElasticFlow's A100 figures x 1.46
//   (vgg16, inception3 b64, deepspeech2 b32); Pollux' T4 figure x 0.67 (yolov3 b8); the others
//   scaled from the nearest of these by published FLOPs.
// CPUs per GPU: where Synergy's sensitivity curve (V100) stops rising (resnet18 9, resnet50 4,
// mobilenet 6, alexnet
//   12, deepspeech 3, language models 1); models it has not are given their nearest relative's.
// Memory and utilisation: rounded from Lucid's and Alnair's solo profiles, or from a relative's.
//
// name, task, iteration_s, gradient_mib, cpus_per_gpu, memory_gib, gpu_utilization; sorted by name.
constexpr auto kModels = std::to_array<ModelProfile>({
    {"a3c", "reinforcement learning", 0.139, 5, 4, 2, 0.20},
    {"alexnet", "image classification", 0.110, 233, 12, 5, 0.60},
    {"bert-base", "language model", 0.178, 420, 1, 8, 0.90},
    {"bert-large", "language model", 0.550, 1278, 1, 14, 0.97},
    {"cyclegan", "image translation", 0.226, 108, 2, 8, 0.95},
    {"deepspeech2", "speech recognition", 0.483, 145, 3, 9, 0.70},
    {"dlrm", "recommendation", 0.060, 36, 4, 6, 0.35},
    {"generic", "unknown", 0.200, 100, 3, 8, 0.60},
    {"gpt2", "language model", 0.426, 475, 1, 10, 0.95},
    {"gpt2-xl", "language model", 1.330, 5943, 1, 28, 0.98},
    {"graphsage", "graph learning", 0.020, 1, 4, 3, 0.30},
    {"inception3", "image classification", 0.303, 91, 4, 9, 0.92},
    {"lstm-lm", "language model", 0.0154, 53, 1, 4, 0.65},
    {"mobilenet-v2", "image classification", 0.090, 13.4, 6, 6, 0.75},
    {"mobilenet-v3", "image classification", 0.070, 20.9, 6, 5, 0.70},
    {"recommendation-ncf", "recommendation", 0.134, 121, 2, 4, 0.30},
    {"resnet101", "image classification", 0.390, 170, 4, 11, 0.95},
    {"resnet152", "image classification", 0.560, 230, 4, 14, 0.96},
    {"resnet18", "image classification", 0.0556, 44.6, 9, 4, 0.75},
    {"resnet50", "image classification", 0.2275, 97.5, 4, 8, 0.92},
    {"transformer", "translation", 0.116, 248, 1, 7, 0.85},
    {"vgg16", "image classification", 0.289, 528, 4, 9, 0.97},
    {"vit", "image classification", 0.330, 330, 4, 9, 0.95},
    {"yolov3", "object detection", 0.218, 236, 4, 9, 0.85},
});

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
    {"ncf", "recommendation-ncf"},
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

const ModelProfile* exactly(std::string_view name) noexcept {
  const auto at =
      std::lower_bound(kModels.begin(), kModels.end(), name,
                       [](const ModelProfile& m, std::string_view n) { return m.name < n; });
  return at != kModels.end() && at->name == name ? &*at : nullptr;
}

const ModelProfile* find(std::string_view name) noexcept {
  if (const ModelProfile* model = exactly(name)) return model;
  const Folded folded(name);
  for (const ModelProfile& model : kModels) {
    if (Folded(model.name).view() == folded.view()) return &model;
  }
  for (const Alias& alias : kAliases) {
    if (alias.folded == folded.view()) return exactly(alias.name);
  }
  return nullptr;
}

}  // namespace

std::span<const ModelProfile> catalogue() noexcept { return kModels; }

const ModelProfile& model_profile(std::string_view name) noexcept {
  static const ModelProfile& generic = *exactly("generic");
  if (name.empty()) return generic;
  const ModelProfile* model = find(name);
  return model == nullptr ? generic : *model;
}

bool known_model(std::string_view name) noexcept { return find(name) != nullptr; }

}  // namespace starling
