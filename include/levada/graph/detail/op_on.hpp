// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/op_on.hpp: what an op is for what flows. For a batch it is what it is for one item, so many times; the
// kernel of a batch is a backend's own, where it has one that pays, else the kernel of an item, called for each.
// `bounded<tensor<...>, N>`, a tensor of at most N along its first axis, is a batch of as many as there are.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/batch_tensor.hpp>
#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/exchange.hpp>
#include <levada/graph/op.hpp>

namespace levada::detail {

/// How many items an op's input has, 0 where it is no batch; and the type of one of them.
template <class In>
struct batch_input {
  static constexpr std::size_t items = 0;
  using item = In;
};
template <class Item, std::size_t N>
struct batch_input<batch_tensor<Item, N>> {
  static constexpr std::size_t items = N;
  using item = Item;
};
template <std::size_t N, class... Item>
struct batch_input<std::tuple<batch_tensor<Item, N>...>> {
  static constexpr std::size_t items = N;
  using item = std::tuple<Item...>;
};
/// What ops of several outputs give for a batch.
template <std::size_t N, class... Item>
struct batch_input<std::array<std::tuple<Item...>, N>> {
  static constexpr std::size_t items = N;
  using item = std::tuple<Item...>;
};
template <class T, std::size_t... Dims, std::size_t N>
struct batch_input<bounded<tensor<T, Dims...>, N>> {
  static constexpr std::size_t items = N;
  using item = tensor<T, Dims...>;
};
template <>
struct batch_input<std::tuple<>> {
  static constexpr std::size_t items = 0;
  using item = std::tuple<>;
};
template <class In, class... Ops>
inline constexpr std::size_t items_of = batch_input<In>::items;
/// What flows is a batch of such items, or several batches beside each other, which have equally many.
template <class In, class Item>
concept is_batch_of = items_of<In> != 0 && std::same_as<typename batch_input<In>::item, Item>;
template <class In, class... Ops>
struct one_item : std::type_identity<typename batch_input<In>::item> {};
template <class... Ops>
concept hold_pipelines = (requires { typename Ops::holds_pipelines; } || ...);
/// Ops that hold pipelines, or stand for one elsewhere, take what flows as it is.
template <class... Ops>
concept take_flowing_whole = hold_pipelines<Ops...> || (requires { typename Ops::takes_flowing_whole; } || ...);
template <class In, class... Ops>
  requires take_flowing_whole<Ops...>
inline constexpr std::size_t items_of<In, Ops...> = 0;
template <class In, class... Ops>
  requires take_flowing_whole<Ops...>
struct one_item<In, Ops...> : std::type_identity<In> {};
/// For those ops.
template <class In, class... Ops>
using item_of = typename one_item<In, Ops...>::type;

template <class In>
inline constexpr bool is_bounded_tensor = false;
template <class T, std::size_t... Dims, std::size_t N>
inline constexpr bool is_bounded_tensor<bounded<tensor<T, Dims...>, N>> = true;

template <class Item, std::size_t N>
struct batch_of : std::type_identity<std::array<Item, N>> {};
template <class T, std::size_t... Dims, std::size_t N>
struct batch_of<tensor<T, Dims...>, N> : std::type_identity<batch_tensor<tensor<T, Dims...>, N>> {};
template <class Item>
struct batch_of<Item, 0> : std::type_identity<Item> {};
template <class T, std::size_t... Dims>
struct batch_of<tensor<T, Dims...>, 0> : std::type_identity<tensor<T, Dims...>> {};

/// The op's shape rule takes that, or its items; one that holds pipelines takes no batch.
template <class Op, class In>
concept op_takes_flowing = op_takes<Op, item_of<In, Op>> && !(hold_pipelines<Op> && is_batch_tensor<In>);

/// What a run of ops makes of what flows.
template <class In, class... Ops>
struct output_of_flowing : batch_of<run_output_t<item_of<In, Ops...>, Ops...>, items_of<In, Ops...>> {};
template <class In, class... Ops>
  requires(is_bounded_tensor<In> && !take_flowing_whole<Ops...>)
struct output_of_flowing<In, Ops...> : std::type_identity<bounded<run_output_t<item_of<In>, Ops...>, items_of<In>>> {};
template <class In, class... Ops>
using flowing_output = typename output_of_flowing<In, Ops...>::type;

/// The `i`-th item of a batch: where it lies, or, where it would not be aligned there, or what lies behind it is not
/// its own padding, in `spare`.
template <class Item>
inline constexpr bool lies_in_batch = sizeof(Item) == sizeof(typename Item::value_type) * Item::elements;
template <class Item>
inline constexpr std::size_t spare_bytes = lies_in_batch<Item> ? 0 : sizeof(Item);

template <class Item, std::size_t N>
const Item& item_in(const batch_tensor<Item, N>& batch, std::size_t i, [[maybe_unused]] std::byte* spare) {
  const auto* const at = batch.data() + i * Item::elements;
  if constexpr (lies_in_batch<Item>) {
    return *std::launder(reinterpret_cast<const Item*>(at));
  } else {
    Item& copy = *::new (static_cast<void*>(spare)) Item;
    std::memcpy(copy.data(), at, sizeof(typename Item::value_type) * Item::elements);
    return copy;
  }
}

/// What the packed parameters of a kernel take.
template <class Kernel>
inline constexpr std::size_t weight_bytes_of = std::is_empty_v<Kernel> ? 0 : sizeof(Kernel);
template <class Kernel>
  requires requires { Kernel::weight_bytes; }
inline constexpr std::size_t weight_bytes_of<Kernel> = Kernel::weight_bytes;

/// A kernel whose bytes are all that it is, and come from nothing but its ops and their parameters. It may lie in a
/// file for other programs. A backend says so of its own kernels.
template <class Kernel>
inline constexpr bool is_packed = false;

/// How a kernel computes, where its backend has several ways of different accuracy.
template <class Kernel>
inline constexpr std::string_view method_of{};
template <class Kernel>
  requires requires { Kernel::method; }
inline constexpr std::string_view method_of<Kernel> = Kernel::method;

/// A kernel called for each item of a batch.
template <class Kernel, class In, class Out>
class kernel_of_items;
template <class Kernel, class In, class Out>
  requires(items_of<In> != 0 && !is_bounded_tensor<In>)
class kernel_of_items<Kernel, In, Out> {
  static constexpr std::size_t items = items_of<In>;

  template <class T>
  struct spares {
    static constexpr std::size_t bytes = 0;
  };
  template <class Item, std::size_t N>
  struct spares<batch_tensor<Item, N>> {
    static constexpr std::size_t bytes = spare_bytes<Item>;
  };
  template <class... Batch>
  struct spares<std::tuple<Batch...>> {
    static constexpr std::size_t bytes = (spares<Batch>::bytes + ... + 0);
  };
  static constexpr std::size_t in_bytes = spares<In>::bytes, out_bytes = spares<Out>::bytes;

 public:
  static constexpr std::size_t scratch_bytes = in_bytes + out_bytes + Kernel::scratch_bytes;
  static constexpr std::size_t weight_bytes = weight_bytes_of<Kernel>;
  static constexpr std::string_view method = method_of<Kernel>;

  template <class... Arguments>
    requires std::constructible_from<Kernel, const Arguments&...>
  explicit kernel_of_items(const Arguments&... arguments) : kernel_(arguments...) {}

  void operator()(const auto& in, Out& out, std::byte* scratch) const {
    for (std::size_t i = 0; i < items; ++i) compute(inputs(in, i, scratch + out_bytes), out, i, scratch);
  }

 private:
  template <class Item, std::size_t N>
  static const Item& inputs(const batch_tensor<Item, N>& in, std::size_t i, std::byte* spare) {
    return item_in(in, i, spare);
  }
  template <class Item, std::size_t N>
  static const Item& inputs(const std::array<Item, N>& in, std::size_t i, std::byte* /*spare*/) {
    return in[i];
  }
  template <class... Batch>
  static auto inputs(const std::tuple<Batch...>& in, std::size_t i, std::byte* spare) {
    const auto next = [&]<class Item, std::size_t N>(const batch_tensor<Item, N>& batch) -> const Item& {
      return item_in(batch, i, exchange_value(spare, spare + spare_bytes<Item>));
    };
    return std::apply([&](const auto&... batch) { return std::tuple<decltype(next(batch))...>{next(batch)...}; }, in);
  }

  template <class Item, std::size_t N>
  void compute(const auto& in, batch_tensor<Item, N>& out, std::size_t i, std::byte* scratch) const {
    auto* const at = out.data() + i * Item::elements;
    std::byte* const inner = scratch + out_bytes + in_bytes;
    if constexpr (lies_in_batch<Item>) {
      kernel_(in, *std::launder(reinterpret_cast<Item*>(at)), inner);
    } else {
      Item& made = *::new (static_cast<void*>(scratch)) Item;
      kernel_(in, made, inner);
      std::memcpy(at, made.data(), sizeof(typename Item::value_type) * Item::elements);
    }
  }
  template <class Item, std::size_t N>
  void compute(const auto& in, std::array<Item, N>& out, std::size_t i, std::byte* scratch) const {
    kernel_(in, out[i], scratch + out_bytes + in_bytes);
  }

  [[no_unique_address]] Kernel kernel_;
};

/// A kernel called for as many items as there are.
template <class Kernel, class In, class Out>
  requires is_bounded_tensor<In>
class kernel_of_items<Kernel, In, Out> {
 public:
  static constexpr std::size_t scratch_bytes = Kernel::scratch_bytes;
  static constexpr std::size_t weight_bytes = weight_bytes_of<Kernel>;
  static constexpr std::string_view method = method_of<Kernel>;

  template <class... Arguments>
    requires std::constructible_from<Kernel, const Arguments&...>
  explicit kernel_of_items(const Arguments&... arguments) : kernel_(arguments...) {}

  void operator()(const In& in, Out& out, std::byte* scratch) const {
    out.resize(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) kernel_(in[i], out[i], scratch);
  }

 private:
  [[no_unique_address]] Kernel kernel_;
};

template <class Kernel, class In, class Out>
inline constexpr bool is_packed<kernel_of_items<Kernel, In, Out>> = is_packed<Kernel>;

/// A backend computes that run on a batch as one: `Backend::batch_kernel<In, Ops...>` is complete.
template <class Backend, class In, class... Ops>
concept batch_kernel =
    items_of<In, Ops...> != 0 && requires { sizeof(typename Backend::template batch_kernel<In, Ops...>); };

template <class Backend, class In, class... Ops>
struct kernel_for
    : std::type_identity<
          kernel_of_items<typename Backend::template kernel<item_of<In>, Ops...>, In, flowing_output<In, Ops...>>> {};
template <class Backend, class In, class... Ops>
  requires(items_of<In, Ops...> == 0)
struct kernel_for<Backend, In, Ops...> : std::type_identity<typename Backend::template kernel<In, Ops...>> {};
template <class Backend, class In, class... Ops>
  requires batch_kernel<Backend, In, Ops...>
struct kernel_for<Backend, In, Ops...> : std::type_identity<typename Backend::template batch_kernel<In, Ops...>> {};

/// The kernel that computes a run of ops on what flows.
template <class Backend, class In, class... Ops>
using kernel_for_t = typename kernel_for<Backend, In, Ops...>::type;

/// There is one. What a device computes by itself is not called for each item.
template <class Backend, class In, class... Ops>
concept has_kernel_for =
    op_kernel<Backend, item_of<In, Ops...>, Ops...> &&
    (items_of<In, Ops...> == 0 || batch_kernel<Backend, In, Ops...> ||
     !std::derived_from<typename Backend::template kernel<item_of<In, Ops...>, Ops...>, device_kernel>);

}  // namespace levada::detail
