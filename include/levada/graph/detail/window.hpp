// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/window.hpp: N samples in a row of chunks of any length, a row beginning every `Step`.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/buffer_capacity.hpp>
#include <levada/graph/detail/rate.hpp>

namespace levada {
namespace detail {

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

}  // namespace detail

/// N samples in a row, a row beginning every `Step`, of chunks of any length: tensors, along their first axis,
/// contiguous ranges of numbers, or numbers.
template <std::size_t N, std::size_t Step = N, partial AtEnd = partial::drop>
inline constexpr rate_part<detail::counting_rate<detail::window_rate<N, Step, AtEnd>, "window", N, Step>> window{};

}  // namespace levada
