// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/by_hand.hpp: items to a worker and back by NATS JetStream, as one writes it by hand with libnats: two streams,
// a worker that fetches, answers and acknowledges when its answers are stored, and a driver that takes these.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nats/nats.h>

namespace by_hand {

inline void check(natsStatus status) {
  if (status != NATS_OK) throw std::runtime_error(natsStatus_GetText(status));
}

/// A connection of one thread.
class peer {
 public:
  explicit peer(const std::string& url) {
    check(natsConnection_ConnectTo(&connection_, url.c_str()));
    jsOptions options;
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = 1024;
    check(natsConnection_JetStream(&stored, connection_, &options));
  }
  ~peer() {
    natsSubscription_Destroy(fetched_);
    jsCtx_Destroy(stored);
    natsConnection_Destroy(connection_);
  }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  void make_stream(const char* name) {
    jsStreamConfig c;
    jsStreamConfig_Init(&c);
    c.Name = name;
    c.Subjects = &name;
    c.SubjectsLen = 1;
    c.Retention = js_WorkQueuePolicy;
    c.Discard = js_DiscardNew;
    c.MaxBytes = 64 << 20;
    check(js_AddStream(nullptr, stored, &c, nullptr, nullptr));
  }
  void fetch_from(const char* name) {
    check(js_PullSubscribe(&fetched_, stored, name, name, nullptr, nullptr, nullptr));
  }

  /// As many as are there, one at least; none where there was none for a while.
  natsMsgList fetch(int most) {
    natsMsgList list{};
    if (natsSubscription_Fetch(&list, fetched_, most, 100, nullptr) != NATS_OK) list.Count = 0;
    return list;
  }
  void publish(const char* name, std::uint64_t number, const void* data, int bytes) {
    natsMsg* m = nullptr;
    check(natsMsg_Create(&m, name, nullptr, static_cast<const char*>(data), bytes));
    check(natsMsgHeader_Set(m, "Nats-Msg-Id", std::to_string(number).c_str()));
    check(js_PublishMsgAsync(stored, &m, nullptr));
  }
  void await_stored() { check(js_PublishAsyncComplete(stored, nullptr)); }

  jsCtx* stored = nullptr;

 private:
  natsConnection* connection_ = nullptr;
  natsSubscription* fetched_ = nullptr;
};

/// A worker and its driver. Names are new each time: nothing is left of the one before.
class fleet {
 public:
  fleet(const std::string& url, std::string name)
      : items_(name + "-items"), outcomes_(name + "-outcomes"), driver_(url) {
    driver_.make_stream(items_.c_str());
    driver_.make_stream(outcomes_.c_str());
    driver_.fetch_from(outcomes_.c_str());
    thread_ = std::jthread([this, url](const std::stop_token& stop) { work(url, stop); });
  }

  /// `count` items there and back, so many of them at once.
  void run(std::size_t count, std::size_t in_flight, std::vector<std::uint8_t>& item) {
    std::size_t sent = 0, received = 0;
    while (received != count) {
      for (; sent != count && sent - received != in_flight; ++sent)
        driver_.publish(items_.c_str(), ++number_, item.data(), static_cast<int>(item.size()));
      natsMsgList list = driver_.fetch(static_cast<int>(in_flight));
      for (int i = 0; i < list.Count; ++i) {
        std::memcpy(item.data(), natsMsg_GetData(list.Msgs[i]), item.size());
        natsMsg_Ack(list.Msgs[i], nullptr);
      }
      received += static_cast<std::size_t>(list.Count);
      natsMsgList_Destroy(&list);
    }
  }

 private:
  void work(const std::string& url, const std::stop_token& stop) {
    peer worker(url);
    worker.fetch_from(items_.c_str());
    std::uint64_t number = 0;
    while (!stop.stop_requested()) {
      natsMsgList list = worker.fetch(64);
      for (int i = 0; i < list.Count; ++i) {
        answer_.assign(natsMsg_GetData(list.Msgs[i]),
                       natsMsg_GetData(list.Msgs[i]) + natsMsg_GetDataLength(list.Msgs[i]));
        ++answer_[0];
        worker.publish(outcomes_.c_str(), ++number, answer_.data(), static_cast<int>(answer_.size()));
      }
      if (list.Count != 0) worker.await_stored();
      for (int i = 0; i < list.Count; ++i) natsMsg_Ack(list.Msgs[i], nullptr);
      natsMsgList_Destroy(&list);
    }
  }

  const std::string items_, outcomes_;
  peer driver_;
  std::uint64_t number_ = 0;
  std::vector<char> answer_;
  std::jthread thread_;
};

}  // namespace by_hand
