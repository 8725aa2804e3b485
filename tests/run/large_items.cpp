// SPDX-License-Identifier: Apache-2.0
// Items of 4 MiB on threads whose stack is 256 KiB: no item, intermediate or result of the pipeline lies on a stack.

#include <doctest/doctest.h>

#include <pthread.h>

#include <cstring>
#include <memory>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/simulated.hpp>
#include <levada/run/tbb_executor.hpp>

namespace lv = levada;

namespace {

struct large {
  unsigned char bytes[4 << 20];
};

/// Calls `f` on a thread with a stack of 256 KiB.
template <class F>
void on_a_small_stack(F f) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 << 10) == 0);
  pthread_t thread;
  const auto call = [](void* argument) -> void* {
    (*static_cast<F*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, call, &f) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

auto pipeline() {
  return lv::input<large> |
         lv::stage<"copy", large>([](const large& in, large& out) { std::memcpy(&out, &in, sizeof in); }) |
         lv::stage<"change">([](large& l) { l.bytes[(4 << 20) - 1] += 1; }) |
         lv::stage<"again", large>([n = 0](const large& in, large& out) mutable {
           std::memcpy(&out, &in, sizeof in);
           out.bytes[0] = static_cast<unsigned char>(++n);
         });
}
auto to_number() {
  return lv::stage<"look">([](const large& l) { return l.bytes[0] + 256 * l.bytes[(4 << 20) - 1]; });
}

}  // namespace

TEST_CASE("large items in an inline call, a stream and a session do not lie on the stack") {
  const auto item = std::make_unique<large>();
  item->bytes[(4 << 20) - 1] = 6;
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(pipeline() | to_number());
    CHECK(app(*item) == 1 + 256 * 7);
    CHECK(app(*item) == 2 + 256 * 7);
    const std::vector<large> items(3, *item);
    int n = 0;
    for (auto& r : app.stream(items)) CHECK(r.value() == ++n + 256 * 7);
    CHECK(n == 3);
    auto session = app.open();
    session.push(*item);
    CHECK(session.try_push(*item));
    CHECK(session.pop()->value() == 1 + 256 * 7);
    CHECK(session.pop()->value() == 2 + 256 * 7);
  });
}

TEST_CASE("large items through a device do not lie on the stack") {
  const auto item = std::make_unique<large>();
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>, lv::slots<4>>(
        pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](large& l) { ++l.bytes[0]; })) | to_number());
    CHECK(app(*item) == 2 + 256 * 1);
    int n = 0;
    for (auto& r : app.stream(std::vector<large>(5, *item))) CHECK(r.value() == ++n + 1 + 256 * 1);
    CHECK(n == 5);
  });
}

TEST_CASE("large results of a stream are looked at where they are") {
  const auto item = std::make_unique<large>();
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(pipeline());
    int n = 0;
    for (auto& r : app.stream(std::vector<large>(5, *item))) CHECK(r->bytes[0] == ++n);
    CHECK(n == 5);
  });
}

TEST_CASE("a large result by value is constructed where the caller wants it, by an inline call and by pop") {
  const auto item = std::make_unique<large>();
  on_a_small_stack([&] {
    const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(pipeline());
    const std::unique_ptr<large> called(new large(app(*item)));
    CHECK(called->bytes[0] == 1);
    auto session = app.open();
    session.push(*item);
    using popped_type = decltype(session.pop());
    const std::unique_ptr<popped_type> popped(new popped_type(session.pop()));
    CHECK((*popped)->value().bytes[0] == 1);
    session.push(*item);
    session.drain();
    const std::unique_ptr<popped_type> tried(new popped_type(session.try_pop()));
    CHECK((*tried)->value().bytes[0] == 2);
    const auto far = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>, lv::slots<4>>(
        pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](large& l) { ++l.bytes[0]; })));
    const std::unique_ptr<large> returned(new large(far(*item)));
    CHECK(returned->bytes[0] == 2);
  });
}
