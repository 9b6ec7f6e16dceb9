// SPDX-License-Identifier: Apache-2.0
#include "workload/yaml_documents.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

namespace starling {
namespace {

using YAML::anchor_t;
using YAML::Mark;
using Style = YAML::EmitterStyle::value;

class DocumentStart final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const Mark&, anchor_t) override {}
  void OnAlias(const Mark&, anchor_t) override {}
  void OnScalar(const Mark&, const std::string&, anchor_t, const std::string&) override {}
  void OnSequenceStart(const Mark&, const std::string&, anchor_t, Style) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark&, const std::string&, anchor_t, Style) override {}
  void OnMapEnd() override {}

  [[nodiscard]] const Mark& mark() const noexcept { return mark_; }

 private:
  Mark mark_;
};

}  // namespace

std::optional<Mark> second_document(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentStart handler;
  if (!parser.HandleNextDocument(handler) || !parser.HandleNextDocument(handler))
    return std::nullopt;
  return handler.mark();
}

}  // namespace starling
