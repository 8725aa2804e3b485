// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/make_kernel.hpp: the kernel of ops in a row, from their objects and their parameters. One whose
// bytes are all that it is may have been made before: by another program, or for another deployment
// (graph/detail/kernel_store.hpp).

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/bytes_hash.hpp>
#include <levada/core/detail/clear_padding.hpp>
#include <levada/graph/detail/kernel_store.hpp>
#include <levada/graph/detail/packed_kernel_of.hpp>
#include <levada/graph/op.hpp>
#include <levada/run/detail/program/collected_parameters.hpp>
#include <levada/run/detail/program/erased_object.hpp>
#include <levada/run/detail/program/stage_address.hpp>

namespace levada::detail {

/// An op with what it takes, one item of a batch: its parameters hang on that.
template <class Op, class In>
struct op_with_input {
  using op = Op;
  static constexpr const auto& parameters = Op::template parameters<In>;
};

template <class Op>
void collect_parameters(collected_parameters& into, const stage_address& stage) {
  for (const parameter_info& wanted : Op::parameters) into.collect(stage.name, *stage.weights, wanted);
}

/// Kernels that each session may have a copy of: those with stages inside, which may have state that can be copied.
/// Others are shared.
template <class Kernel>
inline constexpr bool is_copied_kernel = requires {
  Kernel::has_state;
  requires std::is_copy_constructible_v<Kernel>;
};

/// The objects of the ops of a kernel and their parameters, which its bytes come from.
struct kernel_origin {
  std::span<const void* const> ops;
  void (*add_ops)(bytes_hash& to, const void* const* ops);
  const parameter_values& parameters;
  std::span<const std::size_t> parameter_bytes;
};

template <class = void>
inline stored_kernel wanted_kernel(const packed_kernel& kernel, const kernel_origin& from) {
  bytes_hash hash(kernel.type);
  from.add_ops(hash, from.ops.data());
  for (std::size_t i = 0; i < from.parameter_bytes.size(); ++i)
    hash.add({from.parameters.get<std::byte>(i), from.parameter_bytes[i]});
  return {hash.value(), kernel.bytes, kernel.alignment};
}

template <class = void>
inline std::shared_ptr<void> memory_of_kernel(std::size_t bytes, std::size_t alignment) {
  const auto aligned = std::align_val_t{alignment < 64 ? 64 : alignment};
  const bool is_large = is_large_object(bytes, alignment);
  return {is_large ? large_object::operator new(bytes, aligned) : ::operator new(bytes, aligned),
          [is_large, aligned](void* kernel) {
            if (is_large)
              large_object::operator delete(kernel, aligned);
            else
              ::operator delete(kernel, aligned);
          }};
}

/// The kernel of stages in a row, as many as `from` has ops: the one that the source of their parameters has, or a new
/// one.
template <class = void>
[[gnu::cold]] inline std::shared_ptr<const void> find_or_make(const packed_kernel& kernel, const stage_address* stages,
                                                              const kernel_origin& from) {
  const auto* const end = stages + from.ops.size();
  while (stages != end && stages->weights->kernels() == nullptr) ++stages;  // a flatten before a dense has none
  kernel_store* const store = stages != end ? stages->weights->kernels() : nullptr;
  const stored_kernel wanted = store != nullptr ? wanted_kernel(kernel, from) : stored_kernel{};
  if (store != nullptr)
    if (auto found = store->find(wanted)) return found;
  std::shared_ptr<void> made = memory_of_kernel(kernel.bytes, kernel.alignment);
  kernel.construct(made.get(), from.ops.data(), from.parameters);
  if (store != nullptr) store->keep(wanted, made, stages->name);
  return made;
}

template <class Op>
void add_op(bytes_hash& to, const void* op) {
  if constexpr (!std::is_empty_v<Op>) {
    Op copy = *static_cast<const Op*>(op);
    clear_padding(copy);
    to.add(std::as_bytes(std::span(&copy, 1)));
  }
}
template <class... Ops>
void add_ops([[maybe_unused]] bytes_hash& to, [[maybe_unused]] const void* const* ops) {
  (add_op<typename Ops::op>(to, *ops++), ...);
}
/// The bytes of each parameter of `Ops`.
template <class... Ops>
inline constexpr auto parameter_bytes_of = [] {
  std::array<std::size_t, (std::size_t{0} + ... + Ops::parameters.size())> bytes{};
  std::size_t next = 0;
  const auto add = [&](const auto& parameters) {
    for (const parameter_info& p : parameters) bytes[next++] = p.extents.elements() * size_of(p.type);
  };
  (add(Ops::parameters), ...);
  return bytes;
}();

/// The kernel of ops in a row. `Ops`: each an op_with_input.
template <class Kernel, class... Ops>
erased_object make_kernel(const stage_address* stages) {
  collected_parameters parameters((std::size_t{0} + ... + Ops::parameters.size()));
  [[maybe_unused]] const stage_address* next = stages;
  (collect_parameters<Ops>(parameters, *next++), ...);
  constexpr bool are_bytes = (std::is_trivially_copyable_v<typename Ops::op> && ...);
  constexpr bool is_shared = are_bytes && is_stored<Kernel>;
  if constexpr (is_shared || (are_bytes && requires { Kernel::packed_elsewhere(); })) {
    const auto found_or_made = [&](const packed_kernel& kernel) {
      const void* ops[sizeof...(Ops)];
      for (std::size_t i = 0; i < sizeof...(Ops); ++i) ops[i] = stages[i].object;
      return find_or_make(kernel, stages, {ops, &add_ops<Ops...>, parameters.values(), parameter_bytes_of<Ops...>});
    };
    if constexpr (is_shared)
      return erased_object::shared(found_or_made(packed_kernel_of<Kernel, typename Ops::op...>));
    else if (const packed_kernel& kernel = Kernel::packed_elsewhere(); kernel.type != 0)
      return erased_object::make<Kernel, false>(found_or_made(kernel));
  }
  if constexpr (!is_shared)
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return erased_object::make<Kernel, is_copied_kernel<Kernel>>(
          *static_cast<const typename Ops::op*>(stages[I].object)..., parameters.values());
    }(std::index_sequence_for<Ops...>{});
}

}  // namespace levada::detail
