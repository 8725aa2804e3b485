// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/kernels_of_sets.hpp: kernels that units of their own have for several instruction sets
// (levada_add_kernels with ISA). Here is what a plan knows of them, the most that any of the sets needs, and a kernel
// that calls the code of the set which the program has chosen. Kernels with a lambda, or anything that is not levada's,
// are compiled where they are, by the flags of that unit.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/backend/simd/detail/chosen_set.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/kernel_code.hpp>
#include <levada/core/detail/spelled_type.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada {

namespace detail {

/// The code of the chosen set; levada_add_kernels writes the unit that defines it. Throws levada::error where the
/// processor has none of the sets.
template <class Kernel>
[[gnu::visibility("hidden")]] const kernel_code& code_of_sets();

/// A kernel whose class other units have: it is made from `Ops` and their parameters.
template <class Kernel, class Ops>
class called_kernel;
template <class Kernel, class... Ops>
class called_kernel<Kernel, type_list<Ops...>> {
 public:
  called_kernel(const Ops&... ops, const parameter_values& p) : called_kernel(code_of_sets<Kernel>()) {
    const packed_kernel& made = code_->kernel;
    const std::align_val_t aligned{made.alignment < 64 ? 64 : made.alignment};
    const void* const addresses[] = {std::addressof(ops)...};
    std::unique_ptr<void, memory_end> memory(::operator new(made.bytes, aligned), {aligned});
    made.construct(memory.get(), addresses, p);
    kernel_ = {memory.release(), [aligned, destroy = code_->destroy](void* kernel) {
                 destroy(kernel);
                 ::operator delete(kernel, aligned);
               }};
  }
  /// One that was made before, of which `packed_elsewhere()` says all.
  explicit called_kernel(std::shared_ptr<const void> made) : called_kernel(code_of_sets<Kernel>()) {
    kernel_ = std::move(made);
  }
  static const packed_kernel& packed_elsewhere() { return code_of_sets<Kernel>().kernel; }

 protected:
  void run(const void* const* inputs, void* out, std::byte* scratch) const {
    code_->run(kernel_.get(), inputs, out, scratch);
  }
  void run_tiles(const void* const* inputs, void* out, std::byte* scratch, tile_range some) const {
    code_->of_tiles(kernel_.get(), inputs, out, scratch, some);
  }

 private:
  struct memory_end {
    std::align_val_t aligned;
    void operator()(void* memory) const { ::operator delete(memory, aligned); }
  };
  explicit called_kernel(const kernel_code& code) : code_(&code) {
    if (code_->scratch_bytes > Kernel::scratch_bytes || code_->tiles != Kernel::tiles)
      throw error("levada: the units of kernels were compiled from other headers than the plan");
  }

  const kernel_code* code_;
  std::shared_ptr<const void> kernel_;
};

template <class T>
std::array<const void*, 1> addresses_of(const T& in) {
  return {std::addressof(in)};
}
template <class... T>
std::array<const void*, sizeof...(T)> addresses_of(const std::tuple<T...>& in) {
  return std::apply([](const auto&... each) { return std::array<const void*, sizeof...(T)>{std::addressof(each)...}; },
                    in);
}

/// How a kernel computes: one text for all sets, or that it differs.
constexpr std::string_view common_method(std::initializer_list<std::string_view> methods) {
  for (const std::string_view method : methods)
    if (method != *methods.begin()) return "by the instruction set";
  return *methods.begin();
}

}  // namespace detail

/// The kernel of some work (backend/simd/detail/kernel_code.hpp) for each of the sets; complete where each has one.
template <template <class> class Backend, class Sets, class Work>
class simd_of_sets;
template <template <class> class Backend, class... Set, class Work>
  requires requires { (sizeof(typename Work::template kernel<Backend<Set>>) + ...); }
class simd_of_sets<Backend, isa::one_of<Set...>, Work>
    : detail::called_kernel<simd_of_sets<Backend, isa::one_of<Set...>, Work>, typename Work::op_list> {
  using called = detail::called_kernel<simd_of_sets<Backend, isa::one_of<Set...>, Work>, typename Work::op_list>;

 public:
  using out_type = typename Work::out_type;
  template <class S>
  using in_set = typename Work::template kernel<Backend<S>>;

  static constexpr std::size_t scratch_bytes = std::max({std::size_t{in_set<Set>::scratch_bytes}...});
  static constexpr std::size_t weight_bytes = std::max({detail::weight_bytes_of<in_set<Set>>...});
  static constexpr std::string_view method = detail::common_method({detail::method_of<in_set<Set>>...});
  /// The fewest: each of them is a tile or some of the chosen set.
  static constexpr std::size_t tiles = std::min({detail::tiles_of<in_set<Set>>...});

  using called::called;
  using called::packed_elsewhere;

  void operator()(const auto& in, out_type& out, std::byte* scratch) const {
    called::run(detail::addresses_of(in).data(), std::addressof(out), scratch);
  }
  void of_tiles(const auto& in, out_type& out, std::byte* scratch, detail::tile_range some) const {
    called::run_tiles(detail::addresses_of(in).data(), std::addressof(out), scratch, some);
  }
};

namespace detail {

/// Elsewhere for each of the sets, or here for what the unit's flags enable.
template <template <class> class Backend, class Sets, class Work>
struct where_compiled : type_tag<typename Work::template kernel<Backend<isa::native>>> {};
template <template <class> class Backend, class Sets, class Work>
  requires names_levadas_alone<Work>
struct where_compiled<Backend, Sets, Work> : type_tag<simd_of_sets<Backend, Sets, Work>> {};

/// `Backend`, for each of the sets.
template <template <class> class Backend, class Sets>
struct backend_of_sets {
  using here = Backend<isa::native>;
  static constexpr std::string_view name = here::name, more_kernels = here::more_kernels;
  static constexpr device_kind device = here::device;
  static constexpr std::size_t longest_run = here::longest_run;

  template <class In, class... Ops>
  using kernel = typename where_compiled<Backend, Sets, run_work<In, Ops...>>::type;
  template <class In, class... Ops>
  using batch_kernel = typename where_compiled<Backend, Sets, batch_work<In, Ops...>>::type;
  template <class Region>
  using region_kernel = typename where_compiled<Backend, Sets, region_work<Region>>::type;

  static std::string_view instruction_set() { return name_of_chosen_set(Sets{}); }

  static constexpr bool takes(const region_info& region) { return here::takes(region); }
};

}  // namespace detail

template <class... Set>
struct simd_on<isa::one_of<Set...>> : detail::backend_of_sets<simd_on, isa::one_of<Set...>> {};
template <class Arch>
struct simd_direct_on;
template <class... Set>
struct simd_direct_on<isa::one_of<Set...>> : detail::backend_of_sets<simd_direct_on, isa::one_of<Set...>> {};

}  // namespace levada
