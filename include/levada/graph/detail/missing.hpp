// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/missing.hpp: what a stage is told of items that do not reach it (`notify`). Without it they are skipped.
//
//   struct tracker {
//     box operator()(const picture&);
//     void missed(missing why) noexcept;  // in the place of an item that ended before this stage
//   };

#include <cstdint>

namespace levada {

/// Why an item does not reach a stage. Items that are dropped before they have a place in the order, because a full or
/// a `latest_only` session did not take them in, are told to nobody.
enum class missing : std::uint8_t {
  failed,    ///< a stage before threw
  filtered,  ///< a stage before gave nothing
  dropped,   ///< it was past its deadline
  cancelled  ///< its session was cancelled
};

/// A callable that is told, serially and in order where the stage is serial.
template <class F>
concept observes_missing = requires(F& f, missing why) { f.missed(why); };

namespace detail {
template <class F>
concept told_without_throwing = requires(F& f, missing why) {
  { f.missed(why) } noexcept;
};
}  // namespace detail
}  // namespace levada
