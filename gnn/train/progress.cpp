// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/progress.h"

#include <span>
#include <utility>

namespace starling {

Result<std::optional<Weights>> StageProgress::read(ProcessGroup& processes) const {
  std::string mine;
  if (resume && processes.first()) {
    const auto state = load_weights(file);
    if (state && state.value().note("hash") == hash) {
      const auto bytes = weights_bytes(state.value());
      if (!bytes) return bytes.error();
      mine.assign(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
    }
  }
  const auto all = processes.all_gather(mine);
  if (!all) return all.error();
  const std::string& text = all.value().front();
  if (text.empty()) return std::optional<Weights>();
  auto state = parse_weights(std::as_bytes(std::span(text)));
  if (!state) return state.error();
  return std::optional(std::move(state).value());
}

Status StageProgress::write(const ProcessGroup& processes, Weights state) const {
  if (file.empty() || !processes.first()) return done();
  state.notes["hash"] = hash;
  return save_weights(file, state);
}

}  // namespace starling
