// SPDX-License-Identifier: Apache-2.0
// Coroutines whose locals, parameters and temporaries are tensors.

#include <doctest/doctest.h>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/aligned_frame.hpp>
#include <levada/core/tensor.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

namespace run_aligned_frames {

namespace lv = levada;

using wide = lv::tensor<float, 64>;

struct task {
  struct promise_type : lv::aligned_frame {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};
bool lies_aligned(const wide& t) { return reinterpret_cast<std::uintptr_t>(&t) % alignof(wide) == 0; }
wide filled(float with) {
  wide t;
  t.fill(with);
  return t;
}

/// What lies in its frame: a parameter, locals in several blocks that live over a suspension, and a temporary.
template <class Session>
task compute(Session& session, char before, wide given, std::atomic<int>& wrong, std::atomic<int>& ended) {
  const char after = before;
  wide sum = filled(0);
  for (int i = 0; i < 3; ++i) {
    wide next = filled(static_cast<float>(i));
    for (std::size_t k = 0; k < next.size(); ++k) next[k] += given[k];
    const wide got = *co_await session.push_async(next);
    wrong += !lies_aligned(got) || !lies_aligned(next) || !lies_aligned(given) || !lies_aligned(sum);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += got[k];
  }
  const auto last = co_await session.push_async(filled(sum[5]));
  wrong += (*last)[63] != 3 * given[0] + 3 + 3 + 1 || after != before;
  ++ended;
}

TEST_CASE("a coroutine's own tensors lie aligned where its promise says so") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(lv::input<wide> | lv::stage<"next">([](wide& t) {
                                                                      for (float& f : t) ++f;
                                                                    }));
  lv::async_session session(app.open());
  std::atomic<int> wrong{0}, ended{0};
  std::vector<std::unique_ptr<char[]>> between;  // so that frames begin at other places of a heap
  constexpr int count = 100;
  for (int i = 0; i < count; ++i) {
    between.push_back(std::make_unique<char[]>(static_cast<std::size_t>(8 + 16 * (i % 7))));
    compute(session, 'a', filled(static_cast<float>(i)), wrong, ended);
  }
  while (ended != count) std::this_thread::yield();
  CHECK(wrong == 0);
}

}  // namespace run_aligned_frames
