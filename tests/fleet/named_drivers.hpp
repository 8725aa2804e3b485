// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/named_drivers.hpp: processes that drive a session with a name and write down what they pop, and what is wrong
// with what several of them wrote, one after the other.

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fleet/nats_server.hpp"
#include "fleet/orders.hpp"

namespace levada::test {

/// An outcome as it is written: the number of its item, and its result.
struct written_outcome {
  static constexpr std::int64_t failed = -1, lost_its_workers = -2;
  std::uint64_t number = 0;
  std::int64_t value = 0;
};

/// Of one session, by several drivers. What is written is there when they are killed.
class outcome_file {
 public:
  explicit outcome_file(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  ~outcome_file() { ::close(file_); }
  outcome_file(const outcome_file&) = delete;
  outcome_file& operator=(const outcome_file&) = delete;

  bool add(written_outcome o) const { return ::write(file_, &o, sizeof o) == sizeof o; }
  std::uint64_t size() const {
    return static_cast<std::uint64_t>(::lseek(file_, 0, SEEK_END)) / sizeof(written_outcome);
  }
  std::vector<written_outcome> all() const {
    std::vector<written_outcome> found(static_cast<std::size_t>(size()));
    const std::size_t bytes = found.size() * sizeof(written_outcome);
    if (::pread(file_, found.data(), bytes, 0) != static_cast<::ssize_t>(bytes)) found.clear();
    return found;
  }

 private:
  int file_;
};

inline act act_of(std::uint64_t number) {
  return number % 50 == 7 ? act::fails : number % 10 == 3 ? act::is_filtered : act::nothing;
}

/// What drivers are told: `keeps` whether they keep themselves which outcomes are done, in what they wrote.
struct driving {
  std::string url, path, name = "camera 1";
  std::uint64_t count = 0;
  bool keeps = false;
};

inline void drive(const driving& as) {
  auto app = deploy<fleet_box, fleet_version>(orders(), servers_of(as.url));
  const outcome_file to(as.path);
  std::optional<std::uint64_t> from;
  if (as.keeps) {
    const auto before = to.all();
    from = before.empty() ? 0 : before.back().number + 1;
  }
  auto session = open_named<dedicated>(app, as.name, from);
  std::thread source([&, next = session.next_item()]() mutable {
    for (; next < as.count; ++next) session.push(order{static_cast<int>(next), act_of(next)});
    session.close();
  });
  const auto value_of = [](const auto& r) -> std::int64_t {
    if (r.has_value()) return r.value();
    const bool lost = failure_of(r.error()).ends_with("its worker was lost 3 times");
    return lost ? written_outcome::lost_its_workers : written_outcome::failed;
  };
  for (item_envelope of; const auto r = session.pop(of);)
    if (!to.add({of.sequence, value_of(*r)})) std::_Exit(2);
  source.join();
}

/// A process that drives and ends with 0, or with 1 and a sentence.
class driver_program {
 public:
  driver_program() {
    const char* const told = std::getenv(variable);
    if (told == nullptr) return;
    try {
      driving as;
      std::istringstream from(told);
      std::getline(from, as.url, '|');
      std::getline(from, as.path, '|');
      std::getline(from, as.name, '|');
      from >> as.count >> as.keeps;
      drive(as);
    } catch (const std::exception& e) {
      const std::string what = e.what();
      if (what.find("has no server") == what.npos) std::fprintf(stderr, "%s\n", e.what());
      std::_Exit(1);
    }
    std::_Exit(0);
  }
  process start(const driving& as) const {
    return process("/proc/self/exe", {},
                   std::string(variable) + "=" + as.url + "|" + as.path + "|" + as.name + "|" +
                       std::to_string(as.count) + " " + (as.keeps ? "1" : "0"));
  }

 private:
  static constexpr const char* variable = "LEVADA_TEST_DRIVER_OF";
};
inline const driver_program driving_program;

/// Drivers one after the other, each killed at a random moment, behind so many outcomes at most, until all outcomes are
/// there; one that finds no server ends by itself. Calls `meanwhile()` behind each end. How many ended.
template <class Random, class Meanwhile>
int drive_and_kill(const driving& as, std::uint64_t most, Random& random, Meanwhile meanwhile) {
  using namespace std::chrono_literals;
  const outcome_file to(as.path);
  for (int deaths = 0;; ++deaths) {
    process driver = driving_program.start(as);
    // As a rule at work, else while it comes to that.
    const std::uint64_t until = to.size() + random() % most;
    const auto end = std::chrono::steady_clock::now() + (random() % 4 == 0 ? random() % 200 * 1ms : 60s);
    while (to.size() <= until && std::chrono::steady_clock::now() < end) {
      if (driver.has_ended()) break;
      std::this_thread::sleep_for(1ms);
    }
    if (driver.has_ended() && to.size() != 0 && to.all().back().number == as.count - 1) return deaths;
    driver.kill();
    meanwhile();
  }
}

/// Each outcome is there and right, in order, and once: or more than once where a driver did not get to say that it was
/// done with it. How many came again. Workers are killed as well: one item may have met three of these.
inline std::uint64_t check_outcomes(const std::vector<written_outcome>& all, std::uint64_t count, bool once) {
  std::uint64_t next = 0, again = 0, wrong = 0, lost = 0;
  for (const written_outcome& o : all) {
    const act does = act_of(o.number);
    const std::int64_t value = does == act::fails ? written_outcome::failed : 2 * static_cast<std::int64_t>(o.number);
    lost += o.value == written_outcome::lost_its_workers ? 1 : 0;
    wrong += o.value == value || o.value == written_outcome::lost_its_workers ? 0 : 1;
    wrong += does == act::is_filtered && o.value != written_outcome::lost_its_workers ? 1 : 0;
    if (o.number < next) {
      ++again;
      continue;
    }
    while (next < o.number && act_of(next) == act::is_filtered) ++next;
    if (o.number != next) {
      MESSAGE("item " << next << " lacks its outcome, and " << o.number << " has one");
      ++wrong;
    }
    next = o.number + 1;
  }
  while (next < count && act_of(next) == act::is_filtered) ++next;
  CHECK(next == count);
  CHECK(wrong == 0);
  CHECK(lost <= count / 10'000);
  if (once) CHECK(again == 0);
  return again;
}

}  // namespace levada::test
