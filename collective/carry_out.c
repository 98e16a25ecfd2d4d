/* The exchanges of the public header: checks, the way they go, and averages at the end. */
#include "call.h"
#include "pointers.h"
#include "staging.h"
#include "trace.h"

#include "exchange/algorithms.h"
#include "base/clock.h"

#include <string.h>

/* Sizes from which another way is faster where no table says (docs/collective.md). */
enum { FLAT_BYTES = 4 << 10, FLAT_READ = 64 << 10, COPY_BYTES = 64 << 10, OWNED_BYTES = 4 << 10 };

/* --- the way ------------------------------------------------------------------------------------------------------ */

/* Of these every rank has a part of the vector. */
static bool has_parts(int collective) { return collective == PACE_REDUCESCATTER || collective == PACE_ALLGATHER; }

/* `flat` waits once and reads all of the others' vectors; `staged` waits twice and, of more than two ranks, reads less.
 * To wait costs more where ranks share processors. */
static bool is_soon_read(const pace_comm *c, size_t bytes) {
    size_t most = c->crowded ? 2 * FLAT_READ : FLAT_READ;
    return bytes <= FLAT_BYTES || bytes * (size_t)(c->near - 1) <= most;
}

/* Past the caches `staged` writes its result past them. */
static int usual_allreduce(const pace_comm *c, size_t bytes, bool copies) {
    if (is_soon_read(c, bytes)) return PACE_WAY_FLAT;
    if (pace_is_past_caches((size_t)c->near * bytes)) return PACE_WAY_STAGED;
    return copies ? PACE_WAY_COPY : c->near == 2 ? PACE_WAY_FLAT : PACE_WAY_STAGED;
}

/* A broadcast over boards is read while it is posted: to read the root's memory would save no time. */
static int usual_way_inside(const pace_comm *c, int collective, size_t bytes) {
    bool copies = c->copy_pays && bytes > COPY_BYTES;
    if (collective == PACE_ALLREDUCE) return usual_allreduce(c, bytes, copies);
    return copies && has_parts(collective) ? PACE_WAY_COPY : PACE_WAY_FLAT;
}

static int usual_way(const pace_comm *c, int collective, size_t bytes) {
    if (c->hosts == 1) return usual_way_inside(c, collective, bytes);
    return has_parts(collective) ? PACE_WAY_PROGRAM + pace_exchange_algorithm_find("ring") : PACE_WAY_TWO_LEVEL;
}

/* By the row of the table, which asks how many ranks there are and how they lie on hosts. */
static bool program_applies(const pace_comm *c, int row, int collective) {
    bool even = c->ranks % c->hosts == 0;
    pace_exchange_terms terms = {.collective = (pace_collective)collective,
                                 .ranks = c->ranks,
                                 .nodes = even ? c->hosts : c->ranks,
                                 .ranks_per_node = even ? c->ranks / c->hosts : 1};
    return pace_exchange_algorithm_applies(row, &terms);
}

static bool can_go(const pace_comm *c, int way, int collective) {
    if (way < 0) return false;
    if (way >= PACE_WAY_PROGRAM) return program_applies(c, way - PACE_WAY_PROGRAM, collective);
    if (way == PACE_WAY_MPI) return true;
    if (way == PACE_WAY_TWO_LEVEL) return !has_parts(collective);
    if (c->hosts > 1) return false;
    if (way == PACE_WAY_COPY) return c->can_copy && collective != PACE_REDUCE && collective != PACE_BARRIER;
    return way == PACE_WAY_FLAT || collective == PACE_ALLREDUCE;
}

static int way_of(const pace_comm *c, int collective, size_t bytes) {
    int way = pace_settings_way(&c->settings, collective, bytes);
    return can_go(c, way, collective) ? way : usual_way(c, collective, bytes);
}

const char *pace_comm_choice(const pace_comm *comm, const char *collective, size_t bytes) {
    for (int i = 0; i < PACE_CHOSEN; i++)
        if (pace_chosen_name(i) && strcmp(pace_chosen_name(i), collective) == 0)
            return pace_way_name(way_of(comm, i, bytes));
    return NULL;
}

/* --- inside a host ------------------------------------------------------------------------------------------------ */

static pace_status flat(pace_comm *c, const pace_call *call) {
    c->counters.flat++;
    switch (call->collective) {
    case PACE_ALLREDUCE: return pace_flat_allreduce(c, call);
    case PACE_REDUCESCATTER: return pace_flat_reduce_scatter(c, call);
    case PACE_ALLGATHER: return pace_flat_all_gather(c, call);
    case PACE_BROADCAST: return pace_flat_broadcast(c, call);
    case PACE_REDUCE: return pace_flat_reduce(c, call);
    default: return pace_board_meet(&c->boards);
    }
}

static pace_status staged(pace_comm *c, const pace_call *call) {
    c->counters.staged++;
    return pace_staged_allreduce(c, call);
}

static pace_status pulled(const pace_views *views, const pace_call *call) {
    switch (call->collective) {
    case PACE_ALLREDUCE: return pace_pulled_allreduce(views, call);
    case PACE_REDUCESCATTER: return pace_pulled_reduce_scatter(views, call);
    case PACE_ALLGATHER: return pace_pulled_all_gather(views, call);
    default: return pace_pulled_broadcast(views, call);
    }
}

/* Where buffers may be seen by all, ranks tell each other about the call first. */
static pace_status inside(pace_comm *c, const pace_call *call, int way, size_t bytes) {
    pace_views views = {.owned = false};
    bool may_be_owned = c->owned.count && bytes >= OWNED_BYTES && call->collective != PACE_REDUCE;
    if (way == PACE_WAY_COPY || may_be_owned) PACE_TRY(pace_views_open(&views, c, call));
    if (views.owned && may_be_owned) {
        c->counters.owned++;
        return call->collective == PACE_ALLREDUCE ? pace_owned_allreduce(&views, call) : pulled(&views, call);
    }
    if (way == PACE_WAY_STAGED) return staged(c, call);
    if (way != PACE_WAY_COPY) return flat(c, call);
    c->counters.copied++;
    return pulled(&views, call);
}

/* --- two levels --------------------------------------------------------------------------------------------------- */

static const char *between_hosts(const pace_call *call, size_t bytes) {
    if (call->collective == PACE_BROADCAST || call->collective == PACE_REDUCE) return "binomial";
    return bytes <= (size_t)64 << 10 ? "recursive_doubling" : "ring";
}

/* Leaders meet in a sum of nothing, which waits no longer than an exchange does. */
static pace_status barrier_of_two_levels(pace_comm *c) {
    int32_t nothing = 0;
    pace_call across = {.collective = PACE_ALLREDUCE,
                        .in = (char *)&nothing,
                        .out = (char *)&nothing,
                        .count = 1,
                        .width = sizeof nothing,
                        .reduce = pace_reduce_of(PACE_ELEMENT_I32, PACE_REDUCTION_SUM)};
    PACE_TRY(pace_board_meet(&c->boards));
    if (c->me == 0)
        PACE_TRY(pace_program_execute(c, &across, pace_exchange_algorithm_find("recursive_doubling"), true));
    return pace_board_meet(&c->boards);
}

/* The rank of the host that speaks for it: a root on its own host, else the first. Only first ranks talk to other
 * hosts. */
static pace_status to_leader(pace_comm *c, const pace_call *call) {
    pace_call in = *call;
    in.collective = PACE_REDUCE;
    in.root = 0;
    if (c->near > 1) return pace_flat_reduce(c, &in);
    if (in.out != in.in) memcpy(in.out, in.in, in.count * in.width);
    return PACE_OK;
}

static pace_status from_leader(pace_comm *c, const pace_call *call) {
    pace_call down = *call;
    down.collective = PACE_BROADCAST;
    down.root = 0;
    return c->near > 1 ? pace_flat_broadcast(c, &down) : PACE_OK;
}

static pace_status two_level_allreduce(pace_comm *c, const pace_call *call, size_t bytes) {
    pace_call across = *call;
    across.in = across.out;
    PACE_TRY(to_leader(c, call));
    if (c->me == 0)
        PACE_TRY(pace_program_execute(c, &across, pace_exchange_algorithm_find(between_hosts(call, bytes)), true));
    return from_leader(c, call);
}

/* The root's host passes it to its leader first; leaders' numbers are their hosts'. */
static pace_status two_level_broadcast(pace_comm *c, const pace_call *call) {
    pace_call part = *call;
    bool of_root = c->local_of[call->root] >= 0;
    if (of_root && c->near > 1) {
        part.root = c->local_of[call->root];
        PACE_TRY(pace_flat_broadcast(c, &part));
    }
    part.root = c->first_of_host[call->root];
    if (c->me == 0) PACE_TRY(pace_program_execute(c, &part, pace_exchange_algorithm_find("binomial"), true));
    return of_root ? PACE_OK : from_leader(c, call);
}

static pace_status two_level(pace_comm *c, const pace_call *call, size_t bytes) {
    c->counters.programs++;
    switch (call->collective) {
    case PACE_ALLREDUCE: return two_level_allreduce(c, call, bytes);
    case PACE_BROADCAST: return two_level_broadcast(c, call);
    case PACE_BARRIER: return barrier_of_two_levels(c);
    default: return pace_program_execute(c, call, pace_exchange_algorithm_find("binomial"), false);
    }
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static pace_status alone(const pace_call *call) {
    if (call->in != call->out && call->out) memcpy(call->out, call->in, call->count * call->width);
    return PACE_OK;
}

static pace_status go(pace_comm *c, const pace_call *call, size_t bytes) {
    int way = way_of(c, call->collective, bytes);
    if (way == PACE_WAY_TWO_LEVEL) return two_level(c, call, bytes);
    if (way >= PACE_WAY_PROGRAM) {
        c->counters.programs++;
        return pace_program_execute(c, call, way - PACE_WAY_PROGRAM, false);
    }
    pace_call near = *call;
    if (call->collective == PACE_BROADCAST || call->collective == PACE_REDUCE) near.root = c->local_of[call->root];
    return inside(c, &near, way, bytes);
}

size_t pace_small_bytes(const pace_comm *c) {
    bool plain = c->hosts == 1 && c->near > 1 && !c->settings.check && !c->trace;
    size_t bytes = plain ? PACE_SMALL_CALL : 0;
    while (bytes && way_of(c, PACE_ALLREDUCE, bytes) != PACE_WAY_FLAT) bytes /= 2;
    for (size_t less = bytes; less; less /= 2)
        if (way_of(c, PACE_ALLREDUCE, less) != PACE_WAY_FLAT) bytes = less / 2;
    return bytes;
}

/* After a failure ranks no longer know of each other where they are. */
static pace_status failed(pace_comm *c, pace_status status) {
    c->broken = PACE_E_IO;
    pace_waiter_leave(&c->waiter);
    return status;
}

static pace_status is_broken(void) {
    return pace_fail(PACE_E_IO, "an exchange of this communicator failed before; close it");
}

pace_status pace_call_tell(pace_comm *c, const pace_call *call) {
    if (c->broken != PACE_OK) return is_broken();
    pace_status status = pace_calls_compare(c, call);
    return status == PACE_OK ? PACE_OK : failed(c, status);
}

/* What all ranks must agree on, and have agreed on in all calls before: a rank that once called differently is known
 * by every later note. Bytes that are only moved may be of unlike types. */
static uint64_t history_with(uint64_t history, const pace_call *call, size_t bytes) {
    bool moved = call->collective == PACE_ALLGATHER || call->collective == PACE_BROADCAST;
    uint64_t what = (uint64_t)call->collective;
    if (!moved) what |= (uint64_t)call->element << 8 | (uint64_t)call->reduction << 16;
    return (history ^ (uint64_t)bytes ^ what << 40 ^ (uint64_t)call->root << 20) * 0x9e3779b97f4a7c15u;
}

static pace_status run(pace_comm *c, const pace_call *call, size_t bytes) {
    pace_status status = PACE_OK;
    if (PACE_UNLIKELY(c->broken != PACE_OK)) return is_broken();
    c->history = history_with(c->history, call, bytes);
    c->boards.sign = c->history & ~PACE_NOTE_NUMBER;
    c->counters.calls++;
    c->counters.bytes += bytes;
    int64_t start_ns = c->trace ? pace_clock_ns_of(CLOCK_REALTIME) : 0;
    if (PACE_UNLIKELY(c->settings.check) && c->ranks > 1) status = pace_calls_compare(c, call);
    if (status != PACE_OK) return failed(c, status);
    if (bytes - 1 < c->small_bytes && call->collective == PACE_ALLREDUCE) {
        c->counters.flat++;
        status = pace_flat_allreduce_small(c, call);
    } else if (c->ranks == 1) status = alone(call);
    else if (bytes || call->collective == PACE_BARRIER) status = go(c, call, bytes);
    if (c->trace) pace_trace_add(c->trace, call, pace_way_name(way_of(c, call->collective, bytes)), start_ns);
    return PACE_LIKELY(status == PACE_OK) ? PACE_OK : failed(c, status);
}

static bool overlap(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
    return a != b && a < b + b_bytes && b < a + a_bytes;
}

/* Fills in what follows from the arguments; `times_in`, `times_out`: how often `count` elements stand there. */
static pace_status prepare(pace_call *call, const pace_comm *c, size_t times_in, size_t times_out) {
    call->width = pace_element_bytes(call->element);
    if (!c) return pace_fail(PACE_E_USAGE, "no communicator was given");
    if (!call->width) return pace_fail(PACE_E_USAGE, "there is no element type %d", (int)call->element);
    if ((unsigned)call->reduction >= PACE_REDUCTIONS)
        return pace_fail(PACE_E_USAGE, "there is no reduction %d", (int)call->reduction);
    if (call->count > SIZE_MAX / 16 / (size_t)c->ranks)
        return pace_fail(PACE_E_USAGE, "%zu elements are too many", call->count);
    if (call->root < 0 || call->root >= c->ranks)
        return pace_fail(PACE_E_USAGE, "root %d of %d ranks", call->root, c->ranks);
    if (!call->in) call->in = call->out;
    if (!call->in && call->count) return pace_fail(PACE_E_USAGE, "no buffer was given");
    size_t bytes = call->count * call->width;
    if (call->out && overlap(call->in, bytes * times_in, call->out, bytes * times_out))
        return pace_fail(PACE_E_USAGE, "input and output overlap, but are not the same");
    call->reduce = pace_reduce_of(call->element, call->reduction);
    return PACE_OK;
}

/* On every rank that has the result. */
static pace_status on_host(pace_comm *c, const pace_call *call) {
    pace_status status = run(c, call, call->count * call->width * (has_parts(call->collective) ? (size_t)c->ranks : 1));
    bool has = call->collective != PACE_REDUCE || c->rank == call->root;
    if (status == PACE_OK && call->reduction == PACE_REDUCTION_AVG && has)
        pace_reduce_divide(call->out, call->count, call->element, c->ranks);
    return status;
}

static pace_status carry_out(pace_comm *c, const pace_call *call) {
    return PACE_UNLIKELY(c->pointers != NULL) ? pace_staged_carry(c, call, on_host) : on_host(c, call);
}

pace_status pace_comm_allreduce(pace_comm *c, const void *in, void *out, size_t count, pace_element element,
                                pace_reduction reduction) {
    pace_call call = {PACE_ALLREDUCE, in, out, count, 0, element, reduction, NULL, 0};
    PACE_TRY(prepare(&call, c, 1, 1));
    if (!out && count) return pace_fail(PACE_E_USAGE, "no output was given");
    return carry_out(c, &call);
}

pace_status pace_comm_reduce_scatter(pace_comm *c, const void *in, void *out, size_t count, pace_element element,
                                     pace_reduction reduction) {
    pace_call call = {PACE_REDUCESCATTER, in, out, count, 0, element, reduction, NULL, 0};
    PACE_TRY(prepare(&call, c, c ? (size_t)c->ranks : 1, 1));
    if (!out && count) return pace_fail(PACE_E_USAGE, "no output was given");
    return carry_out(c, &call);
}

pace_status pace_comm_all_gather(pace_comm *c, const void *in, void *out, size_t count, pace_element element) {
    pace_call call = {PACE_ALLGATHER, in, out, count, 0, element, PACE_REDUCTION_SUM, NULL, 0};
    if (!c || (!out && count)) return pace_fail(PACE_E_USAGE, "no communicator or no output was given");
    char *own = count ? (char *)out + (size_t)c->rank * count * pace_element_bytes(element) : out;
    if (!in || in == own) call.in = call.out = own;
    PACE_TRY(prepare(&call, c, 1, call.in == own ? 1 : (size_t)c->ranks));
    call.out = out;
    return carry_out(c, &call);
}

pace_status pace_comm_broadcast(pace_comm *c, void *buffer, size_t count, pace_element element, int root) {
    pace_call call = {PACE_BROADCAST, buffer, buffer, count, 0, element, PACE_REDUCTION_SUM, NULL, root};
    PACE_TRY(prepare(&call, c, 1, 1));
    return carry_out(c, &call);
}

pace_status pace_comm_reduce(pace_comm *c, const void *in, void *out, size_t count, pace_element element,
                             pace_reduction reduction, int root) {
    pace_call call = {PACE_REDUCE, in, out, count, 0, element, reduction, NULL, root};
    PACE_TRY(prepare(&call, c, 1, 1));
    if (c->rank == root && !out && count) return pace_fail(PACE_E_USAGE, "the root has no output");
    return carry_out(c, &call);
}

pace_status pace_comm_barrier(pace_comm *c) {
    pace_call call = {.collective = PACE_BARRIER};
    if (!c) return pace_fail(PACE_E_USAGE, "no communicator was given");
    return carry_out(c, &call);
}

void pace_comm_count(const pace_comm *comm, pace_comm_counters *out) {
    pace_comm_counters all = comm->counters;
    size_t size = out->size < sizeof all ? out->size : sizeof all;
    all.size = size;
    all.spins = comm->waiter.spins;
    all.yields = comm->waiter.yields;
    all.sleeps = comm->waiter.sleeps;
    pace_pointers_count(comm->pointers, &all.queries, &all.remembered);
    memcpy(out, &all, size);
}
