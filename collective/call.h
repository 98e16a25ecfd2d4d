/* One exchange as it is passed from how it was asked to how it is done. */
#pragma once

#include "comm_state.h"

typedef struct {
    int collective; /* pace_collective, or PACE_BARRIER */
    const char *in; /* NULL never: equal to `out` in place */
    char *out;
    size_t count; /* as the caller gave it */
    size_t width; /* bytes of an element */
    pace_element element;
    pace_reduction reduction;
    pace_reduce_fn reduce; /* NULL where nothing is reduced */
    int root;              /* a number on the host for what is done inside one */
} pace_call;

/* Where part i of n begins: floor(count i / n); parts differ by one element at most. */
static inline size_t pace_part(size_t count, int i, int n) {
    size_t whole = count / (size_t)n, rest = count % (size_t)n;
    return whole * (size_t)i + rest * (size_t)i / (size_t)n;
}

/* Bytes that one note takes on all roads. */
enum { PACE_SMALL_CALL = 1024 };

/** How many bytes of an allreduce go that way by the communicator's settings. */
size_t pace_small_bytes(const pace_comm *comm);

/* --- over boards (flat.c, staged.c) ------------------------------------------------------------------------------- */

pace_status pace_flat_allreduce(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_flat_allreduce_small(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_flat_reduce_scatter(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_flat_all_gather(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_flat_broadcast(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_flat_reduce(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_staged_allreduce(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;

/* --- out of other processes' memory (views.c, pulled.c) ----------------------------------------------------------- */

/* What a process says of its call to the others: a note. */
typedef struct pace_view_note {
    uint64_t in, out;             /* addresses there; within owned memory, from its start */
    uint32_t in_owned, out_owned; /* its id; 0 = private memory */
    uint64_t count;
    uint8_t collective, element, reduction, copies;
    int32_t root;
} pace_view_note;

typedef struct {
    pace_comm *comm;
    const pace_view_note *of; /* of each process */
    bool owned;               /* all buffers of all processes are in owned memory */
} pace_views;

/** Tells each other about the call. Errors: PACE_E_IO when the calls differ. */
pace_status pace_views_open(pace_views *out, pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;

/* In place of an element's type, where calls are checked: MPI carries the call out, `count` bytes; or the rank refused
 * it. */
enum { PACE_CALL_BY_MPI = 254, PACE_CALL_REFUSED = 255 };

/** Where calls are checked: tells the others of such a call, and compares. Errors: as pace_calls_compare(); the
 * communicator then refuses further calls. */
pace_status pace_call_tell(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;

/** Compares the call with those of all ranks, also on other hosts. Errors: PACE_E_IO with both when they differ. */
pace_status pace_calls_compare(pace_comm *comm, const pace_call *call) PACE_MUST_CHECK;

/** Bytes of a process's input or output: where they are mapped, or copied to `room`. */
pace_status pace_view(const char **out, const pace_views *views, int process, bool of_output, size_t from, size_t bytes,
                      void *room) PACE_MUST_CHECK;

/** Whether the memory of the others can be read. Collective over the host. */
bool pace_views_can_copy(pace_comm *comm);

/** Whether, tried now, that takes less than the two copies that a board takes. The same on all. Collective over the
 * host. */
bool pace_views_pay(pace_comm *comm);

pace_status pace_pulled_allreduce(const pace_views *views, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_pulled_reduce_scatter(const pace_views *views, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_pulled_all_gather(const pace_views *views, const pace_call *call) PACE_MUST_CHECK;
pace_status pace_pulled_broadcast(const pace_views *views, const pace_call *call) PACE_MUST_CHECK;

/* --- in owned memory ---------------------------------------------------------------------------------------------- */

pace_status pace_owned_allreduce(const pace_views *views, const pace_call *call) PACE_MUST_CHECK;
/** The owned memory that an address lies in with `bytes` behind it, or NULL. */
const pace_owned *pace_owned_find(const pace_comm *comm, const void *at, size_t bytes);

/* --- programs ----------------------------------------------------------------------------------------------------- */

/** Carries out a row of exchange/algorithms.h among all ranks, or among the leaders of hosts. */
pace_status pace_program_execute(pace_comm *comm, const pace_call *call, int row, bool of_leaders) PACE_MUST_CHECK;
/** What programs need. Collective over all ranks, also where only leaders carry a program out; MPI opens it and waits
 * for ever, so it is opened with the communicator and not in an exchange. */
pace_status pace_executor_open(pace_comm *comm) PACE_MUST_CHECK;
void pace_executor_free(pace_comm *comm);
