// SPDX-License-Identifier: Apache-2.0
#include "launch/system/program_build.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace starling {
namespace {

struct Wanted {
  std::uintptr_t address;  ///< lies in the object whose id is wanted
  std::string id;
};

constexpr std::size_t kDigits = 12;

std::size_t whole_words(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// The id among the notes of one segment; empty: it is not there.
std::string id_in(const char* at, std::size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const std::size_t name = whole_words(note.n_namesz), text = whole_words(note.n_descsz);
    if (bytes - sizeof note < name + text) return {};
    const char* const words = at + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(words, "GNU", 4) == 0) {
      std::string id;
      for (std::size_t i = 0; i < note.n_descsz && id.size() < kDigits; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(words[name + i]));
        id += digits;
      }
      return id;
    }
    at += sizeof note + name + text;
    bytes -= sizeof note + name + text;
  }
  return {};
}

int look(dl_phdr_info* object, std::size_t, void* data) {
  Wanted& wanted = *static_cast<Wanted*>(data);
  bool here = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t from = object->dlpi_addr + part.p_vaddr;
    here = here || (part.p_type == PT_LOAD && wanted.address >= from &&
                    wanted.address < from + part.p_memsz);
  }
  if (!here) return 0;
  for (int i = 0; i < object->dlpi_phnum && wanted.id.empty(); ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type == PT_NOTE)
      wanted.id =
          id_in(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return 1;
}

}  // namespace

std::string program_build() {
  Wanted wanted{reinterpret_cast<std::uintptr_t>(&id_in), {}};
  static_cast<void>(::dl_iterate_phdr(look, &wanted));
  return STARLING_VERSION + (wanted.id.empty() ? std::string() : "+" + wanted.id);
}

}  // namespace starling
