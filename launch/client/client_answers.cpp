// SPDX-License-Identifier: Apache-2.0
#include "launch/client/client_answers.h"

namespace starling {

std::string silence_text(const std::vector<AgentId>& silent) {
  std::string text;
  for (const AgentId agent : silent)
    text += (text.empty() ? "agent-" : ", agent-") + std::to_string(agent.value);
  if (!text.empty()) text += silent.size() == 1 ? " does not answer" : " do not answer";
  return text;
}

std::string no_operator_text(const std::string& user) {
  return "this is the key of '" + user +
         "', who is no operator of the flock; 'starling keys show' lists them";
}

}  // namespace starling
