// SPDX-License-Identifier: Apache-2.0
// Which test case passes which mutants: one line each, in the file that STARLING_PASSED names.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "tests/mutants/mutant.h"

namespace {

struct PassedListener : doctest::IReporter {
  explicit PassedListener(const doctest::ContextOptions&) {
    if (const char* name = std::getenv("STARLING_PASSED")) file.open(name);
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData& data) override {
    test = data.m_name;
    (void)starling::mutants::passed();
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (!file) return;
    file << test << '\t' << stats.seconds << '\t' << starling::mutants::passed() << std::endl;
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

  std::ofstream file;
  std::string test;
};

REGISTER_LISTENER("passed", 1, PassedListener);

}  // namespace
