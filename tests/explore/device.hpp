// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/device.hpp: the simulated device where a scheduler chooses its every step: a thread that computes what was
// submitted and reports it, the last first.

#include <explore/explored.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>

namespace levada::test {

/// Enough for an item of the cases.
class explored_memory final : public detail::computed_memory {
 public:
  std::byte* begin() noexcept override { return bytes_; }
  void upload(std::size_t at, const void* from, std::size_t count) noexcept override {
    std::memcpy(bytes_ + at, from, count);
  }
  void download(void* to, std::size_t at, std::size_t count) noexcept override { std::memcpy(to, bytes_ + at, count); }

 private:
  alignas(64) std::byte bytes_[256];
};

class explored_device final : public detail::device_queue {
 public:
  explored_device() : thread_([this] { serve(); }) {}
  ~explored_device() override {
    explorer()->step(this);
    explorer()->wake(this);
    stopping_ = true;
    thread_.join();
  }

  void prepare(const detail::device_segment& segment) override {
    if (segment.inner_bytes > sizeof(explored_memory)) std::abort();
  }
  std::unique_ptr<detail::device_lane> open(std::size_t segment, std::size_t, detail::device_client& client) override {
    return std::make_unique<lane>(*this, segment, client);
  }

 private:
  struct lane final : detail::device_lane {
    lane(explored_device& on, std::size_t segment, detail::device_client& client)
        : device(on), number(segment), to(client) {}
    void submit(std::uint64_t item) override {
      scheduler* const s = explorer();
      s->step(&device);
      s->flush();
      device.waiting_.push_back({&to, number, item});
      s->wake(&device);
    }
    explored_device& device;
    std::size_t number;
    detail::device_client& to;
  };
  struct job {
    detail::device_client* client;
    std::size_t segment;
    std::uint64_t item;
  };

  void serve() {
    scheduler* const s = explorer();
    for (;;) {
      s->step(this);
      while (waiting_.empty() && !stopping_) s->block(this);
      s->writes(this);
      if (waiting_.empty()) return;
      s->flush();
      std::deque<job> taken = std::exchange(waiting_, {});
      for (; !taken.empty(); taken.pop_back()) {
        const job& last = taken.back();
        if (last.item % 3 == 1) {
          last.client->fail(last.segment, last.item, std::make_exception_ptr(error("the device has lost it")));
        } else {
          last.client->execute(last.segment, last.item, memory_);
          last.client->complete(last.segment, last.item);
        }
      }
    }
  }

  std::deque<job> waiting_;
  bool stopping_ = false;
  explored_memory memory_;
  detail::thread thread_;
};

}  // namespace levada::test

namespace levada {

template <>
struct device_driver<simulated<0>> {
  static std::unique_ptr<detail::device_queue> open() { return std::make_unique<test::explored_device>(); }
};

}  // namespace levada
