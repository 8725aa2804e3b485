// SPDX-License-Identifier: Apache-2.0
// A coroutine awaits the result of its item; nobody blocks meanwhile.

#include <coroutine>
#include <cstdio>
#include <exception>
#include <future>

#include <levada/levada.hpp>
#include <levada/run/async_session.hpp>

namespace lv = levada;

/// The smallest coroutine type: it starts at once, and nobody waits for it.
struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

int main() {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"twice">([](const int& x) { return 2 * x; }));
  lv::async_session session(app.open());
  std::promise<int> done;
  const auto chain = [&](int x) -> task {
    for (int step = 0; step < 10; ++step) x = (co_await session.push_async(x)).value();
    done.set_value(x);
  };
  chain(1);
  const int last = done.get_future().get();
  std::printf("doubled ten times: %d\n", last);
  return last == 1024 ? 0 : 1;
}
