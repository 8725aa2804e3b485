// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/rebuilt.hpp: a part once more, with other parts in the place of its stages: of lines, graphs, forks and
// tees, of what is pinned, given to a backend or named as a group of parameters. What changes rates, and a feedback,
// are kept as they are.

#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/feedback.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/on_backend.hpp>
#include <levada/graph/detail/params.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/region.hpp>

namespace levada::detail {

/// Nothing before the first part of a line, or in the place of a stage that is left out.
struct no_parts_yet {};
template <class Made, class Next>
[[gnu::always_inline]] constexpr auto followed_by(Made made, Next next) {
  if constexpr (std::same_as<Made, no_parts_yet>)
    return next;
  else if constexpr (std::same_as<Next, no_parts_yet>)
    return made;
  else
    return std::move(made) | std::move(next);
}
/// The item passes where no stage is left.
template <class Made>
[[gnu::always_inline]] constexpr auto or_identity(Made made) {
  if constexpr (std::same_as<Made, no_parts_yet>)
    return identity;
  else
    return made;
}

template <class Flat>
inline constexpr std::size_t stages_in = 0;
template <class... Part, class... Device>
inline constexpr std::size_t stages_in<type_list<flat_part<Part, Device>...>> = count_true({is_stage<Part>...});
/// The stages of a part, as it is flattened.
template <class Part>
inline constexpr std::size_t stages_of_part = stages_in<typename flatten_node<Part, void>::type>;

/// Rates change inside of the part.
template <class Part>
concept holds_rates = changes_rate<typename flatten<Part, void>::type>;

/// `with<First>(part, change)` is the part with `change.template operator()<I>(stage)` in the place of each stage, the
/// I-th of the flattened pipeline; `First` is the first of the part. Called for other parts, too, which hold none.
template <class Part>
struct rebuilt {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(Part& part, Change& change) {
    return change.template operator()<First>(part);
  }
};

template <class Left, class Right>
struct rebuilt<link<Left, Right>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(link<Left, Right>& line, Change& change) {
    auto before = rebuilt<Left>::template with<First>(line.left, change);
    return followed_by(std::move(before),
                       rebuilt<Right>::template with<First + stages_of_part<Left>>(line.right, change));
  }
};
template <class... Stages>
struct rebuilt<pipeline<Stages...>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(pipeline<Stages...>& line, Change& change) {
    return rebuilt<typename pipeline<Stages...>::parts_type>::template with<First>(line.parts(), change);
  }
};

template <class Device, class Part>
struct rebuilt<pinned_part<Device, Part>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(pinned_part<Device, Part>& pinned, Change& change) {
    auto part = rebuilt<Part>::template with<First>(pinned.part, change);
    if constexpr (std::same_as<decltype(part), no_parts_yet>)
      return part;
    else
      return on<Device>(std::move(part));
  }
};
template <class Backend, class Part>
struct rebuilt<given_part<Backend, Part>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(given_part<Backend, Part>& given, Change& change) {
    return on<Backend>(or_identity(rebuilt<Part>::template with<First>(given.part, change)));
  }
};
template <fixed_string Name, class Part>
struct rebuilt<params_part<Name, Part>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(params_part<Name, Part>& group, Change& change) {
    return params<Name>(or_identity(rebuilt<Part>::template with<First>(group.part, change)));
  }
};

/// Parts side by side, as `Made<parts...>`.
template <template <class...> class Made, class... Parts>
struct rebuilt_pack {
  /// The stages of those before each.
  static constexpr auto before = [] {
    constexpr std::size_t stages[] = {stages_of_part<Parts>..., 0};
    std::array<std::size_t, sizeof...(Parts) + 1> sums{};
    for (std::size_t i = 0; i < sizeof...(Parts); ++i) sums[i + 1] = sums[i] + stages[i];
    return sums;
  }();

  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(part_pack<Parts...>& pack, Change& change) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      return of(or_identity(rebuilt<Parts>::template with<First + before[I]>(pack_at<I>(pack), change))...);
    }
    (std::index_sequence_for<Parts...>());
  }

 private:
  template <class... Part>
  [[gnu::always_inline]] static constexpr auto of(Part... parts) {
    return Made<Part...>{make_pack(std::move(parts)...)};
  }
};
template <class... Branches>
  requires(!holds_rates<fork_part<Branches...>>)
struct rebuilt<fork_part<Branches...>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(fork_part<Branches...>& fork, Change& change) {
    return rebuilt_pack<fork_part, Branches...>::template with<First>(fork.branches, change);
  }
};
template <class... Parts>
  requires(!holds_rates<graph_part<Parts...>>)
struct rebuilt<graph_part<Parts...>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(graph_part<Parts...>& graph, Change& change) {
    return rebuilt_pack<graph_part, Parts...>::template with<First>(graph.parts, change);
  }
};
template <class Branch>
  requires(!holds_rates<tee_part<Branch>>)
struct rebuilt<tee_part<Branch>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(tee_part<Branch>& beside, Change& change) {
    return tee(or_identity(rebuilt<Branch>::template with<First>(beside.branch, change)));
  }
};
template <class Part, fixed_string Name, fixed_string... From>
struct rebuilt<node_part<Part, Name, From...>> {
  template <std::size_t First, class Change>
  [[gnu::always_inline]] static constexpr auto with(node_part<Part, Name, From...>& named, Change& change) {
    return node<Name, From...>(or_identity(rebuilt<Part>::template with<First>(named.part, change)));
  }
};

}  // namespace levada::detail
