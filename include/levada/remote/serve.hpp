// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/serve.hpp: the part of a pipeline that a machine runs for drivers on others.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/mistake.hpp>
#include <levada/remote/detail/deploy_with.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/kernel.hpp>
#include <levada/remote/detail/mistakes.hpp>
#include <levada/remote/detail/node_work.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/remote/detail/serving_node.hpp>
#include <levada/remote/device.hpp>
#include <levada/remote/transport.hpp>
#include <levada/run/deploy.hpp>

namespace levada {

/// How a node is to be reached.
struct node_options {
  std::shared_ptr<transport> by;
  std::string address;
  std::size_t most_sessions = 16;  ///< of drivers, those that have not said who they are among them
};

/// A machine that runs a part of a pipeline for drivers, until this ends: then their sessions do, too.
class remote_node {
 public:
  explicit remote_node(std::shared_ptr<transport> by, std::unique_ptr<detail::serving_node> made)
      : by_(std::move(by)), node_(std::move(made)) {}
  remote_node(remote_node&&) = default;
  remote_node& operator=(remote_node&&) = delete;
  ~remote_node() {
    if (node_) node_->stop();
  }

  /// Where it listens, with the port that the system chose.
  std::string address() const { return node_->address(); }
  /// Of drivers, at this moment.
  std::size_t sessions() const { return node_->sessions(); }

 private:
  std::shared_ptr<transport> by_;
  std::unique_ptr<detail::serving_node> node_;
};

namespace detail {

template <class App>
class app_node final : public serving_node {
 public:
  app_node(App app, std::string_view identity, std::size_t most_sessions)
      : serving_node(most_sessions), app_(std::move(app)), identity_(identity) {}

 private:
  std::unique_ptr<node_stream> make_stream(std::unique_ptr<connection> by) override {
    return std::make_unique<node_work<App>>(static_cast<stream_keeper&>(*this), identity_, std::move(by), app_);
  }

  App app_;
  std::string_view identity_;
};

/// The devices of the machine of that name.
template <fixed_string Name, class Target>
struct target_there : type_tag<void> {};
template <fixed_string Name, class First, class... Rest>
struct target_there<Name, target<First, Rest...>> : target_there<Name, target<Rest...>> {};
template <fixed_string Name, class... Devices, class... Rest>
  requires(sizeof...(Devices) != 0)
struct target_there<Name, target<remote<Name, Devices...>, Rest...>> : type_tag<target<Devices...>> {};

template <fixed_string Name, class Pipeline>
struct place_there {
  using places = remote_places_of<Pipeline>;
  template <class... Place>
  static consteval std::size_t find(type_list<Place...> all) {
    return find_named(Name.view(), all);
  }
  using type = type_at<places, find(places{})>;
};

/// The part of that device, which is there.
template <device_id Id, class Line>
constexpr auto part_on(Line line) {
  if constexpr (is_pipeline<Line>) {
    return part_on<Id>(std::move(line.parts()));
  } else if constexpr (remote_pin<decltype(line.right)>::is_one) {
    auto split = split_off<remote_pin<decltype(line.right)>::id>(std::move(line.left), std::move(line.right.part));
    if constexpr (remote_pin<decltype(line.right)>::id == Id)
      return std::move(split.part);
    else
      return part_on<Id>(std::move(split.before));
  } else {
    return part_on<Id>(std::move(line.left));
  }
}

/// The options of a plan there.
template <class... Options>
using options_there =
    decltype((type_list<>{} + ... + std::conditional_t<is_remote_option<Options>, type_list<>, type_list<Options>>{}));

template <class Given, class Target, fixed_string Name, class... Options>
struct node_mistake {
  using pipeline = std::decay_t<Given>;
  template <class... Kept>
  static consteval auto of_plan(type_list<Kept...>) {
    using place = typename place_there<Name, pipeline>::type;
    return deploy_call_mistake<typename place::pipeline, typename target_there<Name, Target>::type, Kept...>{};
  }
  template <class... Place>
  static consteval bool has(type_list<Place...> all) {
    return find_named(Name.view(), all) < sizeof...(Place);
  }
  static consteval auto find() {
    using of_pipeline = decltype(remote_pipeline_mistake<pipeline, Options...>());
    if constexpr (!pipeline_part<pipeline>)
      return only_a_pipeline_can_be_deployed<pipeline>{};
    else if constexpr (of_pipeline::is_mistake)
      return of_pipeline{};
    else if constexpr (!has(remote_places_of<pipeline>{}))
      return pipeline_has_no_part_on_that_device<Name>{};
    else if constexpr (std::is_void_v<typename target_there<Name, Target>::type>)
      return node_needs_a_target_that_says_which_devices_it_has<Name, Target>{};
    else
      return of_plan(options_there<Options...>{});
  }
  using type = decltype(find());
};

}  // namespace detail

/// Runs the part that is pinned to `remote<Name>` for drivers, on the devices that the target says for it, as long as
/// what it returns lives. Both ends are compiled from the same pipeline and target, by whatever compilers. `Options`
/// have the `version` of the program, and may have those of `deploy`.
///
/// Each session of a driver is a session here. Throws what `deploy` throws, and remote_error where it cannot listen.
template <class Target, fixed_string Name, class... Options, class Pipeline>
  requires correct<typename detail::node_mistake<Pipeline, Target, Name, Options...>::type>
[[nodiscard]] remote_node serve(Pipeline&& pipeline, const node_options& options) {
  using found = typename detail::place_there<Name, std::decay_t<Pipeline>>::type;
  using in = typename found::in;
  using out = detail::items_behind<typename found::pipeline>;
  using compared =
      detail::remote_identity<Name, detail::version_of<Options...>::text, typename found::pipeline, in, out>;
  std::decay_t<Pipeline> own(std::forward<Pipeline>(pipeline));
  auto app = detail::deploy_with<typename detail::target_there<Name, Target>::type>(
      input<in> | detail::part_on<remote<Name>::id>(std::move(own)), detail::options_there<Options...>{});
  auto made =
      std::make_unique<detail::app_node<decltype(app)>>(std::move(app), compared::text.view(), options.most_sessions);
  made->start(*options.by, options.address, detail::longest_message(wire<in>::most_bytes, wire<out>::most_bytes));
  return remote_node(options.by, std::move(made));
}
/// A wrong deployment.
template <class Target, fixed_string Name, class... Options, class Pipeline>
  requires(detail::node_mistake<Pipeline, Target, Name, Options...>::type::is_mistake)
mistake_found<typename detail::node_mistake<Pipeline, Target, Name, Options...>::type> serve(
    Pipeline&& pipeline, const node_options& options);

}  // namespace levada
