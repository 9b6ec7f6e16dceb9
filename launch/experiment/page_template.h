#pragma once

namespace starling {

/// The page with @@DATA@@ and @@ECHARTS@@ where those go; made from page/ at build time.
extern const char* const kExperimentPage;

}  // namespace starling
