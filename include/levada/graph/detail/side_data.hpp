// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/side_data.hpp: what a stage takes beside its item, by further parameters of its callable:
//
//   Out f(const In&, Side&)                  attaches a Side to the item, or changes the one that a stage before
//   attached Out f(const In&, const Side&)            reads what a stage before attached
//   Out f(const In&, const item_envelope&)   reads the item's envelope
//
// in any number, and in every form that can be read off a signature. Side data lies with the item in its slot, past
// stages that know nothing of it: the scale of a letterbox reaches the post-processing without going through the model.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/form.hpp>

namespace levada {

template <class F, std::size_t Again>
struct retried;

namespace detail {

/// A type of side data, known by the address of its key.
struct side_key {
  std::size_t bytes = 0, alignment = 1;
};
template <class Side>
inline constexpr side_key side_key_of{sizeof(Side), alignof(Side)};

/// Where a stage finds what one of its further parameters asks for.
struct side_place {
  static constexpr std::uint32_t envelope = ~std::uint32_t{0};

  const side_key* key = nullptr;  ///< null: the envelope
  /// The first parameter of that type, or `envelope`. (Where g++ 12 sanitizes, addresses of keys do not compare in
  /// constants.)
  std::uint32_t type = envelope;
  std::uint32_t offset = 0;  ///< in the side data of the item
  bool attaches = false;
  bool fresh = false;  ///< no stage before attached it
};

/// The parameters of a callable behind those of its form.
template <class F, form Form>
consteval auto side_parameters() {
  if constexpr (Form != form::op && Form != form::source && plain_callable<F>) {
    using arguments = typename decltype(signature_for<F, void>())::arguments;
    constexpr std::size_t own = Form == form::destination ? 2 : 1;
    if constexpr (arguments::size > own)
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return type_list<type_at<arguments, own + I>...>{};
      }(std::make_index_sequence<arguments::size - own>{});
    else
      return type_list<>{};
  } else {
    return type_list<>{};
  }
}
template <class F, form Form>
struct sides_of : type_tag<decltype(side_parameters<F, Form>())> {};
template <class F, std::size_t Again, form Form>
struct sides_of<retried<F, Again>, Form> : sides_of<F, Form> {};

/// The first of the parameters of that type.
template <class Side, class... P>
consteval std::uint32_t first_of_type() {
  constexpr bool same[] = {std::is_same_v<Side, std::remove_cvref_t<P>>...};
  std::uint32_t i = 0;
  while (!same[i]) ++i;
  return i;
}

/// Parameters as places that are still to be found.
template <class... P>
constexpr std::array<side_place, sizeof...(P)> wanted_places(type_list<P...>) {
  const auto wanted = []<class Q>(type_tag<Q>) -> side_place {
    using side = std::remove_cvref_t<Q>;
    if constexpr (std::is_same_v<side, item_envelope>)
      return {};
    else
      return {&side_key_of<side>, first_of_type<side, P...>(), 0, attaches_side<Q>, false};
  };
  return {wanted(type_tag<P>{})...};
}

/// The side data of a pipeline: for the parameters of all its stages, in order, where each finds what it asks for.
template <std::size_t N>
struct side_layout {
  std::array<side_place, N> place{};
  std::size_t bytes = 0, alignment = 1;
  std::size_t unattached = N;  ///< the first that asks for what no stage before attached
};

template <std::size_t N>
constexpr side_layout<N> lay_out_sides(std::array<side_place, N> wanted) {
  side_layout<N> layout{wanted};
  for (std::size_t i = 0; i < N; ++i) {
    side_place& here = layout.place[i];
    if (here.type == side_place::envelope) continue;
    std::size_t before = 0;
    while (before < i && layout.place[before].type != here.type) ++before;
    if (before < i) {
      here.offset = layout.place[before].offset;
    } else if (!here.attaches) {
      layout.unattached = i;
      return layout;
    } else {
      const std::size_t a = here.key->alignment;
      const std::size_t at = (layout.bytes + a - 1) / a * a;
      here.offset = static_cast<std::uint32_t>(at);
      here.fresh = true;
      layout.bytes = at + here.key->bytes;
      if (a > layout.alignment) layout.alignment = a;
    }
  }
  return layout;
}

}  // namespace detail
}  // namespace levada
