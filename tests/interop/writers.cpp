// SPDX-License-Identifier: Apache-2.0
// Files that the library writes are the old ones or the new ones at any moment: on a full disk, and where the writer is
// killed.

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/backend/reference/detail/activation.hpp>
#include <levada/interop/html_report.hpp>
#include <levada/interop/recording.hpp>
#include <levada/interop/report.hpp>
#include <levada/interop/save_plan.hpp>
#include <levada/interop/trace.hpp>
#include <levada/interop/tune.hpp>
#include <levada/nn/activation.hpp>
#include <levada/plan/detail/report.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include <files.hpp>
#include <full_disk.hpp>

namespace interop_writers {

namespace lv = levada;
using namespace levada::test;

using vector = lv::tensor<float, 6>;
using box = lv::target<lv::cpu<1>>;
using naive = lv::backends<lv::reference>;

const auto pipeline =
    lv::input<vector> | lv::nn::relu | lv::stage<"first \"one\"\n">([](const vector& v) { return v[0]; });

constexpr lv::kernel_cost kernels[] = {{"reference", "relu(float[6]) -> float[6], 6 FLOP", 2e-6}};
constexpr lv::cost_table costs{.machine = "a machine", .kernels = kernels};

lv::session_trace some_trace() {
  lv::session_trace trace{{"a", "b"}, {}, 0, 1};
  for (std::uint64_t i = 0; i < 2000; ++i)
    trace.events.push_back({lv::trace_kind::stage, static_cast<std::uint32_t>(i % 2), 0, 1, i, i * 10, i * 10 + 7});
  return trace;
}

struct writer {
  const char* name;
  std::function<void(const std::string&)> write;
};

/// All that write a file as a whole.
const std::vector<writer>& writers() {
  static const auto app = lv::deploy<box, naive>(pipeline);
  static const std::vector<writer> all{
      {"box.plan.hpp", [](const std::string& path) { lv::save(app, path); }},
      {"box.plan.json", [](const std::string& path) { lv::save(app, path); }},
      {"tuned.plan.hpp", [](const std::string& path) { lv::tune<box, naive>(pipeline, costs, path); }},
      {"plan.html", [](const std::string& path) { lv::report(app, path); }},
      {"trace.json", [](const std::string& path) { lv::write_trace(path, some_trace()); }},
      {"box.costs.hpp",
       [](const std::string& path) {
         lv::detail::cost_header header(path, "a machine");
         for (int i = 0; i < 500; ++i)
           header.set("simd", "stage " + std::to_string(i) + " of a long name", lv::cost::measured(1e-6, 1e-7));
         header.write();
       }},
      {"box.scales.hpp", [](const std::string& path) {  // as lv::calibrate does
         lv::detail::write_whole(path, std::string(20'000, 's'), "calibrate");
       }}};
  return all;
}

const std::string old_text = "// the old one\n";

void write_old(const std::string& path) { std::ofstream(path) << old_text; }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const lv::error& e) {
    return e.what();
  }
  return "no error";
}

struct kept_warnings final : lv::log_sink {
  kept_warnings() : before(lv::log_to(this)) {}
  ~kept_warnings() { lv::log_to(before); }
  void write(lv::log_level level, std::string_view line) noexcept override {
    if (level == lv::log_level::warning) lines.emplace_back(line);
  }
  std::vector<std::string> lines;
  lv::log_sink* before;
};

TEST_CASE("on a full disk every file is the old one, nothing is beside it, and the error names it") {
  const std::string why = with_small_disk("4m", [](const small_disk& disk) {
    for (const writer& w : writers()) write_old(disk.file(w.name));
    disk.fill();
    const auto names = disk.names();
    for (const writer& w : writers()) {
      CAPTURE(w.name);
      const std::string path = disk.file(w.name);
      CHECK(error_of([&] { w.write(path); }).ends_with("cannot write \"" + path + "\": No space left on device"));
      CHECK(contents_of(path) == old_text);
      CHECK(disk.names() == names);
    }
    disk.free();
    for (const writer& w : writers()) {
      CAPTURE(w.name);
      const std::string path = disk.file(w.name);
      w.write(path);
      CHECK(contents_of(path).size() > old_text.size());
    }
    CHECK(disk.names().size() == names.size() - 1);
  });
  if (!why.empty()) MESSAGE(why);
}

TEST_CASE("a file that may not grow is left as it was") {
  const temporary_folder in;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const writer& w : writers()) {
    CAPTURE(w.name);
    const std::string path = in.file(w.name);
    write_old(path);
    const rlimit small{100, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string what = error_of([&] { w.write(path); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    CHECK(what.ends_with("cannot write \"" + path + "\": File too large"));
    CHECK(contents_of(path) == old_text);
  }
  std::signal(SIGXFSZ, handler);
  CHECK(std::distance(std::filesystem::directory_iterator(in.path), {}) == std::ssize(writers()));
}

TEST_CASE("where the writer is killed at any moment a file is the old one or the new one") {
  const temporary_folder in;
  std::vector<std::string> fresh;
  for (const writer& w : writers()) {
    w.write(in.file(w.name));
    fresh.push_back(contents_of(in.file(w.name)));
  }
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (;;)
        for (const writer& w : writers()) {
          lv::detail::write_whole(in.file(w.name), old_text, "test");
          w.write(in.file(w.name));
        }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(0, 30'000)(random)));
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      CAPTURE(writers()[i].name);
      const std::string found = contents_of(in.file(writers()[i].name));
      CHECK((found == old_text || found == fresh[i]));
    }
  }
}

TEST_CASE("a link stays a link, rights stay, and what is no file is written into") {
  const temporary_folder in;
  const std::string path = in.file("page"), link = in.file("link");
  write_old(path);
  std::filesystem::permissions(path, std::filesystem::perms{0640});
  std::filesystem::create_symlink("page", link);
  lv::detail::write_whole(link, "new", "test");
  CHECK(std::filesystem::is_symlink(link));
  CHECK(contents_of(path) == "new");
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms{0640});

  const std::string full = "/dev/full", none = "/dev/null";
  if (std::filesystem::is_character_file(full))
    CHECK(error_of([&] { lv::write_trace(full, some_trace()); }) ==
          "levada: trace: cannot write \"/dev/full\": No space left on device");
  lv::write_trace(none, some_trace());
  CHECK(std::filesystem::is_character_file(none));
  CHECK(error_of([&] { lv::write_trace(in.path, some_trace()); }) ==
        "levada: trace: cannot write \"" + in.path.string() + "\": Is a directory");

  const std::string long_name = in.file(std::string(250, 'n').c_str());
  lv::detail::write_whole(long_name, "new", "test");
  CHECK(contents_of(long_name) == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(in.path), {}) == 3);
}

TEST_CASE("threads that write the same file leave one of them") {
  const temporary_file file("page");
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c)
    threads.emplace_back([&file, c] {
      for (int i = 0; i < 50; ++i) lv::detail::write_whole(file.path, std::string(10'000, c), "test");
    });
  for (std::thread& t : threads) t.join();
  const std::string found = contents_of(file.path);
  CHECK(found == std::string(10'000, found[0]));
  CHECK(std::distance(std::filesystem::directory_iterator(file.folder.path), {}) == 1);
}

TEST_CASE("names in headers of costs come back, whatever they are") {
  const temporary_file file("box.costs.hpp");
  const std::string name = "say \"hi\" \\ to\nme\x7f(float[6])";
  {
    lv::detail::cost_header header(file.path, "a machine");
    header.set("simd", name, lv::cost::measured(2e-6, 1e-7));
    header.write();
  }
  const lv::detail::cost_header again(file.path, "a machine");
  REQUIRE(again.find("simd", name) != nullptr);
  CHECK(again.find("simd", name)->seconds == 2e-6);
  CHECK(error_of([&] { lv::detail::cost_header of(file.folder.path, "a machine"); }) ==
        "levada: profile: cannot read \"" + file.folder.path.string() + "\": Is a directory");
  const std::string fifo = file.folder.file("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(error_of([&] { lv::detail::cost_header of(fifo, "a machine"); }) ==
        "levada: profile: cannot read \"" + fifo + "\": is no regular file");
}

TEST_CASE("all that is written is UTF-8, whatever stages are called") {
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::stage<"\xff\xc3( \xed\xa0\x80">([](const int& i) { return i; }));
  lv::session_trace trace = some_trace();
  trace.stages[0] = "\xff\xc3( \xed\xa0\x80";
  std::ostringstream traced;
  lv::write_trace(traced, trace);
  constexpr auto plan = decltype(app)::plan;
  for (const std::string& text : {lv::save(app), lv::html_report(app, nullptr, &trace), traced.str(),
                                  lv::json_report(plan), lv::dot_report(plan), lv::text_report(plan)})
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = lv::detail::utf8_length(text, at);
      REQUIRE(length > 0);
      at += length;
    }
}

TEST_CASE("a recorder on a full disk says so, once, and leaves whole items") {
  using item = std::array<char, 1000>;
  const auto app = lv::deploy<box>(lv::input<item> | lv::stage<"count">([](const item& i) { return i[0]; }));
  const std::string why = with_small_disk("128k", [&](const small_disk& disk) {
    const std::string path = disk.file("drive.rec");
    const auto whole_items = [&] {
      lv::recording<item> from(path);
      int count = 0;
      while (from.next() != nullptr) ++count;
      return count;
    };
    const std::string full = ": cannot be written: No space left on device";
    {
      kept_warnings log;
      auto session = app.open();
      lv::recorder<item> tape(path);
      int pushed = 0;
      const std::string what = error_of([&] {
        for (;; ++pushed) {
          if (!tape.push(session, item{}) || pushed == 1000) throw lv::error("nothing is said");
          session.pop();
        }
      });
      CHECK(what == "levada: " + path + full);
      CHECK(error_of([&] { tape.push(session, item{}); }) == "levada: " + path + ": could not be written");
      CHECK(error_of([&] { tape.flush(); }) == "levada: " + path + ": could not be written");
      CHECK(session.counts().pushed == static_cast<std::uint64_t>(pushed) + 1);
      tape.close();
      session.pop();
      CHECK(whole_items() > 100);
      CHECK(whole_items() <= pushed);
      CHECK(log.lines.empty());
    }
    disk.fill();
    for (const bool is_closed : {true, false}) {
      CAPTURE(is_closed);
      std::ofstream(path).close();
      kept_warnings log;
      {
        auto session = app.open();
        lv::recorder<item> tape(path);
        disk.fill();
        for (int i = 0; i < 50; ++i) tape.push(session, item{}), session.pop();
        if (is_closed) CHECK(error_of([&] { tape.close(); }) == "levada: " + path + full);
      }
      if (is_closed)
        CHECK(log.lines.empty());
      else
        CHECK(log.lines == std::vector{"the recording " + path + " cannot be written: No space left on device"});
      CHECK(whole_items() < 50);
    }
  });
  if (!why.empty()) MESSAGE(why);
}

TEST_CASE("a recorder that is closed says whether all is on the disk, and takes nothing more") {
  const temporary_file file("drive.rec");
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& i) { return i; }));
  auto session = app.open();
  lv::recorder<int> tape(file.path);
  tape.push(session, 7);
  lv::recorder<int> moved(std::move(tape));
  moved.push(session, 8);
  moved.close();
  moved.close();
  CHECK(error_of([&] { moved.push(session, 9); }) == "levada: " + file.path + ": is closed");
  CHECK(session.counts().pushed == 2);
  lv::recording<int> from(file.path);
  CHECK(from.next()->value == 7);
  CHECK(from.next()->value == 8);
  CHECK(from.next() == nullptr);
}

TEST_CASE("of a recorder that is killed the items before the last flush are whole") {
  const temporary_file file("drive.rec");
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& i) { return i; }));
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove(file.path);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      auto session = app.open();
      lv::recorder<int> tape(file.path);
      for (int i = 0;; ++i) tape.push(session, i), session.pop(), i % 16 == 15 ? tape.flush() : void();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(2000, 20'000)(random)));
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    if (!std::filesystem::exists(file.path) || std::filesystem::file_size(file.path) == 0) continue;
    int count = 0;
    const std::string what = error_of([&] {
      lv::recording<int> from(file.path);
      for (auto item = from.next(); item != nullptr; item = from.next()) CHECK(item->value == count++);
    });
    CHECK((what == "no error" ||
           what == "levada: " + file.path + ": ends in the middle of item " + std::to_string(count)));
  }
}

}  // namespace interop_writers
