#include "launch/report/page.h"

#include <cstdlib>

#include "base/check.h"
#include "workload/text_file.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDataBegin = "<script id=\"data\" type=\"application/json\">";
constexpr const char* kScriptEnd = "</script>";

/// Puts `text` in the place of `mark`, which occurs once.
void fill(std::string& page, const std::string& mark, const std::string& text) {
  const std::size_t at = page.find(mark);
  STARLING_CHECK(at != std::string::npos);
  page.replace(at, mark.size(), text);
}

/// Inside a script element `end` would end it early; strings of JSON and JavaScript read "<\/"
/// alike.
std::string within_script(const std::string& text, const std::string& end) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(end, from)) != std::string::npos; from = at + 1) {
    out.append(text, from, at + 1 - from);
    out += '\\';
  }
  return out.append(text, from, std::string::npos);
}

}  // namespace

std::string fill_page(const char* page, const std::string& data, const std::string& echarts) {
  std::string text = page;
  // The page's own marks first: what is filled in may hold anything.
  fill(text, "@@ECHARTS@@", "\x01");
  fill(text, "@@DATA@@", within_script(data, "</"));
  fill(text, "\x01", within_script(echarts, "</script"));
  return text;
}

Result<std::string> page_data(const std::string& html) {
  const std::string begin = kDataBegin;
  const std::size_t at = html.find(begin);
  const std::size_t end = at == std::string::npos ? at : html.find(kScriptEnd, at);
  if (end == std::string::npos) return {Errc::invalid, "this is no page that starling made"};
  return html.substr(at + begin.size(), end - at - begin.size());
}

fs::path find_echarts(const fs::path& program) {
  if (const char* given = std::getenv("STARLING_ECHARTS"); given != nullptr && *given != '\0')
    return given;
  const fs::path folder = program.parent_path();
  const char* const built = "charts/node_modules/echarts/dist/echarts.min.js";
  for (const fs::path& file :
       {folder / "report" / built, folder / built, folder.parent_path() / "report" / built,
        folder / "../share/starling/echarts.min.js"}) {
    std::error_code ignored;
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

Result<std::string> chart_library() {
  std::error_code ignored;
  const fs::path file = find_echarts(fs::read_symlink("/proc/self/exe", ignored));
  if (file.empty()) return std::string();
  return read_text_file(file);
}

}  // namespace starling
