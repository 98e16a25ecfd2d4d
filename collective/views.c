#include "call.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

static const uint64_t SIGN_OF_VIEWS = ~PACE_NOTE_NUMBER;

_Static_assert(sizeof(pace_view_note) <= PACE_SMALL_NOTE, "one line between two cores");

const pace_owned *pace_owned_find(const pace_comm *c, const void *at, size_t bytes) {
    for (size_t i = 0; i < c->owned.count; i++) {
        const pace_owned *o = &c->owned.items[i];
        const char *base = (const char *)o->segment.base + (size_t)c->me * o->bytes;
        if ((const char *)at >= base && (const char *)at + bytes <= base + o->bytes) return o;
    }
    return NULL;
}

static size_t times(const pace_comm *c, const pace_call *call, int collective) {
    return call->collective == collective ? (size_t)c->near : 1;
}

static void describe(pace_view_note *note, const pace_comm *c, const pace_call *call) {
    size_t bytes = call->count * call->width;
    const pace_owned *in = pace_owned_find(c, call->in, bytes * times(c, call, PACE_REDUCESCATTER)),
                     *out = pace_owned_find(c, call->out, bytes * times(c, call, PACE_ALLGATHER));
    *note = (pace_view_note){.count = call->count,
                             .collective = (uint8_t)call->collective,
                             .element = (uint8_t)call->element,
                             .reduction = (uint8_t)call->reduction,
                             .copies = c->can_copy,
                             .root = call->root};
    note->in = (uint64_t)(uintptr_t)call->in;
    note->out = (uint64_t)(uintptr_t)call->out;
    if (in) note->in -= (uint64_t)(uintptr_t)in->segment.base + (uint64_t)c->me * in->bytes, note->in_owned = in->id;
    if (out)
        note->out -= (uint64_t)(uintptr_t)out->segment.base + (uint64_t)c->me * out->bytes, note->out_owned = out->id;
}

enum { CALL_TEXT = 128 };

static const char *call_text(char out[CALL_TEXT], const pace_view_note *of) {
    const char *name = pace_chosen_name(of->collective);
    if (!name) name = "nothing known";
    if (of->element == PACE_CALL_REFUSED) snprintf(out, CALL_TEXT, "refuses its own %s as wrong", name);
    else if (of->element == PACE_CALL_BY_MPI && of->count == UINT64_MAX)
        snprintf(out, CALL_TEXT, "leaves %s to MPI with a count or type that is wrong", name);
    else if (of->element == PACE_CALL_BY_MPI)
        snprintf(out, CALL_TEXT, "leaves %s of %llu bytes to MPI (root %d)", name, (unsigned long long)of->count,
                 (int)of->root);
    else
        snprintf(out, CALL_TEXT, "asks for %s of %llu elements (type %d, reduction %d, root %d)", name,
                 (unsigned long long)of->count, of->element, of->reduction, (int)of->root);
    return out;
}

static pace_status compare(const pace_comm *c, const pace_view_note *mine, const pace_view_note *theirs, int rank) {
    char here[CALL_TEXT], there[CALL_TEXT];
    if (mine->count == theirs->count && mine->collective == theirs->collective && mine->element == theirs->element &&
        mine->reduction == theirs->reduction && mine->root == theirs->root)
        return PACE_OK;
    return pace_fail(PACE_E_IO, "ranks call differently: rank %d %s, rank %d %s", c->rank, call_text(here, mine), rank,
                     call_text(there, theirs));
}

pace_status pace_views_open(pace_views *out, pace_comm *c, const pace_call *call) {
    pace_view_note mine;
    pace_view_note *all = c->view_notes;
    uint64_t number, sign = c->boards.sign;
    describe(&mine, c, call);
    c->boards.sign = SIGN_OF_VIEWS; /* two that describe their calls say in what they differ */
    pace_status posted = pace_board_post(&number, &c->boards, &mine, sizeof mine);
    c->boards.sign = sign;
    PACE_TRY(posted);
    PACE_TRY(pace_board_await_all(&c->boards, number));
    *out = (pace_views){c, all, true};
    for (int p = 0; p < c->near; p++) {
        memcpy(&all[p], pace_note(&c->boards, p, number), sizeof *all);
        if (!all[p].in_owned || !all[p].out_owned) out->owned = false;
    }
    for (int p = 0; p < c->near; p++) PACE_TRY(compare(c, &mine, &all[p], c->rank_of[p]));
    return PACE_OK;
}

/* Notes of all ranks by MPI, one's own behind them. After a failure MPI keeps the memory. */
static pace_status gather_notes(pace_comm *c, pace_view_note *all) {
    MPI_Request request;
    pace_wait wait = {0};
    bool failed = PMPI_Iallgather(&all[c->ranks], sizeof *all, MPI_BYTE, all, sizeof *all, MPI_BYTE, c->own,
                                  &request) != MPI_SUCCESS;
    for (int come = 0; !failed && !come;) {
        failed = PMPI_Test(&request, &come, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        if (!come) PACE_TRY(pace_wait_awake(&wait, &c->waiter));
    }
    return failed ? pace_fail(PACE_E_IO, "MPI failed to compare the calls of all ranks") : PACE_OK;
}

pace_status pace_calls_compare(pace_comm *c, const pace_call *call) {
    pace_views ignored;
    pace_status status = PACE_OK;
    if (c->hosts == 1) return pace_views_open(&ignored, c, call);
    pace_view_note *all = pace_alloc((size_t)c->ranks + 1, sizeof *all);
    if (!all) return PACE_E_MEMORY;
    describe(&all[c->ranks], c, call);
    PACE_TRY(gather_notes(c, all));
    for (int r = 0; r < c->ranks && status == PACE_OK; r++) status = compare(c, &all[c->ranks], &all[r], r);
    pace_free(all);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static const char *owned_base(const pace_comm *c, uint32_t id, int process) {
    for (size_t i = 0; i < c->owned.count; i++)
        if (c->owned.items[i].id == id)
            return (const char *)c->owned.items[i].segment.base + (size_t)process * c->owned.items[i].bytes;
    return NULL;
}

static bool copy_from(const pace_comm *c, int process, uint64_t address, size_t bytes, char *room) {
    pid_t pid = atomic_load(&c->waiter.seats[process].pid);
    while (bytes) {
        struct iovec here = {room, bytes}, there = {(void *)(uintptr_t)address, bytes};
        ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
        if (got <= 0) return false;
        room += got, address += (uint64_t)got, bytes -= (size_t)got;
    }
    return true;
}

pace_status pace_view(const char **out, const pace_views *v, int process, bool of_output, size_t from, size_t bytes,
                      void *room) {
    const pace_view_note *note = &v->of[process];
    uint32_t id = of_output ? note->out_owned : note->in_owned;
    uint64_t at = (of_output ? note->out : note->in) + from;
    if (id) {
        *out = owned_base(v->comm, id, process) + at;
        return PACE_OK;
    }
    if (!copy_from(v->comm, process, at, bytes, room))
        return pace_fail(PACE_E_IO, "cannot read %zu bytes of rank %d's buffer", bytes, v->comm->rank_of[process]);
    *out = room;
    return PACE_OK;
}

static bool all_say(const pace_comm *c, int mine) {
    PMPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MIN, c->local);
    return mine;
}

bool pace_views_can_copy(pace_comm *c) {
    static const uint64_t mark = 0x7061636c696e6531u;
    uint64_t number, address = (uint64_t)(uintptr_t)&mark, seen = 0;
    int can = 1;
    if (pace_board_post(&number, &c->boards, &address, sizeof address) != PACE_OK ||
        pace_board_await_all(&c->boards, number) != PACE_OK)
        can = 0;
    for (int p = 0; p < c->near && can; p++) {
        memcpy(&address, pace_note(&c->boards, p, number), sizeof address);
        if (p != c->me && (!copy_from(c, p, address, sizeof seen, (char *)&seen) || seen != mark)) can = 0;
    }
    return all_say(c, can);
}

/* --- whether reading pays ----------------------------------------------------------------------------------------- */

enum { TRIES = 4 };

/* What the same bytes take, the least of some tries: onto a board, off the neighbour's, and out of its own memory. */
typedef struct {
    int64_t post_ns, take_ns, read_ns;
} roads;

static void keep_least(int64_t *least, int64_t since_ns) {
    int64_t took = pace_clock_ns() - since_ns;
    if (took < *least) *least = took;
}

/* The neighbour has just written what is read, as it has an input. Its note begins with where that lies. */
static pace_status try_roads(roads *least, pace_comm *c, char *own, char *room) {
    int next = (c->me + 1) % c->near;
    uint64_t number, address = (uint64_t)(uintptr_t)own;
    char *note;
    memset(own, 1, c->room);
    PACE_TRY(pace_board_begin(&note, &c->boards));
    int64_t start = pace_clock_ns();
    memcpy(note, own, c->room);
    keep_least(&least->post_ns, start);
    memcpy(note, &address, sizeof address);
    number = pace_board_show(&c->boards);
    PACE_TRY(pace_board_await(&c->boards, next, number));
    memcpy(&address, pace_note(&c->boards, next, number), sizeof address);
    start = pace_clock_ns();
    memcpy(room, pace_note(&c->boards, next, number), c->room);
    keep_least(&least->take_ns, start);
    start = pace_clock_ns();
    if (copy_from(c, next, address, c->room, room)) keep_least(&least->read_ns, start);
    return pace_board_meet(&c->boards);
}

bool pace_views_pay(pace_comm *c) {
    roads least = {INT64_MAX / 2, INT64_MAX / 2, INT64_MAX};
    char *own = pace_comm_scratch(c, 2 * c->room);
    pace_status status = PACE_OK;
    if (!all_say(c, own != NULL)) return false;
    for (int i = 0; i < TRIES && status == PACE_OK; i++) status = try_roads(&least, c, own, own + c->room);
    return all_say(c, status == PACE_OK && least.read_ns < least.post_ns + least.take_ns);
}
