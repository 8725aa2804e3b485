// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster/detail/message.hpp: the messages between the driver and its ranks. Tag 0 has words about sessions; each slot
// of each session has a tag for its items and, the other way, for their results. Behind a result of no bytes comes the
// text of a failure; one zero where the item was filtered; nothing where it is a value of no bytes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/cluster/detail/world.hpp>

namespace levada::detail {

inline constexpr int words_tag = 0;
inline constexpr std::string_view filtered_text{"\0", 1};
inline constexpr std::size_t most_slots_of_rank = std::size_t{1} << 16;

constexpr int tag_of(std::size_t lane, std::size_t slot) {
  return static_cast<int>(1 + lane * most_slots_of_rank + slot);
}
constexpr std::size_t lane_of(int tag) { return (static_cast<std::size_t>(tag) - 1) / most_slots_of_rank; }
static_assert(tag_of(mpi_world::most_lanes - 1, most_slots_of_rank - 1) <= mpi_world::most_tag);

enum class word_kind : std::uint64_t {
  hello,    ///< from the driver, when it deploys: what both compare, as text
  welcome,  ///< from the rank: `number` items are taken at once
  refusal,  ///< in its place: why, as text
  open,     ///< from the driver: a session begins, `number` is its lane
  close,    ///< it has ended
  end       ///< nothing comes any more
};

struct word {
  word_kind kind = word_kind::end;
  std::uint64_t number = 0;
  std::string text;
};

/// With MPI's calls held.
inline void send_word(const mpi_world& world, int to, word_kind kind, std::uint64_t number = 0,
                      std::string_view text = {}) {
  std::vector<std::byte> bytes(2 * sizeof(std::uint64_t) + text.size());
  std::memcpy(bytes.data(), &kind, sizeof kind);
  std::memcpy(bytes.data() + sizeof kind, &number, sizeof number);
  if (!text.empty()) std::memcpy(bytes.data() + sizeof kind + sizeof number, text.data(), text.size());
  world.check(MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, words_tag, world.comm()));
}

/// The bytes of a message that was matched. With MPI's calls held.
inline std::vector<std::byte> receive_bytes(const mpi_world& world, MPI_Message& from, const MPI_Status& status) {
  int count = 0;
  world.check(MPI_Get_count(&status, MPI_BYTE, &count));
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  world.check(MPI_Mrecv(bytes.data(), count, MPI_BYTE, &from, MPI_STATUS_IGNORE));
  return bytes;
}
inline std::string text_of_bytes(std::span<const std::byte> bytes) {
  std::string text(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(text.data(), bytes.data(), bytes.size());
  return text;
}
inline word receive_word(const mpi_world& world, MPI_Message& from, const MPI_Status& status) {
  const std::vector<std::byte> bytes = receive_bytes(world, from, status);
  word w;
  constexpr std::size_t head = sizeof w.kind + sizeof w.number;
  if (bytes.size() < head) end_all_ranks(world.rank(), "a message is none of this program's");
  std::memcpy(&w.kind, bytes.data(), sizeof w.kind);
  std::memcpy(&w.number, bytes.data() + sizeof w.kind, sizeof w.number);
  w.text = text_of_bytes(std::span(bytes).subspan(head));
  return w;
}

}  // namespace levada::detail
