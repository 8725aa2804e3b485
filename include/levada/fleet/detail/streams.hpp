// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/streams.hpp: what a fleet stores at its servers. Items are a work queue: each is one worker's, until
// that has acknowledged it. Outcomes are kept while the session that waits for them is known, so that nothing is left
// of drivers that went. Both refuse what is too much, and never drop what they have.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/stream_names.hpp>
#include <levada/graph/detail/queue_info.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

/// For how long a server knows the ids of messages. Who has no answer publishes again sooner.
inline constexpr std::chrono::seconds duplicates_are_known{20};
/// For how long outcomes are kept for a driver that asks for none.
inline constexpr std::chrono::minutes driver_may_be_gone{2};
inline constexpr std::chrono::hours named_driver_may_be_gone{24};
/// At once: of all workers of a fleet, and of their requests.
inline constexpr std::int64_t most_fetched = 1 << 17, most_requests = 1 << 13;

/// For how long servers are waited for: by who has nothing else to do, and by who has more to look after.
inline constexpr std::chrono::milliseconds at_leisure{5000}, in_passing{300};
inline jsOptions options_within(std::chrono::milliseconds wait) {
  jsOptions o;
  jsOptions_Init(&o);
  o.Wait = wait.count();
  return o;
}

/// The last message of a subject; null where there is none. Throws remote_error, with `failure`, where no server says
/// so.
inline nats_message last_message(const nats_connection& by, const std::string& stream, const std::string& subject,
                                 const char* failure = "a stream cannot be read") {
  natsMsg* found = nullptr;
  jsErrCode code{};
  jsOptions options = options_within(at_leisure);
  const natsStatus status = js_GetLastMsg(&found, by.stored(), stream.c_str(), subject.c_str(), &options, &code);
  if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) return nullptr;
  by.check(status, failure);
  return nats_message(found);
}

constexpr std::int64_t in_nanoseconds(std::chrono::nanoseconds of) { return of.count(); }

/// A stream as a fleet wants it, for messages up to `longest`. The names live elsewhere.
///
/// It is bounded by their number, such that they never come to its bound of bytes: there nats-server 2.9 looks at a
/// message without what it stores around it, takes one that does not fit, and drops the oldest, whatever its policy.
inline jsStreamConfig stream_config(const char* name, const char** subject, retention keeps, std::size_t longest,
                                    const jetstream& to) {
  constexpr std::size_t stored_around = 256;
  jsStreamConfig c;
  jsStreamConfig_Init(&c);
  c.Name = name;
  c.Subjects = subject;
  c.SubjectsLen = 1;
  c.Retention = keeps == retention::work_queue ? js_WorkQueuePolicy
                : keeps == retention::interest ? js_InterestPolicy
                                               : js_LimitsPolicy;
  if (keeps == retention::last_of_subject) c.MaxMsgsPerSubject = 1;
  c.Discard = js_DiscardNew;
  c.Storage = js_FileStorage;
  c.MaxMsgSize = static_cast<std::int32_t>(longest);
  c.MaxMsgs = static_cast<std::int64_t>(to.most_bytes / (longest + stored_around));
  c.MaxBytes = static_cast<std::int64_t>(to.most_bytes);
  c.Replicas = to.replicas;
  c.Duplicates = in_nanoseconds(duplicates_are_known);
  return c;
}

/// Of how far sessions with a name are.
inline jsStreamConfig sessions_config(const char* name, const char** subject, const jetstream& to) {
  jetstream small = to;
  small.most_bytes = std::size_t{4} << 20;
  return stream_config(name, subject, sessions_stream.keeps, longest_session_message, small);
}
/// As a report shows it.
inline stream_bounds bounds_of(const jsStreamConfig& c) {
  return {static_cast<std::size_t>(c.MaxMsgs), static_cast<std::size_t>(c.MaxBytes), static_cast<int>(c.Replicas)};
}

/// The first thing in which a stream is another than what is wanted; empty where there is none.
inline std::string stream_difference(const jsStreamConfig& is, const jsStreamConfig& wanted) {
  const auto numbers = [](const char* what, std::int64_t has, std::int64_t wants) {
    return has == wants ? std::string()
                        : std::string(what) + " " + std::to_string(has) + ", and not " + std::to_string(wants);
  };
  if (is.SubjectsLen != 1 || std::string_view(is.Subjects[0]) != wanted.Subjects[0])
    return std::string("other subjects than ") + wanted.Subjects[0];
  if (is.Retention != wanted.Retention) return "another retention";
  if (is.Discard != wanted.Discard) return "a policy to discard old messages, and not new ones";
  if (is.Storage != wanted.Storage) return "another kind of storage than files";
  const auto bounds = [](std::int64_t most) { return std::max<std::int64_t>(most, 0); };  // -1: none
  if (is.MaxAge > 0 || bounds(is.MaxMsgsPerSubject) != bounds(wanted.MaxMsgsPerSubject))
    return "bounds that drop messages";
  std::string difference = numbers("max_bytes", is.MaxBytes, wanted.MaxBytes);
  if (difference.empty()) difference = numbers("max_msg_size", is.MaxMsgSize, wanted.MaxMsgSize);
  if (difference.empty()) difference = numbers("max_msgs", is.MaxMsgs, wanted.MaxMsgs);
  if (difference.empty()) difference = numbers("replicas", is.Replicas, wanted.Replicas);
  if (difference.empty()) difference = numbers("a duplicate window of", is.Duplicates, wanted.Duplicates);
  return difference;
}

/// Finds the stream as it should be, or makes it. Throws remote_error where it is another or cannot be made.
inline void keep_stream(const nats_connection& by, jsStreamConfig wanted) {
  const std::string stream = by.who() + ": the stream " + wanted.Name;
  jsStreamInfo* info = nullptr;
  jsErrCode code{};
  natsStatus status = js_GetStreamInfo(&info, by.stored(), wanted.Name, nullptr, &code);
  if (status == NATS_NOT_FOUND || code == JSStreamNotFoundErr)
    status = js_AddStream(&info, by.stored(), &wanted, nullptr, &code);
  if (code == JSStreamNameExistErr)  // another program was faster
    status = js_GetStreamInfo(&info, by.stored(), wanted.Name, nullptr, &code);
  const std::unique_ptr<jsStreamInfo, nats_deleter<jsStreamInfo_Destroy>> kept(info);
  if (code == JSStorageResourcesExceededErr || code == JSInsufficientResourcesErr)
    throw remote_error(stream + " of " + std::to_string(wanted.MaxBytes) +
                       " bytes does not fit in the server's store: lower `jetstream::most_bytes`, or raise its "
                       "`max_file_store`");
  check_nats(status, stream, "cannot be had");
  if (const std::string difference = stream_difference(*info->Config, wanted); !difference.empty())
    throw remote_error(stream + " has " + difference);
}

/// Throws remote_error where `count` such messages do not fit in a stream.
inline void check_holds_messages(const nats_connection& by, std::size_t longest, std::size_t count,
                                 const jetstream& to) {
  if (static_cast<std::size_t>(stream_config("", nullptr, retention::limits, longest, to).MaxMsgs) < count)
    throw remote_error(by.who() + ": a message is up to " + std::to_string(longest) + " bytes, and a stream holds " +
                       (count == 1 ? "less" : "less than " + std::to_string(count)) +
                       ": raise `jetstream::most_bytes`");
}

inline void keep_streams(const nats_connection& by, const fleet_names& names, std::size_t longest,
                         const jetstream& to) {
  check_holds_messages(by, longest, 1, to);
  const char* items = names.all_items.c_str();
  const char* outcomes = names.all_outcomes.c_str();
  keep_stream(by, stream_config(names.items_stream.c_str(), &items, items_stream.keeps, longest, to));
  keep_stream(by, stream_config(names.outcomes_stream.c_str(), &outcomes, outcomes_stream.keeps, longest, to));
}
/// In the order of the plan.
inline fixed_array<stream_bounds> bounds_of_streams(std::size_t longest, const jetstream& to) {
  fixed_array<stream_bounds> all(
      3, [&](std::size_t) { return bounds_of(stream_config("", nullptr, retention::limits, longest, to)); });
  all[2] = bounds_of(sessions_config("", nullptr, to));
  return all;
}

inline jsConsumerConfig consumer_config(const std::string& name, const std::string& subject,
                                        std::chrono::nanoseconds lease) {
  jsConsumerConfig c;
  jsConsumerConfig_Init(&c);
  c.Durable = name.c_str();
  c.FilterSubject = subject.c_str();
  c.AckPolicy = js_AckExplicit;
  c.AckWait = in_nanoseconds(lease);
  c.MaxDeliver = -1;
  c.MaxAckPending = most_fetched;
  c.MaxWaiting = most_requests;
  return c;
}
/// Finds the consumer of a stream, or makes it, and says whether it was there. Throws remote_error
/// where neither can be done, or it has another lease.
inline bool keep_consumer(const nats_connection& by, const std::string& stream, jsConsumerConfig wanted,
                          std::chrono::milliseconds within) {
  jsOptions options = options_within(within);
  jsConsumerInfo* info = nullptr;
  jsErrCode code{};
  natsStatus status = js_GetConsumerInfo(&info, by.stored(), stream.c_str(), wanted.Durable, &options, &code);
  const bool is_missing = status == NATS_NOT_FOUND || code == JSConsumerNotFoundErr;
  if (is_missing) status = js_AddConsumer(&info, by.stored(), stream.c_str(), &wanted, &options, &code);
  const std::unique_ptr<jsConsumerInfo, nats_deleter<jsConsumerInfo_Destroy>> kept(info);
  const std::string consumer = by.who() + ": the consumer " + wanted.Durable + " of the stream " + stream;
  check_nats(status, consumer, "cannot be had");
  if (info->Config->AckWait != wanted.AckWait)
    throw remote_error(consumer + " has a lease of " + std::to_string(info->Config->AckWait / 1'000'000) +
                       " ms, and not " + std::to_string(wanted.AckWait / 1'000'000));
  return !is_missing;
}

/// What the workers of a program fetch from.
inline void keep_items_consumer(const nats_connection& by, const fleet_names& names, const jetstream& to) {
  keep_consumer(by, names.items_stream, consumer_config(names.consumer, names.items, to.lease), at_leisure);
}
/// What a session of a driver fetches its outcomes by: a consumer of that number, in hexadecimal, which the server
/// forgets where nobody asks for so long.
struct session_outcomes {
  std::uint64_t session = 0, consumer = 0;
  std::chrono::nanoseconds may_be_gone = driver_may_be_gone;
};
/// Whether it was there. While it is not, outcomes are dropped.
inline bool keep_outcomes_consumer(const nats_connection& by, const fleet_names& names, const session_outcomes& of,
                                   std::chrono::milliseconds within) {
  const std::string name = hex(of.consumer), subject = names.outcomes(of.session);
  jsConsumerConfig wanted = consumer_config(name, subject, std::chrono::seconds(5));
  wanted.InactiveThreshold = in_nanoseconds(of.may_be_gone);
  return keep_consumer(by, names.outcomes_stream, wanted, within);
}
inline void end_outcomes_consumer(const nats_connection& by, const fleet_names& names,
                                  std::uint64_t consumer) noexcept {
  // Where it does not get there the server forgets it by itself.
  by.say(("$JS.API.CONSUMER.DELETE." + names.outcomes_stream + "." + hex(consumer)).c_str(), {});
}

}  // namespace levada::detail
