// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/rate.hpp: parts that take so many items and give so many others: synchronous dataflow (Lee and
// Messerschmitt, 1987).
//
//   chunks | window<400, 160> | log_mel | batch<8> | model | unbatch | ...
//
// Where a pipeline changes its rate, one region ends and the next begins: each runs at its own rate, in slots of its
// own, and items pass between them in order. An item that fails passes in its place: what was begun ahead of it is
// given as at the end, and the next begins behind it.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/batch_tensor.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/buffer_capacity.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada {

/// So many items are taken for so many that are given.
struct rate_ratio {
  std::size_t takes = 1, gives = 1;
  friend constexpr bool operator==(const rate_ratio&, const rate_ratio&) = default;
};

/// How a rate gives what it gives: in whole groups, where it does not say otherwise.
template <class Rate, class In>
inline constexpr rate_rule rule_of_rate{rate_rule::groups, static_cast<std::int64_t>(Rate::template ratio<In>.takes),
                                        static_cast<std::int64_t>(Rate::template ratio<In>.gives)};
template <class Rate, class In>
  requires requires { Rate::template rule<In>; }
inline constexpr rate_rule rule_of_rate<Rate, In> = Rate::template rule<In>;

/// How many items a rate has given by when.
template <class Rate, class In>
inline constexpr rate_bounds bounds_of_rate = rule_of_rate<Rate, In>.bounds();
template <class Rate, class In>
  requires requires { Rate::template bounds<In>; }
inline constexpr rate_bounds bounds_of_rate<Rate, In> = Rate::template bounds<In>;

/// How many it has given of `n`; `ended`: with what is given short.
template <class Rate, class In>
constexpr std::int64_t given_by_rate(std::int64_t n, bool ended) {
  if constexpr (requires { Rate::template given<In>(n, ended); })
    return Rate::template given<In>(n, ended);
  else
    return rule_of_rate<Rate, In>.given(n, ended);
}

/// What becomes of items that do not fill a batch or a window when no more come: filled up with zeros (or `T{}`), or
/// dropped and counted.
enum class partial : std::uint8_t { pad, drop };

/// What is not whole after that long, by the session's clock, is given as at the end.
struct timeout_option {
  duration after{};
  friend constexpr bool operator==(const timeout_option&, const timeout_option&) = default;
};
template <duration After>
inline constexpr timeout_option timeout{After};

/// What a step of a rate did.
struct rate_step {
  bool took = false;        ///< it is through with the item
  bool gave = false;        ///< there is an item at `out`
  std::uint32_t parts = 0;  ///< of a padded batch: how many of its items are some; 0: all
};

/// A part that changes the rate. `Rate` has a name, `output<In>`, `ratio<In>`, and `state<In>` with
/// `rate_step step(In&, std::uint32_t parts, void* out)`, called until it took the item, and `rate_step end(void*
/// out)`, called until it gave nothing, at the end and, where there is a `timeout`, so long after the first item of
/// what is begun; `out` stays where it is until something was given, `abandon(out)` ends what was begun there.
template <class Rate>
struct rate_part {
  [[no_unique_address]] Rate rate;
};

namespace detail {

template <class R>
inline constexpr bool is_part<rate_part<R>> = true;

template <class Rate, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(rate_part<Rate>& part, Visit& visit) {
  visit(part);
}

template <auto... Options>
consteval partial partial_in() {
  partial at_end = partial::pad;
  (
      [&](auto option) {
        if constexpr (std::same_as<decltype(option), partial>) at_end = option;
      }(Options),
      ...);
  return at_end;
}
template <auto... Options>
consteval duration timeout_in() {
  duration after{};
  (
      [&](auto option) {
        if constexpr (std::same_as<decltype(option), timeout_option>) after = option.after;
      }(Options),
      ...);
  return after;
}

/// A rate that was written wrongly: `Mistake` says how, and nothing is known of what it gives.
template <fixed_string Name, class Mistake>
struct wrong_rate {
  static constexpr fixed_string name = Name;
  template <class In>
  static consteval auto mistake_in() {
    return Mistake{};
  }
};
/// `Rate` if these are all above 0.
template <class Rate, fixed_string Name, std::size_t... Numbers>
using counting_rate = std::conditional_t<((Numbers > 0) && ...), Rate,
                                         wrong_rate<Name, rate_takes_and_gives_one_item_or_more<Name, Numbers...>>>;

template <class... Options>
consteval auto wrong_batch_option() {
  constexpr bool wrong[] = {!(std::same_as<Options, partial> || std::same_as<Options, timeout_option>)..., false};
  if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(Options))
    return rate_has_no_such_option<"batch", type_at<type_list<Options...>, at>>{};
  else
    return no_mistake{};
}

// ---- batch ----

template <class Batch>
struct item_of_batch {};
template <class T, std::size_t N>
struct item_of_batch<std::array<T, N>> : type_tag<T> {
  static constexpr std::size_t size = N;
};
template <class T, std::size_t N, std::size_t... Dims>
struct item_of_batch<tensor<T, N, Dims...>> : type_tag<tensor<T, Dims...>> {
  static constexpr std::size_t size = N;
};
template <class Item, std::size_t N>
struct item_of_batch<batch_tensor<Item, N>> : type_tag<Item> {
  static constexpr std::size_t size = N;
};

/// The `i`-th item in a batch: it lies there as it would by itself, apart from the padding of a tensor's end.
template <class Item>
inline constexpr std::size_t bytes_in_batch = sizeof(Item);
template <class T, std::size_t... Dims>
inline constexpr std::size_t bytes_in_batch<tensor<T, Dims...>> = sizeof(T) * tensor<T, Dims...>::elements;

template <class Item>
void put_into_batch(void* batch, std::size_t i, Item& item) {
  void* const at = static_cast<std::byte*>(batch) + i * bytes_in_batch<Item>;
  if constexpr (any_tensor<Item>)
    std::memcpy(at, item.data(), bytes_in_batch<Item>);
  else
    ::new (at) Item(std::move(item));
}

template <std::size_t N, partial AtEnd, duration Timeout>
struct batch_rate {
  static constexpr fixed_string name = "batch";
  static constexpr duration timeout = Timeout;
  template <class In>
    requires(AtEnd == partial::drop || any_tensor<In> || std::is_default_constructible_v<In>)
  using output = typename batch_of<In, N>::type;
  template <class In>
  static constexpr rate_ratio ratio{N, 1};
  template <class In>
  static constexpr rate_rule rule{rate_rule::groups, N, 1, 1, AtEnd == partial::pad};

  template <class In>
  class state {
   public:
    explicit state(const batch_rate&) {}
    rate_step step(In& item, std::uint32_t, void* out) {
      put_into_batch(out, count_, item);
      if (++count_ < N) return {true, false};
      count_ = 0;
      return {true, true};
    }
    rate_step end(void* out) {
      if (count_ == 0) return {};
      const std::size_t count = std::exchange(count_, 0);
      if constexpr (AtEnd == partial::pad) {
        std::size_t there = count;
        try {
          for (; there < N; ++there) {
            In none{};
            put_into_batch(out, there, none);
          }
        } catch (...) {
          destroy(out, there);
          throw;
        }
        return {false, true, static_cast<std::uint32_t>(count)};
      } else {
        destroy(out, count);
        return {};
      }
    }
    /// Items that it has and that were not given.
    std::size_t waiting() const { return count_; }
    void abandon(void* out) { destroy(out, std::exchange(count_, 0)); }

   private:
    static void destroy(void* out, std::size_t count) {
      if constexpr (!std::is_trivially_destructible_v<In>) std::destroy_n(static_cast<In*>(out), count);
    }
    std::size_t count_ = 0;
  };
};

struct unbatch_rate {
  static constexpr fixed_string name = "unbatch";
  template <class In>
  using output = typename item_of_batch<In>::type;
  template <class In>
  static constexpr rate_ratio ratio{1, item_of_batch<In>::size};

  template <class In>
  class state {
   public:
    explicit state(const unbatch_rate&) {}
    rate_step step(In& batch, std::uint32_t parts, void* out) {
      using item = output<In>;
      const std::size_t count = parts != 0 ? parts : item_of_batch<In>::size;
      const std::size_t at = std::exchange(at_, 0);  // where the move throws, the next batch begins
      if constexpr (any_tensor<item>)
        std::memcpy((::new (out) item)->data(), batch.data() + at * item::elements, bytes_in_batch<item>);
      else
        ::new (out) item(std::move(batch[at]));
      if (at + 1 == count) return {true, true};
      at_ = at + 1;
      return {false, true};
    }
    rate_step end(void*) { return {}; }
    std::size_t waiting() const { return 0; }
    void abandon(void*) { at_ = 0; }

   private:
    std::size_t at_ = 0;
  };
};

// ---- window ----

/// What a chunk is made of along its first axis: numbers, or what lies below one index of a tensor.
template <class Chunk>
struct samples_of {};
template <class T>
  requires tensor_element<T>
struct samples_of<T> {
  using value_type = T;
  static constexpr std::size_t elements = 1;  ///< of a sample
  static constexpr std::size_t count = 1;     ///< of samples, where that is known
  static const T* data(const T& t) { return &t; }
  static std::size_t size(const T&) { return 1; }
  template <std::size_t N>
  using window = tensor<T, N>;
};
template <class T, std::size_t L, std::size_t... Dims>
struct samples_of<tensor<T, L, Dims...>> {
  using value_type = T;
  static constexpr std::size_t elements = tensor<T, Dims...>::elements;
  static constexpr std::size_t count = L;
  static const T* data(const tensor<T, L, Dims...>& t) { return t.data(); }
  static std::size_t size(const tensor<T, L, Dims...>&) { return L; }
  template <std::size_t N>
  using window = tensor<T, N, Dims...>;
};
/// Chunks of any length.
template <class Chunk>
  requires(!any_tensor<Chunk> &&
           requires(const Chunk& c) {
             { *c.data() } -> std::same_as<const std::remove_cvref_t<decltype(*c.data())>&>;
             { c.size() } -> std::convertible_to<std::size_t>;
             requires tensor_element<std::remove_cvref_t<decltype(*c.data())>>;
           })
struct samples_of<Chunk> {
  using value_type = std::remove_cvref_t<decltype(*std::declval<const Chunk&>().data())>;
  static constexpr std::size_t elements = 1;
  static constexpr std::size_t count = 0;
  static const value_type* data(const Chunk& c) { return c.data(); }
  static std::size_t size(const Chunk& c) { return c.size(); }
  template <std::size_t N>
  using window = tensor<value_type, N>;
};

template <std::size_t N, std::size_t Step, partial AtEnd>
struct window_rate {
  static constexpr fixed_string name = "window";
  template <class In>
  using output = typename samples_of<In>::template window<N>;
  template <class In>
  static constexpr rate_ratio ratio{samples_of<In>::count == 0 ? 0 : Step, samples_of<In>::count};
  template <class In>
  static constexpr rate_rule rule{rate_rule::windows, Step, samples_of<In>::count, N, AtEnd == partial::pad};

  template <class In>
  class state {
    using samples = samples_of<In>;
    using value = typename samples::value_type;
    static constexpr std::size_t each = samples::elements;

   public:
    explicit state(const window_rate&) {}
    rate_step step(In& chunk, std::uint32_t, void* out) {
      const std::size_t size = samples::size(chunk);
      const std::size_t skipped = std::min(skip_, size - at_);
      skip_ -= skipped;
      at_ += skipped;
      const std::size_t taken = std::min(N - have_, size - at_);
      if (taken != 0)
        std::memcpy(kept_.data() + have_ * each, samples::data(chunk) + at_ * each, taken * each * sizeof(value));
      at_ += taken;
      have_ += taken;
      rate_step did;
      if (have_ == N) {
        give(out);
        did.gave = true;
      }
      if (at_ == size) {
        at_ = 0;
        did.took = true;
      }
      return did;
    }
    rate_step end(void* out) {
      rate_step did;
      if constexpr (AtEnd == partial::pad) {
        // What an earlier window has had is not given again alone.
        if (have_ > (gave_ ? overlap : 0)) {
          std::fill(kept_.begin() + have_ * each, kept_.end(), value{});
          did = {false, true, static_cast<std::uint32_t>(have_)};
          ::new (out) output<In>(kept_);
        }
      }
      abandon(out);
      return did;
    }
    std::size_t waiting() const { return 0; }
    void abandon(void*) {
      have_ = skip_ = at_ = 0;
      gave_ = false;
    }

   private:
    static constexpr std::size_t overlap = Step < N ? N - Step : 0;

    void give(void* out) {
      ::new (out) output<In>(kept_);
      std::memmove(kept_.data(), kept_.data() + (N - overlap) * each, overlap * each * sizeof(value));
      gave_ = true;
      have_ = overlap;
      skip_ = Step > N ? Step - N : 0;
    }

    output<In> kept_;
    std::size_t have_ = 0;  ///< samples of the next window
    std::size_t skip_ = 0;  ///< samples between two windows that none takes
    std::size_t at_ = 0;    ///< in the chunk
    bool gave_ = false;     ///< a window, since it began
  };
};

// ---- one of N, N of one ----

template <std::size_t N>
struct downsample_rate {
  static constexpr fixed_string name = "downsample";
  template <class In>
  using output = In;
  template <class In>
  static constexpr rate_ratio ratio{N, 1};
  template <class In>
  static constexpr rate_rule rule{rate_rule::firsts, N};
  template <class In>
  class state {
   public:
    explicit state(const downsample_rate&) {}
    rate_step step(In& item, std::uint32_t, void* out) {
      const bool gives = at_ == 0;
      at_ = (at_ + 1) % N;
      if (gives) ::new (out) In(std::move(item));
      return {true, gives};
    }
    rate_step end(void*) {
      at_ = 0;
      return {};
    }
    std::size_t waiting() const { return 0; }
    void abandon(void*) { at_ = 0; }

   private:
    std::size_t at_ = 0;
  };
};

template <std::size_t N>
struct repeat_rate {
  static constexpr fixed_string name = "repeat";
  template <class In>
    requires std::copy_constructible<In>
  using output = In;
  template <class In>
  static constexpr rate_ratio ratio{1, N};
  template <class In>
  class state {
   public:
    explicit state(const repeat_rate&) {}
    rate_step step(In& item, std::uint32_t, void* out) {
      const std::size_t at = std::exchange(at_, 0);  // where the copy throws, the next item begins
      const bool last = at + 1 == N;
      if (last)
        ::new (out) In(std::move(item));
      else
        ::new (out) In(std::as_const(item));
      if (!last) at_ = at + 1;
      return {last, true};
    }
    rate_step end(void*) { return {}; }
    std::size_t waiting() const { return 0; }
    void abandon(void*) { at_ = 0; }

   private:
    std::size_t at_ = 0;
  };
};

// ---- M items for N others ----

struct unknown_item;  // what flows behind a mistake, with which no callable is tried

template <fixed_string Name, std::size_t M, std::size_t N, class Out, class F>
struct callable_rate {
  static constexpr fixed_string name = Name;
  template <class In>
    requires(!std::same_as<In, unknown_item> && std::is_default_constructible_v<In> && std::is_move_assignable_v<In> &&
             std::is_invocable_v<F&, std::span<const In, M>, std::span<Out, N>>)
  using output = Out;
  template <class In>
  static constexpr rate_ratio ratio{M, N};

  F callable;

  template <class In>
  class state {
   public:
    explicit state(const callable_rate& of) : callable_(of.callable), room_(std::make_shared<rooms>()) {}
    state(const state& other) : callable_(other.callable_), room_(std::make_shared<rooms>()) {}

    rate_step step(In& item, std::uint32_t, void* out) {
      if (given_ == N) {
        room_->taken[count_] = std::move(item);
        if (++count_ < M) return {true, false};
        count_ = 0;
        callable_(std::span<const In, M>(room_->taken), std::span<Out, N>(room_->given));
        given_ = 0;
      }
      ::new (out) Out(std::move(room_->given[given_++]));
      return {given_ == N, true};
    }
    rate_step end(void*) {
      count_ = 0;
      given_ = N;
      return {};
    }
    std::size_t waiting() const { return count_; }
    void abandon(void*) { end(nullptr); }

   private:
    struct rooms {
      rooms() noexcept(false) {}  // defaulted, it would be taken for one that throws nothing
      std::array<In, M> taken{};
      std::array<Out, N> given{};
    };
    F callable_;
    std::shared_ptr<rooms> room_;  // large items have no place on the stack on which a state is made
    std::size_t count_ = 0, given_ = N;
  };
};

}  // namespace detail

/// N items as one, with a new first axis: `tensor<T, Dims...>` becomes `tensor<T, N, Dims...>`, a `batch_tensor`, of
/// which ops compute each item; any other `T` becomes an `array<T, N>`.
/// `batch<8, partial::drop>`; `batch<8, timeout<20_ms>>` for live sources.
template <std::size_t N, auto... Options>
inline constexpr rate_part<detail::counting_rate<
    detail::batch_rate<N, detail::partial_in<Options...>(), detail::timeout_in<Options...>()>, "batch", N>>
    batch{};
template <std::size_t N, auto... Options>
  requires(decltype(detail::wrong_batch_option<std::remove_const_t<decltype(Options)>...>())::is_mistake)
inline constexpr rate_part<
    detail::wrong_rate<"batch", decltype(detail::wrong_batch_option<std::remove_const_t<decltype(Options)>...>())>>
    batch<N, Options...>{};

/// The items of a batch one by one, those that pad it left out.
inline constexpr rate_part<detail::unbatch_rate> unbatch{};

/// N samples in a row, a row beginning every `Step`, of chunks of any length: tensors, along their first axis,
/// contiguous ranges of numbers, or numbers.
template <std::size_t N, std::size_t Step = N, partial AtEnd = partial::drop>
inline constexpr rate_part<detail::counting_rate<detail::window_rate<N, Step, AtEnd>, "window", N, Step>> window{};

/// The first of every N items.
template <std::size_t N>
inline constexpr rate_part<detail::counting_rate<detail::downsample_rate<N>, "downsample", N>> downsample{};

/// Every item N times.
template <std::size_t N>
inline constexpr rate_part<detail::counting_rate<detail::repeat_rate<N>, "repeat", N>> repeat{};

/// `void f(std::span<const In, M>, std::span<Out, N>)`: N items of M. Fewer than M at the end are dropped and counted.
template <fixed_string Name, std::size_t M, std::size_t N, class Out, class F>
  requires(M > 0 && N > 0)
constexpr auto rate(F f) {
  return rate_part<detail::callable_rate<Name, M, N, Out, F>>{{std::move(f)}};
}
template <fixed_string Name, std::size_t M, std::size_t N, class Out, class F>
  requires(M == 0 || N == 0)
constexpr auto rate(const F&) {
  return rate_part<detail::wrong_rate<Name, rate_takes_and_gives_one_item_or_more<Name, M, N>>>{};
}

}  // namespace levada
