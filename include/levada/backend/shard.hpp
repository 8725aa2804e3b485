// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/shard.hpp: an op over several devices, as `shard_over` says. The parts of an item go to the devices by queues
// of their own, opened where the stage is deployed; the stage waits for all of them and joins their results.

#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include <levada/backend/detail/definition.hpp>
#include <levada/core/detail/needs_exceptions.hpp>
#include <levada/nn/shape_rule.hpp>
#include <levada/nn/shard.hpp>

namespace levada {

namespace detail {

/// A kernel on a device of its own, for any number of threads that wait for its results.
class shard_device final : device_client {
 public:
  shard_device(std::unique_ptr<device_queue> queue, const device_kernel& kernel, std::size_t scratch_bytes)
      : queue_(std::move(queue)) {
    queue_->prepare(device_segment(0, scratch_bytes, kernel));
    lane_ = queue_->open(0, slots, *this);
  }

  /// The kernel computes `out` of `in` from now on. Gives a ticket for `wait`.
  std::uint64_t start(const void* in, void* out) {
    const std::lock_guard one_at_a_time(submitting_);
    const std::uint64_t item = next_++;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !work_[item % slots].taken; });
      work_[item % slots] = {in, out, true, false, nullptr};
    }
    try {
      lane_->submit(item);
    } catch (...) {
      report(item, std::current_exception());
    }
    lane_->flush();
    return item;
  }
  /// Until it is there; why not, where it failed.
  std::exception_ptr wait(std::uint64_t item) noexcept {
    std::unique_lock lock(mutex_);
    work& w = work_[item % slots];
    changed_.wait(lock, [&] { return w.done; });
    w.taken = false;
    changed_.notify_all();
    return std::exchange(w.why, nullptr);
  }

 private:
  static constexpr std::size_t slots = 16;

  struct work {
    const void* in = nullptr;
    void* out = nullptr;
    bool taken = false, done = false;
    std::exception_ptr why;
  };

  void execute(std::size_t, std::uint64_t, computed_memory&) noexcept override {}
  const void* input(std::size_t, std::uint64_t item, std::size_t) noexcept override { return work_[item % slots].in; }
  void* output(std::size_t, std::uint64_t item, std::size_t) noexcept override { return work_[item % slots].out; }
  void complete(std::size_t, std::uint64_t item) noexcept override { report(item, nullptr); }
  void fail(std::size_t, std::uint64_t item, std::exception_ptr why) noexcept override { report(item, why); }
  void report(std::uint64_t item, std::exception_ptr why) {
    const std::lock_guard lock(mutex_);
    work_[item % slots].why = std::move(why);
    work_[item % slots].done = true;
    changed_.notify_all();
  }

  std::unique_ptr<device_queue> queue_;
  std::unique_ptr<device_lane> lane_;
  std::mutex submitting_;
  std::uint64_t next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  work work_[slots];
};

/// Copies a range of an axis between a tensor of that shape and one of the range alone.
template <class T, bool Out>
void copy_range(const shape& whole, std::size_t axis, axis_range range, std::conditional_t<Out, T*, const T*> all,
                std::conditional_t<Out, const T*, T*> part) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t a = axis + 1; a < whole.rank; ++a) inner *= whole[a];
  for (std::size_t a = 0; a < axis; ++a) outer *= whole[a];
  const std::size_t run = range.count * inner;
  for (std::size_t o = 0; o < outer; ++o) {
    const auto at = all + (o * whole[axis] + range.first) * inner;
    if constexpr (Out)
      std::memcpy(at, part + o * run, run * sizeof(T));
    else
      std::memcpy(part + o * run, at, run * sizeof(T));
  }
}

/// The part of one share: its shapes, its kernel and where that runs.
template <class Backend, class In, class Op, std::size_t Axis, axis_range Out, class Device>
class shard {
  using rule = shard_rule<In, Op, Axis>;
  using whole_out = typename Op::template output<In>;
  static constexpr bool is_here = Device::id.kind == device_kind::cpu;

  static constexpr axis_range input_range() {
    if constexpr (rule::cuts_input)
      return rule::input(Out);
    else
      return {0, In::extents[Axis]};
  }
  template <class T, std::size_t Count>
  using cut = typename with_extent<typename T::value_type, T, Axis, Count>::type;

  template <class D>
  struct kernel_of {
    template <class I, class O>
    using type = typename Backend::template kernel<I, O>;
  };
  template <class D>
    requires(D::id.kind != device_kind::cpu)
  struct kernel_of<D> {
    template <class I, class O>
    using type = typename device_driver<D>::backend::template kernel<I, O>;
  };

 public:
  using op_type = typename rule::template op<Out>;
  using in_type = std::conditional_t<rule::cuts_input, cut<In, input_range().count>, In>;
  using out_type = cut<whole_out, Out.count>;
  using kernel_type = typename kernel_of<Device>::template type<in_type, op_type>;
  static_assert(std::same_as<typename op_type::template output<in_type>, out_type>);

  static constexpr std::size_t in_bytes = (sizeof(in_type) + 63) / 64 * 64;
  static constexpr std::size_t out_bytes = (sizeof(out_type) + 63) / 64 * 64;
  /// Its input and output, and the needs of a kernel that runs here.
  static constexpr std::size_t scratch_bytes =
      in_bytes + out_bytes + (is_here ? (kernel_type::scratch_bytes + 63) / 64 * 64 : 0);

  shard(const Op& op, parameter_values p) {
    const cut_parameters cut_of(p);
    kernel_ = std::make_unique<kernel_type>(rule::template part<Out>(op), parameter_values(cut_of.values));
    if constexpr (!is_here)
      device_ = std::make_unique<shard_device>(device_driver<Device>::open(), *kernel_, kernel_type::scratch_bytes);
  }

  /// Hands a device its part.
  void start(const In& in, std::byte* scratch, std::uint64_t& ticket) const {
    if constexpr (rule::cuts_input)
      copy_range<typename In::value_type, false>(shape_of<In>, Axis, input_range(), in.data(),
                                                 part_in(scratch)->data());
    if constexpr (!is_here) ticket = device_->start(input(in, scratch), part_out(scratch));
  }
  /// Computes the share of this device.
  void run(const In& in, std::byte* scratch) const {
    if constexpr (is_here) (*kernel_)(*input(in, scratch), *part_out(scratch), scratch + in_bytes + out_bytes);
  }
  std::exception_ptr wait(std::uint64_t ticket) const noexcept {
    if constexpr (is_here)
      return nullptr;
    else
      return device_->wait(ticket);
  }
  void join(whole_out& out, std::byte* scratch) const {
    copy_range<typename whole_out::value_type, true>(shape_of<whole_out>, Axis, Out, out.data(),
                                                     part_out(scratch)->data());
  }

 private:
  /// Its range of the first axis of each parameter, aligned as parameters are.
  struct cut_parameters {
    std::vector<const void*> values;
    std::vector<arena_bytes> kept;

    explicit cut_parameters(parameter_values p) {
      const auto& infos = Op::template parameters<In>;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const std::byte* const whole = p.get<std::byte>(i);
        if constexpr (!rule::cuts_parameters) {
          values.push_back(whole);
        } else {
          const std::size_t row = infos[i].extents.elements() / infos[i].extents[0] * size_of(infos[i].type);
          kept.emplace_back(Out.count * row, 64);
          std::memcpy(kept.back().get(), whole + Out.first * row, Out.count * row);
          values.push_back(kept.back().get());
        }
      }
    }
  };

  static in_type* part_in(std::byte* scratch) { return reinterpret_cast<in_type*>(scratch); }
  static out_type* part_out(std::byte* scratch) { return reinterpret_cast<out_type*>(scratch + in_bytes); }
  static const in_type* input(const In& in, std::byte* scratch) {
    if constexpr (rule::cuts_input)
      return part_in(scratch);
    else
      return &in;
  }

  std::unique_ptr<kernel_type> kernel_;  // outlives the device
  std::unique_ptr<shard_device> device_;
};

}  // namespace detail

namespace detail {

/// The shards of all shares.
template <class Backend, class In, class Op, std::size_t Axis, class Indices, class... Shares>
struct shards_of;
template <class Backend, class In, class Op, std::size_t Axis, std::size_t... I, class... Shares>
struct shards_of<Backend, In, Op, Axis, std::index_sequence<I...>, Shares...> {
  static constexpr std::size_t extent = Op::template output<In>::extents[Axis];
  using type = std::tuple<shard<Backend, In, Op, Axis, range_of<Shares...>(I, extent), typename Shares::device>...>;

  static type make(const Op& op, parameter_values p) { return {std::tuple_element_t<I, type>(op, p)...}; }
  static constexpr std::size_t scratch_bytes = (std::tuple_element_t<I, type>::scratch_bytes + ...);
};

}  // namespace detail

template <class Backend, class In, std::size_t Axis, class Op, class... Shares>
  requires op_takes<sharded_op<Axis, Op, Shares...>, In>
struct definition<Backend, In, sharded_op<Axis, Op, Shares...>> {
  using out_type = typename Op::template output<In>;
  using shards = detail::shards_of<Backend, In, Op, Axis, std::index_sequence_for<Shares...>, Shares...>;

  static constexpr std::size_t scratch_bytes = shards::scratch_bytes;

  definition(const sharded_op<Axis, Op, Shares...>& op, parameter_values p) : shards_(shards::make(op.whole, p)) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    std::exception_ptr why;
    std::uint64_t tickets[sizeof...(Shares)]{};
    for_each(scratch, [&](const auto& s, std::byte* own, std::size_t i) { s.start(in, own, tickets[i]); });
    for_each(scratch, [&](const auto& s, std::byte* own, std::size_t) { s.run(in, own); });
    for_each(scratch, [&](const auto& s, std::byte*, std::size_t i) {
      if (const std::exception_ptr failed = s.wait(tickets[i])) why = failed;
    });
    if (why) std::rethrow_exception(why);
    for_each(scratch, [&](const auto& s, std::byte* own, std::size_t) { s.join(out, own); });
  }

 private:
  /// Each shard with its part of the scratchpad and its number.
  template <class F>
  void for_each(std::byte* scratch, F f) const {
    std::size_t i = 0;
    const auto one = [&]<class Shard>(const Shard& s) {
      f(s, scratch, i++);
      scratch += Shard::scratch_bytes;
    };
    std::apply([&](const auto&... s) { (one(s), ...); }, shards_);
  }

  typename shards::type shards_;
};

}  // namespace levada
