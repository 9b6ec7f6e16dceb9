// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests that see libtorch, in the place of doctest's header: glog, which libtorch brings, has a
// CHECK of its own, that ends the program instead of failing the test and is not counted.
#include <c10/util/Logging.h>
#include <doctest/doctest.h>

#undef CHECK
#define CHECK(...) DOCTEST_CHECK(__VA_ARGS__)
