// SPDX-License-Identifier: Apache-2.0
// A future for each item, for callers that wait for their own result only.

#include <cstdio>
#include <future>
#include <vector>

#include <levada/interop/as_future.hpp>
#include <levada/levada.hpp>
#include <levada/run/async_session.hpp>

namespace lv = levada;

int main() {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"next">([](const int& x) { return x + 1; }));
  lv::async_session session(app.open());
  std::vector<std::future<int>> futures;
  for (int i = 0; i < 10; ++i) futures.push_back(lv::as_future(session.push_async(i)));
  int sum = 0;
  for (auto& f : futures) sum += f.get();  // throws what the item's stage threw
  std::printf("sum: %d\n", sum);
  return sum == 55 ? 0 : 1;
}
