// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/rated_graph.hpp: graphs whose nodes change their rate (graph/detail/rated_graph.hpp), run by
// whoever carries items past the graph. Each item goes to all nodes that take it alone at once; what several nodes give
// a node waits in rings.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/rated_graph.hpp>
#include <levada/run/detail/deploy/rated_fork.hpp>

namespace levada::detail {

template <class Planner, class In, class Rate, class... Parts>
class graph_state : public joins_branches<graph_state<Planner, In, Rate, Parts...>> {
  using wiring = typename Rate::wiring;
  using graph = typename Rate::template graph<In>;
  using result = typename Rate::template output<In>;
  using sizes = graph_rings<graph>;
  using outputs = graph_outputs<graph>;
  template <std::size_t I>
  using item = typename graph_item<graph, I>::type;

  /// The rings of a piece that takes from several, or of an output.
  template <std::size_t I, class Indices = std::make_index_sequence<wiring::members[I].from.size()>>
  struct rings_of;
  template <std::size_t I, std::size_t... K>
  struct rings_of<I, std::index_sequence<K...>> {
    using type = std::tuple<ring<item<wiring::source(I, K)>, sizes::template room<I>(K)>...>;
    static constexpr std::size_t bytes =
        (std::size_t{0} + ... + ring<item<wiring::source(I, K)>, sizes::template room<I>(K)>::bytes);
  };
  static constexpr bool is_node(std::size_t i) { return wiring::members[i].kind == graph_member::node; }
  static constexpr bool has_rings(std::size_t i) { return sizes::has_rings(i); }
  static constexpr bool takes_one_port(std::size_t i) {
    return is_node(i) && !has_rings(i) && wiring::source(i, 0) < wiring::ports;
  }

  struct nothing {
    explicit nothing(const void*) {}
  };
  template <std::size_t I>
  static consteval auto find_rings() {
    if constexpr (has_rings(I))
      return rings_of<I>{};
    else
      return type_tag<std::tuple<>>{};
  }
  template <std::size_t I>
  struct node_of {
    using branch = graph_node<graph, I>;
    using regions_type = branch_regions<typename branch::parts, 0, Planner>;
    static constexpr std::size_t bytes = regions_type::bytes + sizeof(item<I>);

    regions_type regions;
    place_for<item<I>> made;

    template <class Part>
    explicit node_of(Part& part) : node_of(addresses_of_branch<branch, decltype(part.part)>(part.part)) {}

   private:
    template <class Addresses>
    node_of(Addresses&& at)
      requires requires { at.stages; }
        : regions(branch_addresses{at.stages, at.rates}) {}
  };
  template <std::size_t I>
  struct piece : std::conditional_t<is_node(I), node_of<I>, nothing> {
    using base = std::conditional_t<is_node(I), node_of<I>, nothing>;
    typename decltype(find_rings<I>())::type rings{};

    template <class Part>
    explicit piece(Part& part) : base(made_from(part)) {}
    template <class Part>
    static decltype(auto) made_from(Part& part) {
      if constexpr (is_node(I))
        return (part);
      else
        return static_cast<const void*>(&part);
    }
  };
  template <class Indices>
  struct all_pieces;
  template <std::size_t... I>
  struct all_pieces<std::index_sequence<I...>> : piece<I>... {
    explicit all_pieces(part_pack<Parts...>& of) : piece<I>(pack_at<I>(of))... {}
  };
  template <std::size_t I>
  static constexpr std::size_t bytes_of() {
    std::size_t sum = 0;
    if constexpr (is_node(I)) sum += node_of<I>::bytes;
    if constexpr (has_rings(I)) sum += rings_of<I>::bytes;
    return sum;
  }
  template <std::size_t I>
  static constexpr auto rings_inside() {
    if constexpr (is_node(I))
      return node_of<I>::regions_type::rings;
    else
      return std::array<planned_ring, 0>{};
  }

 public:
  static constexpr std::size_t bytes = []<std::size_t... I>(std::index_sequence<I...>) {
    return (std::size_t{0} + ... + bytes_of<I>());
  }(std::make_index_sequence<wiring::size>());

  static constexpr auto rings = []<std::size_t... R, std::size_t... I>(std::index_sequence<R...>,
                                                                       std::index_sequence<I...>) {
    return all_rings(std::array<planned_ring, sizes::count>{planned_ring{
                         wiring::members[sizes::places[R].piece].name, sizes::places[R].k, sizes::template ring<R>,
                         sizeof(item<wiring::source(sizes::places[R].piece, sizes::places[R].k)>)}...},
                     rings_inside<I>()...);
  }(std::make_index_sequence<sizes::count>(), std::make_index_sequence<wiring::size>());

  explicit graph_state(const graph_part<Parts...>& of) : pieces_(const_cast<part_pack<Parts...>&>(of.parts)) {}

  /// Of outputs at different rates the fastest gives what the others have only begun.
  std::size_t begun() const {
    std::size_t most = 0;
    for_each_piece([&](auto i) {
      if constexpr (outputs::have_one_rate && takes_one_port(i))
        most = std::max(most, static_cast<const piece<i>&>(pieces_).regions.waiting());
    });
    return most;
  }
  template <fixed_string Group>
  parameter_board<>& board() const {
    constexpr std::size_t at = []<std::size_t... I>(std::index_sequence<I...>) {
      constexpr bool here[] = {!std::is_void_v<typename decltype(group_in_piece<graph, Group, I>())::type>...};
      return first_true(here);
    }(std::make_index_sequence<wiring::size>());
    return static_cast<const piece<at>&>(pieces_).regions.template board<Group>();
  }

 private:
  friend joins_branches<graph_state>;

  void feed(In& in, std::uint32_t parts) {
    for_each_piece([&](auto i) {
      if constexpr (i < wiring::ports) deliver<i>(port<i>(in), parts);
      run_joined<i>();
    });
  }
  void feed_end() {
    has_ended_ = true;
    for_each_piece([&](auto i) {
      run_joined<i>();
      if constexpr (is_node(i)) at<i>().regions.end(delivering<i>());
    });
  }

  template <std::size_t I>
  piece<I>& at() {
    return pieces_;
  }
  template <class F>
  static void for_each_piece(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f(std::integral_constant<std::size_t, I>()), ...);
    }(std::make_index_sequence<wiring::size>());
  }
  template <std::size_t I>
  static auto& port(In& in) {
    if constexpr (wiring::ports == 1)
      return in;
    else
      return in.template at<I>();
  }

  /// What leaves node `I` goes to all that take it.
  template <std::size_t I>
  auto delivering() {
    return [this](auto make, std::uint32_t parts) {
      const auto& place = at<I>().made;
      make(place.raw());
      const typename place_for<item<I>>::ending made(place);
      deliver<I>(place.object(), parts);
    };
  }
  template <std::size_t I>
  void deliver(const item<I>& given, std::uint32_t parts) {
    for_each_piece([&](auto to) {
      if constexpr (to > I && wiring::takes_from(to, I)) {
        if constexpr (has_rings(to))
          [&]<std::size_t... K>(std::index_sequence<K...>) {
            (put_into<to, K, I>(given, parts), ...);
          }(std::make_index_sequence<wiring::members[to].from.size()>());
        else
          at<to>().regions.take(given, parts, delivering<to>());
      }
    });
  }
  template <std::size_t To, std::size_t K, std::size_t I>
  void put_into(const item<I>& given, std::uint32_t parts) {
    if constexpr (wiring::source(To, K) == I)
      std::get<K>(at<To>().rings).push([&](void* into) { ::new (into) item<I>(given); }, parts);
  }
  template <std::size_t I>
  bool has_one_of_each() {
    return std::apply([](auto&... ring) { return (!ring.empty() && ...); }, at<I>().rings);
  }
  template <std::size_t I>
  void run_joined() {
    if constexpr (is_node(I) && has_rings(I)) {
      while (has_one_of_each<I>())
        std::apply(
            [&](auto&... ring) {
              at<I>().regions.take(typename graph_input<graph, I>::type{{&ring.front()...}}, parts_of_fronts(ring...),
                                   delivering<I>());
              (ring.pop(), ...);
            },
            at<I>().rings);
    }
  }

  /// What leaves: one of each output; at different rates one of the fastest, and at the end what is left.
  bool has_all() {
    return [&]<std::size_t... O>(std::index_sequence<O...>) {
      if constexpr (outputs::have_one_rate)
        return (has_one_of_each<wiring::first_output + O>() && ...);
      else
        return has_one_of_each<wiring::first_output + outputs::fastest>() ||
               (has_ended_ && (has_one_of_each<wiring::first_output + O>() || ...));
    }(std::make_index_sequence<wiring::outputs>());
  }
  std::uint32_t give(void* out) {
    return [&]<std::size_t... O>(std::index_sequence<O...>) {
      std::uint32_t parts = 0;
      if constexpr (outputs::have_one_rate)
        parts = parts_of_fronts(std::get<0>(at<wiring::first_output + O>().rings)...);
      ::new (out) result(head_of<wiring::first_output + O>()...);
      (pop_if_any(std::get<0>(at<wiring::first_output + O>().rings)), ...);
      return parts;
    }(std::make_index_sequence<wiring::outputs>());
  }
  template <std::size_t I>
  decltype(auto) head_of() {
    auto& ring = std::get<0>(at<I>().rings);
    if constexpr (outputs::have_one_rate)
      return std::move(ring.front());
    else
      return ring.empty() ? std::optional<item<I>>() : std::optional<item<I>>(std::move(ring.front()));
  }
  static void pop_if_any(auto& ring) {
    if (!ring.empty()) ring.pop();
  }
  void clear_all() {
    has_ended_ = false;
    for_each_piece([&](auto i) {
      if constexpr (is_node(i)) at<i>().regions.abandon();
      if constexpr (has_rings(i)) std::apply([](auto&... ring) { (ring.clear(), ...); }, at<i>().rings);
    });
  }

  all_pieces<std::make_index_sequence<wiring::size>> pieces_;
  bool has_ended_ = false;
};

template <class Device, class... Parts, class In, class Planner>
struct state_of_rate<graph_rate<Device, Parts...>, In, Planner>
    : type_tag<graph_state<Planner, In, graph_rate<Device, Parts...>, Parts...>> {
  static constexpr std::size_t bytes = graph_state<Planner, In, graph_rate<Device, Parts...>, Parts...>::bytes;
  static constexpr const auto& rings = graph_state<Planner, In, graph_rate<Device, Parts...>, Parts...>::rings;
  static const graph_part<Parts...>& object(const void* part) {
    return *static_cast<const graph_part<Parts...>*>(part);
  }
};

}  // namespace levada::detail
