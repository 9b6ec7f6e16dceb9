#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "launch/report/page.h"
#include "base/test_folder.h"
#include "workload/text_file.h"

namespace starling {

/// For tests: headless Chromium, where it is installed. Says what is missing for a whole test.
class TestBrowser {
 public:
  explicit TestBrowser(const std::string& name)
      : folder_(name), usable_(std::system("command -v chromium >/dev/null 2>&1") == 0) {
    if (!usable_) MESSAGE("chromium is not installed: the page is not tested in a browser");
  }
  [[nodiscard]] bool usable() const { return usable_; }

  /// What the document is once its scripts have run.
  [[nodiscard]] std::string dom(const std::string& page) const {
    const auto file = folder_.path / "page.html";
    if (!write_text_file(file, page)) return "";
    const std::string command =
        "timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
        "--virtual-time-budget=20000 --window-size=1200,900 --dump-dom 'file://" +
        file.string() + "' 2>/dev/null";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string out;
    char buffer[4096];
    for (std::size_t n = 0; pipe && (n = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
      out.append(buffer, n);
    return out;
  }

  /// The text of the chart library; empty where target `charts` was not built.
  [[nodiscard]] std::string echarts() const {
    const auto text = chart_library();
    if (text.ok() && !text.value().empty()) return text.value();
    MESSAGE("the chart library is not there (target charts makes it): charts are not tested");
    return "";
  }

 private:
  TestFolder folder_;
  bool usable_;
};

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace starling
