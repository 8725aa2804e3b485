// SPDX-License-Identifier: Apache-2.0
// What the tests instantiate in almost every unit with the same types, the engine of a session above all. It is
// precompiled as `extern`, and instantiated in compiled_once.cpp, which includes it for the second time.
#include <cstddef>
#include <string>
#include <vector>

#include <levada/levada.hpp>

#ifdef LEVADA_COMPILED_HERE
#define LEVADA_ONCE template
#else
#define LEVADA_ONCE extern template
#endif

LEVADA_ONCE class std::basic_string<char>;
LEVADA_ONCE class std::vector<std::string>;
LEVADA_ONCE class std::vector<std::byte>;
LEVADA_ONCE class std::vector<std::size_t>;
LEVADA_ONCE class std::vector<int>;
LEVADA_ONCE class std::vector<float>;

namespace levada::detail {

// run/detail/engine/
LEVADA_ONCE class basic_engine<void>;
LEVADA_ONCE class basic_result_outlet<void>;
LEVADA_ONCE class basic_item_intake<void>;
LEVADA_ONCE class basic_single_item_runner<void>;
LEVADA_ONCE class basic_grain_runner<void>;
LEVADA_ONCE class basic_grain_claimer<void>;
LEVADA_ONCE class basic_device_reporter<void>;
LEVADA_ONCE class basic_worker_bringer<void>;
LEVADA_ONCE class basic_item_finisher<void>;
LEVADA_ONCE class basic_branch_runner<void>;
LEVADA_ONCE class basic_unit_runner<void>;
LEVADA_ONCE class basic_value_places<void>;
LEVADA_ONCE class basic_engine_parts<void>;
LEVADA_ONCE class basic_device_lanes<void>;
LEVADA_ONCE class basic_switched_meter<void>;
LEVADA_ONCE class basic_sole_thread<void>;
LEVADA_ONCE class basic_completed_items<void>;
LEVADA_ONCE class basic_admission_queue<void>;
LEVADA_ONCE class basic_thread_waker<void>;
LEVADA_ONCE struct basic_item_tally<void>;
LEVADA_ONCE struct basic_slot_ring<void>;
LEVADA_ONCE struct basic_segment<void>;
LEVADA_ONCE struct basic_grain<void>;

// run/detail/program/
LEVADA_ONCE class basic_collected_parameters<void>;
LEVADA_ONCE class basic_names_of_source<void>;
LEVADA_ONCE class basic_shared_branches<void>;
LEVADA_ONCE class item_team<void>;
LEVADA_ONCE struct basic_inline_run<void>;
LEVADA_ONCE struct basic_session_states<void>;
LEVADA_ONCE program make_program<void>(const program_layout&, const program_parts&, int);

// run/detail/session/
LEVADA_ONCE class basic_session_engines<void>;
LEVADA_ONCE class basic_inline_context<void>;
LEVADA_ONCE class basic_inline_contexts<void>;
LEVADA_ONCE class basic_rate_converter<void>;
LEVADA_ONCE class open_regions<void>;
LEVADA_ONCE class session_core<tbb_executor>;
LEVADA_ONCE class helped_session<tbb_executor>;
LEVADA_ONCE struct basic_deployed_code<void>;
LEVADA_ONCE struct deployed<tbb_executor>;
LEVADA_ONCE struct deployment<tbb_executor>;
LEVADA_ONCE void prepare_devices<void>(deployed_code&);

// run/detail/workers/
LEVADA_ONCE class basic_permits<void>;
LEVADA_ONCE class basic_session_gate<void>;
LEVADA_ONCE class flow_backbone<false>;
LEVADA_ONCE class flow_backbone<true>;
LEVADA_ONCE arena_workers& workers_of<void>(oneapi::tbb::task_arena*, int, priority);
LEVADA_ONCE void check_processors<void>(const processor_set&);

// run/detail/measure/
LEVADA_ONCE class basic_meter<void>;
LEVADA_ONCE class basic_meter_lanes<void>;
LEVADA_ONCE class basic_grain_watch<void>;
LEVADA_ONCE class basic_histogram<void>;
LEVADA_ONCE class basic_merged_histogram<void>;

}  // namespace levada::detail

#undef LEVADA_ONCE
