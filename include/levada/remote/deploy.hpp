// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/deploy.hpp: a pipeline some of whose parts run on other machines, as the program that drives it deploys it.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/graph/detail/mistake.hpp>
#include <levada/remote/detail/deploy_with.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/kernel.hpp>
#include <levada/remote/detail/mistakes.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/remote/detail/queue.hpp>
#include <levada/remote/device.hpp>
#include <levada/remote/transport.hpp>
#include <levada/run/deploy.hpp>

namespace levada {

/// Where the nodes of a device are: any of them may take its items, the first that answers does.
template <fixed_string Device>
struct endpoints {
  static constexpr auto name = Device;

  std::shared_ptr<transport> by;
  std::vector<std::string> addresses;
  /// Items that have found no node for so long fail.
  std::chrono::nanoseconds patience = std::chrono::seconds(30);
};

namespace detail {

/// Makes the stage in the place of a part.
template <class Version, class... Endpoints>
struct remote_stage_maker {
  std::tuple<const Endpoints&...> all;

  template <class Place, class Part>
  auto operator()(Place, const Part&) {
    using out = items_behind<typename Place::pipeline>;
    using identity = remote_identity<Place::name, Version::text, typename Place::pipeline, typename Place::in, out>;
    const auto& to = std::get<find_named(Place::name.view(), type_list<Endpoints...>{})>(all);
    auto way = std::make_shared<remote_way>(remote_way{
        std::string(Place::name.view()), std::string(identity::text.view()), to.by, to.addresses, to.patience});
    using stage = op_stage<Place::name, remote_op<typename Place::in, out>>;
    return pinned_part<remote<Place::name>, stage>{stage{{std::move(way)}, {}}};
  }
};

template <class... Endpoints, class... Place>
consteval auto endpoints_mistake(type_list<Place...> places) {
  constexpr std::size_t lacking =
      first_true({(find_named(Place::name.view(), type_list<Endpoints...>{}) == sizeof...(Endpoints))..., true});
  constexpr std::size_t idle =
      first_true({(find_named(Endpoints::name.view(), type_list<Place...>{}) == sizeof...(Place))..., true});
  static_cast<void>(places);
  if constexpr (lacking < sizeof...(Place))
    return part_on_another_machine_needs_the_endpoints_of_its_device<type_at<type_list<Place...>, lacking>::name>{};
  else if constexpr (idle < sizeof...(Endpoints))
    return pipeline_has_no_part_on_that_device<type_at<type_list<Endpoints...>, idle>::name>{};
  else
    return no_mistake{};
}

template <class Pipeline, class Version, class... Endpoints>
using driver_line = decltype(replace_remote_parts(std::declval<Pipeline>(),
                                                  std::declval<remote_stage_maker<Version, Endpoints...>&>()));

template <class Pipeline, class Target, class... Options>
consteval auto driver_plan_mistake(type_list<Options...>) {
  return deploy_call_mistake<Pipeline, Target, Options...>{};
}
template <class Given, class Target, class Endpoints, class... Options>
struct driver_mistake;
template <class Given, class Target, class... Endpoints, class... Options>
struct driver_mistake<Given, Target, type_list<Endpoints...>, Options...> {
  using pipeline = std::decay_t<Given>;
  static consteval auto find() {
    using of_pipeline = decltype(remote_pipeline_mistake<pipeline, Options...>());
    if constexpr (!pipeline_part<pipeline>)
      return only_a_pipeline_can_be_deployed<pipeline>{};
    else if constexpr (of_pipeline::is_mistake)
      return of_pipeline{};
    else if constexpr (decltype(endpoints_mistake<Endpoints...>(remote_places_of<pipeline>{}))::is_mistake)
      return endpoints_mistake<Endpoints...>(remote_places_of<pipeline>{});
    else
      return driver_plan_mistake<driver_line<pipeline, version_of<Options...>, Endpoints...>, Target>(
          plan_options<Options...>{});
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
template <class Target, class... Options, class Pipeline, fixed_string... Device>
  requires(sizeof...(Device) > 0) &&
          correct<typename detail::driver_mistake<Pipeline, Target, type_list<endpoints<Device>...>, Options...>::type>
[[nodiscard]] auto deploy(Pipeline&& pipeline, const endpoints<Device>&... to) {
  std::decay_t<Pipeline> own(std::forward<Pipeline>(pipeline));
  detail::remote_stage_maker<detail::version_of<Options...>, endpoints<Device>...> maker{{to...}};
  return detail::deploy_with<Target>(detail::replace_remote_parts(std::move(own), maker),
                                     detail::plan_options<Options...>{});
}
/// A wrong deployment.
template <class Target, class... Options, class Pipeline, fixed_string... Device>
  requires(sizeof...(Device) > 0) &&
          (detail::driver_mistake<Pipeline, Target, type_list<endpoints<Device>...>, Options...>::type::is_mistake)
mistake_found<typename detail::driver_mistake<Pipeline, Target, type_list<endpoints<Device>...>,
                                              Options...>::type> deploy(Pipeline&& pipeline,
                                                                        const endpoints<Device>&... to);

}  // namespace levada
