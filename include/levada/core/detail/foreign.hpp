// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/foreign.hpp: memory that belongs to somebody else (a driver's ring, another library) for as long as an
// item needs it.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/core/error.hpp>

namespace levada {

/// Whether a value only says where something lies, as pointers and views do: another process can do nothing with its
/// bytes. Specialised for views of one's own.
template <class T>
inline constexpr bool points_elsewhere = std::is_pointer_v<T>;
template <class T, std::size_t N>
inline constexpr bool points_elsewhere<std::span<T, N>> = true;
template <class C, class Traits>
inline constexpr bool points_elsewhere<std::basic_string_view<C, Traits>> = true;
template <class T, std::size_t N>
inline constexpr bool points_elsewhere<std::array<T, N>> = points_elsewhere<T>;

/// A view of foreign memory that gives the memory back: the hook is called exactly once per buffer, with the context
/// and the view, when the item is destroyed, wherever that is: behind its last stage, where it failed or was filtered,
/// dropped or cancelled, or with its session.
///
/// Move-only; never allocates. The hook runs on whichever thread ends the item, several at once for several buffers,
/// and must not call the session that the item was in.
template <class View>
  requires std::is_nothrow_copy_constructible_v<View>
class foreign {
 public:
  using view_type = View;
  using release_hook = void (*)(void* context, const View& view) noexcept;

  /// Throws levada::error for a null hook; the memory stays the caller's then.
  foreign(const View& view, release_hook release, void* context) : view_(view), release_(release), context_(context) {
    if (release == nullptr) throw error("levada: foreign: the release hook is null");
  }
  foreign(foreign&& other) noexcept
      : view_(other.view_), release_(detail::exchange_value(other.release_, nullptr)), context_(other.context_) {}
  foreign& operator=(foreign&& other) noexcept {
    if (this != &other) {
      give_back();
      view_ = other.view_;
      release_ = detail::exchange_value(other.release_, nullptr);
      context_ = other.context_;
    }
    return *this;
  }
  ~foreign() { give_back(); }

  /// The view; throws levada::error when the memory was given back or moved on.
  const View& view() const {
    if (release_ == nullptr) throw error("levada: foreign: the memory was given back or moved on");
    return view_;
  }
  const View* operator->() const { return &view(); }

  /// Still holds its memory.
  explicit operator bool() const noexcept { return release_ != nullptr; }

  /// Ends the loan now; later nothing more happens.
  void give_back() noexcept {
    if (const release_hook release = detail::exchange_value(release_, nullptr)) release(context_, view_);
  }

 private:
  View view_;
  release_hook release_;
  void* context_;
};

}  // namespace levada
