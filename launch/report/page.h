#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace starling {

/// The pages with @@DATA@@ and @@ECHARTS@@ where those go; made at build time from NAME.html,
/// NAME.js and what they share, page.html, page.css and charts.js.
extern const char* const kRunPage;
extern const char* const kExperimentPage;
extern const char* const kWorkloadPage;
extern const char* const kChaosPage;
extern const char* const kTrainingPage;

/// The page as one self-contained file: `data` is JSON text, `echarts` the text of the chart
/// library, or empty: then the page shows its tables and says how to get the charts. Nothing in
/// `data` can end its script.
[[nodiscard]] std::string fill_page(const char* page, const std::string& data,
                                    const std::string& echarts);
/// The data of a page that fill_page made, as JSON text. `invalid` if `html` is none.
[[nodiscard]] Result<std::string> page_data(const std::string& html);

/// Where the chart library's file is: $STARLING_ECHARTS, beside the build, or installed with the
/// program at `program`; empty if it is nowhere.
[[nodiscard]] std::filesystem::path find_echarts(const std::filesystem::path& program);
/// Its text for the running program, empty if it is nowhere. `io` if the file cannot be read.
[[nodiscard]] Result<std::string> chart_library();

}  // namespace starling
