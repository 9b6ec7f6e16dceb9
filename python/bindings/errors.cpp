// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/errors.h"

#include <pybind11/pybind11.h>

namespace starling {
namespace {

[[noreturn]] void raise_as(PyObject* kind, const std::string& message) {
  PyErr_SetString(kind, message.c_str());
  throw pybind11::error_already_set();
}

}  // namespace

void raise(const Error& error) {
  switch (error.code) {
    case Errc::invalid:
    case Errc::unsupported:
      raise_as(PyExc_ValueError, error.message);
    case Errc::not_found:
      raise_as(PyExc_LookupError, error.message);
    case Errc::not_ready:
    case Errc::expired:
      raise_as(PyExc_TimeoutError, error.message);
    case Errc::io:
      raise_as(PyExc_OSError, error.message);
    case Errc::fenced:
    case Errc::conflict:
    case Errc::busy:
      break;
  }
  raise_as(PyExc_RuntimeError, error.message);
}

void raise_input(const Error& error) {
  raise({error.code == Errc::not_found ? Errc::invalid : error.code, error.message});
}

}  // namespace starling
