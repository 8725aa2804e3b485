// SPDX-License-Identifier: Apache-2.0
// Pipelines that come from shared libraries while the program runs.

#include <doctest/doctest.h>

#include <link.h>
#include <sys/stat.h>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <levada/interop/pipeline_library.hpp>
#include <levada/run/hot_swap.hpp>

#include "libraries/answer.hpp"

namespace lv = levada;

namespace {

std::string at(const char* name) { return std::string(LEVADA_LIBRARIES "/") + name + ".so"; }

/// What load_pipeline says of a library.
template <class Signature = answer(int)>
std::string error_of(const std::string& path) {
  try {
    lv::load_pipeline<Signature>(path);
    return "";
  } catch (const lv::error& e) {
    return e.what();
  }
}
bool says(const std::string& text, const std::string& what) {
  INFO(text);
  CHECK(text.find(what) != std::string::npos);
  return text.find("levada: load_pipeline: ") == 0 && text.find(what) != std::string::npos;
}

void copy(const std::string& from, const std::string& to) {
  std::remove(to.c_str());
  std::ofstream(to, std::ios::binary) << std::ifstream(from, std::ios::binary).rdbuf();
}

struct kept_lines final : lv::log_sink {
  std::mutex mutex;
  std::vector<std::string> lines;
  void write(lv::log_level, std::string_view line) noexcept override {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
  }
};

answer outcome_of(const lv::result<answer>& r) {
  try {
    return r.value();
  } catch (const no_answer& e) {
    return {e.item, e.library, 0};
  }
}

}  // namespace

TEST_CASE("a loaded pipeline is called, streams, and throws its exceptions by their types") {
  const auto pipeline = lv::load_pipeline<answer(int)>(at("library_1"));
  CHECK(pipeline(1).library == 1);
  CHECK_THROWS_AS(pipeline(4), no_answer);
  CHECK_THROWS_AS(pipeline(4), lv::error);
  int next = 0;
  for (auto& r : pipeline.stream(std::vector<int>{0, 1, 2, 3, 4, 5})) {
    CHECK(r.has_value() != fails(next));
    if (r) CHECK(r->item == next);
    ++next;
  }
  CHECK(next == 6);
}

TEST_CASE("two versions in one program share nothing") {
  const auto one = lv::load_pipeline<answer(int)>(at("library_1")),
             two = lv::load_pipeline<answer(int)>(at("library_2"));
  CHECK(one(1).library == 1);
  CHECK(two(1).library == 2);
  CHECK(one(1).library == 1);
}

TEST_CASE("sessions and exceptions outlive the pipeline that was loaded") {
  auto session = lv::load_pipeline<answer(int)>(at("library_2")).open();
  std::exception_ptr kept;
  session.push(4);
  session.push(5);
  kept = session.pop()->error();
  CHECK(session.pop()->value().item == 5);
  session = lv::load_pipeline<answer(int)>(at("library_1")).open();
  CHECK_THROWS_AS(std::rethrow_exception(kept), no_answer);
}

TEST_CASE("a library that is not what the program expects is refused with a reason") {
  CHECK(says(error_of(at("absent")), "No such file or directory"));
  CHECK(says(error_of(at("library_of_nothing")), "it holds no pipeline: no symbol levada_pipeline"));
  CHECK(says(error_of(at("library_of_later")),
             "it is a library of version " + std::to_string(lv::pipeline_library_version + 1) +
                 ", this program takes version " + std::to_string(lv::pipeline_library_version)));
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG)
  CHECK(says(error_of(at("library_in_debug_mode")), "it uses libstdc++ in debug mode, this program libstdc++"));
#endif
  CHECK(says(error_of<answer(long)>(at("library_1")),
             "its item is int (4 bytes, aligned to 4), this program's is long (8 bytes, aligned to 8)"));
  CHECK(says(error_of<void(int)>(at("library_1")),
             "its result is answer (12 bytes, aligned to 4), this program's is void"));
  CHECK_THROWS_WITH_AS(lv::load_pipeline<answer(int)>(at("library_throws")), "no answer", no_answer);
}

TEST_CASE("a library whose pipeline is null is refused") {
  CHECK(says(error_of(at("library_of_null_1")), "it holds no pipeline: levada_pipeline gives null"));
  CHECK(says(error_of(at("library_of_null_2")), "what it says of itself is null in part"));
  CHECK(error_of(at("library_of_null_3")) == "levada: any_pipeline: there is no pipeline in it");
  CHECK(says(error_of(at("library_of_null_4")), "the pipeline that it makes is null"));
}

TEST_CASE("a file that cannot be a library is refused with its fault") {
  const std::string path = at("broken");
  copy(at("library_1"), path);
  std::filesystem::resize_file(path, 7);
  CHECK(says(error_of(path), "the file is too short for a library"));
  copy(at("library_1"), path);
  std::filesystem::resize_file(path, 4096);
  CHECK(says(error_of(path), "the file is cut off: it has 4096 bytes and needs "));
  // Its table of parts, and the first of these, lie behind all that a file may have.
  const auto overwritten = [&](std::streamoff where) {
    copy(at("library_1"), path);
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
        .seekp(where)
        .write("\xff\xff\xff\xff\xff\xff\xff\xff", sizeof(ElfW(Off)));
    return error_of(path);
  };
  CHECK(says(overwritten(offsetof(ElfW(Ehdr), e_phoff)), "its headers lie nowhere"));
  CHECK(says(overwritten(sizeof(ElfW(Ehdr)) + offsetof(ElfW(Phdr), p_offset)), "a part of it lies nowhere"));
  std::remove(path.c_str());
}

TEST_CASE("a library without its end is refused, wherever it is cut") {
  const std::string path = at("cut");
  copy(at("library_1"), path);
  const auto whole = std::filesystem::file_size(path);
  int refused = 0;
  for (std::uintmax_t kept = 0; kept < whole; kept += kept < 4096 ? 61 : whole / 50) {
    copy(at("library_1"), path);
    std::filesystem::resize_file(path, kept);
    const std::string error = error_of(path);
    CAPTURE(kept);
    if (error.empty()) break;  // all that is mapped is there
    CHECK(error.find("levada: load_pipeline: " + path + ": the file is ") == 0);
    ++refused;
  }
  CHECK(refused > 60);
  std::remove(path.c_str());
  CHECK(says(error_of(LEVADA_LIBRARIES), "Is a directory"));
  const std::string fifo = at("fifo");
  std::remove(fifo.c_str());
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(says(error_of(fifo), "is no regular file"));
  std::remove(fifo.c_str());
}

TEST_CASE("another file under the name of a loaded library is refused, since the loader would give the old one") {
  const std::string path = at("replaced");
  copy(at("library_1"), path);
  CHECK(lv::load_pipeline<answer(int)>(path)(1).library == 1);
  CHECK(lv::load_pipeline<answer(int)>(path)(1).library == 1);
  copy(at("library_2"), path);
  CHECK(says(error_of(path), "the file has changed since it was loaded; a new version needs a new name"));
  std::remove(path.c_str());
}

TEST_CASE("a file that could not be loaded, or was closed again, may be replaced") {
  const std::string path = at("mended");
  std::remove(path.c_str());
  std::ofstream(path) << "no library";
  CHECK(says(error_of(path), "mended.so: "));
  copy(at("library_of_nothing"), path);
  CHECK(says(error_of(path), "it holds no pipeline"));
  copy(at("library_of_later"), path);
  CHECK(says(error_of(path), "it is a library of version"));
  copy(at("library_2"), path);
  CHECK(lv::load_pipeline<answer(int)>(path)(1).library == 2);
  copy(at("library_1"), path);
  CHECK(says(error_of(path), "the file has changed since it was loaded"));
  std::remove(path.c_str());
}

TEST_CASE("a file without a folder is the one in the working directory, under either name") {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(LEVADA_LIBRARIES);
  copy("library_1.so", "without_folder.so");
  CHECK(lv::load_pipeline<answer(int)>("without_folder.so")(1).library == 1);
  copy("library_2.so", "without_folder.so");
  CHECK(says(error_of("without_folder.so"), "without_folder.so: the file has changed since it was loaded"));
  CHECK(says(error_of("./without_folder.so"), "./without_folder.so: the file has changed since it was loaded"));
  std::filesystem::remove("without_folder.so");
  std::filesystem::current_path(before);
}

TEST_CASE("what a library logs is heard by the program's sink of that moment") {
  const std::string deployed = "deployed: \"answer\" \"count\"; segments: 1, threads at once: 2, slots: 16";
  kept_lines first, second;
  lv::log_to(&first);
  static_cast<void>(lv::load_pipeline<answer(int)>(at("library_1")));
  lv::log_to(&second);
  static_cast<void>(lv::load_pipeline<answer(int)>(at("library_1")));
  lv::log_to(nullptr);
  static_cast<void>(lv::load_pipeline<answer(int)>(at("library_1")));
  const std::vector<std::string> lines{"load_pipeline: " + at("library_1") + " is loaded", deployed};
  CHECK(first.lines == lines);
  CHECK(second.lines == lines);
}

TEST_CASE("two libraries take turns under load, and nothing is lost") {
  lv::hot_swap<answer(int)> hot(lv::load_pipeline<answer(int)>(at("library_1")));
  auto session = hot.open();
  session.push(0);
  std::atomic<int> pushed{1};
  std::atomic<bool> swapping{true}, popping{false};
  std::thread swapper([&] {
    for (int swap = 1; swap <= 200; ++swap) {
      hot.swap(lv::load_pipeline<answer(int)>(at(swap % 2 == 0 ? "library_1" : "library_2")));
      int now = pushed.load();
      for (const int until = now + 2; now < until; now = pushed.load()) pushed.wait(now);
    }
    swapping.store(false);
  });
  int next = 0, wrong = 0, of_two = 0;
  std::thread popper([&] {
    while (auto r = session.pop()) {
      const answer a = outcome_of(*r);
      wrong += a.item != next || r->has_value() == fails(next);
      of_two += a.library == 2;
      ++next;
      popping.store(true);
      popping.notify_all();
    }
  });
  popping.wait(false);
  while (swapping.load()) {
    session.push(pushed.load());
    pushed.fetch_add(1);
    pushed.notify_all();
  }
  session.close();
  swapper.join();
  popper.join();
  CHECK(next == pushed.load());
  CHECK(wrong == 0);
  CHECK(of_two >= 100);
  const auto c = session.counts();
  CHECK(c.pushed == static_cast<std::uint64_t>(next));
  CHECK(c.delivered + c.failed == c.pushed);
}
