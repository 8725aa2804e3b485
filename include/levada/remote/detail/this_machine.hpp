// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/this_machine.hpp: whether what goes to an address leaves the machine, and files for it.

#include <unistd.h>
#include <string>
#include <string_view>

#include <levada/remote/detail/certificates.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

/// The other end of a way that leaves no machine.
inline bool is_this_machine(std::string_view address) {
  for (const std::string_view scheme : {"unix:", "unix-abstract:"})
    if (address.starts_with(scheme)) return true;
  if (address.starts_with("dns:///")) address.remove_prefix(7);
  const std::string_view host = address.substr(0, address.rfind(':'));
  // An address of numbers alone: a name such as 127.example.org is anybody's.
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

/// Throws remote_error for another machine, with what needs certificates then.
inline void check_plain_text(const std::string& address, std::string_view who) {
  if (!is_this_machine(address))
    throw remote_error("levada: \"" + address + "\" is not this machine, and plain text goes to no other: give " +
                       std::string(who) + " certificates");
}

/// Throws remote_error where a file cannot be read: what connects by it would only fail to.
inline void check_readable(const certificate_files& of) {
  for (const std::string* file : {&of.authority, &of.certificate, &of.key})
    if (::access(file->c_str(), R_OK) != 0)
      throw remote_error("levada: certificate_files: \"" + *file + "\" cannot be read");
}

}  // namespace levada::detail
