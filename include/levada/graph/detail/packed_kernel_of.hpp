// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/packed_kernel_of.hpp: from the type of a kernel to what is known of it without one, if its bytes are all
// that it is.

#include <cstddef>
#include <new>
#include <utility>

#include <levada/core/detail/bytes_hash.hpp>
#include <levada/core/detail/spelled_type.hpp>
#include <levada/graph/detail/kernel_store.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/parameters.hpp>

namespace levada::detail {

/// It is worth a place in a file: a page and more.
template <class Kernel>
inline constexpr bool is_stored = is_packed<Kernel> && sizeof(Kernel) >= 4096;

template <class Kernel, class... Ops>
void construct_kernel(void* at, const void* const* ops, const parameter_values& p) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ::new (at) Kernel(*static_cast<const Ops*>(ops[I])..., p);
  }(std::index_sequence_for<Ops...>{});
}

/// A kernel of one name may compute in another way in another version: how it lays its weights out hangs on that.
template <class Kernel, class... Ops>
inline constexpr packed_kernel packed_kernel_of{
    sizeof(Kernel), alignof(Kernel),
    is_stored<Kernel> ? fnv1a(apart::spelled_type<Kernel>()) ^ mixed_bits(fnv1a(method_of<Kernel>)) : 0,
    &construct_kernel<Kernel, Ops...>};

}  // namespace levada::detail
