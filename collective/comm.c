/* Opening a communicator: who is on which host, the settings, the shared memory. */
#include "comm_state.h"
#include "parcels.h"

#include "call.h"
#include "pointers.h"
#include "trace.h"
#include "tuning.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes of a note: those with which an allreduce in pieces was fastest on two ranks (docs/collective.md). */
enum { ROOM = 48 << 10, LEAST_ROOM = 16 << 10, MOST_NEAR = 2048 };
static const size_t most_boards = (size_t)64 << 20;
_Static_assert(MOST_NEAR * sizeof(double) <= LEAST_ROOM, "a note has room for an element of each process");

/* --- settings ----------------------------------------------------------------------------------------------------- */

/* Rank 0 reads; all have the same settings, or the same failure with its message. */
static pace_status share_settings(pace_comm *c) {
    char text[512] = "";
    int status = 0;
    if (c->rank == 0) {
        status = (int)pace_tuning_settings(&c->settings, c->ranks);
        if (status) pace_snprintf(text, sizeof text, "%s", pace_message());
    }
    PMPI_Bcast(&status, 1, MPI_INT, 0, c->over);
    if (status) {
        PMPI_Bcast(text, sizeof text, MPI_CHAR, 0, c->over);
        return pace_fail((pace_status)status, "%s", text);
    }
    PMPI_Bcast(&c->settings, sizeof c->settings, MPI_BYTE, 0, c->over);
    return PACE_OK;
}

/* --- hosts -------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const char *text) {
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash * 0x9e3779b97f4a7c15u;
}

/* A host is what shares memory and the numbers of processes: a name, what the kernel says of itself since it was
 * started, and a namespace of processes, as a container has. PACELINE_HOST stands in for all, so that one machine can
 * play several. */
static uint64_t host_of_this(void) {
    char name[256] = "", boot[64] = "", processes[64] = "";
    const char *said = getenv("PACELINE_HOST");
    if (said && *said) return mix(1, said);
    gethostname(name, sizeof name - 1);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file) {
        if (!fgets(boot, sizeof boot, file)) boot[0] = 0;
        fclose(file);
    }
    if (readlink("/proc/self/ns/pid", processes, sizeof processes - 1) < 0) processes[0] = 0;
    return mix(mix(mix(2, name), boot), processes);
}

static void number_hosts(pace_comm *c, const uint64_t *host) {
    for (int r = 0; r < c->ranks; r++) {
        int first = 0;
        while (host[first] != host[r]) first++;
        c->first_of_host[r] = first == r ? c->hosts++ : c->first_of_host[first];
        c->local_of[r] = -1;
        if (host[r] != host[c->rank]) continue;
        if (r == c->rank) c->me = c->near;
        c->local_of[r] = c->near;
        c->rank_of[c->near++] = r;
    }
}

static pace_status find_hosts(pace_comm *c) {
    uint64_t mine = c->settings.no_shm ? mix(3, "") + (uint64_t)c->rank : host_of_this();
    uint64_t *host = pace_alloc((size_t)c->ranks, sizeof *host);
    c->local_of = pace_alloc((size_t)c->ranks * 3, sizeof *c->local_of);
    int lacks = !host || !c->local_of;
    PMPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, c->over);
    if (!lacks) {
        c->rank_of = c->local_of + c->ranks;
        c->first_of_host = c->rank_of + c->ranks;
        PMPI_Allgather(&mine, 8, MPI_BYTE, host, 8, MPI_BYTE, c->over);
        number_hosts(c, host);
    }
    pace_free(host);
    return lacks ? pace_fail(PACE_E_MEMORY, "no memory for a list of ranks") : PACE_OK;
}

static pace_status make_communicators(pace_comm *c) {
    c->local = c->over;
    if (c->hosts == 1) return PACE_OK;
    int leader = c->me == 0 ? 0 : MPI_UNDEFINED, host = c->first_of_host[c->rank];
    if (PMPI_Comm_dup(c->over, &c->own) != MPI_SUCCESS ||
        PMPI_Comm_split(c->over, host, c->rank, &c->local) != MPI_SUCCESS ||
        PMPI_Comm_split(c->over, leader, host, &c->leaders) != MPI_SUCCESS)
        return pace_fail(PACE_E_IO, "MPI made no communicator for %d hosts", c->hosts);
    return PACE_OK;
}

/* --- what a host shares ------------------------------------------------------------------------------------------- */

/* MPI's own messages go on while this process waits: another may need them to get here. */
static void make_progress(void *context) {
    const pace_comm *c = context;
    int found;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->over, &found, MPI_STATUS_IGNORE);
}

/* A rank that is not told its processors (more than 1,024) takes part nevertheless: all ranks must. */
static bool is_crowded(const pace_comm *c) {
    cpu_set_t allowed, all;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
    all = allowed;
    PMPI_Allreduce(&allowed, &all, sizeof allowed, MPI_BYTE, MPI_BOR, c->local);
    return CPU_COUNT(&all) > 0 && CPU_COUNT(&all) < c->near;
}

static size_t room_of(int near) {
    size_t room = ROOM;
    while (room > LEAST_ROOM && pace_boards_bytes(near, room) > most_boards) room /= 2;
    return room;
}

static pace_status share_memory(pace_comm *c) {
    size_t seats = (size_t)c->near * sizeof(pace_seat);
    if (c->near > MOST_NEAR)
        return pace_fail(PACE_E_LIMIT, "%d ranks on a host: expected at most %d", c->near, MOST_NEAR);
    c->room = room_of(c->near);
    PACE_TRY(pace_segment_open(&c->segment, c->local, seats + pace_boards_bytes(c->near, c->room), c->settings.shm));
    char *memory = c->segment.base;
    c->crowded = is_crowded(c);
    pace_waiter_init(&c->waiter, c->segment.base, c->me, c->near, c->crowded, c->settings.spin);
    c->waiter.patience_s = c->settings.patience_s;
    c->waiter.progress = make_progress;
    c->waiter.context = c;
    c->view_notes = pace_alloc((size_t)c->near, sizeof *c->view_notes);
    if (!c->view_notes) return PACE_E_MEMORY;
    return pace_boards_open(&c->boards, memory + seats, c->me, c->near, c->room, &c->waiter);
}

/* All ranks succeed, or none. */
static pace_status agree(const pace_comm *c, pace_status status) {
    int worst = (int)status;
    PMPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, c->over);
    if (status == PACE_OK && worst != PACE_OK)
        return pace_fail((pace_status)worst, "another rank could not open the communicator");
    return status;
}

/* Ways across hosts, and those that settings name, are programs. */
static bool may_need_programs(const pace_comm *c) {
    bool may = c->hosts > 1;
    for (int i = 0; i < PACE_CHOSEN; i++)
        for (int k = 0; k < c->settings.choices[i].count; k++) {
            int way = c->settings.choices[i].of[k].way;
            may |= way >= PACE_WAY_PROGRAM || way == PACE_WAY_TWO_LEVEL;
        }
    return may && c->ranks > 1;
}

static pace_status open_parts(pace_comm *c) {
    PACE_TRY(share_settings(c));
    PACE_TRY(find_hosts(c));
    PACE_TRY(agree(c, make_communicators(c)));
    PACE_TRY(agree(c, share_memory(c)));
    PACE_TRY(agree(c, pace_parcels_choose(c)));
    PACE_TRY(agree(c, pace_trace_open(&c->trace, c)));
    if (may_need_programs(c)) PACE_TRY(pace_executor_open(c));
    c->can_copy = !c->settings.no_copy && c->near > 1 && pace_views_can_copy(c);
    c->copy_pays = c->can_copy && c->hosts == 1 && pace_views_pay(c);
    c->small_bytes = pace_small_bytes(c);
    return PACE_OK;
}

/* --- the public functions ----------------------------------------------------------------------------------------- */

pace_status pace_comm_open(pace_comm **out, const void *mpi_comm) {
    int started = 0;
    PMPI_Initialized(&started);
    if (!started || !out)
        return pace_fail(PACE_E_USAGE, "pace_comm_open(): MPI has not been started, or no place was given");
    pace_comm *c = pace_alloc(1, sizeof *c);
    MPI_Comm over = mpi_comm ? *(const MPI_Comm *)mpi_comm : MPI_COMM_WORLD;
    int lacks = c == NULL;
    PMPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, over);
    if (lacks) {
        pace_free(c);
        return pace_fail(PACE_E_MEMORY, "no memory for a communicator");
    }
    c->over = c->local = over;
    c->own = c->leaders = MPI_COMM_NULL;
    PMPI_Comm_rank(over, &c->rank);
    PMPI_Comm_size(over, &c->ranks);
    pace_status status = open_parts(c);
    return PACE_GIVE(out, c, status, pace_comm_close(c));
}

static void free_communicator(MPI_Comm *comm) {
    if (*comm != MPI_COMM_NULL) PMPI_Comm_free(comm);
}

void pace_comm_close(pace_comm *c) {
    int ended = 0;
    if (!c) return;
    PMPI_Finalized(&ended);
    pace_executor_free(c);
    for (size_t i = 0; i < c->owned.count; i++) pace_segment_close(&c->owned.items[i].segment);
    PACE_VEC_FREE(&c->owned);
    pace_boards_close(&c->boards);
    pace_segment_close(&c->segment);
    if (!ended && c->broken == PACE_OK) { /* MPI may wait for others to free them */
        if (c->local != c->over) free_communicator(&c->local);
        free_communicator(&c->own);
        free_communicator(&c->leaders);
    }
    pace_trace_close(c->trace);
    pace_pointers_close(c->pointers);
    pace_free(c->view_notes);
    pace_free(c->local_of);
    pace_free(c->scratch);
    pace_free(c);
}

int pace_comm_rank(const pace_comm *comm) { return comm->rank; }
int pace_comm_size(const pace_comm *comm) { return comm->ranks; }
const char *pace_comm_message(void) { return pace_message(); }
