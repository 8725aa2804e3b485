// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/kernel_store.hpp: kernels that are nothing but their bytes, and where a source of parameters has those
// that were made of them before, if it has any (interop/packed_weights.hpp).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace levada {
class parameter_values;
}

namespace levada::detail {

/// A kernel whose bytes are all that it is, without its type.
struct packed_kernel {
  std::size_t bytes = 0, alignment = 0;
  std::uint64_t type = 0;  ///< the hash of its name, which has the instruction set, and its method; 0: nobody keeps it
  /// `ops`: the addresses of its ops.
  void (*construct)(void* at, const void* const* ops, const parameter_values& p) = nullptr;
};

/// The kernel that is wanted: the hash of all that its bytes come from, and what they take.
struct stored_kernel {
  std::uint64_t key;
  std::size_t bytes, alignment;
};

/// Several threads may ask at once.
class kernel_store {
 public:
  /// Null where there is none.
  virtual std::shared_ptr<const void> find(const stored_kernel& wanted) = 0;
  /// Of a kernel that was not found, and has been made for that stage and others of its unit.
  virtual void keep(const stored_kernel& made, std::shared_ptr<const void> kernel, std::string_view stage) = 0;

 protected:
  ~kernel_store() = default;
};

}  // namespace levada::detail
