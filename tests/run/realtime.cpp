// SPDX-License-Identifier: Apache-2.0
// What try_push and try_pop of a `realtime` session do not do: no system call, no lock, no allocation. The thread that
// calls them installs a filter under which the kernel ends the process at any system call but exit_group; a child
// process does so, and its parent sees how it ends. Locks and allocations that need no system call are seen by name:
// pthread_mutex_lock, and the functions of the C library's heap, which operator new and exceptions use, end the process
// while that thread is inside.

#include <doctest/doctest.h>

#include <sanitizer.hpp>

// Sanitizers stand in front of the same functions.
#if defined(__linux__) && defined(__GLIBC__) && defined(__x86_64__) && !LEVADA_UNDER_SANITIZER
#define CAN_FILTER
#endif

#ifdef CAN_FILTER

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <levada/levada.hpp>

namespace {

thread_local bool is_guarded = false;  ///< this thread may neither lock nor allocate

/// Ends the process by the one system call that is allowed.
void forbidden() {
  if (is_guarded) ::syscall(SYS_exit_group, 3);
}

template <class Function>
Function* next_definition(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* const next = next_definition<int(pthread_mutex_t*)>("pthread_mutex_lock");
  forbidden();
  return next(mutex);
}
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_memalign(std::size_t, std::size_t);
extern "C" void __libc_free(void*);
extern "C" void* malloc(std::size_t bytes) noexcept {
  forbidden();
  return __libc_malloc(bytes);
}
extern "C" void* calloc(std::size_t count, std::size_t bytes) noexcept {
  forbidden();
  return __libc_calloc(count, bytes);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  forbidden();
  return __libc_memalign(alignment, bytes);
}
extern "C" void free(void* p) noexcept {
  forbidden();
  __libc_free(p);
}

namespace lv = levada;

namespace {

/// From here on every system call of this thread but exit_group ends the process. False where that is not allowed here.
bool forbid_system_calls() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program{sizeof code / sizeof *code, code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum class ended { well, wrong_results, by_a_system_call, by_a_lock_or_allocation, not_allowed, otherwise };

/// Runs `prepare()` in a child process, and what that returns under the guards: `bool()`, whether all is right.
template <class Prepare>
ended in_a_child(Prepare prepare) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGSYS, SIG_DFL);
    auto guarded = prepare();
    if (!forbid_system_calls()) ::_exit(77);
    is_guarded = true;
    const bool right = guarded();
    is_guarded = false;
    ::syscall(SYS_exit_group, right ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? ended::by_a_system_call : ended::otherwise;
  if (!WIFEXITED(status)) return ended::otherwise;
  switch (WEXITSTATUS(status)) {
    case 0:
      return ended::well;
    case 1:
      return ended::wrong_results;
    case 3:
      return ended::by_a_lock_or_allocation;
    case 77:
      return ended::not_allowed;
    default:
      return ended::otherwise;
  }
}

bool filters_are_allowed() {
  const ended how = in_a_child([] { return [] { return true; }; });
  if (how == ended::not_allowed) MESSAGE("skipped: this system does not let a process filter its system calls");
  return how != ended::not_allowed;
}

constexpr int items = 20'000;

auto adding_up() {
  return lv::input<int> | lv::stage<"twice">([](const int& v) { return 2 * v; }) |
         lv::stage<"sum">([sum = 0L](const int& v) mutable { return sum += v; });
}

template <class App, class... Options>
struct opened {
  App app;
  decltype(app.template open<Options...>()) session = app.template open<Options...>();
};
template <class... Options, class Pipeline>
auto open_on(const Pipeline& pipeline) {
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<16>>(pipeline);
  return std::make_unique<opened<decltype(app), Options...>>(opened<decltype(app), Options...>{std::move(app)});
}

}  // namespace

TEST_CASE("try_push and try_pop of a realtime session make no system call, take no lock and allocate nothing") {
  if (!filters_are_allowed()) return;
  SUBCASE("one thread pushes and pops") {
    CHECK(in_a_child([] {
            return [on = open_on<lv::realtime>(adding_up())] {
              long expected = 0;
              int pushed = 0;
              for (int popped = 0; popped < items;) {
                while (pushed < items && on->session.try_push(pushed)) ++pushed;
                while (auto r = on->session.try_pop()) {
                  expected += 2L * popped++;
                  if (!*r || **r != expected) return false;
                }
              }
              return true;
            };
          }) == ended::well);
  }
  SUBCASE("items are filtered and fail, and the oldest give way") {
    CHECK(in_a_child([] {
            const auto pipeline = lv::input<int> | lv::stage<"some">([](const int& v) -> std::optional<int> {
                                    if (v % 16 == 3) throw 3;
                                    if (v % 4 == 1) return std::nullopt;
                                    return v;
                                  });
            constexpr std::size_t wanted = 200;
            std::vector<std::exception_ptr> kept(wanted);  // the caller's: freeing one may wait for the worker's heap
            return [on = open_on<lv::realtime, lv::overflow<lv::drop_oldest>>(pipeline),
                    kept = std::move(kept)]() mutable {
              std::uint64_t pushed = 0, values = 0, failures = 0;
              lv::item_envelope envelope;
              for (; failures < wanted; ++pushed) {
                static_cast<void>(on->session.try_push(static_cast<int>(pushed)));
                while (failures < wanted) {
                  auto r = on->session.try_pop(envelope);
                  if (!r) break;
                  const int item = static_cast<int>(envelope.sequence);
                  if (*r ? **r != item || item % 4 == 1 : item % 16 != 3) return false;
                  if (*r)
                    ++values;
                  else
                    kept[failures++] = r->error();
                }
              }
              const lv::item_counts c = on->session.counts();
              return values != 0 && c.delivered == values && c.failed == failures && c.pushed == pushed;
            };
          }) == ended::well);
  }
}

TEST_CASE("the guards see what they should: a plain session, a lock, an allocation") {
  if (!filters_are_allowed()) return;
  // A plain session brings a worker to its items: one system call, or a lock on the way to it.
  const ended plain = in_a_child([] {
    return [on = open_on<>(adding_up())] {
      for (int i = 0; i < items; ++i) {
        while (!on->session.try_push(i)) {
        }
        while (!on->session.try_pop()) {
        }
      }
      return true;
    };
  });
  CHECK(plain != ended::well);
  CHECK(plain != ended::wrong_results);
  CHECK(plain != ended::not_allowed);
  // So does pop, which waits.
  CHECK(in_a_child([] {
          return [on = open_on<lv::dedicated>(adding_up())] {
            for (int i = 0; i < items; ++i) {
              on->session.push(i);
              static_cast<void>(on->session.pop());
            }
            return true;
          };
        }) != ended::well);
  CHECK(in_a_child([] { return [] { return ::getppid() != 0; }; }) == ended::by_a_system_call);
  CHECK(in_a_child([] {
          return [mutex = std::make_unique<std::mutex>()] {
            const std::lock_guard lock(*mutex);
            return true;
          };
        }) == ended::by_a_lock_or_allocation);
  CHECK(in_a_child([] {
          return [] {
            const auto p = std::make_unique<volatile int>(1);
            return *p == 1;
          };
        }) == ended::by_a_lock_or_allocation);
}

#else

TEST_CASE("try_push and try_pop of a realtime session make no system call") {
  MESSAGE("skipped: needs Linux and glibc on x86-64, and no sanitizer");
}

#endif
