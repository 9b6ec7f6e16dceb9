// SPDX-License-Identifier: Apache-2.0
// A name that a user gives for a result may be one of a file that took them a day.
#include "launch/command_line/out_file.h"

#include <doctest/doctest.h>

#include "base/test_folder.h"
#include "launch/command_line/junit.h"
#include "workload/text/text_file.h"

using namespace starling;

TEST_CASE("what people look at replaces its own kind, and no file of a user's") {
  const TestFolder folder("out-file");
  const std::string file = folder.path / "x";
  const auto takes = [&](OutKind kind, const std::string& text) {
    REQUIRE(write_text_file(file, text).ok());
    return check_out_file(file, kind).ok();
  };
  constexpr OutKind kAll[] = {OutKind::picture, OutKind::page,  OutKind::verdicts,
                              OutKind::placed,  OutKind::pairs, OutKind::weights,
                              OutKind::compared};
  for (const OutKind kind : kAll) {
    std::filesystem::remove(file);
    CHECK(check_out_file(file, kind).ok());
    CHECK(takes(kind, ""));
    CHECK_FALSE(takes(kind, "my notes\n"));
    CHECK_FALSE(takes(kind, "job_id,submit_s,gpus,duration_s\n"));
  }
  CHECK(takes(OutKind::picture, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"2\"></svg>\n"));
  CHECK(takes(OutKind::verdicts, junit_xml("starling chaos sim", {})));
  CHECK_FALSE(takes(OutKind::verdicts, junit_xml("mine", {})));
  CHECK_FALSE(takes(OutKind::page, "<!doctype html>\n<p>my page\n"));
  CHECK(takes(OutKind::page,
              "<!doctype html>\n<script id=\"data\" type=\"application/json\">{}</script>\n"));
  CHECK(takes(OutKind::weights, "STRLNETS\1"));
  CHECK(takes(OutKind::compared, "# Published figures, made again\n"));
  CHECK_FALSE(takes(OutKind::compared, "# Published figures\n"));
  CHECK_FALSE(takes(OutKind::weights, junit_xml("starling chaos sim", {})));

  const std::string packed = folder.path / "pods.csv.gz";
  REQUIRE(write_text_file(packed, "policy,step,event,pod,node,gpus,arrived_gpu_milli\n").ok());
  CHECK(check_out_file(packed, OutKind::placed).ok());
  CHECK(check_out_file(packed, OutKind::pairs).error().message ==
        packed +
            ": what is there is no table of 'starling profile' and would be replaced; move it, or "
            "give another name");
  CHECK(check_out_file("/dev/null", OutKind::verdicts).error().code == Errc::invalid);
  CHECK(check_out_file(folder.path.string(), OutKind::page).error().message.find("is a folder") !=
        std::string::npos);
}

TEST_CASE("what people edit is replaced if it is the same, or by force") {
  const TestFolder folder("edited-file");
  for (const char* name : {"t.yaml", "t.csv.gz"}) {
    const std::string file = folder.path / name;
    CHECK(check_edited_file(file, "one\n", false).ok());
    REQUIRE(write_text_file(file, "one\n").ok());
    CHECK(check_edited_file(file, "one\n", false).ok());
    CHECK(check_edited_file(file, "two\n", false).error().message ==
          file +
              ": what is there differs from this and would be replaced; give --force to do so, or "
              "give another name");
    CHECK(check_edited_file(file, "two\n", true).ok());
  }
  CHECK(check_edited_file("/dev/null", "one\n", false).ok());
  CHECK(check_edited_file(folder.path.string(), "one\n", true).error().code == Errc::invalid);
}
