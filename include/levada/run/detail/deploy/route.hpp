// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/route.hpp: an item through the branch that was chosen for it (graph/detail/route.hpp).

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/graph/detail/route.hpp>
#include <levada/run/detail/deploy/nested.hpp>

namespace levada::detail {

template <fixed_string Name, class F, concurrency Order, class... Branches, class In, class... Programs>
class nested_kernel<route_op<Name, F, Order, Branches...>, In, Programs...> {
  using op_type = route_op<Name, F, Order, Branches...>;
  using given_type = typename nested_item<In>::type;
  static constexpr std::size_t count = sizeof...(Branches);

 public:
  using result = typename op_type::template output<In>;
  static constexpr std::size_t scratch_bytes = std::max({Programs::scratch_bytes...});
  static constexpr std::size_t weight_bytes = (Programs::weight_bytes + ...);
  static constexpr bool has_state = !std::is_empty_v<F> || (Programs::has_state || ...);
  static constexpr bool has_groups = (Programs::has_groups || ...);

  /// Moves the stages out of the op, as `deploy` does with all.
  nested_kernel(const op_type& op, parameter_values)
      : nested_kernel(const_cast<op_type&>(op), std::index_sequence_for<Branches...>{}) {}

  std::array<parameter_board<>*, count> boards() const {
    return std::apply([](const Programs&... program) { return std::array{program.board()...}; }, programs_);
  }

  template <class Items>
  void make(const Items& items, void* into, std::byte* scratch, void* const* inside = nullptr) const {
    if constexpr (is_branch_items<given_type>)
      std::apply(
          [&](const auto&... item) {
            run(choose_(item...), given_type{{std::addressof(item)...}}, into, scratch, inside);
          },
          items);
    else
      run(choose_(items), items, into, scratch, inside);
  }

 private:
  template <std::size_t... I>
  nested_kernel(op_type& op, std::index_sequence<I...>)
      : choose_(std::move(op.choose)), programs_(pack_at<I>(op.branches)...) {}

  template <class Choice>
  void run(Choice choice, const given_type& given, void* into, std::byte* scratch, void* const* inside) const {
    std::size_t index = static_cast<std::size_t>(choice);
    if constexpr (std::same_as<Choice, bool>)
      index = choice ? 0 : 1;
    else if (index >= count)
      refuse(index);
    void* const* const objects = objects_inside(inside, index);
    std::size_t i = 0;
    std::apply([&](const Programs&... program) { ((i++ == index && program.run(given, into, scratch, objects)), ...); },
               programs_);
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(std::size_t index) {
    throw error("levada: stage \"" + std::string(Name.view()) + "\" has " + std::to_string(count) +
                " branches, and none of index " + std::to_string(static_cast<std::ptrdiff_t>(index)));
  }

  [[no_unique_address]] mutable F choose_;
  std::tuple<Programs...> programs_;
};

}  // namespace levada::detail
