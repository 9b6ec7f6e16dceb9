// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <vector>

namespace starling {

/// One number of all rows as a NumPy array that looks into the rows: no copy, not writable, and it
/// keeps `owner`, whose rows they are, alive. `of(row)`: the number within the row.
template <class Value, class Row, class Of>
pybind11::array column(const std::vector<Row>& rows, Of of, pybind11::handle owner) {
  const Value* first = nullptr;
  if (!rows.empty()) first = &of(rows.front());
  pybind11::array_t<Value> out({static_cast<pybind11::ssize_t>(rows.size())},
                               {static_cast<pybind11::ssize_t>(sizeof(Row))}, first, owner);
  out.attr("setflags")(pybind11::arg("write") = false);
  return out;
}

/// What `of` makes of each row, as a list.
template <class Row, class Of>
pybind11::list listed(const std::vector<Row>& rows, Of of) {
  pybind11::list out(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) out[i] = pybind11::cast(of(rows[i]));
  return out;
}

}  // namespace starling
