// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/test_folder.h"
#include "workload/text/text_file.h"

namespace starling {

/// For tests that need a browser: TEST_CASE("the page ..." * needs_browser()). Skipped, and counted
/// as such, where Chromium is not installed.
inline doctest::skip needs_browser() {
  static const bool there = std::system("command -v chromium >/dev/null 2>&1") == 0;
  return doctest::skip(!there);
}

/// Headless Chromium.
class TestBrowser {
 public:
  explicit TestBrowser(const std::string& name) : folder_(name) {}

  /// What the document is once its scripts have run and a person has tried everything in it: each
  /// choice, the pointer on each drawing, saving it as SVG, and the first as PNG. Fails where a
  /// script fails or where anything is cut off in a window of 1,280 pixels. `then` is a script that
  /// runs at the end.
  [[nodiscard]] std::string dom(std::string page, const std::string& then = "") const {
    page.insert(page.find("<meta"), kWatch);
    page.insert(page.rfind("</body>"), kTry + ("<script>" + then + "</script>") + kTell);
    const auto file = folder_.path / "page.html";
    if (!write_text_file(file, page)) return "";
    const std::string command =
        "timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
        "--virtual-time-budget=20000 --window-size=1280,900 --dump-dom 'file://" +
        file.string() + "' 2>/dev/null";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string out;
    char buffer[4096];
    for (std::size_t n = 0; pipe && (n = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
      out.append(buffer, n);
    CHECK(out.find("data-ready=\"yes\"") != std::string::npos);
    const std::string mark = "data-faults=\"";
    const std::size_t at = out.find(mark);
    REQUIRE(at != std::string::npos);
    const std::string faults =
        out.substr(at + mark.size(), out.find('"', at + mark.size()) - at - mark.size());
    CHECK(faults == "");
    return out;
  }

 private:
  static constexpr const char* kWatch = R"(<script>
const faults = [];
addEventListener('error', (e) => faults.push(`${e.message} at line ${e.lineno}`));
addEventListener('unhandledrejection', (e) => faults.push(String(e.reason)));
</script>)";
  static constexpr const char* kTry = R"(<script>
const look = () => {
  for (const e of [document.documentElement, ...document.querySelectorAll('.scroll, .card, .tile')])
    if (e.scrollWidth > e.clientWidth + 1) faults.push(`${e.className || e.tagName} is cut off at ${e.clientWidth} of ${e.scrollWidth} pixels`);
  for (const svg of document.querySelectorAll('svg')) {
    const all = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const r = text.getBoundingClientRect();
      if (r.left < all.left - 1 || r.right > all.right + 1 || r.top < all.top - 1 || r.bottom > all.bottom + 1) faults.push(`${text.textContent} is cut off`);
    }
    if (standalone(svg).includes('var(') || new DOMParser().parseFromString(standalone(svg), 'image/svg+xml').querySelector('parsererror'))
      faults.push('a saved drawing is no SVG');
    const box = svg.getBoundingClientRect(), at = {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true, pointerId: 1};
    svg.dispatchEvent(new PointerEvent('pointermove', at));
    for (const mark of [...svg.querySelectorAll('[data-i]')].slice(0, 9)) mark.dispatchEvent(new PointerEvent('pointermove', at));
  }
};
look();
for (const select of document.querySelectorAll('select')) {
  for (const i of Array(select.options.length).keys()) {
    select.selectedIndex = select.options.length - 1 - i;
    select.onchange();
    look();
  }
}
</script>)";
  static constexpr const char* kTell = R"(<script>
const png = [...document.querySelectorAll('.tools button')].find((button) => button.textContent === 'PNG'), saved = [];
if (png) {
  const asUsual = URL.createObjectURL;
  URL.createObjectURL = (blob) => { saved.push(blob); return asUsual.call(URL, blob); };
  png.click();
}
setTimeout(() => {
  if (png && !saved.some((blob) => blob.type === 'image/png' && blob.size > 1000)) faults.push('no PNG is saved');
  document.body.dataset.faults = faults.join('; ');
}, 2000);
</script>)";

  TestFolder folder_;
};

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

/// Besides the name of SVG, which is no address that a browser asks.
inline bool names_a_host(const std::string& page) {
  return count_of(page, "http") != count_of(page, "'http://www.w3.org/2000/svg'");
}

}  // namespace starling
