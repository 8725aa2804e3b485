// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/named_drivers.hpp: processes that drive a session with a name, one after the other, and write down what they
// pop.

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

#include <levada/fleet/detail/named_session.hpp>
#include <levada/levada.hpp>

#include "fleet/nats_server.hpp"

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

/// What drivers are told: `keeps` whether they keep themselves which outcomes are done, in what they wrote.
struct driving {
  std::string url, path, name = "camera 1";
  std::uint64_t count = 0;
  bool keeps = false;
};

/// Pushes `make(number)` from where the session goes on, and writes down what comes, by `value_of(result)`.
template <class App, class Make, class ValueOf>
void drive(const App& app, const driving& as, const Make& make, const ValueOf& value_of) {
  const outcome_file to(as.path);
  std::optional<std::uint64_t> from;
  if (as.keeps) {
    const auto before = to.all();
    from = before.empty() ? 0 : before.back().number + 1;
  }
  auto session = open_named<dedicated>(app, as.name, from);
  std::thread source([&, next = session.next_item()]() mutable {
    for (; next < as.count; ++next) session.push(make(next));
    session.close();
  });
  for (item_envelope of; const auto r = session.pop(of);)
    if (!to.add({of.sequence, value_of(*r)})) std::_Exit(2);
  source.join();
}
/// A process that drives and ends with 0, or with 1 and a sentence.
class driver_program {
 public:
  driver_program(const char* variable, void (*drive)(const driving&)) : variable_(variable) {
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
                   std::string(variable_) + "=" + as.url + "|" + as.path + "|" + as.name + "|" +
                       std::to_string(as.count) + " " + (as.keeps ? "1" : "0"));
  }

 private:
  const char* variable_;
};
/// Drivers one after the other, each killed at a random moment, behind so many outcomes at most, until all outcomes are
/// there; one that finds no server ends by itself. Calls `meanwhile()` behind each end. How many ended.
template <class Random, class Meanwhile>
int drive_and_kill(const driver_program& by, const driving& as, std::uint64_t most, Random& random,
                   Meanwhile meanwhile) {
  using namespace std::chrono_literals;
  const outcome_file to(as.path);
  for (int deaths = 0;; ++deaths) {
    process driver = by.start(as);
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

}  // namespace levada::test
