// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/paces.hpp: when items come, as the head of a pipeline says it: `input<frame, every<33_ms>>`, each
// port its own, or its source; and whether ports that meet can meet at their paces.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>

#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/sync.hpp>
#include <levada/plan/detail/pipeline_time.hpp>
#include <levada/plan/detail/time_words.hpp>
#include <levada/run/detail/deploy/on_processor.hpp>

namespace levada {

/// For `input`, `port` and `source`: so much time lies between two items.
template <duration Between>
struct every {};

/// The port, if it has a name, and the time between its items.
template <fixed_string... Said>
struct paced {};
template <fixed_string Tolerance>
struct tolerance_is {};
template <fixed_string Tolerance>
struct tolerance_needed {};

template <class Paced>
struct pace_is_said_where_items_come_in_and_not_further_on : detail::mistake {};
template <class One, class Other>
struct ports_that_meet_by_number_come_at_one_pace : detail::mistake {};
template <class First, class Other, class Is, class Needed>
struct tolerance_of_this_time_join_is_below_what_its_paces_can_meet : detail::mistake {};

namespace detail {

template <duration Between>
inline constexpr bool is_pace<every<Between>> = (Between > duration{});

/// In nanoseconds; 0: nobody said.
template <class Pace>
inline constexpr std::int64_t nanoseconds_of = 0;
template <duration Between>
inline constexpr std::int64_t nanoseconds_of<every<Between>> = Between.nanoseconds;

/// How the items of a port find those of the first.
enum class meeting : std::uint8_t { by_number, nearest, held, between };
template <class Way>
inline constexpr meeting meeting_of = meeting::between;
template <>
inline constexpr meeting meeting_of<nearest_in_time> = meeting::nearest;
template <>
inline constexpr meeting meeting_of<held_in_time> = meeting::held;

struct port_pace {
  std::string_view name;
  std::int64_t pace = 0;  ///< nanoseconds; 0: nobody said
  meeting how = meeting::by_number;
};

/// When items come to the head of a pipeline.
struct head_paces {
  bounded<port_pace, most_inputs> ports;
  std::int64_t tolerance = 0, stall = 0;

  constexpr bool are_said() const {
    return std::any_of(ports.begin(), ports.end(), [](const port_pace& p) { return p.pace > 0; });
  }
  constexpr bool meet_by_time() const { return ports.size() > 1 && ports[1].how != meeting::by_number; }
};

template <class... Named, class... Pace>
constexpr void add_ports(head_paces& all, type_list<Named...>, type_list<Pace...>) {
  (all.ports.push_back({Named::name, nanoseconds_of<Pace>, meeting::by_number}), ...);
}
template <class Rule>
struct rule_of_meeting {
  static constexpr void apply(head_paces&) {}
};
template <duration Tolerance, duration Stall, class... How>
struct rule_of_meeting<sync_rule<Tolerance, Stall, How...>> {
  static constexpr void apply(head_paces& all) {
    const meeting ways[] = {meeting_of<How>...};
    for (std::size_t p = 0; p < all.ports.size(); ++p) all.ports[p].how = ways[p];
    all.tolerance = Tolerance.nanoseconds;
    all.stall = Stall.nanoseconds;
  }
};

/// Of the first part of a pipeline.
template <class Part>
struct paces_of {
  static constexpr head_paces value{};
};
template <class First, class... Rest>
struct paces_of<pipeline<First, Rest...>> : paces_of<First> {};
template <class Left, class Right>
struct paces_of<link<Left, Right>> : paces_of<Left> {};
template <class Device, class Part>
struct paces_of<pinned_part<Device, Part>> : paces_of<Part> {};
template <class Pipeline>
struct paces_of<on_processor<Pipeline>> : paces_of<Pipeline> {};
template <class T, class Pace>
struct paces_of<paced_input<T, Pace>> {
  static constexpr head_paces value = [] {
    head_paces all;
    all.ports.push_back({{}, nanoseconds_of<Pace>});
    return all;
  }();
};
template <class Source, class Pace>
struct paces_of<paced_source<Source, Pace>> : paces_of<paced_input<void, Pace>> {};
template <class Rule, class... Named, class... Pace>
struct paces_of<paced_input<synced_items<Rule, Named...>, port_paces<Pace...>>> {
  static constexpr head_paces value = [] {
    head_paces all;
    add_ports(all, type_list<Named...>{}, type_list<Pace...>{});
    rule_of_meeting<Rule>::apply(all);
    return all;
  }();
};
template <class Rule, class First, class... Named>
struct paces_of<input_part<synced_items<Rule, First, Named...>>> {
  static constexpr head_paces value = [] {
    head_paces all;
    all.ports.push_back({First::name});
    (all.ports.push_back({Named::name}), ...);
    rule_of_meeting<Rule>::apply(all);
    return all;
  }();
};
template <class Part>
constexpr void add_port(head_paces&, type_tag<Part>) {}
template <fixed_string Name, class T>
constexpr void add_port(head_paces& all, type_tag<port_part<Name, T>>) {
  all.ports.push_back({Name.view()});
}
template <fixed_string Name, class T, class Pace>
constexpr void add_port(head_paces& all, type_tag<paced_port<Name, T, Pace>>) {
  all.ports.push_back({Name.view(), nanoseconds_of<Pace>});
}
template <class... Parts>
struct paces_of<graph_part<Parts...>> {
  static constexpr head_paces value = [] {
    head_paces all;
    (add_port(all, type_tag<Parts>{}), ...);
    return all;
  }();
};

constexpr double seconds_of(std::int64_t nanoseconds) { return duration{nanoseconds}.seconds(); }

/// Whole items come as those of the first port do where they meet by time, and else as those of any. An item waits
/// until the one behind it has come to each other port, or for as long as it may.
constexpr item_arrival arrival_of(const head_paces& all) {
  item_arrival arrival;
  if (!all.meet_by_time()) {
    for (const port_pace& p : all.ports) arrival.pace = std::max(arrival.pace, seconds_of(p.pace));
    return arrival;
  }
  arrival.pace = seconds_of(all.ports[0].pace);
  std::int64_t waits = 0;
  for (std::size_t p = 1; p < all.ports.size(); ++p) {
    const std::int64_t stalls = all.stall > 0 ? all.stall : all.ports[p].pace;
    if (stalls == 0) arrival.waits_for = all.ports[p].name;
    waits = std::max(waits, all.ports[p].pace > 0 ? std::min(all.ports[p].pace, stalls) : stalls);
  }
  arrival.waits = seconds_of(waits);
  return arrival;
}

/// The least tolerance by which each item of the first port can have a partner, if the clocks run together as well as
/// they can: how late the ones come behind the others takes all multiples of the largest common divisor of the paces.
constexpr std::int64_t tolerance_to_meet(std::int64_t first, const port_pace& other) {
  if (first == 0 || other.pace == 0) return 0;
  const std::int64_t apart = other.pace - std::gcd(first, other.pace);
  return other.how == meeting::nearest ? (apart + 1) / 2 : apart;
}

template <class Text>
constexpr void append_nanoseconds(Text& text, std::int64_t nanoseconds) {
  append_time(text, seconds_of(nanoseconds));
}
template <const head_paces& All, std::size_t Port>
struct port_text {
  using pace = paced<written_fixed_string<[](auto& t) { t += All.ports[Port].name; }>(),
                     written_fixed_string<[](auto& t) { append_nanoseconds(t, All.ports[Port].pace); }>()>;
};
/// Of the tolerance that `Port` has, and that it needs.
template <const head_paces& All, std::size_t Port>
struct tolerance_text {
  static constexpr std::int64_t needs = tolerance_to_meet(All.ports[0].pace, All.ports[Port]);
  using is = tolerance_is<written_fixed_string<[](auto& t) { append_nanoseconds(t, All.tolerance); }>()>;
  using needed = tolerance_needed<written_fixed_string<[](auto& t) { append_nanoseconds(t, needs); }>()>;
};

/// The first part behind the head that says a pace; `void`: none does.
template <class List>
struct paced_behind_head : type_tag<void> {};
template <class First, class... Rest>
struct paced_behind_head<stage_list<First, Rest...>>
    : type_at<type_list<type_tag<Rest>..., type_tag<void>>,
              first_true<sizeof...(Rest) + 1>({paces_of<Rest>::value.are_said()..., true})> {};
template <class... Stages>
struct paced_behind_head<pipeline<Stages...>> : paced_behind_head<stage_list<Stages...>> {};
template <class Left, class Right>
struct paced_behind_head<link<Left, Right>> : paced_behind_head<typename link<Left, Right>::stages> {};
template <class Pipeline>
struct paced_behind_head<on_processor<Pipeline>> : paced_behind_head<Pipeline> {};

template <class Part>
consteval auto mistake_of_pace_behind_head() {
  if constexpr (std::is_void_v<Part>) {
    return no_mistake{};
  } else {
    constexpr std::size_t said = [] {
      std::size_t p = 0;
      while (paces_of<Part>::value.ports[p].pace == 0) ++p;
      return p;
    }();
    return pace_is_said_where_items_come_in_and_not_further_on<typename port_text<paces_of<Part>::value, said>::pace>{};
  }
}

/// The mistake of the paces among themselves.
template <const head_paces& All>
consteval auto mistake_of_paces() {
  constexpr std::size_t count = All.ports.size();
  if constexpr (All.meet_by_time()) {
    constexpr std::size_t wrong = [] {
      for (std::size_t p = 1; p < count; ++p)
        if (tolerance_to_meet(All.ports[0].pace, All.ports[p]) > All.tolerance) return p;
      return count;
    }();
    if constexpr (wrong < count)
      return tolerance_of_this_time_join_is_below_what_its_paces_can_meet<
          typename port_text<All, 0>::pace, typename port_text<All, wrong>::pace,
          typename tolerance_text<All, wrong>::is, typename tolerance_text<All, wrong>::needed>{};
    else
      return no_mistake{};
  } else {
    constexpr auto said = [](std::size_t from) {
      while (from < count && All.ports[from].pace == 0) ++from;
      return from;
    };
    constexpr std::size_t one = said(0), other = [said] {
      std::size_t p = one;
      while (p < count && All.ports[p].pace == All.ports[one].pace) p = said(p + 1);
      return p;
    }();
    if constexpr (other < count)
      return ports_that_meet_by_number_come_at_one_pace<typename port_text<All, one>::pace,
                                                        typename port_text<All, other>::pace>{};
    else
      return no_mistake{};
  }
}

}  // namespace detail
}  // namespace levada
