// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/deploy.hpp: a pipeline some of whose parts run on other machines, as the program that drives it deploys
// it.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/remote/detail/by_cost.hpp>
#include <levada/remote/detail/deploy_with.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/kernel.hpp>
#include <levada/remote/detail/mistakes.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/remote/detail/possible_result.hpp>
#include <levada/remote/detail/queue.hpp>
#include <levada/remote/detail/traffic.hpp>
#include <levada/remote/detail/transport.hpp>
#include <levada/run/deploy.hpp>

namespace levada {

/// Where the nodes of a device are: any of them may take its items, the first that answers does.
template <fixed_string Device>
struct endpoints {
  std::shared_ptr<transport> by;
  std::vector<std::string> addresses;
  /// Items that have found no node for so long fail.
  std::chrono::nanoseconds patience = std::chrono::seconds(30);
};

namespace detail {

/// How a driver comes to a device whose parts run elsewhere, as it is given to `deploy`. A header that brings one
/// specialises this: `leads_to<Device>`, the `backend` of the device's kernels, a `name` for messages, and
/// `stage<Place, Target, Version>(way, part)`, which makes the stage in the place of a part.
template <class Way>
struct way_elsewhere {};
template <class Way>
concept leads_elsewhere = requires { typename way_elsewhere<Way>::backend; };

template <fixed_string Device>
struct way_elsewhere<endpoints<Device>> {
  using backend = remote_backend;
  static constexpr auto name = Device;
  template <class To>
  static constexpr bool leads_to = std::same_as<To, remote<Device>>;

  template <class Place, class, class Version>
  static auto stage(const endpoints<Device>& to, const auto&) {
    using out = items_behind<typename Place::pipeline>;
    using identity = remote_identity<Place::name, Version::text, typename Place::pipeline, typename Place::in, out>;
    constexpr bool sees = sees_envelopes<typename Place::pipeline>;
    return part_elsewhere<Place, remote<Place::name>>(std::make_shared<remote_way>(
        remote_way{std::string(Place::name.view()), std::string(identity::text.view()), to.by, to.addresses,
                   to.patience, sees, sees || has_serial_node(flat<typename Place::pipeline>::describe())}));
  }
};

/// Which of these ways leads there; behind all where none does.
template <class Device, class... Way>
consteval std::size_t find_way(type_list<Way...>) {
  return first_true({way_elsewhere<Way>::template leads_to<Device>..., true});
}
/// Whether that way leads to any of these places.
template <class Way, class... Place>
consteval bool leads_to_any(type_list<Place...>) {
  return (way_elsewhere<Way>::template leads_to<typename Place::device> || ...);
}

/// Makes the stage in the place of a part.
template <class Target, class Version, class... Way>
struct remote_stage_maker {
  std::tuple<const Way&...> all;

  template <class Place, class Part>
  auto operator()(Place, const Part& part) {
    constexpr std::size_t at = find_way<typename Place::device>(type_list<Way...>{});
    return way_elsewhere<type_at<type_list<Way...>, at>>::template stage<Place, Target, Version>(std::get<at>(all),
                                                                                                 part);
  }
};

/// The search places something there or nothing, as the costs are.
template <class Way, class Option>
inline constexpr bool may_be_idle = false;
template <fixed_string Device, const cost_table& Table>
inline constexpr bool may_be_idle<endpoints<Device>, node_costs<Device, Table>> = true;
template <class Way, class... Options>
consteval bool may_lead_nowhere(type_list<Options...>) {
  return (may_be_idle<Way, Options> || ...);
}

template <class... Way, class... Place, class Options>
consteval auto ways_mistake(type_list<Place...> places, Options options) {
  constexpr std::size_t lacking =
      first_true({(find_way<typename Place::device>(type_list<Way...>{}) == sizeof...(Way))..., true});
  constexpr std::size_t idle =
      first_true({!(leads_to_any<Way>(type_list<Place...>{}) || may_lead_nowhere<Way>(Options{}))..., true});
  static_cast<void>(options);
  static_cast<void>(places);
  if constexpr (lacking < sizeof...(Place))
    return part_on_another_machine_needs_the_endpoints_of_its_device<type_at<type_list<Place...>, lacking>::name>{};
  else if constexpr (idle < sizeof...(Way))
    return pipeline_has_no_part_on_that_device<way_elsewhere<type_at<type_list<Way...>, idle>>::name>{};
  else
    return no_mistake{};
}

/// A driver's options of a plan: with the backends of all ways among the backends.
template <class Option, class All>
struct with_backends_of_ways : type_tag<Option> {};
template <class... B, class Way, class... Rest>
struct with_backends_of_ways<backends<B...>, type_list<Way, Rest...>>
    : with_backends_of_ways<std::conditional_t<(std::same_as<B, typename way_elsewhere<Way>::backend> || ...),
                                               backends<B...>, backends<B..., typename way_elsewhere<Way>::backend>>,
                            type_list<Rest...>> {};
template <class Ways, class... Options>
auto with_backends(type_list<Options...>) -> type_list<typename with_backends_of_ways<Options, Ways>::type...>;
template <class Ways, class... Options>
using driver_options = decltype(with_backends<Ways>(options_there<Options...>{}));

template <class Pipeline, class Target, class Version, class... Way>
using driver_line = decltype(replace_remote_parts(std::declval<Pipeline>(),
                                                  std::declval<remote_stage_maker<Target, Version, Way...>&>()));

template <class Pipeline, class Target, class... Options>
consteval auto driver_plan_mistake(type_list<Options...>) {
  return deploy_call_mistake<Pipeline, Target, Options...>{};
}
template <class Given, class Target, class Ways, class... Options>
struct driver_mistake;
template <class Given, class Target, class... Way, class... Options>
struct driver_mistake<Given, Target, type_list<Way...>, Options...> {
  using pipeline = placed_by_cost<std::decay_t<Given>, Target, Options...>;
  static consteval auto find() {
    using of_pipeline = decltype(remote_pipeline_mistake<pipeline, Options...>());
    if constexpr (of_pipeline::is_mistake)
      return of_pipeline{};
    else if constexpr (decltype(ways_mistake<Way...>(remote_places_of<pipeline>{},
                                                     type_list<Options...>{}))::is_mistake)
      return ways_mistake<Way...>(remote_places_of<pipeline>{}, type_list<Options...>{});
    else if constexpr (decltype(traffic_mistake<pipeline, Options...>())::is_mistake)
      return traffic_mistake<pipeline, Options...>();
    else
      return driver_plan_mistake<driver_line<pipeline, Target, version_of<Options...>, Way...>, Target>(
          driver_options<type_list<Way...>, Options...>{});
  }
  using type = decltype(find());
};

}  // namespace detail

/// As `deploy(pipeline)`, with parts on other machines: `on<remote<"edge">>(part)`, which run on the nodes that `to`
/// names. Their stages are neither compiled nor made here, and their weights not read. `Options` have the `version` of
/// the program.
///
/// Throws remote_error where no node of a device answers, or where each is of another program, with the first thing
/// that differs.
template <class Target, class... Options, class Pipeline, detail::leads_elsewhere... Way>
  requires(sizeof...(Way) > 0) &&
          correct<typename detail::driver_mistake<Pipeline, Target, type_list<Way...>, Options...>::type>
[[nodiscard]] auto deploy(Pipeline&& pipeline, const Way&... to) {
  std::decay_t<Pipeline> own(std::forward<Pipeline>(pipeline));
  detail::remote_stage_maker<Target, detail::version_of<Options...>, Way...> maker{{to...}};
  return detail::deploy_with<Target>(
      detail::replace_remote_parts(detail::place_by_cost<Target, Options...>(std::move(own)), maker),
      detail::driver_options<type_list<Way...>, Options...>{});
}
/// A wrong deployment.
template <class Target, class... Options, class Pipeline, detail::leads_elsewhere... Way>
  requires(sizeof...(Way) > 0) &&
          (detail::driver_mistake<Pipeline, Target, type_list<Way...>, Options...>::type::is_mistake)
mistake_found<typename detail::driver_mistake<Pipeline, Target, type_list<Way...>, Options...>::type> deploy(
    Pipeline&& pipeline, const Way&... to);

}  // namespace levada
