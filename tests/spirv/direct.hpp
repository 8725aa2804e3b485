// SPDX-License-Identifier: Apache-2.0
#pragma once
// spirv/direct.hpp: runs of ops called by themselves on a Vulkan device, against `reference`, op by op. One device for
// all of a program; every module goes through spirv-val where that is installed.

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <kernel/validators.hpp>
#include <nn/direct.hpp>

#include <levada/backend/reference/ops.hpp>
#include <levada/backend/spirv/detail/driver.hpp>
#include <levada/backend/spirv/detail/float_controls.hpp>
#include <levada/backend/spirv/detail/transform.hpp>
#include <levada/nn/element_wise.hpp>

#include "needs_device.hpp"

namespace spirv_test {

/// Any kernel under one type: a shared pointer to it would be forty functions for each type.
using kept_kernel = std::unique_ptr<const lv::dispatch_kernel, void (*)(const lv::dispatch_kernel*)>;

/// A device that computes one item after the other.
class direct_device final : lv::detail::device_client {
 public:
  direct_device() : queue_(0, lv::vulkan_device<0>()) {}

  /// The one of this program.
  static direct_device& get() {
    static direct_device device;
    return device;
  }

  /// The device keeps the kernel.
  void run(kept_kernel kept, std::size_t scratch_bytes, const void* in, void* out) {
    const lv::dispatch_kernel& kernel = *kernels_.emplace_back(std::move(kept));
    static const bool validates = kernel_test::is_installed("spirv-val");
    for (const lv::dispatch& d : kernel.dispatches) {
      CAPTURE(d.name);
      if (validates) CHECK(kernel_test::is_valid_spirv(lv::detail::with_float_controls(d.module, {true, true, true})));
    }
    const std::size_t index = kernels_.size();
    const lv::detail::device_segment segment(index, scratch_bytes, kernel);
    queue_.prepare(segment);
    const auto lane = queue_.open(index, 1, *this);
    in_ = in, out_ = out;
    lane->submit(0);
    lane->flush();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
    done_ = false;
    CHECK(lv::vulkan_complaints() == 0);
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  void execute(std::size_t, std::uint64_t, lv::detail::computed_memory&) noexcept override {}
  const void* input(std::size_t, std::uint64_t, std::size_t) noexcept override { return in_; }
  void* output(std::size_t, std::uint64_t, std::size_t) noexcept override { return out_; }
  void complete(std::size_t, std::uint64_t) noexcept override { report(nullptr); }
  void fail(std::size_t, std::uint64_t, std::exception_ptr why) noexcept override { report(why); }

  void report(std::exception_ptr why) {
    const std::lock_guard lock(mutex_);
    failed_ = why;
    done_ = true;
    changed_.notify_one();
  }

  std::vector<kept_kernel> kernels_;
  lv::detail::vulkan_queue queue_;
  const void* in_ = nullptr;
  void* out_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr failed_;
};

/// A kernel of this type, made of the arguments.
template <class Kernel, class... Arguments>
kept_kernel make_kept(const Arguments&... arguments) {
  return {new Kernel(arguments...), [](const lv::dispatch_kernel* k) { delete static_cast<const Kernel*>(k); }};
}

/// What the device makes of the input by one kernel.
template <class In, class... Ops>
auto on_device(const In& in, std::span<const void* const> parameters, const Ops&... ops) {
  static_assert(lv::op_kernel<lv::spirv, In, Ops...>);
  using kernel = lv::spirv_kernel<In, Ops...>;
  auto out = lv::testing::unwritten<lv::run_output_t<In, Ops...>>();
  direct_device::get().run(make_kept<kernel>(ops..., lv::parameter_values(parameters)), kernel::scratch_bytes, &in,
                           &*out);
  return out;
}

/// How far off a quotient or a square root may be, as a part of it: nothing on a device that rounds them, as a
/// processor does, else what the specification of Vulkan allows a quotient, 2.5 ulp, and about that a square root.
/// NVIDIA's driver multiplies by the reciprocal of a constant.
inline double division_error() {
  static const double found = [] {
    constexpr double ulp = std::numeric_limits<float>::epsilon();
    const auto in = lv::testing::random_input<lv::tensor<float, 4096>>();
    const lv::transform_op ninth([](auto x) { return x / 9.0f; });
    const lv::transform_op root([](auto x) { return sqrt(x * x + 0.5f); });
    const auto quotients = on_device(*in, {}, ninth), roots = on_device(*in, {}, root);
    double largest = 0;
    for (std::size_t i = 0; i < in->size(); ++i) {
      const float square = (*in)[i] * (*in)[i], quotient = (*in)[i] / 9, exact = std::sqrt(square + 0.5f);
      if (quotient != 0) largest = std::max(largest, std::abs(static_cast<double>((*quotients)[i]) / quotient - 1));
      largest = std::max(largest, std::abs(static_cast<double>((*roots)[i]) / exact - 1));
    }
    CHECK(largest <= 4 * ulp);
    return largest == 0 ? 0 : 4 * ulp;
  }();
  return found;
}

/// The device agrees with `reference` within `tolerance`.
template <class In, class... Ops>
void check_on_device(const In& in, double tolerance, std::span<const void* const> parameters, const Ops&... ops) {
  const auto expected = lv::testing::by_single_kernels<lv::reference>(in, parameters, ops...);
  const auto computed = on_device(in, parameters, ops...);
  const double difference = lv::testing::largest_difference(*expected, *computed);
  lv::testing::check_difference(difference, tolerance, __PRETTY_FUNCTION__);
}
/// The same with random parameters.
template <class In, class... Ops>
void check_on_device(const In& in, double tolerance, const Ops&... ops) {
  lv::testing::random_parameters parameters;
  parameters.add<In, Ops...>();
  check_on_device(in, tolerance, parameters.all(), ops...);
}
/// The same with random elements.
template <class In, class... Ops>
void check_on_device(double tolerance, const Ops&... ops) {
  check_on_device(*lv::testing::random_input<In>(), tolerance, ops...);
}

}  // namespace spirv_test
