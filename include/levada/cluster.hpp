// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster.hpp: the ranks of one MPI program as devices: `mpi<Rank, Device...>` in a target, `deploy<box>(pipeline,
// ranks)` at rank 0, `serve<box>(pipeline, ranks)` at all others. Needs an MPI of version 3 (Debian package
// libopenmpi-dev, pkg-config `ompi`).

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <levada/cluster/detail/device.hpp>
#include <levada/cluster/detail/kernel.hpp>
#include <levada/cluster/detail/message.hpp>
#include <levada/cluster/detail/queue.hpp>
#include <levada/cluster/detail/rank_work.hpp>
#include <levada/cluster/detail/world.hpp>
#include <levada/remote/detail/deploy.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/there.hpp>

namespace levada {

/// MPI from its begin to its end in this process: `cluster ranks(argc, argv)` in `main`, which outlives what is
/// deployed. Rank 0 drives. Where MPI fails on any rank, or `main` of one is left by an exception, all ranks end: MPI
/// cannot go on without one of them.
class cluster {
 public:
  cluster(int& argc, char**& argv) : world_(std::make_unique<detail::mpi_world>(&argc, &argv)) {}
  ~cluster() {
    if (std::uncaught_exceptions() != 0) detail::end_all_ranks(rank(), "it is left by an exception");
    if (rank() != 0) return;
    const std::lock_guard lock(world_->calls());
    for (int r = 1; r < size(); ++r) detail::send_word(*world_, r, detail::word_kind::end);
  }

  int rank() const { return world_->rank(); }
  int size() const { return world_->size(); }
  detail::mpi_world& world() const { return *world_; }

  /// `deploy` throws where a rank has not answered for so long.
  std::chrono::nanoseconds patience = std::chrono::seconds(30);

 private:
  std::unique_ptr<detail::mpi_world> world_;
};

namespace detail {

template <class Device>
inline constexpr bool is_rank = false;
template <int Rank>
inline constexpr bool is_rank<mpi<Rank>> = true;

/// Ranks are of one program, which needs no version.
template <class Place>
using rank_identity = remote_identity<Place::name, fixed_string{""}, typename Place::pipeline, typename Place::in,
                                      items_behind<typename Place::pipeline>>;

template <>
struct way_elsewhere<cluster> {
  using backend = mpi_backend;
  static constexpr fixed_string name{"mpi"};
  template <class To>
  static constexpr bool leads_to = is_rank<To>;

  template <class Place, class, class>
  static auto stage(const cluster& to, const auto&) {
    return part_elsewhere<Place, typename Place::device>(std::make_shared<mpi_way>(
        mpi_way{&to.world(), Place::device::id.index, rank_identity<Place>::text.view(), to.patience}));
  }
};

/// The first thing that is wrong with the parts of any rank.
template <class Pipeline, class Target, class... Options, class... Place>
consteval auto ranks_mistake(type_list<Place...>) {
  constexpr std::size_t at =
      first_true({(is_rank<typename Place::device> &&
                   node_mistake<Pipeline, Target, typename Place::device, Options...>::type::is_mistake)...,
                  true});
  if constexpr (at < sizeof...(Place))
    return
        typename node_mistake<Pipeline, Target, typename type_at<type_list<Place...>, at>::device, Options...>::type{};
  else
    return no_mistake{};
}
template <class Given, class Target, class... Options>
struct rank_mistake {
  using pipeline = std::decay_t<Given>;
  static consteval auto find() {
    using of_pipeline = decltype(remote_pipeline_mistake<pipeline, Options...>());
    if constexpr (of_pipeline::is_mistake)
      return of_pipeline{};
    else
      return ranks_mistake<pipeline, Target, Options...>(remote_places_of<pipeline>{});
  }
  using type = decltype(find());
};

/// Works on the part of a place, where it is this rank's.
template <class Target, class Place, class... Options, class Pipeline>
bool serve_place(const Pipeline& pipeline, cluster& of) {
  using device = typename Place::device;
  if constexpr (is_rank<device>) {
    if (of.rank() != device::id.index) return false;
    const auto app = deploy_with<typename target_there<device, Target>::type>(
        input<typename Place::in> | part_on<device::id>(Pipeline(pipeline)), options_there<Options...>{});
    rank_work<std::decay_t<decltype(app)>>(of.world(), app, rank_identity<Place>::text.view()).run();
    return true;
  } else {
    return false;
  }
}
template <class Target, class... Options, class Pipeline, class... Place>
void serve_places(const Pipeline& pipeline, cluster& of, type_list<Place...>) {
  static_cast<void>((serve_place<Target, Place, Options...>(pipeline, of) || ...));
}

}  // namespace detail

/// Runs the part that is pinned to this rank, on the devices that the target says for it, until the driver ends;
/// returns at once where no part is. Throws what `deploy` throws.
template <class Target, class... Options, class Pipeline>
  requires correct<typename detail::rank_mistake<Pipeline, Target, Options...>::type>
void serve(Pipeline&& pipeline, cluster& of) {
  using given = std::decay_t<Pipeline>;
  detail::serve_places<Target, Options...>(given(std::forward<Pipeline>(pipeline)), of,
                                           detail::remote_places_of<given>{});
}
/// A wrong deployment.
template <class Target, class... Options, class Pipeline>
  requires(detail::rank_mistake<Pipeline, Target, Options...>::type::is_mistake)
mistake_found<typename detail::rank_mistake<Pipeline, Target, Options...>::type> serve(Pipeline&& pipeline,
                                                                                       cluster& of);

}  // namespace levada
