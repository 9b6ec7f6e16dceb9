// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/hardware_finding.h"

#include <nlohmann/json.hpp>

#include "launch/system/files.h"

namespace starling {
namespace {

using Kind = HardwareFinding::Kind;
constexpr Kind kKinds[] = {Kind::bad, Kind::drained, Kind::lacking, Kind::slow, Kind::idle};

std::filesystem::path findings_file(const std::filesystem::path& node_dir) {
  return node_dir / "hardware.json";
}

}  // namespace

const char* name_of(Kind kind) noexcept {
  constexpr const char* kNames[] = {"bad", "drained", "lacking", "slow", "idle"};
  return kNames[static_cast<std::size_t>(kind)];
}

Status write_findings(const std::filesystem::path& node_dir,
                      const std::vector<HardwareFinding>& findings) {
  if (findings.empty()) {
    std::error_code ignored;
    std::filesystem::remove(findings_file(node_dir), ignored);
    return done();
  }
  nlohmann::json all = nlohmann::json::array();
  for (const HardwareFinding& finding : findings) {
    nlohmann::json gpus = nlohmann::json::array();
    for (const GpuId gpu : finding.gpus) gpus.push_back(gpu.value);
    all.push_back({{"kind", name_of(finding.kind)}, {"gpus", gpus}, {"text", finding.text}});
  }
  return write_text(findings_file(node_dir),
                    nlohmann::json{{"schema", 1}, {"findings", all}}.dump(
                        1, ' ', false, nlohmann::json::error_handler_t::replace) +
                        "\n");
}

std::vector<HardwareFinding> read_findings(const std::filesystem::path& node_dir) {
  std::error_code ignored;
  if (!std::filesystem::exists(findings_file(node_dir), ignored)) return {};
  const auto text = read_text(findings_file(node_dir));
  if (!text) return {};
  std::vector<HardwareFinding> all;
  try {
    const auto json = nlohmann::json::parse(text.value());
    for (const auto& each : json.at("findings")) {
      HardwareFinding finding;
      for (const Kind kind : kKinds) {
        if (each.at("kind") == name_of(kind)) finding.kind = kind;
      }
      for (const auto& gpu : each.at("gpus")) finding.gpus.push_back(GpuId{gpu});
      finding.text = each.at("text");
      all.push_back(std::move(finding));
    }
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return all;
}

}  // namespace starling
