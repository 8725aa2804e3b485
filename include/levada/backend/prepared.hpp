// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/prepared.hpp: backends that look at runs of ops as values and make them ready when the program starts,
// as libraries with objects of their own want it. Such a backend names one kernel for all:
//
//   struct mine {
//     static constexpr std::string_view name = "mine";
//     static constexpr lv::device_kind device = lv::device_kind::cpu;
//     static constexpr std::size_t longest_run = 3;
//     static constexpr bool takes(lv::op_run run);                                   // decided while compiling
//     static ready prepare(lv::op_run run, lv::parameter_values p);                  // once, at start-up
//     // From any thread, several at once.
//     static void run(const ready&, const void* const* inputs, void* output, std::byte* scratch);
//     template <class In, class... Ops>
//     using kernel = lv::prepared_kernel<mine, In, Ops...>;
//   };

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/op_info.hpp>
#include <levada/graph/detail/op_region.hpp>
#include <levada/graph/op.hpp>

namespace levada {

namespace detail {

/// The numbers of a named function, in the order of ONNX's attributes.
template <class F>
bounded<float, 2> numbers_of(const F& f) {
  bounded<float, 2> numbers;
  const auto add = [&](const auto& number) {
    if constexpr (requires { static_cast<float>(number.value); })
      numbers.try_push_back(static_cast<float>(number.value));
    else if constexpr (requires { static_cast<float>(number); })
      numbers.try_push_back(static_cast<float>(number));
  };
  if constexpr (requires { f.k; }) add(f.k);
  if constexpr (requires { f.low; }) add(f.low);
  if constexpr (requires { f.high; }) add(f.high);
  if constexpr (requires { f.alpha; }) add(f.alpha);
  if constexpr (requires { f.beta; }) add(f.beta);
  if constexpr (requires { f.gamma; }) add(f.gamma);
  return numbers;
}

/// With what is known of the ops at start-up alone.
template <std::size_t N, class... Ops>
std::array<op_info, N> completed(std::array<op_info, N> infos, const Ops&... ops) {
  std::size_t i = 0;
  const auto complete = [&](const auto& op) {
    if constexpr (requires { op.epsilon; }) infos[i].epsilon = op.epsilon;
    if constexpr (requires { op.function; }) infos[i].numbers = numbers_of(op.function);
    ++i;
  };
  (complete(ops), ...);
  return infos;
}

/// What `Backend::run` wants while it runs, and what it keeps. `Seen`: an op_run or a region_info, of these ops.
template <class Backend, class Seen>
constexpr std::size_t prepared_scratch_bytes(const Seen& seen) {
  if constexpr (requires { Backend::scratch_bytes(seen); })
    return Backend::scratch_bytes(seen);
  else
    return 0;
}
template <class Backend, class Seen>
constexpr std::size_t prepared_weight_bytes(const Seen& seen, op_run ops) {
  if constexpr (requires { Backend::weight_bytes(seen); }) return Backend::weight_bytes(seen);
  std::size_t bytes = 0;
  for (const op_info& op : ops)
    for (const parameter_info& p : op.parameters) bytes += p.extents.elements() * size_of(p.type);
  return bytes;
}

/// Calls `f` with where the elements of a tensor, or of each tensor of a tuple, begin.
template <class Element, class In, class F>
void with_elements_of(const In& in, F f) {
  if constexpr (any_tensor<In>) {
    const Element* const inputs[] = {in.data()};
    f(&inputs[0]);
  } else {
    std::apply(
        [&](const auto&... each) {
          const Element* const inputs[] = {each.data()...};
          f(&inputs[0]);
        },
        in);
  }
}

/// `output` is where it writes to, or where the pointers to its outputs are.
template <class Backend, class Ready, class In, class Output>
void run_prepared(const Ready& ready, const In& in, Output output, std::byte* scratch) {
  with_elements_of<void>(in, [&](const void* const* inputs) { Backend::run(ready, inputs, output, scratch); });
}

template <class Backend, class In, class... Ops>
consteval bool prepares() {
  if constexpr (all_tensors<In> && run_takes<In, Ops...>) {
    if constexpr (any_tensor<run_output_t<In, Ops...>>) return Backend::takes(op_run(run_info<In, Ops...>));
  }
  return false;
}

}  // namespace detail

/// The kernel of any run that `Backend::takes`, of tensors; see the head of this file. `Backend` may say, too,
/// `static constexpr std::size_t scratch_bytes(op_run)`, what `run` wants while it runs, and
/// `static constexpr std::size_t weight_bytes(op_run)`, what it keeps, where that is not what the parameters take.
template <class Backend, class In, class... Ops>
class prepared_kernel;

template <class Backend, class In, class... Ops>
  requires(sizeof...(Ops) > 0 && detail::prepares<Backend, In, Ops...>())
class prepared_kernel<Backend, In, Ops...> {
  static constexpr const auto& described = detail::run_info<In, Ops...>;

 public:
  static constexpr std::size_t scratch_bytes = detail::prepared_scratch_bytes<Backend>(op_run(described));
  static constexpr std::size_t weight_bytes = detail::prepared_weight_bytes<Backend>(op_run(described), described);

  prepared_kernel(const Ops&... ops, parameter_values p) : ready_(make(p, ops...)) {}

  void operator()(const auto& in, run_output_t<In, Ops...>& out, std::byte* scratch) const {
    detail::run_prepared<Backend>(ready_, in, out.data(), scratch);
  }

 private:
  static auto make(parameter_values p, const Ops&... ops) {
    const auto run = detail::completed(described, ops...);
    return Backend::prepare(op_run(run), p);
  }

  decltype(Backend::prepare(op_run(), std::declval<parameter_values>())) ready_;
};

/// The kernel of any region that `Backend::takes(const region_info&)`: as `prepared_kernel`, with a `region_info` in
/// the place of an `op_run`. A backend of regions names it so:
/// `template <class Region> using region_kernel = lv::prepared_region_kernel<mine, Region>;`
/// One of several outputs is run with pointers to them: `run(ready, inputs, void* const* outputs, scratch)`.
template <class Backend, class Region>
class prepared_region_kernel;

namespace detail {

template <class Backend, class Region, class RegionOps>
class prepared_region;
template <class Backend, class Region, class... RegionOps>
class prepared_region<Backend, Region, type_list<RegionOps...>> {
  static constexpr const auto& infos = infos_of_region<Region>::value;
  static constexpr region_info info_of(op_run ops) {
    if constexpr (requires { Region::outputs; })
      return {ops, Region::outputs};
    else
      return region_info(ops);
  }

 public:
  static constexpr std::size_t scratch_bytes = prepared_scratch_bytes<Backend>(info_of(infos));
  static constexpr std::size_t weight_bytes = prepared_weight_bytes<Backend>(info_of(infos), infos);

  prepared_region(const typename RegionOps::op_type&... ops, parameter_values p)
      : ready_([&] {
          const auto made = completed(infos, ops...);
          return Backend::prepare(info_of(made), p);
        }()) {}

  void operator()(const auto& in, typename Region::out_type& out, std::byte* scratch) const {
    if constexpr (any_tensor<typename Region::out_type>) {
      run_prepared<Backend>(ready_, in, out.data(), scratch);
    } else {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        void* const outputs[] = {out.template at<I>().data()...};
        run_prepared<Backend>(ready_, in, &outputs[0], scratch);
      }(std::make_index_sequence<Region::out_type::size>{});
    }
  }

 private:
  decltype(Backend::prepare(std::declval<const region_info&>(), std::declval<parameter_values>())) ready_;
};

}  // namespace detail

template <class Backend, class Region>
  requires requires { typename Region::op_list; }
class prepared_region_kernel<Backend, Region>
    : public detail::prepared_region<Backend, Region, typename Region::op_list> {
 public:
  using detail::prepared_region<Backend, Region, typename Region::op_list>::prepared_region;
};

}  // namespace levada
