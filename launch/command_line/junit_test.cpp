// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/junit.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("tests are told as CI systems read them, whatever is in their words") {
  CHECK(junit_xml("chaos", {{"seed 1", 1.5, "", ""},
                            {"seed 2", 0.25, "S2", "a \"b\" <c> & \x01\nd"},
                            {"seed 3", 0, "", "", {{"simulated_s", "<600"}}}}) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"chaos\" tests=\"3\" failures=\"1\" errors=\"0\" time=\"1.750\">\n"
        "  <testcase classname=\"chaos\" name=\"seed 1\" time=\"1.500\"/>\n"
        "  <testcase classname=\"chaos\" name=\"seed 2\" time=\"0.250\">\n"
        "    <failure type=\"S2\" message=\"a &quot;b&quot; &lt;c&gt; &amp; ?&#10;d\"/>\n"
        "  </testcase>\n"
        "  <testcase classname=\"chaos\" name=\"seed 3\" time=\"0.000\">\n"
        "    <properties>\n"
        "      <property name=\"simulated_s\" value=\"&lt;600\"/>\n"
        "    </properties>\n"
        "  </testcase>\n"
        "</testsuite>\n");
}
