// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/for_each.hpp: the parts of an item, one after the other through the pipeline that they are for
// (graph/detail/for_each.hpp).

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/storage.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/for_each.hpp>
#include <levada/run/detail/deploy/nested.hpp>

namespace levada::detail {

template <fixed_string Name, std::size_t N, overflow_parts Beyond, class Part, class In, class Program>
class nested_kernel<for_each_op<Name, N, Beyond, Part>, In, Program> {
  using op_type = for_each_op<Name, N, Beyond, Part>;
  using one = typename op_type::template pipeline<In>::out;

 public:
  using result = bounded<one, N>;
  static constexpr std::size_t scratch_bytes = Program::scratch_bytes;
  static constexpr std::size_t weight_bytes = Program::weight_bytes;
  static constexpr bool has_state = Program::has_state, has_groups = Program::has_groups;

  /// Moves the pipeline's stages out of the op, as `deploy` does with all.
  nested_kernel(const op_type& op, parameter_values) : program_(const_cast<op_type&>(op).part) {}

  std::array<parameter_board<>*, 1> boards() const { return {program_.board()}; }

  template <class Items>
  void make(const Items& items, void* into, std::byte* scratch, void* const* inside = nullptr) const {
    kept_if_done<result> made{::new (into) result};
    void* const* const objects = objects_inside(inside, 0);
    if constexpr (is_bounded<Items>) {
      collect(items, *made.object, scratch, objects, [](const auto& part) -> const auto& { return part; });
    } else {
      constexpr std::size_t index = parts_in<In>::index;
      std::apply(
          [&](const auto&... item) {
            typename parts_in<In>::given given{{std::addressof(item)...}};
            collect(std::get<index>(items), *made.object, scratch, objects, [&](const auto& part) -> const auto& {
              given.at[index] = std::addressof(part);
              return given;
            });
          },
          items);
    }
    made.object = nullptr;
  }

 private:
  template <class Parts, class Given>
  void collect(const Parts& parts, result& results, std::byte* scratch, void* const* objects, Given given) const {
    std::size_t count = parts.size();
    if (count > N) {
      if constexpr (Beyond == overflow_parts::fail) refuse(count);
      count = N;
    }
    if constexpr (std::is_nothrow_default_constructible_v<one>) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = results.size();
        place_of_next next(results.data() + size);
        if (!program_.run(given(parts[i]), next.at, scratch, objects)) continue;
        next.at = nullptr;
        results.resize(size + 1);
      }
    } else {  // a place could not be made empty again for sure
      const arena_bytes room(sizeof(one), alignof(one));
      for (std::size_t i = 0; i < count; ++i) {
        if (!program_.run(given(parts[i]), room.get(), scratch, objects)) continue;
        const kept_if_done<one> made{std::launder(reinterpret_cast<one*>(room.get()))};
        results.push_back(std::move(*made.object));
      }
    }
  }

  /// A place among the results that is empty while a result is made there.
  struct place_of_next {
    one* at;
    explicit place_of_next(one* place) : at(place) { std::destroy_at(at); }
    ~place_of_next() {
      if (at != nullptr) ::new (static_cast<void*>(at)) one();
    }
  };

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(std::size_t parts) {
    throw error("levada: stage \"" + std::string(Name.view()) + "\": an item has " + std::to_string(parts) +
                " parts, and there is room for " + std::to_string(N));
  }

  Program program_;
};

}  // namespace levada::detail
