// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/aligned_frame.hpp: coroutines whose own objects may be tensors.

#include <cstddef>
#include <new>

namespace levada {

/// A base of a coroutine's promise type: its frame is aligned for tensors, and so are the coroutine's locals,
/// parameters and temporaries, which compilers place at aligned offsets of a frame that they take from the plain
/// `operator new`. Without it a tensor there, used by instructions for aligned memory, ends the program.
struct aligned_frame {
  static constexpr std::align_val_t frame_alignment{64};

  static void* operator new(std::size_t bytes) { return ::operator new(bytes, frame_alignment); }
  static void operator delete(void* frame) noexcept { ::operator delete(frame, frame_alignment); }
};

}  // namespace levada
