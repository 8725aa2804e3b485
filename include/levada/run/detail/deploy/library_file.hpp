// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/library_file.hpp: what of a file has to be there before dlopen maps it: the loader believes the
// headers of a shared library, and who touches what lies behind the end of the file dies of SIGBUS.

#include <link.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <levada/core/detail/whole_file.hpp>

namespace levada::detail {

/// Calls `fail(why)`, which throws, where the file is none, or a shared library without its end. What is no library at
/// all, or one of another kind of machine, is left to dlopen, which says so.
template <class Fail>
void check_library_file(const std::string& path, Fail fail) {
  using header = ElfW(Ehdr);
  using program_header = ElfW(Phdr);
  const auto opened = open_regular(path, fail);
  const open_file& file = opened.first;
  const std::uint64_t size = opened.second;
  const auto is_cut = [&](std::uint64_t wanted) {
    fail("the file is cut off: it has " + std::to_string(size) + " bytes and needs " + std::to_string(wanted));
  };
  const auto read = [&](void* to, std::size_t bytes, std::uint64_t at) {
    if (size < bytes || at > size - bytes) is_cut(at + bytes);
    if (file.read(to, bytes, at) != static_cast<ssize_t>(bytes)) fail(std::string("the file cannot be read"));
  };
  header head;
  if (size < sizeof head) fail(std::string("the file is too short for a library"));
  read(&head, sizeof head, 0);
  constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != own_class ||
      head.e_phentsize != sizeof(program_header))
    return;
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
    program_header part;
    const std::uint64_t at = i * sizeof part;
    if (head.e_phoff > ~std::uint64_t{0} - at - sizeof part) fail(std::string("its headers lie nowhere"));
    read(&part, sizeof part, head.e_phoff + at);
    if (part.p_type == PT_NULL || part.p_filesz == 0) continue;
    if (part.p_offset > ~std::uint64_t{0} - part.p_filesz) fail(std::string("a part of it lies nowhere"));
    end = std::max<std::uint64_t>(end, part.p_offset + part.p_filesz);
  }
  if (end > size) is_cut(end);
}

}  // namespace levada::detail
