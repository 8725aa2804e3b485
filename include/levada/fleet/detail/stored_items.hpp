// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/stored_items.hpp: the items of a session that a driver before this one has stored, and no worker has
// acknowledged: they are not published a second time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/short_text.hpp>
#include <levada/fleet/detail/streams.hpp>

namespace levada::detail {

class stored_items {
 public:
  /// The message that has an item: in the stream, and its id.
  struct place {
    std::uint64_t sequence = 0;
    short_text id;
  };

  /// Looks for them, not for long: at the last numbers of the stream. What is not found runs twice.
  void read(const nats_connection& by, const fleet_names& names, std::uint64_t session, std::uint64_t program) {
    constexpr std::uint64_t most_looked_at = 2000;
    jsOptions options = options_within(at_leisure);
    jsStreamInfo* found = nullptr;
    by.check(js_GetStreamInfo(&found, by.stored(), names.items_stream.c_str(), &options, nullptr),
             "a stream cannot be read");
    const std::unique_ptr<jsStreamInfo, nats_deleter<jsStreamInfo_Destroy>> info(found);
    const std::uint64_t last = info->State.LastSeq;
    std::uint64_t left = info->State.Msgs;
    for (std::uint64_t s = std::max(info->State.FirstSeq, last - std::min(last, most_looked_at));
         s <= last && left != 0; ++s) {
      natsMsg* made = nullptr;
      jsErrCode code{};
      const natsStatus status = js_GetMsg(&made, by.stored(), names.items_stream.c_str(), s, &options, &code);
      const nats_message m(made);
      if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) continue;
      if (status != NATS_OK) return;
      --left;
      add(m.get(), s, session, program);
    }
  }
  std::optional<place> take(std::uint64_t item) {
    const auto found = places_.find(item);
    if (found == places_.end()) return std::nullopt;
    const place taken = found->second;
    places_.erase(found);
    return taken;
  }

 private:
  void add(natsMsg* m, std::uint64_t sequence, std::uint64_t session, std::uint64_t program) {
    try {
      fleet_reader from(bytes_of(m));
      const fleet_envelope& e = from.envelope();
      if (e.kind != fleet_message::items || e.session != session || e.program != program) return;
      const place at{sequence, short_text().add(header_of(m, "Nats-Msg-Id"))};
      for (fleet_reader::frame f; from.next(f);) places_.insert_or_assign(f.header.item, at);
    } catch (const wire_error&) {  // of nobody
    }
  }

  std::unordered_map<std::uint64_t, place> places_;
};

}  // namespace levada::detail
