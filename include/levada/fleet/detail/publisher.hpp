// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/publisher.hpp: messages for a stream, each of which the server acknowledges when it has stored it.
//
// An acknowledgement finds its message by the subject that it comes to. libnats has such calls, too; but where the
// leader of a stream dies they keep what was under way, and here that stays in the slots of its owner anyway.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/short_text.hpp>

namespace levada::detail {

/// What a server said to a message.
struct publish_answer {
  bool is_stored = false;
  int code = 0;  ///< of JetStream, where it is not
  std::string why;
  std::uint64_t sequence = 0;  ///< in the stream, where it is; of a second message that of the first

  /// Another message came before, or the server has forgotten: of those that name the one before them.
  bool is_of_another_chain() const { return code == JSStreamWrongLastMsgIDErr; }
  /// There was no room, of the stream or of the server.
  bool is_full() const { return code == JSStreamStoreFailedErr || code == JSInsufficientResourcesErr; }
};

inline publish_answer read_publish_answer(natsMsg* m) {
  const std::string_view text = text_of(m);
  if (natsMsg_IsNoResponders(m)) return {false, JSStreamNotFoundErr, "the stream is not there"};
  publish_answer answer;
  const auto behind = [&](std::string_view key) {
    const std::size_t at = text.find(key);
    return at == text.npos ? std::string_view() : text.substr(at + key.size());
  };
  if (text.find("\"error\"") == text.npos) {
    const std::string_view sequence = behind("\"seq\":");
    std::from_chars(sequence.data(), sequence.data() + sequence.size(), answer.sequence);
    answer.is_stored = true;
    return answer;
  }
  const std::string_view code = behind("\"err_code\":"), words = behind("\"description\":\"");
  std::from_chars(code.data(), code.data() + code.size(), answer.code);
  answer.why = std::string(words.substr(0, words.find('"')));
  return answer;
}

/// Who hears of the answers, on a thread of the connection.
class publish_events {
 public:
  virtual void answered(std::uint64_t tag, const publish_answer& answer) noexcept = 0;

 protected:
  ~publish_events() = default;
};

class stored_publisher final : nats_hearer {
 public:
  stored_publisher(const nats_connection& by, publish_events& to)
      : by_(by), to_(to), inbox_(new_inbox(by.who()) + "."), answers_(by, inbox_ + "*", *this) {}

  /// Any thread. A second message of the same id, soon behind the first, is not stored; both are acknowledged. Where it
  /// does not go out no answer comes. `behind`: only right behind the message of that id.
  void publish(const std::string& subject, const short_text& id, std::uint64_t tag, std::span<const std::byte> payload,
               haste is, const short_text& behind = {}) noexcept {
    natsMsg* made = nullptr;
    const short_text reply = short_text().add(inbox_).add(tag);
    if (natsMsg_Create(&made, subject.c_str(), reply.c_str(), reinterpret_cast<const char*>(payload.data()),
                       static_cast<int>(payload.size())) != NATS_OK)
      return;
    const nats_message message(made);
    if (natsMsgHeader_Set(made, "Nats-Msg-Id", id.c_str()) != NATS_OK) return;
    if (!behind.empty() && natsMsgHeader_Set(made, "Nats-Expected-Last-Msg-Id", behind.c_str()) != NATS_OK) return;
    by_.publish(made, is);
  }

 private:
  void heard(nats_message m) noexcept override {
    const std::string_view subject = natsMsg_GetSubject(m.get());
    std::uint64_t tag = 0;
    const std::string_view digits = subject.substr(subject.rfind('.') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), tag);
    to_.answered(tag, read_publish_answer(m.get()));
  }

  const nats_connection& by_;
  publish_events& to_;
  const std::string inbox_;
  nats_subscription answers_;
};

}  // namespace levada::detail
