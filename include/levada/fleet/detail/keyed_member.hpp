// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_member.hpp: a worker process of a fleet with partitions: it takes as many as are its share, runs
// them on its threads, and gives some back when others come.
//
// Nobody distributes them. Workers say that they are there; each aims at the number of partitions divided by that of
// workers, takes free ones up to that, and leaves those beyond it.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/log.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/fleet/detail/census.hpp>
#include <levada/fleet/detail/chain.hpp>
#include <levada/fleet/detail/fifo.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/keyed_names.hpp>
#include <levada/fleet/detail/keyed_partition.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/fleet/detail/keyed_streams.hpp>
#include <levada/fleet/detail/lease.hpp>
#include <levada/fleet/detail/member_traits.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/publisher.hpp>
#include <levada/fleet/detail/taken_state.hpp>

namespace levada::detail {

class keyed_member final : public any_member, publish_events, keyed_host, nats_hearer {
 public:
  using clock = std::chrono::steady_clock;
  using make_states = std::function<std::unique_ptr<keyed_states>()>;

  /// Throws remote_error where no server answers, or all drivers that are there are of another program.
  keyed_member(member_traits traits, const keyed_shape& shape, make_states make, const jetstream& to)
      : traits_(std::move(traits)),
        shape_(shape),
        make_(std::move(make)),
        lease_(to.lease),
        fleet_(traits_.fleet, traits_.program),
        names_(traits_.fleet, shape.partitions),
        rules_{traits_.worker,
               traits_.program,
               fleet_grain(traits_.item_bytes, traits_.result.most_bytes),
               longest_fleet_message(traits_.item_bytes, traits_.result.most_bytes),
               inputs_a_state(traits_.item_bytes, traits_.result.most_bytes, shape.partitions, to),
               std::min(std::chrono::milliseconds(1000), to.lease)},
        by_(words_of_fleet(traits_.fleet), to, traits_.worker, nats_connection::threads::few),
        who_(traits_.worker + " " + hex(new_number(by_.who()))),
        all_(shape.partitions) {
    if (const std::string why = ask_census(by_, fleet_.drivers, traits_.identity); !why.empty())
      throw remote_error(by_.who() + " has no driver of this program: " + why);
    answer_.emplace(by_, fleet_.workers, traits_.identity, false);
    publisher_ = std::make_unique<stored_publisher>(by_, static_cast<publish_events&>(*this));
    readers_ = std::make_unique<ordered_readers>(by_, all_.size());
    others_.emplace(by_, names_.here, static_cast<nats_hearer&>(*this));
    first_looked_at_ = static_cast<std::size_t>(new_number(by_.who()) % all_.size());
    for (std::size_t i = 0; i < traits_.threads; ++i)
      runners_.push_back(start_thread("partitions of a fleet", [this]() noexcept { run_partitions(); }));
    keeper_ = start_thread("a worker of a fleet", [this]() noexcept { keep(); });
  }
  /// What it has run is published, with the states.
  ~keyed_member() override {
    end_thread(keeper_, mutex_, is_ending_, changed_);
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    work_.notify_all();
    for (std::thread& t : runners_) t.join();
    others_.reset();
    readers_.reset();
    publisher_.reset();
  }

  member_counts counts() override {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  /// A partition that this worker has, or may have.
  struct place {
    std::shared_ptr<keyed_partition> has;
    std::uint64_t revision = 0;      ///< of the lease
    std::uint64_t number = 0;        ///< of the next message of the chain: no two have one
    clock::time_point renewed_at{};  ///< when the renewal that succeeded was begun
    clock::time_point not_before{};  ///< it is another program's until then
    bool is_waiting = false;         ///< for a thread
    bool is_running = false;
    bool has_more = false;  ///< came while it ran
  };

  // ---- what others call ----

  void schedule(keyed_partition& of) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      place& p = all_[of.number()];
      if (p.has.get() != &of) return;  // its taker will look, or it is gone
      enqueue(p);
    }
    work_.notify_one();
    if (of.is_leaving()) changed_.notify_all();
  }
  /// Under the lock.
  void enqueue(place& p) noexcept {
    if (p.is_running)
      p.has_more = true;
    else if (!std::exchange(p.is_waiting, true))
      ready_.push(static_cast<std::size_t>(&p - all_.data()));
  }
  void refused(const std::exception& why) noexcept override {
    if (is_logged()) log(log_level::warning, by_.who() + ": a message is refused: " + why.what());
    const std::lock_guard lock(mutex_);
    ++counts_.refused;
  }
  void answered(std::uint64_t tag, const publish_answer& answer) noexcept override {
    std::shared_ptr<keyed_partition> of;
    {
      const std::lock_guard lock(mutex_);
      of = all_[static_cast<std::size_t>(tag % all_.size())].has;
    }
    if (!of) return;
    of->answered(tag / all_.size(), answer);
    if (of->is_leaving() || of->is_lost()) wake_keeper();
  }
  /// Another worker is there, or this one.
  void heard(nats_message m) noexcept override {
    try {
      const std::string who(text_of(m.get()).substr(0, 255));
      const std::lock_guard lock(mutex_);
      if (here_.size() < 4096) here_[who] = clock::now();
    } catch (...) {  // no memory: it says so again
    }
  }
  void wake_keeper() noexcept {
    {
      const std::lock_guard lock(mutex_);
      looks_ = true;
    }
    changed_.notify_all();
  }

  // ---- the threads that run partitions ----

  void run_partitions() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return is_over_ || !ready_.empty(); });
      if (is_over_) return;
      place& p = all_[ready_.pop()];
      p.is_waiting = false;
      if (!p.has) continue;
      p.is_running = true;
      p.has_more = false;
      const std::shared_ptr<keyed_partition> of = p.has;
      lock.unlock();
      std::uint64_t items = 0;
      const bool has_more = of->run(items);
      lock.lock();
      p.is_running = false;
      counts_.items += items;
      if (has_more || p.has_more) enqueue(p);
      changed_.notify_all();
    }
  }

  // ---- the keeper ----

  void keep() noexcept {
    const auto between = std::min<std::chrono::nanoseconds>(lease_ / 10, std::chrono::milliseconds(100));
    auto said_at = clock::time_point{}, tried_at = clock::time_point{};
    std::unique_lock lock(mutex_);
    auto latest = clock::time_point::max();
    for (;;) {
      const bool is_ending = is_ending_;
      if (is_ending) latest = std::min(latest, clock::now() + 2 * lease_);
      looks_ = false;
      lock.unlock();
      const auto now = clock::now();
      if (!is_ending && now - said_at >= says_every()) {
        said_at = now;
        by_.say(names_.here.c_str(), who_);
      }
      for (place& p : all_)
        if (p.has) keep(p, now);
      share(is_ending);
      if (!is_ending && now - tried_at >= lease_ / 10) {
        tried_at = now;
        take_some();
      }
      lock.lock();
      if (is_ending && (counts_.partitions == 0 || now >= latest)) break;
      if (!looks_ && is_ending == is_ending_) changed_.wait_for(lock, between, [this] { return looks_ || is_ending_; });
      if (is_ending) changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
    lock.unlock();
    for (place& p : all_)
      if (p.has) drop(p);
  }
  /// The lock is free in all of these.
  void keep(place& p, clock::time_point now) noexcept {
    p.has->keep();
    if (p.has->is_lost()) return take_again(p);
    if (p.has->is_foreign()) {
      if (is_logged() && p.not_before < now)
        log(log_level::warning, by_.who() + ": partition " + std::to_string(number_of(p)) +
                                    " has items of another program, which are left to its workers");
      p.not_before = now + 5 * lease_;
      p.has->leave();
    }
    if (p.has->has_left()) {
      drop(p);
      return bucket_->give_back(keyed_names::key(number_of(p)));
    }
    if (now - p.renewed_at < lease_ / 3) return;
    const auto renewed = bucket_->renew(keyed_names::key(number_of(p)), who_, p.revision);
    if (renewed == lease_bucket::renewal::done) p.renewed_at = now;
    // Where no server answers nobody takes it either; what somebody has taken is found by its mark.
    if (renewed == lease_bucket::renewal::lost) drop(p);
  }
  std::size_t number_of(const place& p) const { return static_cast<std::size_t>(&p - all_.data()); }
  void drop(place& p) noexcept {
    p.has->give_up();
    std::shared_ptr<keyed_partition> gone;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !p.is_running; });
    gone = std::exchange(p.has, nullptr);
    --counts_.partitions;
    p.number = gone->next_number();
    lock.unlock();
    gone.reset();
  }
  /// Of a server that has forgotten what came last, or because of a worker that stood still with its mark in hand.
  void take_again(place& p) noexcept {
    drop(p);
    const std::string key = keyed_names::key(number_of(p));
    if (bucket_->renew(key, who_, p.revision) == lease_bucket::renewal::done) begin(p);
    // Else it is somebody else's, or free in a moment.
  }
  std::size_t workers() {
    const std::lock_guard lock(mutex_);
    const auto now = clock::now();
    std::erase_if(here_, [&](const auto& other) { return now - other.second > lease_; });
    return std::max<std::size_t>(1, here_.size() + (here_.contains(who_) ? 0 : 1));
  }
  /// All hear of each: many say it less often, three times until they would be forgotten.
  std::chrono::nanoseconds says_every() { return lease_ / 6 * std::clamp<std::size_t>(workers() / 16, 1, 2); }
  /// Leaves what is beyond this worker's share.
  void share(bool is_ending) noexcept {
    const std::size_t all = all_.size(), share = is_ending ? 0 : (all + workers() - 1) / workers();
    std::size_t have = 0;
    for (place& p : all_)
      if (p.has && !p.has->is_leaving() && ++have > share) p.has->leave();
  }
  void take_some() noexcept {
    if (!bucket_) {
      try {
        bucket_ = std::make_unique<lease_bucket>(by_, names_.leases);
      } catch (const remote_error&) {
        return;  // until a driver has made it
      }
    }
    const std::size_t all = all_.size(), share = (all + workers() - 1) / workers();
    std::size_t have = 0;
    for (const place& p : all_) have += p.has ? 1u : 0u;
    for (std::size_t i = 0; i < all && have < share; ++i) {
      place& p = all_[(first_looked_at_ + i) % all];
      const auto now = clock::now();
      if (p.has || now < p.not_before) continue;
      const auto revision = bucket_->take(keyed_names::key(number_of(p)), who_);
      if (!revision) continue;
      p.revision = *revision;
      p.renewed_at = now;
      have += begin(p) ? 1u : 0u;
    }
  }
  /// Behind a mark; the lease is this worker's.
  bool begin(place& p) noexcept {
    const std::size_t number = number_of(p);
    try {
      const std::uint64_t mark = p.number++;
      const stored_mark before = last_mark(by_, names_, number);
      publish_mark(by_, names_, number, traits_.program, traits_.worker,
                   std::string(chain_writer::id(p.revision, mark).view()), before);
      keyed_start start = read_start(by_, names_, number, traits_.program, before, make_());
      auto made = std::make_shared<keyed_partition>(
          *readers_, names_, number, rules_, static_cast<keyed_host&>(*this),
          chain_writer(*publisher_, traits_.worker, p.revision, p.number, number, all_.size()), std::move(start));
      const std::lock_guard lock(mutex_);
      p.has = std::move(made);
      ++counts_.partitions;
      ++counts_.taken;
      enqueue(p);
    } catch (const std::exception& e) {
      if (is_logged()) log(log_level::warning, by_.who() + ": partition " + std::to_string(number) + ": " + e.what());
      bucket_->give_back(keyed_names::key(number));
      return false;
    }
    work_.notify_one();
    return true;
  }

  const member_traits traits_;
  const keyed_shape shape_;
  const make_states make_;
  const std::chrono::milliseconds lease_;
  const fleet_names fleet_;
  const keyed_names names_;
  const keyed_rules rules_;
  const nats_connection by_;
  const std::string who_;  ///< of all workers, those in one process among them

  std::mutex mutex_;
  std::condition_variable changed_, work_;  ///< for the keeper, and for the threads that run partitions
  std::vector<place> all_;
  fifo<std::size_t> ready_;
  std::map<std::string, clock::time_point> here_;  ///< workers, when they said so last
  member_counts counts_;
  bool looks_ = false, is_ending_ = false, is_over_ = false;

  std::size_t first_looked_at_ = 0;  ///< so that workers do not all try the same
  std::unique_ptr<lease_bucket> bucket_;
  std::optional<census_answer> answer_;
  std::unique_ptr<stored_publisher> publisher_;
  std::unique_ptr<ordered_readers> readers_;
  std::optional<nats_subscription> others_;
  std::vector<std::thread> runners_;
  std::thread keeper_;
};

}  // namespace levada::detail
