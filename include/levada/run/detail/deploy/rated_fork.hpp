// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/rated_fork.hpp: branches that change their rate (graph/detail/rated_fork.hpp), run by whoever
// carries items past the fork. Each item goes through all branches at once; what they give waits in rings until there
// is one of each.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/rated_fork.hpp>
#include <levada/run/detail/deploy/item_ring.hpp>
#include <levada/run/detail/deploy/nested.hpp>
#include <levada/run/detail/session/rate_converter.hpp>

namespace levada::detail {

template <class Target, class... Options>
struct planner_of_rates {
  using options =
      decltype((type_list<>{} + ... + std::conditional_t<goes_inside<Options>, type_list<Options>, type_list<>>{}));
  using planning = nested_planning<Target, options>;
  template <class Region>
  using of = typename planning::template of<Region>;
  template <class Region>
  using mistake = typename planning::template mistake<Region>;
};

template <std::size_t... N>
constexpr std::array<planned_ring, (std::size_t{0} + ... + N)> all_rings(const std::array<planned_ring, N>&... some) {
  std::array<planned_ring, (std::size_t{0} + ... + N)> all{};
  [[maybe_unused]] auto next = all.begin();
  ((next = std::copy(some.begin(), some.end(), next)), ...);
  return all;
}

/// Where the stages and the rates of a branch are.
struct branch_addresses {
  const stage_address* stages;
  const void* const* rates;
};

/// Of the branch that `B` is.
template <class Branch, class B>
struct addresses_of_branch {
  stage_address stages[stages_before<typename Branch::parts, Branch::rates>() +
                       region<typename Branch::parts, Branch::rates>::flat::stages + 1]{};
  const void* rates[Branch::rates + 1]{};

  explicit addresses_of_branch(B& branch) {
    stage_and_rate_addresses visit{{stages}, rates};
    for_each_stage(branch, visit);
  }
};

/// The objects of the units of a program that is run here, of the version that is current.
class current_objects {
 public:
  explicit current_objects(const object_board* of) : of_(of), versions_(of->open(1)) {}
  current_objects(const current_objects& other) : current_objects(other.of_) {}

  void* const* operator()() { return versions_->current(0, 0); }

 private:
  const object_board* of_;
  owner<object_versions> versions_;
};
/// None are replaced.
struct same_objects {
  explicit same_objects(const object_board*) {}
  void* const* operator()() const { return nullptr; }
};
template <class Program>
using objects_of = std::conditional_t<Program::has_groups, current_objects, same_objects>;

/// The regions of a branch from the `R`-th on.
template <class Parts, std::size_t R, class Planner, bool IsLast = region<Parts, R>::is_last>
class branch_regions;

template <class Parts, std::size_t R, class Planner>
class branch_regions<Parts, R, Planner, true> {
  using here = region<Parts, R>;
  using program = nested_program<typename Planner::template of<here>>;

 public:
  static constexpr std::size_t bytes = program::scratch_bytes + program::weight_bytes;
  static constexpr std::array<planned_ring, 0> rings{};
  explicit branch_regions(const branch_addresses& of)
      : program_(bound_stages{of.stages + stages_before<Parts, R>()}), objects_(program_.board()) {}

  template <class Put>
  void take(const typename here::in& item, std::uint32_t parts, Put put) {
    put([&](void* into) { program_.run(item, into, scratch_.get(), objects_()); }, parts);
  }
  template <class Put>
  void end(Put) {}
  void abandon() {}
  std::size_t waiting() const { return 0; }
  /// Of the parameters of that name, which are here.
  template <fixed_string Group>
  parameter_board<>& board() const {
    return *program_.board();
  }

 private:
  program program_;
  [[no_unique_address]] objects_of<program> objects_;
  own_bytes<program::scratch_bytes, 64> scratch_;
};

template <class Parts, std::size_t R, class Planner>
class branch_regions<Parts, R, Planner, false> {
  using here = region<Parts, R>;
  using program = nested_program<typename Planner::template of<here>>;
  using rate = state_of_rate<typename here::rate, typename here::out, Planner>;
  using next_regions = branch_regions<Parts, R + 1, Planner>;

 public:
  static constexpr std::size_t bytes = program::scratch_bytes + program::weight_bytes + rate::bytes +
                                       sizeof(typename here::out) + sizeof(typename here::given) + next_regions::bytes;
  static constexpr auto rings = all_rings(rate::rings, next_regions::rings);
  explicit branch_regions(const branch_addresses& of)
      : program_(bound_stages{of.stages + stages_before<Parts, R>()}),
        objects_(program_.board()),
        rate_(rate::object(of.rates[R])),
        next_(of) {}

  /// `put(make, parts)` for each item that leaves the branch.
  template <class Put>
  void take(const typename here::in& item, std::uint32_t parts, Put put) {
    if (!program_.run(item, made_.raw(), scratch_.get(), objects_())) return;  // filtered, in a tee
    const typename place_for<typename here::out>::ending made(made_);
    for (rate_step did; !did.took;) {
      did = rate_.step(made_.object(), parts, given_.raw());
      if (did.gave) pass(did.parts, put);
    }
  }
  template <class Put>
  void end(Put put) {
    for (rate_step did = rate_.end(given_.raw()); did.gave; did = rate_.end(given_.raw())) pass(did.parts, put);
    next_.end(put);
  }
  void abandon() {
    rate_.abandon(given_.raw());
    next_.abandon();
  }
  std::size_t waiting() const { return rate_.waiting(); }
  template <fixed_string Group>
  parameter_board<>& board() const {
    if constexpr (has_group<typename here::flat, Group>)
      return *program_.board();
    else if constexpr (holds_group<typename here::rate, typename here::out, Group>)
      return rate_.template board<Group>();
    else
      return next_.template board<Group>();
  }

 private:
  template <class Put>
  void pass(std::uint32_t parts, Put put) {
    const typename place_for<typename here::given>::ending given(given_);
    next_.take(given_.object(), parts, put);
  }

  program program_;
  [[no_unique_address]] objects_of<program> objects_;
  typename rate::type rate_;
  own_bytes<program::scratch_bytes, 64> scratch_;
  place_for<typename here::out> made_;
  place_for<typename here::given> given_;
  next_regions next_;
};

/// A branch and what it has given.
template <class Branch, class Planner, std::size_t Room>
struct running_branch {
  using item = typename Branch::out;
  static constexpr std::size_t bytes =
      branch_regions<typename Branch::parts, 0, Planner>::bytes + ring<item, Room>::bytes;

  branch_regions<typename Branch::parts, 0, Planner> regions;
  ring<item, Room> given{};

  template <pipeline_part B>
  explicit running_branch(B& branch) : running_branch(branch, addresses_of_branch<Branch, B>(branch)) {}

  template <class In>
  void take(const In& in, std::uint32_t parts) {
    regions.take(in, parts, into_given());
  }
  void end() { regions.end(into_given()); }
  void clear() {
    regions.abandon();
    given.clear();
  }

 private:
  template <class B>
  running_branch(B&, const addresses_of_branch<Branch, B>& at) : regions(branch_addresses{at.stages, at.rates}) {}
  auto into_given() {
    return [this](auto make, std::uint32_t parts) { given.push(make, parts); };
  }
};

/// The steps of a rate that joins what its branches give. `State` has
///  - `begun()`, the items that were taken for what was not given,
///  - `feed(item, parts)` and `feed_end()`, which may throw,
///  - `has_all()`, and `give(out)`, which says how many parts of the item are some,
///  - `clear_all()`.
template <class State>
class joins_branches {
 public:
  rate_step step(auto& item, std::uint32_t parts, void* out) {
    rate_step did;
    const std::size_t begun = waiting();
    try {
      if (!exchange_value(fed_, true)) self().feed(item, parts);
      if (did.gave = self().has_all(); did.gave) did.parts = self().give(out);
    } catch (...) {
      clear();
      lost_ = begun;
      throw;
    }
    if (did.took = !self().has_all(); did.took) fed_ = false;
    return did;
  }
  /// Branches give what they have begun, short; what meets nothing goes.
  rate_step end(void* out) {
    try {
      if (!exchange_value(ended_, true)) self().feed_end();
    } catch (...) {
      clear();
    }
    if (!self().has_all()) {
      clear();
      return {};
    }
    try {
      return {false, true, self().give(out)};
    } catch (...) {
      clear();
      throw;
    }
  }
  /// Until its end is asked for, what was lost with an item that failed counts, too.
  std::size_t waiting() const { return std::max(lost_, static_cast<const State&>(*this).begun()); }
  void abandon(void*) { clear(); }

 private:
  State& self() { return static_cast<State&>(*this); }
  void clear() {
    self().clear_all();
    fed_ = ended_ = false;
    lost_ = 0;
  }

  bool fed_ = false;    ///< the item at the head went through all branches
  bool ended_ = false;  ///< so did the end
  std::size_t lost_ = 0;
};

template <class Planner, class In, class Rate, class Indices, class... B>
class fork_state;
template <class Planner, class In, class Device, class... B, std::size_t... I>
class fork_state<Planner, In, fork_rate<Device, B...>, std::index_sequence<I...>, B...>
    : public joins_branches<fork_state<Planner, In, fork_rate<Device, B...>, std::index_sequence<I...>, B...>> {
  using rate = fork_rate<Device, B...>;
  using result = typename rate::template output<In>;
  template <class Branch, std::size_t K>
  struct numbered : running_branch<Branch, Planner, rate::template ring<In, K>.room> {
    using running_branch<Branch, Planner, rate::template ring<In, K>.room>::running_branch;
  };
  struct all_branches : numbered<rated_branch<Device, B, In>, I>... {
    explicit all_branches(const part_pack<B...>& of) : all_branches(const_cast<part_pack<B...>&>(of), 0) {}

   private:
    all_branches(part_pack<B...>& of, int) : numbered<rated_branch<Device, B, In>, I>(pack_at<I>(of))... {}
  };

 public:
  static constexpr std::size_t bytes = (std::size_t{0} + ... + numbered<rated_branch<Device, B, In>, I>::bytes);
  static constexpr auto rings =
      all_rings(std::array<planned_ring, sizeof...(B)>{planned_ring{
                    "fork", I, rate::template ring<In, I>, sizeof(typename rated_branch<Device, B, In>::out)}...},
                branch_regions<typename rated_branch<Device, B, In>::parts, 0, Planner>::rings...);

  explicit fork_state(const fork_part<B...>& of) : branches_(of.branches) {}

  std::size_t begun() const {
    std::size_t most = 0;
    ((most = std::max(most, branch<I>().regions.waiting())), ...);
    return most;
  }
  template <fixed_string Group>
  parameter_board<>& board() const {
    constexpr bool here[] = {!std::is_void_v<group_in_branch<rated_branch<Device, B, In>, Group>>...};
    return branch<first_true(here)>().regions.template board<Group>();
  }

 private:
  friend joins_branches<fork_state>;

  template <std::size_t K>
  using branch_type = numbered<rated_branch<Device, type_at<type_list<B...>, K>, In>, K>;
  template <std::size_t K>
  branch_type<K>& branch() {
    return branches_;
  }
  template <std::size_t K>
  const branch_type<K>& branch() const {
    return branches_;
  }
  void feed(const In& item, std::uint32_t parts) { (branch<I>().take(item, parts), ...); }
  void feed_end() { (branch<I>().end(), ...); }
  bool has_all() { return (!branch<I>().given.empty() && ...); }
  std::uint32_t give(void* out) {
    const std::uint32_t parts = parts_of_fronts(branch<I>().given...);
    ::new (out) result(std::move(branch<I>().given.front())...);
    (branch<I>().given.pop(), ...);
    return parts;
  }
  void clear_all() { (branch<I>().clear(), ...); }

  all_branches branches_;
};

template <class Device, class... B, class In, class Planner>
struct state_of_rate<fork_rate<Device, B...>, In, Planner>
    : type_tag<fork_state<Planner, In, fork_rate<Device, B...>, std::index_sequence_for<B...>, B...>> {
  static constexpr std::size_t bytes =
      fork_state<Planner, In, fork_rate<Device, B...>, std::index_sequence_for<B...>, B...>::bytes;
  static constexpr const auto& rings =
      fork_state<Planner, In, fork_rate<Device, B...>, std::index_sequence_for<B...>, B...>::rings;
  static const fork_part<B...>& object(const void* part) { return *static_cast<const fork_part<B...>*>(part); }
};

template <class Parts, std::size_t R, class Planner>
consteval auto mistake_of_branch_plans() {
  using here = region<Parts, R>;
  if constexpr (Planner::template mistake<here>::is_mistake)
    return typename Planner::template mistake<here>{};
  else if constexpr (here::is_last)
    return no_mistake{};
  else if constexpr (planned_rate_mistake<typename here::rate, typename here::out, Planner>::type::is_mistake)
    return typename planned_rate_mistake<typename here::rate, typename here::out, Planner>::type{};
  else
    return mistake_of_branch_plans<Parts, R + 1, Planner>();
}
template <class Device, class... B, class In, class Planner>
struct planned_rate_mistake<fork_rate<Device, B...>, In, Planner> {
  static consteval auto find() {
    constexpr bool wrong[] = {
        decltype(mistake_of_branch_plans<typename rated_branch<Device, B, In>::parts, 0, Planner>())::is_mistake...};
    if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(B))
      return mistake_of_branch_plans<typename rated_branch<Device, type_at<type_list<B...>, at>, In>::parts, 0,
                                     Planner>();
    else
      return no_mistake{};
  }
  using type = decltype(find());
};

}  // namespace levada::detail
