// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_states.hpp: the states of one partition: a copy of the stage's callable for each key, which items
// are given to, and which are written and read again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/fleet/detail/by_key.hpp>
#include <levada/fleet/detail/key_partition.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// What is known of a part by key without its types.
struct keyed_shape {
  std::size_t partitions = 0, most_keys = 0, key_bytes = 0, state_bytes = 0;
  std::size_t (*partition_of_item)(const void* item) = nullptr;

  /// The longest message that has the states of a partition.
  constexpr std::size_t longest_state() const {
    return fleet_bytes_around + 2 * frame_header::size + sizeof(std::uint64_t) + most_text_bytes_of_one +
           most_keys * (frame_header::size + key_bytes + state_bytes);
  }
  static constexpr std::size_t most_text_bytes_of_one = 256;
};

class keyed_states {
 public:
  virtual ~keyed_states() = default;
  /// Runs an item, and adds what becomes of it where that is not known. `most_text`: bytes of a failure's words.
  virtual void run(std::uint64_t item, std::span<const std::byte> payload, std::size_t most_text,
                   fleet_writer* outcomes) = 0;
  /// A frame for each key, in no order.
  virtual void save(fleet_writer& to) = 0;
  /// One of these frames. Throws wire_error where it is none, or what a callable's `load` throws.
  virtual void load(std::span<const std::byte> frame) = 0;
  virtual std::size_t keys() const = 0;
};

inline void add_failure(fleet_writer& to, std::uint64_t item, const std::exception_ptr& why, std::size_t most_text) {
  std::string words = failure_text(why);
  words.resize(std::min(words.size(), most_text));
  to.add(frame_kind::failure, item, std::as_bytes(std::span(words)));
}

/// `Of`: a keyed_stage.
template <class Of, class Stage, auto Key, class In, std::size_t Keys>
class keyed_states_of final : public keyed_states {
  using callable = typename Of::callable;
  using out = typename Of::out;
  using key = typename Of::key;

 public:
  explicit keyed_states_of(const callable& first) : first_(first) {}

  void run(std::uint64_t item, std::span<const std::byte> payload, std::size_t most_text,
           fleet_writer* outcomes) override {
    try {
      const std::span<const std::byte> pieces[] = {payload};
      wire_reader from(pieces);
      item_.emplace(item_from_wire<In>(from));
      call(state_of(*item_), *item_, [&](const out* result) {
        if (outcomes == nullptr) return;
        if (result == nullptr) return outcomes->add(frame_kind::filtered, item, {});
        outcomes->add(frame_kind::value, item, wire_code_of<out>.bytes_of(result, written_));
      });
    } catch (...) {
      if (outcomes != nullptr) add_failure(*outcomes, item, std::current_exception(), most_text);
    }
  }
  void save(fleet_writer& to) override {
    for (const auto& [k, state] : states_) {
      saved_.assign(k.begin(), k.end());
      if constexpr (saves_state<callable>) {
        wire_writer writer(written_, Of::state_bytes);
        state.save(writer);
        saved_.insert(saved_.end(), written_.begin(), written_.end());
      } else {
        const auto* const first = reinterpret_cast<const std::byte*>(&state);
        saved_.insert(saved_.end(), first, first + Of::state_bytes);
      }
      to.add(frame_kind::value, 0, saved_);
    }
  }
  void load(std::span<const std::byte> frame) override {
    const std::span<const std::byte> pieces[] = {frame};
    wire_reader from(pieces);
    callable& state = states_.try_emplace(from.template read<key_bytes<key>>(), first_).first->second;
    if constexpr (saves_state<callable>) {
      state.load(from);
    } else if constexpr (Of::state_bytes != 0) {
      from.read(static_cast<void*>(&state), Of::state_bytes);
    }
    if (from.left() != 0) throw wire_error("levada: a state goes on behind its end");
  }
  std::size_t keys() const override { return states_.size(); }

 private:
  callable& state_of(const In& of) {
    const key_bytes<key> k = bytes_of_key<key>(std::invoke(Key, of));
    if (const auto found = states_.find(k); found != states_.end()) return found->second;
    if (states_.size() == Keys) throw error("levada: a partition has " + std::to_string(Keys) + " keys already");
    return states_.try_emplace(k, first_).first->second;
  }
  template <class Give>
  void call(callable& f, In& of, const Give& give) {
    if constexpr (Of::as == form::in_place) {
      std::invoke(f, of);
      give(&of);
    } else if constexpr (Of::as == form::destination) {
      std::invoke(f, std::as_const(of), result_.emplace());
      give(&*result_);
    } else if constexpr (Of::as == form::map || Of::as == form::consume) {
      give(&result_.emplace(result_of(f, of)));
    } else {
      result_ = result_of(f, of);
      give(result_ ? &*result_ : nullptr);
    }
  }
  static decltype(auto) result_of(callable& f, In& of) {
    if constexpr (Of::as == form::consume || Of::as == form::consume_filter)
      return std::invoke(f, std::move(of));
    else
      return std::invoke(f, std::as_const(of));
  }

  const callable first_;    ///< of a key that is new
  std::optional<In> item_;  ///< these two are not on the stack, since they may be large
  std::optional<out> result_;
  std::unordered_map<key_bytes<key>, callable, key_hash> states_;
  std::vector<std::byte> saved_, written_;
};

/// The types of a part by key, at its place.
template <class Place>
struct keyed_types {
  using device = typename Place::device;
  using in = typename Place::in;
  using stage = typename only_stage<typename flatten<typename Place::part, void>::type>::type;
  using of = keyed_stage<device, stage, in>;

  static constexpr keyed_shape shape{
      device::parts::count, device::parts::keys, sizeof(typename of::key), of::state_bytes, [](const void* item) {
        return partition_of(bytes_of_key<typename of::key>(std::invoke(device::key, *static_cast<const in*>(item))),
                            device::parts::count);
      }};
  /// The stage of the part of a pipeline, and its states in a partition.
  static std::unique_ptr<keyed_states> make(const stage& first) {
    return std::make_unique<keyed_states_of<of, stage, device::key, in, device::parts::keys>>(first.callable);
  }
};

/// What both ends have to agree on beside what the ends of any remote device do.
template <class Place>
struct keyed_lines {
  template <class Text>
  static constexpr void write(Text& to) {
    constexpr keyed_shape shape = keyed_types<Place>::shape;
    to += "\npartitions ";
    append_number(to, shape.partitions);
    to += ", keys of ";
    append_number(to, shape.key_bytes);
    to += " bytes, states of ";
    append_number(to, shape.state_bytes);
  }
};

}  // namespace levada::detail
