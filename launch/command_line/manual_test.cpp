// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/manual.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/test_folder.h"
#include "launch/system/files.h"

namespace starling {
namespace {

CommandHelp drawing() {
  return {"topology draw",
          "draws a data centre",
          {{"-o, --out", "FILE", "the picture\n.not a request"}, {"--dark", "", ""}},
          {{"TOPOLOGY", "", "a 'file' \\ of servers"}},
          {{"all", "every one"}},
          {"starling topology draw 'x.yaml' -o \"x\".svg"}};
}

TEST_CASE("a page has all that the help says, and nothing in it is a request") {
  const CommandHelp help = drawing();
  CHECK(manual_name("starling", help) == "starling-topology-draw");
  CHECK(manual_page("starling", "1.2", help) ==
        ".TH \"STARLING\\-TOPOLOGY\\-DRAW\" 1 \"\" \"starling 1.2\" \"User Commands\"\n"
        ".SH NAME\nstarling\\-topology\\-draw \\- draws a data centre\n"
        ".SH SYNOPSIS\n\\fBstarling topology draw\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] "
        "[\\fITOPOLOGY\\fR]\n"
        ".SH ARGUMENTS\n.TP\n\\fBTOPOLOGY\\fR\na 'file' \\e of servers\n"
        ".SH OPTIONS\n.TP\n\\fB\\-o, \\-\\-out\\fR \\fIFILE\\fR\nthe picture\n\\&.not a request\n"
        ".TP\n\\fB\\-\\-dark\\fR\n\\&\n"
        ".SH COMMANDS\n.TP\n\\fBstarling\\-topology\\-draw\\-all\\fR(1)\nevery one\n"
        ".SH EXAMPLES\n.EX\nstarling topology draw 'x.yaml' \\-o \"x\".svg\n.EE\n"
        ".SH SEE ALSO\n\\fBstarling\\fR(1)\n");
}

TEST_CASE("pages are written anew, and a file of another user stays") {
  const TestFolder scratch("manual");
  const auto folder = scratch.path / "share" / "man1";
  const std::vector<CommandHelp> helps{drawing(), {"", "schedules", {}, {}, {}, {}}};
  CHECK(write_manual(folder, "starling", "1.2", helps).value() == 2);
  CHECK(write_manual(folder, "starling", "1.3", helps).value() == 2);
  CHECK(read_text(folder / "starling.1").value().find("starling 1.3") != std::string::npos);
  std::ofstream(folder / "starling.1") << "my notes\n";
  const auto refused = write_manual(folder, "starling", "1.4", helps);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::invalid);
  CHECK(refused.error().message.find("starling.1 is no page of starling") != std::string::npos);
  CHECK(read_text(folder / "starling.1").value() == "my notes\n");
  CHECK(read_text(folder / "starling-topology-draw.1").value().find("starling 1.3") !=
        std::string::npos);
}

}  // namespace
}  // namespace starling
