// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/serve.hpp: the part of a pipeline that a machine runs for drivers on others.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/graph/detail/mistake.hpp>
#include <levada/remote/detail/by_cost.hpp>
#include <levada/remote/detail/deploy_with.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/kernel.hpp>
#include <levada/remote/detail/mistakes.hpp>
#include <levada/remote/detail/node_work.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/remote/detail/serving_node.hpp>
#include <levada/remote/detail/there.hpp>
#include <levada/remote/detail/transport.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/measure/trace_log.hpp>

namespace levada {

/// How a node is to be reached.
struct node_options {
  std::shared_ptr<transport> by;
  std::string address;
  std::size_t most_sessions = 16;  ///< of drivers, those that have not said who they are among them
  std::size_t traced_events = 0;   ///< that each worker keeps of a session which is a part of a trace
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
  /// What was kept of sessions that have ended: of the last `most_sessions`, each with whose trace it is a part of.
  std::vector<session_trace> traced() const { return node_->traced(); }

 private:
  std::shared_ptr<transport> by_;
  std::unique_ptr<detail::serving_node> node_;
};

namespace detail {

template <class App>
class app_node final : public serving_node {
 public:
  app_node(App app, std::string_view identity, const node_options& options)
      : serving_node(options.most_sessions),
        app_(std::move(app)),
        identity_(identity),
        traced_events_(options.traced_events) {}

 private:
  std::unique_ptr<node_stream> make_stream(std::unique_ptr<connection> by) override {
    return std::make_unique<node_work<App>>(static_cast<stream_keeper&>(*this), identity_, std::move(by), app_,
                                            traced_events_);
  }

  App app_;
  std::string_view identity_;
  const std::size_t traced_events_;
};

}  // namespace detail

/// Runs the part that is pinned to `remote<Name>` for drivers, on the devices that the target says for it, as long as
/// what it returns lives. Both ends are compiled from the same pipeline and target, by whatever compilers. `Options`
/// have the `version` of the program, and may have those of `deploy`.
///
/// Each session of a driver is a session here. Throws what `deploy` throws, and remote_error where it cannot listen.
template <class Target, fixed_string Name, class... Options, class Pipeline>
  requires correct<typename detail::node_mistake<Pipeline, Target, remote<Name>, Options...>::type>
[[nodiscard]] remote_node serve(Pipeline&& pipeline, const node_options& options) {
  using placed = detail::placed_by_cost<std::decay_t<Pipeline>, Target, Options...>;
  using found = typename detail::place_there<remote<Name>, placed>::type;
  using in = typename found::in;
  using out = detail::items_behind<typename found::pipeline>;
  using compared =
      detail::remote_identity<Name, detail::version_of<Options...>::text, typename found::pipeline, in, out>;
  std::decay_t<Pipeline> own(std::forward<Pipeline>(pipeline));
  auto app = detail::deploy_with<typename detail::target_there<remote<Name>, Target>::type>(
      input<in> | detail::part_on<remote<Name>::id>(detail::place_by_cost<Target, Options...>(std::move(own))),
      detail::options_of_node<Name, Options...>{});
  auto made = std::make_unique<detail::app_node<decltype(app)>>(std::move(app), compared::text.view(), options);
  made->start(*options.by, options.address, detail::longest_message(wire<in>::most_bytes, wire<out>::most_bytes));
  return remote_node(options.by, std::move(made));
}
/// A wrong deployment.
template <class Target, fixed_string Name, class... Options, class Pipeline>
  requires(detail::node_mistake<Pipeline, Target, remote<Name>, Options...>::type::is_mistake)
mistake_found<typename detail::node_mistake<Pipeline, Target, remote<Name>, Options...>::type> serve(
    Pipeline&& pipeline, const node_options& options);

}  // namespace levada
