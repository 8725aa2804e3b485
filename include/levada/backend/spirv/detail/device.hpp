// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/device.hpp: an instance, the device chosen on it, its queues and its kinds of memory.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <levada/backend/spirv/detail/float_controls.hpp>
#include <levada/backend/spirv/detail/loader.hpp>
#include <levada/core/detail/log.hpp>

namespace levada {

/// How `vulkan<Index>` is opened; set before `deploy`.
struct vulkan_settings {
  std::string device;  ///< its name, a part of that, or its UUID in hexadecimal; empty: the Index-th of the machine
  std::string pipeline_cache;    ///< a file in which compiled kernels are kept from run to run; empty: none
  bool staging = false;          ///< copies items even where the device's memory can be used in place
  bool own_submissions = false;  ///< uploads, computes and downloads one by one even where one queue does it all
  void (*intercept)(detail::vulkan_functions&) = nullptr;  ///< may put functions in place of Vulkan's
};

/// The settings of `vulkan<Index>`, for all deployments of the process.
template <int Index>
vulkan_settings& vulkan_device() {
  static vulkan_settings s;
  return s;
}

/// How often the validation layer has complained in this process.
inline std::atomic<std::uint64_t>& vulkan_complaints() {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

namespace detail {

/// A handle that belongs to a device and is destroyed with this.
template <class Handle>
class vulkan_handle {
 public:
  using destroy_function = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);

  vulkan_handle() = default;
  vulkan_handle(VkDevice device, destroy_function destroy, Handle handle)
      : device_(device), destroy_(destroy), handle_(handle) {}
  vulkan_handle(vulkan_handle&& other) noexcept { swap(other); }
  vulkan_handle& operator=(vulkan_handle&& other) noexcept {
    swap(other);
    return *this;
  }
  ~vulkan_handle() {
    if (handle_ != Handle{}) destroy_(device_, handle_, nullptr);
  }

  Handle get() const { return handle_; }

 private:
  void swap(vulkan_handle& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(destroy_, other.destroy_);
    std::swap(handle_, other.handle_);
  }

  VkDevice device_ = nullptr;
  destroy_function destroy_ = nullptr;
  Handle handle_{};
};

template <class T>
T vulkan_struct(VkStructureType type) {
  T s{};
  s.sType = type;
  return s;
}

/// LEVADA_VULKAN_VALIDATION=1 in the environment switches the validation layer on, with its checks of synchronisation.
inline bool vulkan_validates() {
  const char* const value = std::getenv("LEVADA_VULKAN_VALIDATION");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

inline VKAPI_ATTR VkBool32 VKAPI_CALL print_complaint(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                      VkDebugUtilsMessageTypeFlagsEXT,
                                                      const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  vulkan_complaints().fetch_add(1);
  if (is_logged())
    log(log_level::warning, std::string("Vulkan validation: ") + data->pMessage);
  else
    std::fprintf(stderr, "levada: Vulkan validation: %s\n", data->pMessage);
  return VK_FALSE;
}

/// Queues for the three things that are done for an item. Where they are one queue, one submission does them all.
struct vulkan_roles {
  enum role : std::size_t { compute, upload, download, count };
};

class vulkan_context {
 public:
  vulkan_context(int index, const vulkan_settings& settings) : index_(index) {
    try {
      create_instance();
      choose_device(settings.device);
      create_device(settings.own_submissions);
      if (settings.intercept != nullptr) settings.intercept(vk);
      if (is_logged()) log(log_level::info, "vulkan<" + std::to_string(index_) + "> is " + properties_.deviceName);
    } catch (...) {
      destroy();
      throw;
    }
  }
  vulkan_context(const vulkan_context&) = delete;
  vulkan_context& operator=(const vulkan_context&) = delete;
  ~vulkan_context() { destroy(); }

  vulkan_functions vk;

  int index() const { return index_; }
  VkPhysicalDevice physical() const { return physical_; }
  VkDevice device() const { return device_; }
  const VkPhysicalDeviceLimits& limits() const { return properties_.limits; }
  /// Who made the driver, and which: what a pipeline cache is good for.
  const VkPhysicalDeviceProperties& properties() const { return properties_; }
  const VkPhysicalDeviceMemoryProperties& memory() const { return memory_; }
  const float_controls& controls() const { return controls_; }
  /// In hexadecimal.
  const std::string& uuid() const { return uuid_; }
  /// One physical device, and one driver.
  bool is_same_device(const vulkan_context& other) const {
    return uuid_ == other.uuid_ && driver_uuid_ == other.driver_uuid_;
  }

  /// The queue that does that, and its family; queues of two roles may be the same.
  VkQueue queue(std::size_t role) const { return queues_[role]; }
  std::uint32_t family(std::size_t role) const { return families_[role]; }
  bool has_own_submission(std::size_t role) const { return own_[role]; }
  /// The valid bits of its timestamps; 0: it has none, or the host cannot make them ready.
  std::uint32_t timestamp_bits(std::size_t role) const { return resets_queries_ ? timestamp_bits_[role] : 0; }
  /// The families that share buffers, each once.
  std::vector<std::uint32_t> all_families() const {
    std::vector<std::uint32_t> all(families_, families_ + vulkan_roles::count);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  /// Throws what `function` returned, unless that is success.
  void check(VkResult result, const char* function) const {
    if (result != VK_SUCCESS) throw vulkan_error(index_, function, result);
  }

  /// The timeline comes to `value` when the commands are done.
  void submit(std::size_t role, VkCommandBuffer commands, VkSemaphore timeline, std::uint64_t value) const {
    auto values = vulkan_struct<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    auto info = vulkan_struct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &values;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline;
    check(vk.vkQueueSubmit(queue(role), 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  }

  /// Creates an object of this device: `make(vk.vkCreateBuffer, vk.vkDestroyBuffer, info, "vkCreateBuffer")`.
  template <class Handle, class Info>
  vulkan_handle<Handle> make(VkResult(VKAPI_PTR* create)(VkDevice, const Info*, const VkAllocationCallbacks*, Handle*),
                             typename vulkan_handle<Handle>::destroy_function release, const Info& info,
                             const char* function) const {
    Handle handle{};
    check(create(device_, &info, nullptr, &handle), function);
    return {device_, release, handle};
  }

  /// Names an object for debuggers and the validation layer's messages.
  template <class Handle>
  void name(VkObjectType type, Handle handle, const std::string& text) const {
    if (!validates_ || vk.vkSetDebugUtilsObjectNameEXT == nullptr) return;
    auto info = vulkan_struct<VkDebugUtilsObjectNameInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT);
    info.objectType = type;
    info.objectHandle = reinterpret_cast<std::uint64_t>(handle);
    info.pObjectName = text.c_str();
    vk.vkSetDebugUtilsObjectNameEXT(device_, &info);
  }

 private:
  void create_instance() {
    const PFN_vkGetInstanceProcAddr find = open_vulkan(index_);
    const auto version = reinterpret_cast<PFN_vkEnumerateInstanceVersion>(find(nullptr, "vkEnumerateInstanceVersion"));
    std::uint32_t offered = VK_API_VERSION_1_0;
    if (version != nullptr) version(&offered);
    if (offered < VK_API_VERSION_1_2)
      throw vulkan_error(index_, "the machine's Vulkan loader is older than Vulkan 1.2");

    auto application = vulkan_struct<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.pEngineName = "levada";
    application.apiVersion = VK_API_VERSION_1_2;
    auto info = vulkan_struct<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;

    validates_ = vulkan_validates();
    const char* const layers[] = {"VK_LAYER_KHRONOS_validation"};
    const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    const VkValidationFeatureEnableEXT enabled[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    auto checks = vulkan_struct<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
    checks.enabledValidationFeatureCount = 1;
    checks.pEnabledValidationFeatures = enabled;
    if (validates_) {
      info.pNext = &checks;
      info.enabledLayerCount = 1;
      info.ppEnabledLayerNames = layers;
      info.enabledExtensionCount = 2;
      info.ppEnabledExtensionNames = extensions;
    }
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(find(nullptr, "vkCreateInstance"));
    const VkResult result = create(&info, nullptr, &instance_);
    if (result == VK_ERROR_LAYER_NOT_PRESENT)
      throw vulkan_error(index_,
                         "LEVADA_VULKAN_VALIDATION asks for VK_LAYER_KHRONOS_validation, which is not installed");
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) throw vulkan_error(index_, "the machine has no Vulkan driver");
    check(result, "vkCreateInstance");
    vk.load(find, instance_);

    if (!validates_ || vk.vkCreateDebugUtilsMessengerEXT == nullptr) return;
    auto messages =
        vulkan_struct<VkDebugUtilsMessengerCreateInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
    messages.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messages.messageType =
        VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    messages.pfnUserCallback = &print_complaint;
    check(vk.vkCreateDebugUtilsMessengerEXT(instance_, &messages, nullptr, &messenger_),
          "vkCreateDebugUtilsMessengerEXT");
  }

  void choose_device(const std::string& wanted) {
    std::uint32_t count = 0;
    check(vk.vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> all(count);
    check(vk.vkEnumeratePhysicalDevices(instance_, &count, all.data()), "vkEnumeratePhysicalDevices");
    if (count == 0) throw vulkan_error(index_, "the machine has no Vulkan device");

    std::string names;
    for (std::uint32_t i = 0; i < count; ++i) {
      auto ids = vulkan_struct<VkPhysicalDeviceIDProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
      auto floats = vulkan_struct<VkPhysicalDeviceFloatControlsProperties>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES);
      ids.pNext = &floats;
      auto properties = vulkan_struct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
      properties.pNext = &ids;
      vk.vkGetPhysicalDeviceProperties2(all[i], &properties);
      const std::string name = properties.properties.deviceName;
      names += (i != 0 ? ", \"" : "\"") + name + "\"";
      const bool is_wanted =
          wanted.empty() ? static_cast<int>(i) == index_
                         : name.find(wanted) != std::string::npos || is_uuid(wanted, hexadecimal(ids.deviceUUID));
      if (!is_wanted) continue;
      physical_ = all[i];
      properties_ = properties.properties;
      controls_ = controls_of(floats);
      uuid_ = hexadecimal(ids.deviceUUID);
      driver_uuid_ = hexadecimal(ids.driverUUID);
      vk.vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);
      check_device();
      return;
    }
    throw vulkan_error(index_, (wanted.empty() ? "the machine has no device of that index"
                                               : "the machine has no device \"" + wanted + "\"") +
                                   "; it has " + names);
  }

  /// Where all widths have to be asked for the same, nothing is asked of which a device may have one width only.
  static float_controls controls_of(const VkPhysicalDeviceFloatControlsProperties& has) {
    constexpr auto none = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
    return {has.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE,
            has.shaderDenormPreserveFloat32 == VK_TRUE && has.denormBehaviorIndependence != none,
            has.shaderRoundingModeRTEFloat32 == VK_TRUE && has.roundingModeIndependence != none};
  }
  static std::string hexadecimal(const std::uint8_t (&uuid)[VK_UUID_SIZE]) {
    constexpr char digits[] = "0123456789abcdef";
    std::string hex;
    for (const std::uint8_t byte : uuid) (hex += digits[byte >> 4]) += digits[byte & 15];
    return hex;
  }
  static bool is_uuid(const std::string& text, const std::string& uuid) {
    std::string given;
    for (const char c : text)
      if (c != '-') given += static_cast<char>(c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c);
    return given == uuid;
  }

  void check_device() {
    const std::string name = "\"" + std::string(properties_.deviceName) + "\" ";
    if (properties_.apiVersion < VK_API_VERSION_1_2) throw vulkan_error(index_, name + "is older than Vulkan 1.2");
    auto timeline = vulkan_struct<VkPhysicalDeviceTimelineSemaphoreFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES);
    auto resets = vulkan_struct<VkPhysicalDeviceHostQueryResetFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES);
    timeline.pNext = &resets;
    auto features = vulkan_struct<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    features.pNext = &timeline;
    vk.vkGetPhysicalDeviceFeatures2(physical_, &features);
    if (timeline.timelineSemaphore == VK_FALSE) throw vulkan_error(index_, name + "has no timeline semaphores");
    resets_queries_ = resets.hostQueryReset == VK_TRUE;
  }

  /// Uploads go through a queue of a family that only transfers, where there is one, and downloads through its second.
  void create_device(bool own_submissions) {
    std::uint32_t count = 0;
    vk.vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
    std::vector<VkQueueFamilyProperties> all(count);
    vk.vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, all.data());
    constexpr VkQueueFlags work = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT;
    std::uint32_t compute = count, transfer = count;
    for (std::uint32_t f = count; f-- > 0;) {
      if ((all[f].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) compute = f;
      if ((all[f].queueFlags & work) == 0 && (all[f].queueFlags & VK_QUEUE_TRANSFER_BIT) != 0) transfer = f;
    }
    if (compute == count) throw vulkan_error(index_, "the device has no queue that computes");
    const std::uint32_t transfers = transfer == count ? 0 : std::min(2u, all[transfer].queueCount);
    families_[vulkan_roles::compute] = compute;
    families_[vulkan_roles::upload] = transfers > 0 ? transfer : compute;
    families_[vulkan_roles::download] = transfers > 1 ? transfer : compute;
    own_[vulkan_roles::compute] = true;
    own_[vulkan_roles::upload] = transfers > 0 || own_submissions;
    own_[vulkan_roles::download] = transfers > 1 || own_submissions;

    for (std::size_t role = 0; role < vulkan_roles::count; ++role)
      timestamp_bits_[role] = all[families_[role]].timestampValidBits;

    const float priorities[] = {1.0f, 1.0f};
    VkDeviceQueueCreateInfo queues[2]{};
    for (VkDeviceQueueCreateInfo& q : queues) {
      q.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
      q.pQueuePriorities = priorities;
    }
    queues[0].queueFamilyIndex = compute;
    queues[0].queueCount = 1;
    queues[1].queueFamilyIndex = transfer;
    queues[1].queueCount = transfers;

    auto timeline = vulkan_struct<VkPhysicalDeviceTimelineSemaphoreFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES);
    timeline.timelineSemaphore = VK_TRUE;
    auto resets = vulkan_struct<VkPhysicalDeviceHostQueryResetFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES);
    resets.hostQueryReset = resets_queries_ ? VK_TRUE : VK_FALSE;
    timeline.pNext = &resets;
    auto info = vulkan_struct<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = &timeline;
    info.queueCreateInfoCount = transfers > 0 ? 2 : 1;
    info.pQueueCreateInfos = queues;
    const std::vector<const char*> extensions = sharing_extensions();
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    check(vk.vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
    vk.load(device_);
    for (std::size_t role = 0; role < vulkan_roles::count; ++role)
      vk.vkGetDeviceQueue(device_, families_[role], role == vulkan_roles::download && transfers > 1 ? 1 : 0,
                          &queues_[role]);
  }

  /// Those by which devices see each other's memory or the host's, as far as the driver has them.
  std::vector<const char*> sharing_extensions() const {
    std::uint32_t count = 0;
    check(vk.vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, nullptr),
          "vkEnumerateDeviceExtensionProperties");
    std::vector<VkExtensionProperties> all(count);
    check(vk.vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, all.data()),
          "vkEnumerateDeviceExtensionProperties");
    std::vector<const char*> found;
    for (const char* const wanted :
         {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME})
      for (const VkExtensionProperties& e : all)
        if (std::string_view(e.extensionName) == wanted) found.push_back(wanted);
    return found;
  }

  void destroy() {
    if (device_ != nullptr) vk.vkDestroyDevice(device_, nullptr);
    if (messenger_ != VkDebugUtilsMessengerEXT{}) vk.vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
    if (instance_ != nullptr && !keeps_driver_loaded()) vk.vkDestroyInstance(instance_, nullptr);
  }

  /// The instance of the first device that was opened stays to the end of the process, so that the loader does not
  /// unload the driver: NVIDIA's (580.159) cannot be loaded any more after some dozens of times.
  bool keeps_driver_loaded() const {
    static std::atomic<bool> is_kept{false};
    return device_ != nullptr && !is_kept.exchange(true);
  }

  const int index_;
  bool validates_ = false;
  VkInstance instance_ = nullptr;
  VkDebugUtilsMessengerEXT messenger_{};
  VkPhysicalDevice physical_ = nullptr;
  VkPhysicalDeviceProperties properties_{};
  float_controls controls_;
  VkPhysicalDeviceMemoryProperties memory_{};
  std::string uuid_, driver_uuid_;
  VkDevice device_ = nullptr;
  VkQueue queues_[vulkan_roles::count]{};
  std::uint32_t families_[vulkan_roles::count]{};
  bool own_[vulkan_roles::count]{};
  std::uint32_t timestamp_bits_[vulkan_roles::count]{};
  bool resets_queries_ = false;
};

}  // namespace detail
}  // namespace levada
