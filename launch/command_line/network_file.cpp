// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/network_file.h"

#include <yaml-cpp/yaml.h>

#include "launch/system/files.h"
#include "launch/system/text.h"

namespace starling {

Result<NetworkModel> read_network_file(const std::filesystem::path& file, NetworkModel base) {
  auto text = read_text(file);
  if (!text) return {Errc::invalid, text.error().message + "; give ideal, lan or a YAML file"};
  const auto wrong = [&](const YAML::Mark& mark, const std::string& what) {
    return Error{Errc::invalid, file.string() + ":" + std::to_string(mark.line + 1) + ": " + what};
  };
  try {
    const YAML::Node root = YAML::Load(text.value());
    if (!root.IsMap())
      return wrong(
          root.Mark(),
          "expected 'key: number' lines with delay_us, jitter, loss, duplication, reorder");
    for (const auto& entry : root) {
      const auto key = entry.first.Scalar();
      double* const target = key == "jitter"        ? &base.jitter
                             : key == "loss"        ? &base.loss
                             : key == "duplication" ? &base.duplication
                             : key == "reorder"     ? &base.reorder
                                                    : nullptr;
      if (target == nullptr && key != "delay_us") {
        return wrong(
            entry.first.Mark(),
            "unknown key '" + key + "'; there are delay_us, jitter, loss, duplication, reorder");
      }
      const double value =
          parse_decimal(entry.second.IsScalar() ? entry.second.Scalar() : "").value_or(-1);
      if (value < 0) return wrong(entry.second.Mark(), key + " must be a number of at least 0");
      if (target == nullptr) {
        base.delay = from_seconds(value * 1e-6);
        continue;
      }
      if (value >= 1 && target != &base.jitter)
        return wrong(entry.second.Mark(),
                     key + " is a probability below 1, not " + entry.second.Scalar());
      *target = value;
    }
  } catch (const YAML::Exception& error) {
    return wrong(error.mark, error.msg);
  }
  return base;
}

}  // namespace starling
