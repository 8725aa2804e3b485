// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/device_queue.hpp: how a session hands items to a device other than the processor, and hears of them
// again. The run time calls it, the header that brings a device implements it; neither knows the other.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/detail/trace_context.hpp>

namespace levada::detail {

/// The parts of an item's way through a device.
enum class device_part : std::uint8_t { upload, compute, download };
inline constexpr std::size_t device_parts = 3;

/// When the device was at each part for an item, in nanoseconds of the steady clock; 0 where there was nothing to do.
struct device_times {
  struct interval {
    std::uint64_t begin = 0, end = 0;
  };
  interval parts[device_parts];
};

/// The memory of a device whose work is computed by the host: what its units take is brought there, and what they give
/// is taken from there.
class computed_memory {
 public:
  virtual std::byte* begin() noexcept = 0;
  virtual void upload(std::size_t at, const void* from, std::size_t bytes) noexcept = 0;
  virtual void download(void* to, std::size_t at, std::size_t bytes) noexcept = 0;

 protected:
  ~computed_memory() = default;
};

/// The options of a session that its devices have to know.
struct session_terms {
  bool has_own_clock = false;            ///< capture times are not of the machine's clock
  std::chrono::nanoseconds deadline{0};  ///< items that were captured longer ago are dropped; 0: none are
  bool is_one_item = false;              ///< the session is a call of the app
};

/// A session as its devices see it. They report items done or failed on a thread of their own, out of band and in any
/// order.
class device_client {
 public:
  /// Runs the segment's units on this thread, in the `device_bytes` of `memory`: for a device whose work is computed by
  /// the host, as a simulated one's is.
  virtual void execute(std::size_t segment, std::uint64_t item, computed_memory& memory) noexcept = 0;

  /// Where a device that computes by itself finds the segment's inputs, asked for in their order; the first is null
  /// where the item has ended, before or just now: then it is reported complete as it is.
  virtual const void* input(std::size_t segment, std::uint64_t item, std::size_t which) noexcept = 0;
  /// Where such a device leaves the segment's outputs.
  virtual void* output(std::size_t segment, std::uint64_t item, std::size_t which) noexcept = 0;

  /// What the item's units of the segment keep on the device, in order, each a `device_parameters` or null for what was
  /// prepared; null where nothing is ever replaced.
  virtual void* const* kept_for(std::size_t, std::uint64_t) noexcept { return nullptr; }

  /// What travels with the item.
  virtual item_envelope envelope(std::uint64_t) noexcept { return {}; }
  const session_terms& terms() const { return terms_; }
  /// The item was past its deadline where it is: it has no output, and is to be reported complete.
  virtual void overdue(std::size_t, std::uint64_t) noexcept {}

  /// Whether anybody wants to know when the device is at an item: asked when it is submitted. If so it is told before
  /// the item is reported complete, where the device knows.
  virtual bool asks_times() const noexcept { return false; }
  virtual void timed(std::size_t, std::uint64_t, const device_times&) noexcept {}

  /// The last touch: whoever destroys the session waits for the report of each item.
  virtual void complete(std::size_t segment, std::uint64_t item) noexcept = 0;
  virtual void fail(std::size_t segment, std::uint64_t item, std::exception_ptr why) noexcept = 0;
  /// Complete where there is no failure.
  void report(std::size_t segment, std::uint64_t item, std::exception_ptr failure) noexcept {
    if (failure)
      fail(segment, item, std::move(failure));
    else
      complete(segment, item);
  }

 protected:
  explicit device_client(const session_terms& terms = {}) : terms_(terms) {}
  ~device_client() = default;

 private:
  const session_terms terms_;
};

/// A run of ops as a backend made it for its device: the base of its kernels. What else is in it, the device's driver
/// knows.
struct device_kernel {
  static constexpr bool takes_several = false;  ///< it can take the parts of its tuple as inputs of their own

  std::size_t in_bytes = 0, out_bytes = 0;
  /// Writes the `in_bytes` that the kernel reads of an item that only points to them; may throw. Null: these bytes are
  /// the item.
  void (*pack)(const void* item, std::byte* to) = nullptr;
};

/// Where a value of a segment lies on its device: with what comes in or with what goes out, by number, or inside, by
/// offset among the item's inner bytes.
struct device_place {
  enum class part : std::uint8_t { input, output, inner };
  part where = part::inner;
  std::size_t at = 0;
};

/// A segment that a device computes by itself: units in an order in which they can run. One whose units the host
/// computes names none.
struct device_segment {
  static constexpr std::size_t most_inputs = 64;  ///< of a unit

  struct unit {
    const device_kernel* kernel = nullptr;
    std::size_t inputs = 1;
    device_place takes[most_inputs];
    device_place gives{device_place::part::output, 0};
    std::size_t scratch_offset = 0;  ///< of its own scratchpad, among the item's inner bytes

    unit() { takes[0] = {device_place::part::input, 0}; }
  };
  /// A value that comes in or goes out.
  struct value {
    std::size_t bytes = 0;
    void (*pack)(const void* item, std::byte* to) = nullptr;  ///< of its kernel
  };

  /// One unit, of one input and one output.
  device_segment(std::size_t number, std::size_t inner, const device_kernel& kernel)
      : index(number), inner_bytes(inner), units(1), inputs(1), outputs(1) {
    units[0].kernel = &kernel;
    inputs[0] = {kernel.in_bytes, kernel.pack};
    outputs[0] = {kernel.out_bytes, nullptr};
  }
  device_segment() = default;

  std::size_t index = 0;
  std::size_t inner_bytes = 0;  ///< that an item needs between its inputs and its outputs; without a unit, all of it
  fixed_array<unit> units;
  fixed_array<value> inputs, outputs;
  std::size_t alignment = 64;
};

/// The parameters of a kernel on its device, one version of them. A driver derives its own form from this.
struct device_parameters {
  virtual ~device_parameters() = default;
};

/// A session's way to one of its segments on a device.
class device_lane {
 public:
  virtual ~device_lane() = default;
  /// Takes the next item; never blocks for long, never runs a stage on this thread. Where it throws, it has not taken
  /// it.
  virtual void submit(std::uint64_t item) = 0;
  /// The session is cancelled, and nobody wants what has not been begun. Any thread.
  virtual void cancel() noexcept {}
  /// Items from now on are a part of that trace. Any thread.
  virtual void trace(const trace_context&) noexcept {}
  /// No further item comes at once: items that were taken and held back go to the device.
  virtual void flush() noexcept {}
  /// Nobody is told that something has come from the device: somebody has to look. Asked once.
  virtual bool is_silent() const { return false; }
  /// Looks, and reports what has come. Says whether it pays to look again at once. Any thread but one that submits.
  virtual bool look() noexcept { return false; }
  /// An address that all lanes of one class have in common, for `take_from`.
  virtual const void* kind() const { return nullptr; }
  /// Before the first item: the input is the result of `before`, a lane of the same session. Whether it will be taken
  /// where it lies, so that the host need not bring it.
  virtual bool take_from(device_lane&) { return false; }
  /// Before the first item: all that take the output do so where it lies, so that the host need not get it.
  virtual void keep_output() {}
};

}  // namespace levada::detail

namespace levada {

/// What a deployment bounds one of the streams by that servers keep for it; 0: nothing does.
struct stream_bounds {
  std::size_t messages = 0, bytes = 0;
  int replicas = 1;
};
/// Those of a device, in the order of its `queue_info`.
struct deployed_streams {
  device_id device{};
  detail::fixed_array<stream_bounds> streams;
};

}  // namespace levada

namespace levada::detail {

/// A device as one deployment has opened it.
class device_queue {
 public:
  virtual ~device_queue() = default;
  /// Prepares the state that all sessions share, for a segment with kernels of this device. The kernels live as long
  /// as the queue.
  virtual void prepare(const device_segment&) {}
  /// What servers keep for it, where its items wait there: of the one part that it has.
  virtual fixed_array<stream_bounds> streams() const { return {}; }
  /// Brings the parameters of a kernel to the device: of one like another that was prepared, in whose place they are
  /// used. Returns when they are there. Any thread; the result may outlive the queue.
  virtual owner<device_parameters> bring(const device_kernel&) { return {}; }
  /// A session with so many slots opens; an item's slot is its number modulo that. The client may not be called before
  /// the first item is submitted, since it is still being made; but for its `time`.
  virtual std::unique_ptr<device_lane> open(std::size_t segment, std::size_t slots, device_client& client) = 0;
};

}  // namespace levada::detail

namespace levada {

/// How a device of the target is opened: `std::unique_ptr<detail::device_queue> device_driver<Device>::open()`, and,
/// where the device brings a backend of its own, `using backend`. Specialised by the header that brings the device.
template <class Device>
struct device_driver;

}  // namespace levada
