// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/watchdog.hpp: a test that hangs ends the program and says which one it was. Include it in one source of a
// program.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <soak.hpp>
#include <time_to_run.hpp>

namespace levada::test {

/// Aborts where one test case takes longer than two minutes (times the soak's scale) and could have gone on for
/// a third.
struct watchdog : doctest::IReporter {
  explicit watchdog(const doctest::ContextOptions&) {}
  ~watchdog() override { stop(); }

  void test_case_start(const doctest::TestCaseData& test) override {
    stop();
    stopping_ = false;
    const char* const name = test.m_name;
    thread_ = std::thread([this, name] {
      std::unique_lock lock(mutex_);
      for (patience until(std::chrono::seconds(120) * soak_scale(), std::chrono::minutes(1)); !until.is_over();)
        if (changed_.wait_for(lock, std::chrono::seconds(1), [&] { return stopping_; })) return;
      std::fprintf(stderr, "\nwatchdog: the test \"%s\" hangs\n", name);
      std::fflush(nullptr);
      std::signal(SIGABRT, SIG_DFL);  // doctest's handler would end the test case, and wait for this thread
      std::abort();
    });
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override { stop(); }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

REGISTER_LISTENER("watchdog", 1, watchdog);

}  // namespace levada::test
