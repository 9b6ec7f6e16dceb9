// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace starling {

/// The pages with @@DATA@@ where it goes; made at build time from NAME.html, NAME.js and what they
/// share: page.html, page.css, and the scripts that draw their charts as SVG.
extern const char* const kRunPage;
extern const char* const kExperimentPage;
extern const char* const kWorkloadPage;
extern const char* const kChaosPage;
extern const char* const kTrainingPage;
extern const char* const kInterferencePage;
extern const char* const kReproductionPage;
extern const char* const kViewPage;

/// The page as one self-contained file that needs no network: `data` is JSON text, and nothing in
/// it can end its script.
[[nodiscard]] std::string fill_page(const char* page, const std::string& data);
/// The data of a page that fill_page made, as JSON text. `invalid` if `html` is none.
[[nodiscard]] Result<std::string> page_data(const std::string& html);

}  // namespace starling
