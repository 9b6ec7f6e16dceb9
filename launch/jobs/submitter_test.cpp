// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/submitter.h"

#include <doctest/doctest.h>

#include "workload/directory.h"

using namespace starling;

namespace {

const Submitter kFrom{"/home/ann/proj",
                      {"A=1", "B=2", "PWD=/elsewhere", "OLDPWD=/x", "_=/bin/sh", "STARLING_JOB=7",
                       "STARLING_FLOCK=/f"}};

JobSpec taken(const std::string& directory, const std::string& choice,
              std::vector<std::string> own = {}) {
  JobSpec spec;
  spec.environment = std::move(own);
  REQUIRE(take_over(kFrom, directory, choice, spec).ok());
  return spec;
}

std::string refused(const std::string& choice) {
  JobSpec spec;
  const Status s = take_over(kFrom, "", choice, spec);
  return s ? "taken" : s.error().message;
}

using Entries = std::vector<std::string>;

}  // namespace

TEST_CASE("a job takes over its submitter's environment, as it is asked to") {
  CHECK(taken("", "").environment ==
        Entries{"A=1", "B=2", "STARLING_FLOCK=/f", "PWD=/home/ann/proj"});
  CHECK(taken("", "none").environment == Entries{"PWD=/home/ann/proj"});
  CHECK(taken("", "B,C=3").environment == Entries{"B=2", "C=3", "PWD=/home/ann/proj"});
  CHECK(taken("", "none,C=3").environment == Entries{"C=3", "PWD=/home/ann/proj"});
  CHECK(taken("", "C=3").environment.size() == 5);
  CHECK(taken("", "ALL,A=9").environment[0] == "A=9");
  // What the job says itself counts more, also than what is named.
  CHECK(taken("", "A", {"A=own"}).environment == Entries{"A=own", "PWD=/home/ann/proj"});
  CHECK(taken("", "STARLING_JOB").environment[0] == "STARLING_JOB=7");  // who wants it
}

TEST_CASE("a job runs where it was submitted, or where it is told to") {
  CHECK(directory_of(taken("", "")) == "/home/ann/proj");
  CHECK(directory_of(taken("sub/./dir/", "")) == "/home/ann/proj/sub/dir");
  CHECK(directory_of(taken("..", "")) == "/home/ann");
  CHECK(directory_of(taken("/data", "")) == "/data");
  CHECK(directory_of(taken("", "", {"PWD=below"})) == "/home/ann/proj/below");
  CHECK(directory_of(taken("/data", "", {"PWD=below"})) == "/data");
}

TEST_CASE("a wrong choice, and more than a job may have, are told") {
  CHECK(refused("C").find("C is not set here") != std::string::npos);
  CHECK(refused("none,A").find("at once") != std::string::npos);
  CHECK(refused("A,,B").find("give all, none, or NAME") != std::string::npos);
  Submitter rich = kFrom;
  rich.environment.push_back("HUGE=" + std::string(70'000, 'x'));
  JobSpec spec;
  const std::string why = take_over(rich, "", "", spec).error().message;
  CHECK(why.find("the largest are HUGE (70,005)") != std::string::npos);
  CHECK(why.find("65,536") != std::string::npos);
}
