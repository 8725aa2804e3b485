// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/work.hpp: the part of a pipeline that a worker process runs for the drivers of its fleet.

#include <unistd.h>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/fleet/detail/by_key.hpp>
#include <levada/fleet/detail/device.hpp>
#include <levada/fleet/detail/identity.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/keyed_member.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/fleet/detail/member_traits.hpp>
#include <levada/fleet/detail/member_work.hpp>
#include <levada/fleet/detail/worker_threads.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/remote/detail/deploy_with.hpp>
#include <levada/remote/detail/mistakes.hpp>
#include <levada/remote/detail/there.hpp>
#include <levada/remote/detail/wire.hpp>
#include <levada/run/deploy.hpp>

namespace levada {

/// A process that works for a fleet, until this ends: what it has begun is finished then, and the rest given back.
class fleet_worker {
 public:
  explicit fleet_worker(std::string name, std::unique_ptr<detail::any_member> made)
      : name_(std::move(name)), member_(std::move(made)) {}

  /// As failures of items name it: the machine and the process.
  const std::string& name() const { return name_; }
  /// What it has done so far.
  auto counts() const { return member_->counts(); }

 private:
  std::string name_;
  std::unique_ptr<detail::any_member> member_;
};

namespace detail {

inline std::string worker_name() {
  char host[128] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '?';
  return std::string(host) + ":" + std::to_string(::getpid());
}

}  // namespace detail

/// Works on the part that is pinned to `fleet<Name>`, on the devices that the target says for it, as long as what it
/// returns lives. Drivers and workers are compiled from the same pipeline and target, by whatever compilers. `Options`
/// have the `version` of the program, and may have those of `deploy`.
///
/// Waits for a driver that comes later. Throws what `deploy` throws, and remote_error where no server answers, or where
/// all drivers that are there are of another program.
template <class Target, fixed_string Name, class... Options, class Pipeline>
  requires correct<typename detail::node_mistake<Pipeline, Target, fleet<Name>, Options...>::type>
[[nodiscard]] fleet_worker work(Pipeline&& pipeline, const jetstream& from) {
  using found = typename detail::place_there<fleet<Name>, std::decay_t<Pipeline>>::type;
  using in = typename found::in;
  using out = detail::items_behind<typename found::pipeline>;
  using compared = detail::fleet_identity<found, detail::version_of<Options...>>;
  using there = typename detail::target_there<fleet<Name>, Target>::type;
  std::decay_t<Pipeline> own(std::forward<Pipeline>(pipeline));
  auto part = detail::part_on<fleet<Name>::id>(std::move(own));
  std::string name = detail::worker_name();
  detail::member_traits traits{std::string(Name.view()),    name,
                               compared::text.view(),       compared::hash,
                               detail::threads_of(there{}), wire<in>::most_bytes,
                               detail::wire_code_of<out>};
  if constexpr (detail::is_keyed_fleet<typename found::device>) {
    return fleet_worker(std::move(name),
                        std::make_unique<detail::keyed_member>(std::move(traits), detail::keyed_types<found>::shape,
                                                               detail::states_maker<found>(part), from));
  } else {
    auto app = detail::deploy_with<there>(input<in> | std::move(part), detail::options_there<Options...>{});
    using app_type = decltype(app);
    traits.slots = app_type::plan.slots;
    return fleet_worker(std::move(name),
                        std::make_unique<detail::member_work<app_type>>(std::move(app), std::move(traits), from));
  }
}
/// A wrong deployment.
template <class Target, fixed_string Name, class... Options, class Pipeline>
  requires(detail::node_mistake<Pipeline, Target, fleet<Name>, Options...>::type::is_mistake)
mistake_found<typename detail::node_mistake<Pipeline, Target, fleet<Name>, Options...>::type> work(
    Pipeline&& pipeline, const jetstream& from);

}  // namespace levada
