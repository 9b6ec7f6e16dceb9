// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/junit.h"

#include <algorithm>
#include <cstdio>

#include "base/visible.h"

namespace starling {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        out += c;
    }
  }
  return out + "\"";
}

std::string time_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "\"%.3f\"", seconds);
  return text;
}

}  // namespace

std::string junit_xml(const std::string& suite, const std::vector<JunitCase>& cases) {
  double all = 0;
  for (const JunitCase& c : cases) all += c.seconds;
  const auto failures =
      std::count_if(cases.begin(), cases.end(), [](const JunitCase& c) { return !c.rule.empty(); });
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=" + quoted(suite) +
                    " tests=\"" + std::to_string(cases.size()) + "\" failures=\"" +
                    std::to_string(failures) + "\" errors=\"0\" time=" + time_text(all) + ">\n";
  for (const JunitCase& c : cases) {
    out += "  <testcase classname=" + quoted(suite) + " name=" + quoted(c.name) +
           " time=" + time_text(c.seconds);
    std::string inside;
    for (const auto& [name, value] : c.properties) {
      inside += "      <property name=" + quoted(name) + " value=" + quoted(value) + "/>\n";
    }
    if (!inside.empty()) inside = "    <properties>\n" + inside + "    </properties>\n";
    if (!c.rule.empty()) {
      inside += "    <failure type=" + quoted(c.rule) + " message=" + quoted(c.message) + "/>\n";
    }
    out += inside.empty() ? "/>\n" : ">\n" + inside + "  </testcase>\n";
  }
  return out + "</testsuite>\n";
}

}  // namespace starling
