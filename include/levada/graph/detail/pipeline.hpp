// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/pipeline.hpp: stages in a line, `pipeline<Stage...>`. `|` only nests two parts, always to the left, so
// that fifty stages compile in the time of fifty; graph/detail/describe.hpp flattens the nest once.
//
// The functions here are always inlined: their types hold the whole pipeline, and no symbol should.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

/// The items that enter a pipeline: its first part.
template <class T>
struct input_part {
  using item = T;
};

/// `input<tensor<float, 3>> | ...`: what enters here. At the head of a nested pipeline it states what that one takes.
template <class T, class... Pace>
inline constexpr input_part<T> input{};

namespace detail {
/// It says when items come: `every<33_ms>` (run/promises.hpp).
template <class T>
inline constexpr bool is_pace = false;
}  // namespace detail

/// And when: `input<frame, every<33_ms>>`.
template <class T, class... Pace>
struct paced_input {
  using item = T;
};
template <class T, class Pace, class... More>
inline constexpr paced_input<T, Pace, More...> input<T, Pace, More...>{};

/// A source, and when: `source<"camera", every<33_ms>>(f)`.
template <class Source, class Pace>
struct paced_source {
  Source source;
};
template <fixed_string Name, class Pace, class F>
  requires detail::is_pace<Pace>
[[gnu::always_inline]] constexpr auto source(F f) {
  auto made = source<Name>(std::move(f));
  return paced_source<decltype(made), Pace>{std::move(made)};
}

/// The parts of a line in order, as types alone.
template <class... Parts>
struct stage_list {};

namespace detail {

template <class Left, class Right>
struct link;

template <class List, class Next>
struct longer_list;
template <class... Parts, class Next>
struct longer_list<stage_list<Parts...>, Next> : type_tag<stage_list<Parts..., Next>> {};

template <class Left, class Right>
struct stages_of_link : type_tag<stage_list<Left, Right>> {};
template <class L, class R, class Right>
struct stages_of_link<link<L, R>, Right> : longer_list<typename link<L, R>::stages, Right> {};

template <class Left, class Right>
using all_stages = typename stages_of_link<Left, Right>::type;

/// It is moved as bytes. (The library's trait would be named after each line on the way to the whole.)
template <class T>
concept moved_as_bytes = __is_trivially_constructible(T, T&&);

/// A line of parts and one part more. `pipeline` is deduced from its base, the list of them all.
template <class Left, class Right>
struct link : all_stages<Left, Right> {
  using stages = all_stages<Left, Right>;

  [[no_unique_address]] Left left;
  [[no_unique_address]] Right right;

  [[gnu::always_inline]] constexpr link(stages, Left&& l, Right&& r) noexcept(noexcept(Left(std::declval<Left>()),
                                                                                       Right(std::declval<Right>())))
      : left(std::move(l)), right(std::move(r)) {}
  [[gnu::always_inline]] constexpr link(link&& other) noexcept(noexcept(Left(std::declval<Left>()),
                                                                        Right(std::declval<Right>())))
      : left(std::move(other.left)), right(std::move(other.right)) {}
  [[gnu::always_inline]] constexpr link(const link& other)
    requires requires(const Left& l, const Right& r) {
      Left(l);
      Right(r);
    }
      : left(other.left), right(other.right) {}
};
/// Part by part, a line would be moved in as many steps as the square of its length.
template <class Left, class Right>
  requires moved_as_bytes<Left> && moved_as_bytes<Right>
struct link<Left, Right> : all_stages<Left, Right> {
  using stages = all_stages<Left, Right>;

  [[no_unique_address]] Left left;
  [[no_unique_address]] Right right;
};

/// Optimisers split what they move into its parts. A long line would again be moved in as many steps as the square of
/// its length, so from this size on its address is shown to something that they do not know.
inline constexpr std::size_t bytes_kept_whole = 256;
template <class Line>
concept kept_whole = moved_as_bytes<Line> && sizeof(Line) >= bytes_kept_whole;
[[gnu::always_inline]] inline constexpr void keep_whole(const void* line) {
  if (!std::is_constant_evaluated()) asm volatile("" : : "r"(line) : "memory");
}

template <class Line, class... Parts>
struct linked : type_tag<Line> {};
template <class Line, class Next, class... Rest>
struct linked<Line, Next, Rest...> : linked<link<Line, Next>, Rest...> {};

}  // namespace detail

/// Stages in a line, in order, as a type that can be named, stored and passed on; each with its pin, and the marks of
/// splits between them. Deduced from what `|` makes: `levada::pipeline classify = levada::input<picture> | ...;`. A
/// pipeline is a part itself, and stands in others like a stage.
template <class... Stages>
class pipeline {
 public:
  using parts_type = typename detail::linked<Stages...>::type;

  [[gnu::always_inline]] constexpr pipeline(parts_type parts) noexcept(std::is_nothrow_move_constructible_v<parts_type>)
      : parts_(std::move(parts)) {}

  /// What `|` made.
  [[gnu::always_inline]] constexpr parts_type& parts() { return parts_; }
  [[gnu::always_inline]] constexpr const parts_type& parts() const { return parts_; }

 private:
  [[no_unique_address]] parts_type parts_;
};

template <class... Stages>
pipeline(stage_list<Stages...>) -> pipeline<Stages...>;

/// A part whose stages are pinned to a device.
template <device_tag Device, class Part>
struct pinned_part {
  Part part;
};

/// A border between two segments: the stage before and the one behind run in separate flow-graph nodes.
struct split_here_part {};
inline constexpr split_here_part split_here{};

/// Borders behind the stages of those indices, counted from 0 over the stages of the whole pipeline.
template <std::size_t... Stages>
struct split_after_part {};
template <std::size_t... Stages>
inline constexpr split_after_part<Stages...> split_after{};

namespace detail {

template <class T>
inline constexpr bool is_part = is_stage<T>;
template <class T>
inline constexpr bool is_part<input_part<T>> = true;
template <class T, class... Pace>
inline constexpr bool is_part<paced_input<T, Pace...>> = true;
template <class Source, class Pace>
inline constexpr bool is_part<paced_source<Source, Pace>> = true;
template <class... S>
inline constexpr bool is_part<pipeline<S...>> = true;
template <class D, class P>
inline constexpr bool is_part<pinned_part<D, P>> = true;
template <>
inline constexpr bool is_part<split_here_part> = true;
template <std::size_t... S>
inline constexpr bool is_part<split_after_part<S...>> = true;

template <class T>
struct link_trait : std::false_type {};
template <class L, class R>
struct link_trait<link<L, R>> : std::true_type {};
template <class T>
concept is_link = link_trait<T>::value;
template <class T>
struct pipeline_trait : std::false_type {};
template <class... S>
struct pipeline_trait<pipeline<S...>> : std::true_type {};
template <class T>
concept is_pipeline = pipeline_trait<T>::value;

}  // namespace detail

/// Something that can stand in a pipeline. A callable becomes one by a name: `stage<"name">(f)`.
template <class T>
concept pipeline_part = detail::is_link<T> || detail::is_part<T>;

/// A part that is no line of several is a pipeline of one.
template <pipeline_part Part>
  requires(!detail::is_link<Part>)
pipeline(Part) -> pipeline<Part>;

/// One part behind another.
template <class Left, class Right>
  requires pipeline_part<Left> && pipeline_part<Right>
[[gnu::always_inline]] constexpr auto operator|(Left left, Right right) {
  if constexpr (detail::is_pipeline<Left>)
    return std::move(left.parts()) | std::move(right);
  else if constexpr (detail::is_pipeline<Right>)
    return std::move(left) | std::move(right.parts());
  else if constexpr (detail::is_link<Right>)
    return static_cast<Left&&>(left) | std::move(right.left) | std::move(right.right);
  else if constexpr (detail::kept_whole<detail::link<Left, Right>>) {
    detail::link<Left, Right> line{{}, static_cast<Left&&>(left), static_cast<Right&&>(right)};
    detail::keep_whole(&line);
    return line;
  } else
    return detail::link<Left, Right>{{}, static_cast<Left&&>(left), static_cast<Right&&>(right)};
}

/// A part beside something that is none. Deduced and never defined: the use is the one error, and has no type.
template <class Left, class Right,
          class Mistake = no_part_of_a_pipeline_write_stage_with_a_name_around_it<
              std::conditional_t<pipeline_part<Left>, Right, Left>>>
  requires(pipeline_part<Left> != pipeline_part<Right>)
auto operator|(const Left&, const Right&);

/// The part runs on that device of the target: each stage of it has the pin.
template <device_tag Device, pipeline_part Part>
[[gnu::always_inline]] constexpr auto on(Part part) {
  if constexpr (detail::is_pipeline<Part>)
    return on<Device>(std::move(part.parts()));
  else if constexpr (detail::is_link<Part>)
    return on<Device>(std::move(part.left)) | on<Device>(std::move(part.right));
  else
    return pinned_part<Device, Part>{std::move(part)};
}

/// The part runs as `Count` equal segments, on the `any_of` of the target that has so many devices.
template <int Count, pipeline_part Part>
[[gnu::always_inline]] constexpr auto replicate(Part part) {
  return on<equal_devices<Count>>(std::move(part));
}

namespace detail {

/// One part of the flattened pipeline: a stage with its pin, or a mark.
template <class Part, class Device>
struct flat_part {
  using part = Part;
  using device = Device;
};

template <class Part, class Device>
struct flatten : type_tag<type_list<flat_part<Part, Device>>> {};
template <class Stages, class Device>
struct flatten_all;
template <class... Stages, class Device>
struct flatten_all<stage_list<Stages...>, Device> : type_tag<concatenated<typename flatten<Stages, Device>::type...>> {
};
template <class Left, class Right, class Device>
struct flatten<link<Left, Right>, Device> : flatten_all<typename link<Left, Right>::stages, Device> {};
template <class... Stages, class Device>
struct flatten<pipeline<Stages...>, Device> : flatten_all<stage_list<Stages...>, Device> {};
template <class Inner, class Part, class Outer>
struct flatten<pinned_part<Inner, Part>, Outer> : flatten<Part, Inner> {};
/// When items come changes no plan.
template <class T, class Pace, class Device>
  requires is_pace<Pace>
struct flatten<paced_input<T, Pace>, Device> : flatten<input_part<T>, Device> {};
template <class Source, class Pace, class Device>
struct flatten<paced_source<Source, Pace>, Device> : flatten<Source, Device> {};

/// Calls `visit(stage)` for each stage object of a pipeline, in order, moving it out.
template <class Part, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(Part& part, Visit& visit) {
  if constexpr (is_stage<Part>) visit(part);
}
template <class Left, class Right, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(link<Left, Right>& parts, Visit& visit);
template <class Device, class Part, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(pinned_part<Device, Part>& pinned, Visit& visit) {
  for_each_stage(pinned.part, visit);
}
template <class Source, class Pace, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(paced_source<Source, Pace>& paced, Visit& visit) {
  visit(paced.source);
}
template <class Left, class Right, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(link<Left, Right>& parts, Visit& visit) {
  for_each_stage(parts.left, visit);
  for_each_stage(parts.right, visit);
}
template <class... Stages, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(pipeline<Stages...>& line, Visit& visit) {
  for_each_stage(line.parts(), visit);
}

}  // namespace detail
}  // namespace levada
