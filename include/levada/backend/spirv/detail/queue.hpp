// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/queue.hpp: a Vulkan device as a deployment uses it. Sessions hand it items through lanes; a
// batch of items is one submission to each queue that takes part. One thread waits for timeline semaphores and reports
// the items.

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <levada/backend/spirv/detail/device_clock.hpp>
#include <levada/backend/spirv/detail/lane_memory.hpp>
#include <levada/backend/spirv/detail/pipeline_cache.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/start_thread.hpp>

namespace levada::detail {

class vulkan_queue final : public device_queue {
 public:
  vulkan_queue(int index, const vulkan_settings& settings)
      : shared_context_(std::make_shared<const vulkan_context>(index, settings)),
        staging_(settings.staging),
        cache_(context_, settings.pipeline_cache) {
    for (vulkan_handle<VkSemaphore>& timeline : timelines_) timeline = make_timeline();
    for (std::size_t role = 0; role < vulkan_roles::count; ++role)
      clocks_[role] = {context_.limits().timestampPeriod, context_.timestamp_bits(role)};
    thread_ = start_thread("a Vulkan device", [this] { serve(); });
  }
  ~vulkan_queue() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
    context_.vk.vkDeviceWaitIdle(context_.device());
  }

  void prepare(const device_segment& segment) override {
    segments_.emplace(segment.index, std::make_unique<prepared_segment>(
                                         context_, segment, cache_.get(),
                                         [this](const std::vector<std::byte>& bytes) { return uploaded(bytes); }));
    cache_.keep();
  }

  owner<device_parameters> bring(const device_kernel& kernel) override {
    std::vector<std::byte> bytes = static_cast<const dispatch_kernel&>(kernel).weights;
    bytes.resize(device_aligned(bytes.size()));
    auto* const brought = new resident_weights;
    owner<device_parameters> owned(brought);
    brought->on = shared_context_;
    brought->number = ++brought_;
    if (!bytes.empty()) brought->block = uploaded(bytes);
    return owned;
  }

  std::unique_ptr<device_lane> open(std::size_t segment, std::size_t slots, device_client& client) override {
    return std::make_unique<lane>(*this, segment, slots, client);
  }

 private:
  class lane;

  /// An item on its way; its report is due when its last queue's timeline has come to `value`.
  struct job {
    lane* from = nullptr;
    std::uint64_t item = 0;
    std::size_t role = 0;
    std::uint64_t value = 0;
    std::uint64_t submitted = 0;  ///< when, where it is timed
  };

  class lane final : public device_lane {
   public:
    lane(vulkan_queue& queue, std::size_t segment, std::size_t slots, device_client& client)
        : queue_(queue),
          segment_(segment),
          slots_(slots),
          client_(client),
          prepared_(*queue.segments_.at(segment)),
          memory_(queue.context_, prepared_, slots, queue.staging_) {
      batch_.reserve(slots);
      timed_.resize(slots);
    }
    ~lane() override { queue_.settle(); }

    void submit(std::uint64_t item) override {
      const void* const input = client_.input(segment_, item, 0);
      if (input == nullptr) return client_.complete(segment_, item);
      const std::size_t slot = static_cast<std::size_t>(item % slots_);
      const bool timed = memory_.can_be_timed() && client_.asks_times();
      memory_.take_weights(slot, client_.kept_for(segment_, item));
      memory_.commands(slot, timed);
      if (timed) memory_.reset_timestamps(slot);
      timed_[slot] = timed;
      if (memory_.way() == hand_over_way::through_host)
        for (std::size_t i = 0; i < prepared_.segment().inputs.size(); ++i)
          prepared_.write_input(i, i == 0 ? input : client_.input(segment_, item, i), memory_.input(slot));
      batch_.push_back(item);
    }

    const void* kind() const override {
      static constexpr char tag = 0;
      return &tag;
    }
    bool take_from(device_lane& before) override {
      if (before.kind() != kind()) return false;
      auto* const giver = static_cast<lane*>(&before);
      const std::string item = "segment " + std::to_string(segment_) + " on " + vulkan_name(queue_.context_.index()) +
                               " takes what segment " + std::to_string(giver->segment_) + " on " +
                               vulkan_name(giver->queue_.context_.index()) + " gives ";
      try {
        const hand_over_way way = memory_.take_from(giver->memory_);
        if (is_logged()) log(log_level::info, item + std::string(words_of(way)));
      } catch (const device_error& refusal) {
        if (is_logged()) log(log_level::warning, item + "through the host: " + refusal.what());
      }
      return memory_.way() != hand_over_way::through_host;
    }
    void keep_output() override { memory_.keep_output(); }

    void flush() noexcept override {
      if (batch_.empty()) return;
      try {
        queue_.submit(*this, batch_);
      } catch (...) {
        for (const std::uint64_t item : batch_) fail(item, std::current_exception());
      }
      batch_.clear();
    }

    /// `submitted`: when, where the item is timed.
    void report(std::uint64_t item, std::uint64_t submitted) {
      const std::size_t slot = static_cast<std::size_t>(item % slots_);
      if (submitted != 0) client_.timed(segment_, item, times(slot, submitted));
      if (memory_.host_takes_output())
        for (std::size_t i = 0; i < prepared_.segment().outputs.size(); ++i)
          std::memcpy(client_.output(segment_, item, i), memory_.output(slot) + prepared_.output_offset(i),
                      prepared_.segment().outputs[i].bytes);
      client_.complete(segment_, item);
    }
    void fail(std::uint64_t item, std::exception_ptr why) { client_.fail(segment_, item, std::move(why)); }

    const slot_commands& commands(std::uint64_t item) {
      return memory_.commands(static_cast<std::size_t>(item % slots_), is_timed(item));
    }
    bool is_timed(std::uint64_t item) const { return timed_[static_cast<std::size_t>(item % slots_)] != 0; }
    bool takes_part(std::size_t role) const {
      return role == vulkan_roles::compute ||
             (role == vulkan_roles::upload ? memory_.uploads_by_itself() : memory_.downloads_by_itself());
    }
    std::size_t last_role() const {
      return takes_part(vulkan_roles::download) ? vulkan_roles::download : vulkan_roles::compute;
    }

   private:
    /// When the device was at the parts of an item that is done. Each part began when the one before had ended, which
    /// holds for the times of the steady clock, too, whatever queues with clocks of their own did them.
    device_times times(std::size_t slot, std::uint64_t submitted) {
      std::uint64_t done = device_clock::now();
      struct {
        device_clock* clock = nullptr;
        std::int64_t begin = 0, end = 0;
      } parts[device_parts];
      for (std::size_t p = 0; p < device_parts; ++p) {
        const auto part = static_cast<device_part>(p);
        const std::optional<std::size_t> role = memory_.role_of(part);
        std::uint64_t ticks[2];
        if (!role || !memory_.read_timestamps(slot, part, ticks)) continue;
        device_clock& clock = queue_.clock_of(*role);
        const std::int64_t begin = clock.nanoseconds(ticks[0]), end = clock.nanoseconds(ticks[1]);
        if (end < begin) continue;  // the counter has begun again
        parts[p] = {&clock, begin, end};
        done -= static_cast<std::uint64_t>(end - begin);
      }
      for (const auto& part : parts) {
        if (part.clock == nullptr) continue;
        done += static_cast<std::uint64_t>(part.end - part.begin);
        part.clock->lies_between(part.begin, part.end, submitted, done);
        submitted = part.clock->steady(part.end);
      }
      device_times all;
      for (std::size_t p = 0; p < device_parts; ++p)
        if (parts[p].clock != nullptr)
          all.parts[p] = {parts[p].clock->steady(parts[p].begin), parts[p].clock->steady(parts[p].end)};
      return all;
    }

    vulkan_queue& queue_;
    const std::size_t segment_, slots_;
    device_client& client_;
    const prepared_segment& prepared_;
    lane_memory memory_;
    std::vector<std::uint64_t> batch_;
    std::vector<char> timed_;  ///< of the items in the slots
  };

  /// Of the queue that does that: those of one queue have one clock.
  device_clock& clock_of(std::size_t role) {
    return clocks_[context_.queue(role) == context_.queue(vulkan_roles::compute) ? vulkan_roles::compute : role];
  }

  vulkan_handle<VkSemaphore> make_timeline() const {
    auto type = vulkan_struct<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto info = vulkan_struct<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    info.pNext = &type;
    return context_.make(context_.vk.vkCreateSemaphore, context_.vk.vkDestroySemaphore, info, "vkCreateSemaphore");
  }

  // ---- weights ----

  /// A block of the device with these bytes. Returns when they are there: a copy on the queue that computes, so that
  /// whatever is submitted behind it sees them.
  memory_block uploaded(const std::vector<std::byte>& bytes) {
    memory_block block(context_, block_use::device, bytes.size(), "weights");
    const memory_block staging(context_, block_use::upload, bytes.size(), "the upload of weights");
    std::memcpy(staging.mapped(), bytes.data(), bytes.size());
    auto pool_info = vulkan_struct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool_info.queueFamilyIndex = context_.family(vulkan_roles::compute);
    const auto pool = context_.make(context_.vk.vkCreateCommandPool, context_.vk.vkDestroyCommandPool, pool_info,
                                    "vkCreateCommandPool");
    auto wanted = vulkan_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    wanted.commandPool = pool.get();
    wanted.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    wanted.commandBufferCount = 1;
    VkCommandBuffer commands = nullptr;
    context_.check(context_.vk.vkAllocateCommandBuffers(context_.device(), &wanted, &commands),
                   "vkAllocateCommandBuffers");
    auto begin = vulkan_struct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    context_.check(context_.vk.vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    const VkBufferCopy all{0, 0, bytes.size()};
    context_.vk.vkCmdCopyBuffer(commands, staging.buffer(), block.buffer(), 1, &all);
    auto seen = vulkan_struct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    seen.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    seen.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
    context_.vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0,
                                     1, &seen, 0, nullptr, 0, nullptr);
    context_.check(context_.vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    const std::uint64_t done = submit_alone(commands);
    if (const VkResult result = wait(vulkan_roles::compute, done); result != VK_SUCCESS)
      throw vulkan_error(context_.index(), give_up(result));
    return block;
  }
  /// The value that the timeline of the queue that computes comes to when that is done.
  std::uint64_t submit_alone(VkCommandBuffer commands) {
    constexpr std::size_t role = vulkan_roles::compute;
    const std::lock_guard lock(mutex_);
    if (!broken_.empty()) throw vulkan_error(context_.index(), broken_);
    const std::uint64_t done = issued_[role] + 1;
    context_.submit(role, commands, timelines_[role].get(), done);
    return issued_[role] = done;
  }

  // ---- submitting ----

  /// What vkQueueSubmit points to, one entry an item; the room is used again.
  struct submission {
    std::vector<VkSubmitInfo> infos;
    std::vector<VkTimelineSemaphoreSubmitInfo> values;
    std::vector<std::uint64_t> waits, signals;
  };

  void submit(lane& from, const std::vector<std::uint64_t>& items) {
    {
      const std::lock_guard lock(mutex_);
      if (!broken_.empty()) throw vulkan_error(context_.index(), broken_);
      pending_.reserve(pending_.size() + items.size());
      const std::uint64_t now = device_clock::now();
      std::size_t before = vulkan_roles::count;
      for (const std::size_t role : {vulkan_roles::upload, vulkan_roles::compute, vulkan_roles::download}) {
        if (!from.takes_part(role)) continue;
        submit_role(from, items, role, before);
        before = role;
      }
      const std::uint64_t first = issued_[before] - items.size() + 1;
      for (std::size_t i = 0; i < items.size(); ++i)
        pending_.push_back({&from, items[i], before, first + i, from.is_timed(items[i]) ? now : 0});
    }
    changed_.notify_one();
  }

  /// All items to one queue; each waits for what the queue of `before` does for it, and signals the next value.
  void submit_role(lane& from, const std::vector<std::uint64_t>& items, std::size_t role, std::size_t before) {
    static constexpr VkPipelineStageFlags all_stages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    const std::size_t count = items.size();
    const bool waits = before != vulkan_roles::count;
    submission& s = submission_;
    s.infos.assign(count, vulkan_struct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO));
    s.values.assign(count,
                    vulkan_struct<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO));
    s.waits.resize(count);
    s.signals.resize(count);
    const VkSemaphore signalled = timelines_[role].get(), waited = waits ? timelines_[before].get() : VkSemaphore{};
    for (std::size_t i = 0; i < count; ++i) {
      s.signals[i] = issued_[role] + i + 1;
      s.values[i].signalSemaphoreValueCount = 1;
      s.values[i].pSignalSemaphoreValues = &s.signals[i];
      VkSubmitInfo& info = s.infos[i];
      info.pNext = &s.values[i];
      info.commandBufferCount = 1;
      info.pCommandBuffers = &from.commands(items[i])[role];
      info.signalSemaphoreCount = 1;
      info.pSignalSemaphores = &signalled;
      if (!waits) continue;
      s.waits[i] = issued_[before] - count + i + 1;
      s.values[i].waitSemaphoreValueCount = 1;
      s.values[i].pWaitSemaphoreValues = &s.waits[i];
      info.waitSemaphoreCount = 1;
      info.pWaitSemaphores = &waited;
      info.pWaitDstStageMask = all_stages;
    }
    const VkResult result = context_.vk.vkQueueSubmit(context_.queue(role), static_cast<std::uint32_t>(count),
                                                      s.infos.data(), VK_NULL_HANDLE);
    if (result != VK_SUCCESS) {
      // What other queues were given for these items may still run: nothing goes to the device any more.
      broken_ = "vkQueueSubmit failed: " + std::string(vulkan_words(result));
      throw vulkan_error(context_.index(), broken_);
    }
    issued_[role] += count;
  }

  /// Of a device that failed something may still run that nobody waits for; a lane's memory has to outlast it.
  void settle() {
    const std::lock_guard lock(mutex_);
    if (!broken_.empty()) context_.vk.vkDeviceWaitIdle(context_.device());
  }

  // ---- reporting ----

  void serve() {
    std::vector<job> taken;
    for (;;) {
      taken.clear();
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || !pending_.empty(); });
        if (pending_.empty()) return;
        taken.swap(pending_);
      }
      for (const job& j : taken) {
        const VkResult result = wait_for(j.role, j.value);
        if (result == VK_SUCCESS)
          j.from->report(j.item, j.submitted);
        else
          j.from->fail(j.item, failure(result));
      }
    }
  }

  std::exception_ptr failure(VkResult result) noexcept {
    try {
      return std::make_exception_ptr(vulkan_error(context_.index(), give_up(result)));
    } catch (...) {  // no memory to say so
      return std::current_exception();
    }
  }

  VkResult wait(std::size_t role, std::uint64_t value) const {
    const VkSemaphore timeline = timelines_[role].get();
    auto info = vulkan_struct<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &timeline;
    info.pValues = &value;
    return context_.vk.vkWaitSemaphores(context_.device(), &info, ~std::uint64_t{0});
  }
  VkResult wait_for(std::size_t role, std::uint64_t value) {
    if (reached_[role] >= value) return VK_SUCCESS;
    const VkResult result = wait(role, value);
    if (result != VK_SUCCESS) return result;
    std::uint64_t now = value;
    context_.vk.vkGetSemaphoreCounterValue(context_.device(), timelines_[role].get(), &now);
    reached_[role] = std::max(value, now);
    return VK_SUCCESS;
  }

  /// From now on nothing is given to the device; the reason in words.
  std::string give_up(VkResult result) {
    const std::lock_guard lock(mutex_);
    if (broken_.empty()) broken_ = "waiting for it failed: " + std::string(vulkan_words(result));
    return broken_;
  }

  const std::shared_ptr<const vulkan_context> shared_context_;  ///< with the weights that were brought
  const vulkan_context& context_ = *shared_context_;
  const bool staging_;
  pipeline_cache cache_;
  vulkan_handle<VkSemaphore> timelines_[vulkan_roles::count];
  std::map<std::size_t, std::unique_ptr<prepared_segment>> segments_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<job> pending_;
  submission submission_;
  std::uint64_t issued_[vulkan_roles::count]{};
  std::atomic<std::uint64_t> brought_{0};  ///< versions of weights
  std::string broken_;                     ///< why nothing is given to the device any more
  bool stopping_ = false;

  std::uint64_t reached_[vulkan_roles::count]{};  ///< the waiting thread's own
  device_clock clocks_[vulkan_roles::count];      ///< likewise
  std::thread thread_;
};

}  // namespace levada::detail
