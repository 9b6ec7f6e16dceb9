// SPDX-License-Identifier: Apache-2.0
#include "launch/report/page.h"

#include "base/check.h"

namespace starling {
namespace {

constexpr const char* kDataBegin = "<script id=\"data\" type=\"application/json\">";
constexpr const char* kScriptEnd = "</script>";

/// Inside a script element "</" could end it early; strings of JSON read "<\/" alike.
std::string within_script(const std::string& text) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find("</", from)) != std::string::npos; from = at + 1)
    out.append(text, from, at + 1 - from) += '\\';
  return out.append(text, from, std::string::npos);
}

}  // namespace

std::string fill_page(const char* page, const std::string& data) {
  const std::string mark = "@@DATA@@";
  std::string text = page;
  const std::size_t at = text.find(mark);
  STARLING_CHECK(at != std::string::npos);
  return text.replace(at, mark.size(), within_script(data));
}

Result<std::string> page_data(const std::string& html) {
  const std::string begin = kDataBegin;
  const std::size_t at = html.find(begin);
  const std::size_t end = at == std::string::npos ? at : html.find(kScriptEnd, at);
  if (end == std::string::npos) return {Errc::invalid, "this is no page that starling made"};
  return html.substr(at + begin.size(), end - at - begin.size());
}

}  // namespace starling
