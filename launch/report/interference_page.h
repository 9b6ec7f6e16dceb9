#pragma once

namespace starling {

/// The page of `starling interference show`; see fill_page() in launch/report/page.h.
extern const char* const kInterferencePage;

}  // namespace starling
