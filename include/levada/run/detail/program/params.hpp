// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/params.hpp: `app.params<"head">()`, the parameters of a group by their names.

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/groups.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/program/flat_region.hpp>
#include <levada/run/detail/program/parameter_board.hpp>
#include <levada/run/detail/program/unit.hpp>

namespace levada {
namespace detail {

/// Ops in a row whose kernel is made again from parameters that are kept as they came. `Ops`: each an op_with_input.
template <class Kernel, class... Ops>
class replaceable_kernel final : public replaceable_unit {
  static constexpr std::size_t count = (std::size_t{0} + ... + Ops::parameters.size());

 public:
  explicit replaceable_kernel(const stage_address* stages)
      : replaceable_kernel(stages, std::index_sequence_for<Ops...>{}) {}

  erased_object make() const override {
    return std::apply(
        [&](const auto&... ops) {
          return erased_object::make<Kernel, is_copied_kernel<Kernel>>(ops..., parameters_->values());
        },
        ops_);
  }
  owner<device_parameters> bring_to([[maybe_unused]] device_queue& device) const override {
    if constexpr (std::derived_from<Kernel, device_kernel>)
      return std::apply([&](const auto&... ops) { return device.bring(Kernel(ops..., parameters_->values())); }, ops_);
    else
      return {};
  }
  void* parameter(std::size_t stage, std::size_t index) override { return parameters_->at(first(stage) + index); }
  owner<replaceable_unit> copy() const override {
    auto* const other = new replaceable_kernel(*this);
    owner<replaceable_unit> owned(other);
    other->parameters_ = std::make_shared<collected_parameters>(count, parameter_use::changed);
    std::size_t next = 0;
    const auto copy_each = [&](const auto& infos) {
      for (const parameter_info& info : infos) {
        const std::size_t bytes = info.extents.elements() * size_of(info.type);
        std::memcpy(other->parameters_->keep(bytes), parameters_->at(next++), bytes);
      }
    };
    (copy_each(Ops::parameters), ...);
    return owned;
  }

 private:
  template <std::size_t... I>
  replaceable_kernel(const stage_address* stages, std::index_sequence<I...>)
      : ops_(*static_cast<const typename Ops::op*>(stages[I].object)...),
        parameters_(std::make_shared<collected_parameters>(count, parameter_use::changed)) {
    (collect_parameters<Ops>(*parameters_, stages[I]), ...);
  }
  /// The first parameter of a stage of the run.
  static std::size_t first(std::size_t stage) {
    std::size_t at = 0, s = 0;
    ((at += s++ < stage ? Ops::parameters.size() : 0), ...);
    return at;
  }

  std::tuple<typename Ops::op...> ops_;
  std::shared_ptr<collected_parameters> parameters_;
};

/// A callable and its settings.
template <class F>
class replaceable_settings;
template <class F, class... Settings>
class replaceable_settings<adjusted<F, Settings...>> final : public replaceable_unit {
  using callable = adjusted<F, Settings...>;

 public:
  explicit replaceable_settings(const callable& of) : callable_(of) {}
  erased_object make() const override { return erased_object::make<callable>(callable_); }
  void* parameter(std::size_t, std::size_t index) override {
    void* at = nullptr;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((I == index ? void(at = std::addressof(callable_.settings.template at<I>())) : void()), ...);
    }(std::index_sequence_for<Settings...>{});
    return at;
  }
  owner<replaceable_unit> copy() const override { return owner<replaceable_unit>(new replaceable_settings(callable_)); }

 private:
  callable callable_;
};

template <class Flat, std::size_t Node>
using stage_at = typename Flat::template node_place<Node>::part;

/// The op of a stage with its input.
template <class Flat, std::size_t Node>
using op_at = op_with_input<
    typename stage_at<Flat, Node>::op_type,
    item_of<op_input_t<typename Flat::template node_place<Node>::in>, typename stage_at<Flat, Node>::op_type>>;

template <class Planning, std::size_t U>
using backend_of_unit = type_at<typename Planning::backend_types, Planning::plan.unit[U].backend>;

/// A parameter that was looked for by its name.
struct found_parameter {
  std::size_t matches = 0;  ///< 1 where the name says which
  std::size_t stage = 0, index = 0;
};

/// "weight", or "fc.weight" where several stages of the group have one.
constexpr bool is_called(std::string_view wanted, std::string_view stage, std::string_view parameter) {
  return wanted == parameter || (wanted.size() == stage.size() + 1 + parameter.size() && wanted.starts_with(stage) &&
                                 wanted[stage.size()] == '.' && wanted.ends_with(parameter));
}

template <class F>
inline constexpr std::array<std::string_view, 0> setting_names{};
template <class F, class... Settings>
inline constexpr std::array<std::string_view, sizeof...(Settings)> setting_names<adjusted<F, Settings...>>{
    Settings::name...};

/// The names of the replaceable parameters of a node.
template <class Place>
consteval auto replaceable_names() {
  using stage = typename Place::part;
  if constexpr (Place::call::value == form::op) {
    constexpr const auto& infos =
        stage::op_type::template parameters<item_of<op_input_t<typename Place::in>, typename stage::op_type>>;
    std::array<std::string_view, infos.size()> names{};
    for (std::size_t i = 0; i < infos.size(); ++i) names[i] = infos[i].name;
    return names;
  } else {
    return setting_names<typename stage::callable_type>;
  }
}

template <fixed_string Group, fixed_string Parameter, class... Stage>
consteval found_parameter find_parameter(type_list<Stage...>) {
  found_parameter found;
  std::size_t stage = 0;
  (
      [&] {
        using place = typename Stage::place;
        constexpr auto names = replaceable_names<place>();
        for (std::size_t i = 0; i < names.size() && Stage::template is_in<Group>; ++i)
          if (is_called(Parameter.view(), place::part::name.view(), names[i])) {
            ++found.matches;
            found.stage = stage;
            found.index = i;
          }
        ++stage;
      }(),
      ...);
  return found;
}

/// The given type is the one that the parameter is kept as.
template <class Place, std::size_t Index, class Given>
consteval bool fits_parameter() {
  if constexpr (Place::call::value == form::op) {
    constexpr parameter_info info = Place::part::op_type::template parameters<
        item_of<op_input_t<typename Place::in>, typename Place::part::op_type>>[Index];
    if constexpr (any_tensor<Given>)
      return element_of<typename Given::value_type> == info.type && shape_of<Given> == info.extents;
    else
      return false;
  } else {
    using kept = decltype(Place::part::callable_type::settings);
    return std::same_as<std::remove_cvref_t<decltype(std::declval<kept&>().template at<Index>())>, Given>;
  }
}

/// The type that a parameter is kept as.
template <class Place, std::size_t Index>
consteval auto kept_parameter() {
  if constexpr (Place::call::value == form::op) {
    constexpr parameter_info info = Place::part::op_type::template parameters<
        item_of<op_input_t<typename Place::in>, typename Place::part::op_type>>[Index];
    using elements = type_list<half, bfloat16, float, double, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                               std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, bool>;  // as in element
    using held = type_at<elements, static_cast<std::size_t>(info.type) - 1>;
    static_assert(element_of<held> == info.type);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return type_tag<tensor<held, info.extents[I]...>>{};
    }(std::make_index_sequence<info.extents.rank>{});
  } else {
    using kept = decltype(Place::part::callable_type::settings);
    return type_tag<std::remove_cvref_t<decltype(std::declval<kept&>().template at<Index>())>>{};
  }
}

/// The mistake in a parameter's name or in the type that it is given, if any.
template <class Flat, fixed_string Group, fixed_string Parameter, class Given>
consteval auto parameter_mistake() {
  using stages = typename groups_of<Flat>::stages;
  constexpr found_parameter found = find_parameter<Group, Parameter>(stages{});
  if constexpr (found.matches == 0) {
    return group_has_no_parameter_of_that_name<Group, Parameter>{};
  } else if constexpr (found.matches > 1) {
    return group_has_several_parameters_of_that_name_write_the_stage_and_a_dot_before_it<Group, Parameter>{};
  } else {
    using place = typename type_at<stages, found.stage>::place;
    if constexpr (!fits_parameter<place, found.index, Given>())
      return parameter_is_of_another_type_or_shape<
          Group, Parameter, gives<Given>, wants<typename decltype(kept_parameter<place, found.index>())::type>>{};
    else
      return no_mistake{};
  }
}
template <class Flat, fixed_string Group, class... Named>
consteval auto first_parameter_mistake(type_list<Named...>) {
  constexpr bool wrong[] = {
      decltype(parameter_mistake<Flat, Group, Named::name, typename Named::given>())::is_mistake...};
  if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(Named)) {
    using named = type_at<type_list<Named...>, at>;
    return parameter_mistake<Flat, Group, named::name, typename named::given>();
  } else {
    return no_mistake{};
  }
}
template <fixed_string Name, class Given>
struct given_parameter {
  static constexpr auto name = Name;
  using given = Given;
};

/// The board of a program whose pipeline has groups: every unit with a stage in one can be made again.
template <class Planning, std::size_t U, std::size_t... I>
owner<replaceable_unit> make_replaceable(const stage_address* stages, std::index_sequence<I...>) {
  using flat = typename Planning::flat;
  constexpr const auto& unit = Planning::plan.unit[U];
  if constexpr (unit.backend == partition_unit::callable) {
    using stage = stage_at<flat, unit.first>;
    return owner<replaceable_unit>(new replaceable_settings<typename stage::callable_type>(
        *static_cast<const typename stage::callable_type*>(stages[unit.first].object)));
  } else {
    using kernel = typename flat_run<flat, unit.first, I...>::template on<backend_of_unit<Planning, U>>::kernel;
    return owner<replaceable_unit>(new replaceable_kernel<kernel, op_at<flat, unit.first + I>...>(stages + unit.first));
  }
}
template <class Planning, std::size_t U>
consteval bool is_replaceable() {
  constexpr const auto& unit = Planning::plan.unit[U];
  constexpr auto in_group = Planning::flat::template nodes_in_group<"">();
  bool any = false;
  for (std::size_t n = unit.first; n < unit.first + unit.count; ++n) any = any || in_group[n];
  if constexpr (unit.backend == partition_unit::callable)
    return any && is_adjusted<typename stage_at<typename Planning::flat, unit.first>::callable_type>;
  else
    return any;
}
/// The object of a unit, or the prototype that sessions copy.
inline const void* made_object(const program& code, std::size_t u) {
  const program_unit& unit = code.units[u];
  return unit.shared != nullptr ? unit.shared : code.states[unit.own].prototype.get();
}
/// The kernel of a unit whose stage holds pipelines.
template <class Planning, std::size_t U, class Flat = typename Planning::flat,
          std::size_t N = Planning::plan.unit[U].first>
using nested_kernel_of_unit =
    kernel_for_t<backend_of_unit<Planning, U>, op_input_t<typename Flat::template node_place<N>::in>,
                 typename stage_at<Flat, N>::op_type>;
template <class Planning, class Board = parameter_board<>, std::size_t... U>
void make_board(program& code, const stage_address* stages, std::index_sequence<U...>) {
  auto* const board = new Board(code);
  code.board = owner<object_board>(board);
  (
      [&] {
        constexpr const auto& unit = Planning::plan.unit[U];
        if constexpr (is_nesting<stage_at<typename Planning::flat, unit.first>>) {
          using kernel = nested_kernel_of_unit<Planning, U>;
          if constexpr (kernel::has_groups)
            board->add_inside(U, static_cast<const kernel*>(made_object(code, U))->boards());
        } else {
          for (std::size_t stage = 0; stage < unit.count; ++stage) board->add_stage({U, stage});
          if constexpr (is_replaceable<Planning, U>())
            board->add(U, make_replaceable<Planning, U>(stages, std::make_index_sequence<unit.count>()));
        }
      }(),
      ...);
}

}  // namespace detail

/// The parameters of a group. Items pushed before are computed with those before at all stages, items pushed behind
/// with the new.
template <class Flat, fixed_string Group>
class parameter_group {
  template <fixed_string Parameter>
  static constexpr detail::found_parameter found =
      detail::find_parameter<Group, Parameter>(typename detail::groups_of<Flat>::stages{});

 public:
  explicit parameter_group(detail::parameter_board<>& board) : board_(board) {}

  /// Replaces these all at once: tensors of the parameters' types and shapes, and settings. Returns when they hold. Any
  /// thread.
  template <fixed_string... Names, class... Values>
    requires(sizeof...(Names) == sizeof...(Values) && sizeof...(Names) > 0) &&
            correct<decltype(detail::first_parameter_mistake<Flat, Group>(
                type_list<detail::given_parameter<Names, Values>...>{}))>
  void set(const Values&... values) {
    board_.replace(changed<Names>([&](void* at) { write(at, values); })...);
  }
  template <fixed_string... Names, class... Values>
    requires(sizeof...(Names) == sizeof...(Values) && sizeof...(Names) > 0 &&
             decltype(detail::first_parameter_mistake<Flat, Group>(
                 type_list<detail::given_parameter<Names, Values>...>{}))::is_mistake)
  mistake_found<
      decltype(detail::first_parameter_mistake<Flat, Group>(type_list<detail::given_parameter<Names, Values>...>{}))>
  set(const Values&... values);

  /// Copies the current value of a parameter to `into`.
  template <fixed_string Name, class Value>
    requires correct<decltype(detail::parameter_mistake<Flat, Group, Name, Value>())>
  void get(Value& into) const {
    board_.read(found<Name>.stage, found<Name>.index, [&](const void* at) {
      if constexpr (any_tensor<Value>)
        std::memcpy(into.data(), at, Value::elements * sizeof(typename Value::value_type));
      else
        into = *static_cast<const Value*>(at);
    });
  }
  template <fixed_string Name, class Value>
    requires(decltype(detail::parameter_mistake<Flat, Group, Name, Value>())::is_mistake)
  mistake_found<decltype(detail::parameter_mistake<Flat, Group, Name, Value>())> get(Value& into) const;

 private:
  template <fixed_string Name, class Write>
  static typename detail::parameter_board<>::template change<Write> changed(Write write) {
    return {found<Name>.stage, found<Name>.index, write};
  }
  template <class Value>
  static void write(void* at, const Value& value) {
    if constexpr (any_tensor<Value>)
      std::memcpy(at, value.data(), Value::elements * sizeof(typename Value::value_type));
    else
      *static_cast<Value*>(at) = value;
  }

  detail::parameter_board<>& board_;
};

}  // namespace levada
