// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/matrix_registers.hpp: the eight registers of AMX, each of up to 16 rows of 64 bytes, and the
// permission to use them, which Linux gives to a process that asks (Intel, Software Developer's Manual, volume 1,
// chapter 18; Linux, Documentation/arch/x86/xstate.rst).

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <levada/backend/simd/detail/vector.hpp>
#include <levada/core/error.hpp>
#include <levada/kernel/detail/instruction_set.hpp>

namespace levada::detail {

/// Whether the processor and its operating system let this process use the registers. Asks once.
inline bool may_use_matrices() noexcept {
#if defined(__linux__) && defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr long request_permission = 0x1023, registers = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool permitted = ::syscall(SYS_arch_prctl, request_permission, registers) == 0;
  return permitted;
#else
  return false;
#endif
}

[[noreturn, gnu::cold]] inline void refuse_matrices() {
  throw error(
      "levada: the program is compiled for AMX, which this processor or its operating system does not give to it; "
      "compile it without -mamx-tile");
}
/// Throws levada::error where this process may not use them.
inline void require_matrices() {
  if (!may_use_matrices()) refuse_matrices();
}

/// What the 4 bytes of an element are: the sum of the products of an element's numbers is one number of the result.
enum class matrix_element : std::uint8_t { bytes, bfloat16s };

/// Products of `16 x inner` elements by `inner x 16` of them, four at a time, summed in the registers of one thread.
///
/// The first operands are weights, signed bytes; the second are inputs, unsigned bytes; or both are pairs of bfloat16.
template <matrix_element Element, std::size_t Inner>
class matrix_registers {
  static_assert(Inner >= 1 && Inner <= 16);

 public:
  static constexpr std::size_t rows = 16, columns = 16;

  /// The registers are the thread's as long as this lives.
  matrix_registers() {
#if defined(__AMX_TILE__)
    static constexpr configuration shapes;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    _tile_loadconfig(&shapes);
#endif
  }
  ~matrix_registers() {
#if defined(__AMX_TILE__)
    _tile_release();
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
  }
  matrix_registers(const matrix_registers&) = delete;
  matrix_registers& operator=(const matrix_registers&) = delete;

  /// The sums of `First` operands, `rows` rows of weights each, by `Second` operands, which lie side by side, to
  /// `to[row][column]`. `walk` calls what it is given for each part of a sum: with the weights of all first operands,
  /// packed one after the other, and with the inputs, whose rows lie `pitch` elements apart.
  template <std::size_t First, std::size_t Second, class Walk>
  LEVADA_INLINE static void products([[maybe_unused]] std::size_t pitch, [[maybe_unused]] void* to,
                                     [[maybe_unused]] std::size_t to_pitch, [[maybe_unused]] const Walk& walk) {
    static_assert(First >= 1 && First <= 2 && Second >= 1 && Second <= 2);
    [[maybe_unused]] constexpr std::size_t side = 4 * columns;
#if defined(__AMX_TILE__) && defined(__AMX_INT8__) && defined(__AMX_BF16__)
// Registers are named by constants of the preprocessor.
#define LEVADA_MATRIX_PRODUCT(sum, first, second)   \
  do {                                              \
    if constexpr (Element == matrix_element::bytes) \
      _tile_dpbsud(sum, first, second);             \
    else                                            \
      _tile_dpbf16ps(sum, first, second);           \
  } while (false)
    constexpr std::size_t own = rows * Inner * 4;
    const auto part = [pitch](const void* weights, const void* inputs) LEVADA_INLINE {
      const auto* const w = static_cast<const std::byte*>(weights);
      const auto* const in = static_cast<const std::byte*>(inputs);
      _tile_loadd(4, w, 4 * Inner);
      _tile_loadd(6, in, 4 * pitch);
      LEVADA_MATRIX_PRODUCT(0, 4, 6);
      if constexpr (Second == 2) {
        _tile_loadd(7, in + side, 4 * pitch);
        LEVADA_MATRIX_PRODUCT(1, 4, 7);
      }
      if constexpr (First == 2) {
        _tile_loadd(5, w + own, 4 * Inner);
        LEVADA_MATRIX_PRODUCT(2, 5, 6);
        if constexpr (Second == 2) LEVADA_MATRIX_PRODUCT(3, 5, 7);
      }
    };
    _tile_zero(0);
    if constexpr (Second == 2) _tile_zero(1);
    if constexpr (First == 2) _tile_zero(2);
    if constexpr (First * Second == 4) _tile_zero(3);
    walk(part);
#undef LEVADA_MATRIX_PRODUCT
    auto* const first = static_cast<std::byte*>(to);
    [[maybe_unused]] auto* const second = first + 4 * rows * to_pitch;
    _tile_stored(0, first, 4 * to_pitch);
    if constexpr (Second == 2) _tile_stored(1, first + side, 4 * to_pitch);
    if constexpr (First == 2) _tile_stored(2, second, 4 * to_pitch);
    if constexpr (First * Second == 4) _tile_stored(3, second + side, 4 * to_pitch);
#else
    static_assert(First == 0, "the unit is not compiled for AMX");
#endif
  }

 private:
  /// As the instruction reads it: sums in the registers 0 to 3, first operands in 4 and 5, second in 6 and 7.
  struct alignas(64) configuration {
    std::uint8_t palette = 1, first_row = 0, none[14]{};
    std::array<std::uint16_t, 16> row_bytes{64, 64, 64, 64, 4 * Inner, 4 * Inner, 64, 64};
    std::array<std::uint8_t, 16> row_count{16, 16, 16, 16, 16, 16, Inner, Inner};
  };
  static_assert(sizeof(configuration) == 64);
};

}  // namespace levada::detail
