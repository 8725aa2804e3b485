// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/session_record.hpp: what the servers keep of a session with a name, in one message that the next
// replaces: before which item all outcomes are done, and which driver has it. Each is written behind the one that its
// writer read, and a driver that takes the session has a higher generation than the one before: so of two one finds
// that it is not its own any more. Servers that come again may lack the last that were written, and what they have then
// is written over.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/bytes_hash.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/keyed_inputs.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/streams.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

/// A number for the name of a session, as its subjects have it; its drivers differ in the bits that are 0.
constexpr std::uint64_t number_of_session(std::string_view name) { return fnv1a(name) >> driver_bits << driver_bits; }

/// How far a session with a name is.
struct session_place {
  std::uint64_t done = 0;    ///< all outcomes before that one are
  std::uint64_t needed = 0;  ///< the item that the next driver goes on with: no state is sure to have it
};

/// What the servers keep of one.
struct session_stored {
  std::string name;
  std::uint64_t sequence = 0;  ///< 0: there is none
  std::uint64_t generation = 0, owner = 0;
  session_place place;
  std::vector<std::uint64_t> consumers;  ///< of its drivers
};
/// Throws remote_error, which says `what` it is of, where it is something else, or no server says.
inline session_stored stored_session(const nats_connection& by, const std::string& stream, const std::string& subject,
                                     const std::string& what) {
  const nats_message found = last_message(by, stream, subject, "what is stored of its sessions cannot be read");
  if (!found) return {};
  fleet_reader from(bytes_of(found.get()));
  const fleet_envelope& e = from.envelope();
  fleet_reader::frame f;
  if (e.kind != fleet_message::session || !from.next(f) || f.payload.size() % sizeof(std::uint64_t) != 0)
    throw remote_error(by.who() + ": what is stored of " + what + " is none of a driver");
  session_stored last{std::string(from.name()),
                      natsMsg_GetSequence(found.get()),
                      f.header.item,
                      e.session,
                      {e.number, e.number},
                      std::vector<std::uint64_t>(f.payload.size() / sizeof(std::uint64_t))};
  if (!f.payload.empty()) std::memcpy(last.consumers.data(), f.payload.data(), f.payload.size());
  std::erase(last.consumers, last.owner);
  last.consumers.push_back(last.owner);
  if (from.next(f)) last.place.needed = f.header.item;
  return last;
}

class session_record {
 public:
  /// Those of drivers that were killed while they took the session are a few; more are forgotten.
  static constexpr std::size_t most_consumers = 8, longest_name = 200;
  enum class writing : std::uint8_t { done, lost, unknown };

  /// Reads it. Throws remote_error where the servers do not let it.
  session_record(const nats_connection& by, const session_names& names, const jetstream& to, std::string name)
      : by_(by),
        stream_(names.sessions_stream),
        name_(std::move(name)),
        subject_(names.session(number_of_session(name_))),
        owner_(new_number(by.who())) {
    if (name_.empty() || name_.size() > longest_name)
      throw remote_error(by.who() + ": the name of a session has 1 to " + std::to_string(longest_name) + " bytes");
    const char* subject = names.all_sessions.c_str();
    keep_stream(by_, sessions_config(stream_.c_str(), &subject, to));
  }

  std::uint64_t owner() const { return owner_; }
  const session_place& place() const { return place_; }
  /// Of drivers before, which may have left them.
  const std::vector<std::uint64_t>& consumers() const { return consumers_; }

  /// The session is this driver's from now on. Throws remote_error where no server stores it.
  void take() {
    constexpr int most_tries = 10;  // against others who take it just now
    for (int i = 0; i < most_tries; ++i) {
      const session_stored last = read();
      sequence_ = last.sequence;
      generation_ = last.generation + 1;
      place_ = last.place;
      consumers_ = last.consumers;
      if (consumers_.size() == most_consumers) consumers_.erase(consumers_.begin());
      if (publish(place_) == NATS_OK) return;
    }
    throw remote_error(by_.who() + ": the session `" + name_ + "` cannot be taken");
  }
  /// Those of before are gone: the next that is written names them no more.
  void forget_consumers() { consumers_.clear(); }

  /// Lost: another driver has the session. Unknown: no server has answered, and it is tried again.
  writing write(const session_place& place) noexcept {
    if (publish(place) == NATS_OK) {
      place_ = place;
      return writing::done;
    }
    return look() == writing::lost ? writing::lost : writing::unknown;
  }
  /// Whose it is.
  writing look() noexcept {
    try {
      const session_stored last = read();
      if (last.generation > generation_ || (last.generation == generation_ && last.owner > owner_))
        return writing::lost;
      sequence_ = last.sequence;
      return writing::done;
    } catch (const std::exception&) {
      return writing::unknown;
    }
  }

 private:
  session_stored read() const {
    session_stored last = stored_session(by_, stream_, subject_, "the session `" + name_ + "`");
    if (last.sequence != 0 && last.name != name_)
      throw remote_error(by_.who() + ": the sessions `" + name_ + "` and `" + last.name +
                         "` have the same number: give one another name");
    return last;
  }
  natsStatus publish(const session_place& place) noexcept {
    fleet_writer to;
    to.begin(name_);
    to.add(frame_kind::item, generation_, std::as_bytes(std::span(consumers_)));
    to.add(frame_kind::item, place.needed, {});
    const auto bytes = to.end({fleet_message::session, 0, 0, 0, owner_, place.done});
    natsMsg* made = nullptr;
    if (const natsStatus s =
            natsMsg_Create(&made, subject_.c_str(), nullptr, reinterpret_cast<const char*>(bytes.data()),
                           static_cast<int>(bytes.size()));
        s != NATS_OK)
      return s;
    const nats_message message(made);
    // As text: libnats sends no 0 of its options.
    const std::string expected = std::to_string(sequence_);
    if (const natsStatus s = natsMsgHeader_Set(made, "Nats-Expected-Last-Subject-Sequence", expected.c_str());
        s != NATS_OK)
      return s;
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = 2000;
    jsPubAck* answer = nullptr;
    const natsStatus status = js_PublishMsg(&answer, by_.stored(), made, &options, nullptr);
    const std::unique_ptr<jsPubAck, nats_deleter<jsPubAck_Destroy>> kept(answer);
    if (status == NATS_OK) sequence_ = answer->Sequence;
    return status;
  }

  const nats_connection& by_;
  const std::string stream_, name_, subject_;
  const std::uint64_t owner_;
  std::uint64_t sequence_ = 0, generation_ = 0;
  session_place place_;
  std::vector<std::uint64_t> consumers_;
};

}  // namespace levada::detail
