// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/queue_marks.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

TEST_CASE("marks are gone at the next call, whatever the queue's length then") {
  QueueMarks marks;
  marks.reset(10);
  marks.mark(3);
  marks.mark(3);
  marks.mark(9);
  CHECK(marks[3]);
  CHECK(marks[9]);
  CHECK_FALSE(marks[4]);
  for (const std::size_t size : {4U, 0U, 1000U}) {
    marks.reset(size);
    for (std::size_t i = 0; i < size; ++i) REQUIRE_FALSE(marks[i]);
    if (size > 0) marks.mark(size - 1);
  }
  CHECK(marks[999]);
}

}  // namespace
}  // namespace starling
