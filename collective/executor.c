/*
 * Carries out the programs of exchange/algorithms.h: the same ones that schedule simulates. A vector goes through in
 * passes, each small enough that a message fits into a slot; ranks are in different passes at a time.
 *
 * Messages go through rings in shared memory between processes of a host, over MPI between hosts.
 */
#include "call.h"
#include "exchange/program_by_name.h"
#include "exchange/algorithms.h"
#include "rings.h"

#include <string.h>

enum {
    MOST_LANES = 8,
    FAR_SENDS = 8,
    FAR_BYTES = 1 << 20,
    MOST_PARCELS = FAR_BYTES / PACE_LEAST_PARCEL,
    SEGMENTS = 4,
    KEPT = 8
};

/* A message on its way to another host, in parcels (parcels.h). */
typedef struct {
    MPI_Request requests[MOST_PARCELS];
    int parcels, through; /* parcels 0 = on no way; so many of them, the first, are through */
    char *bytes;
} far_message;

/* A program that was carried out before: it does not depend on the bytes. */
typedef struct {
    pace_program program;
    int collective, row, root;
    bool leaders;
} kept_program;

struct pace_executor {
    pace_segment segment;
    pace_pair_rings rings; /* base NULL: all others are on other hosts */
    int pass_bytes;        /* of a message between any two ranks: the same on all */
    far_message sends[FAR_SENDS], takes[MOST_LANES];
    char *far_memory;
    kept_program kept[KEPT];
    unsigned next_kept, kept_count;
};

typedef struct pace_executor executor;

/* --- opening ------------------------------------------------------------------------------------------------------ */

static pace_status open_far(executor *e) {
    e->far_memory = pace_alloc(FAR_SENDS + MOST_LANES, FAR_BYTES);
    if (!e->far_memory) return PACE_E_MEMORY;
    for (int i = 0; i < FAR_SENDS; i++) e->sends[i].bytes = e->far_memory + (size_t)i * FAR_BYTES;
    for (int i = 0; i < MOST_LANES; i++) e->takes[i].bytes = e->far_memory + (size_t)(FAR_SENDS + i) * FAR_BYTES;
    return PACE_OK;
}

static pace_status open_near(executor *e, pace_comm *c) {
    size_t slot = pace_pair_slot_bytes(c->near);
    PACE_TRY(pace_segment_open(&e->segment, c->local, pace_pair_rings_bytes(c->near, slot), c->settings.shm));
    e->pass_bytes = (int)slot;
    return pace_pair_rings_open(&e->rings, e->segment.base, c->me, c->near, slot, &c->waiter);
}

/* What was sent has come or will. After a failure it may never, and MPI keeps the memory of all messages. */
static void end_far(executor *e, bool failed) {
    for (int i = 0; i < FAR_SENDS && !failed; i++)
        for (far_message *m = &e->sends[i]; m->through < m->parcels; m->through++)
            PMPI_Wait(&m->requests[m->through], MPI_STATUS_IGNORE);
    if (!failed) pace_free(e->far_memory);
}

void pace_executor_free(pace_comm *c) {
    executor *e = c->executor;
    if (!e) return;
    end_far(e, c->broken != PACE_OK);
    for (unsigned i = 0; i < e->kept_count; i++) pace_program_free(&e->kept[i].program);
    pace_pair_rings_close(&e->rings);
    pace_segment_close(&e->segment);
    pace_free(e);
    c->executor = NULL;
}

pace_status pace_executor_open(pace_comm *c) {
    executor *e = pace_alloc(1, sizeof *e);
    pace_status status = e ? PACE_OK : PACE_E_MEMORY;
    c->executor = e;
    if (e) e->pass_bytes = FAR_BYTES;
    if (e && c->hosts > 1) status = open_far(e);
    if (e && c->near > 1 && status == PACE_OK) status = open_near(e, c);
    int worst = (int)status;
    PMPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, c->over);
    if (worst == PACE_OK) {
        PMPI_Allreduce(MPI_IN_PLACE, &e->pass_bytes, 1, MPI_INT, MPI_MIN, c->over);
        return PACE_OK;
    }
    pace_executor_free(c);
    return status != PACE_OK ? status : pace_fail(PACE_E_MEMORY, "another rank has no memory for messages");
}

/* --- one pass ----------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_comm *comm;
    executor *e;
    const pace_call *call;
    const pace_program *program;
    const pace_rank_class *class;
    MPI_Comm far;
    int ranks, rank, root; /* of the program: rank 0 is the root */
    bool leaders;
    char *vector;
    size_t block;       /* elements between two blocks; 0 = the vector is divided as it is */
    size_t from, count; /* elements of this pass; of every block where there are blocks */
    uint32_t at[MOST_LANES];
    bool far_waits;
} run;

/* The real rank of one of the program. */
static int real_rank(const run *r, uint32_t rank) { return (int)((rank + (uint32_t)r->root) % (uint32_t)r->ranks); }

static int near_number(const run *r, int rank) { return r->leaders ? -1 : r->comm->local_of[rank]; }

/* Elements of block `number` of this pass. */
static char *block_at(size_t *count, const run *r, uint32_t number, uint32_t of) {
    size_t w = r->call->width;
    if (r->block) {
        *count = r->count;
        return r->vector + ((size_t)number * r->block + r->from) * w;
    }
    size_t first = pace_part(r->count, (int)number, (int)of), behind = pace_part(r->count, (int)number + 1, (int)of);
    *count = behind - first;
    return r->vector + (r->from + first) * w;
}

static size_t gather(char *to, const run *r, const pace_place *place) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < place->count; i++) {
        size_t count;
        const char *at = block_at(&count, r, (place->first + i * place->stride) % place->of, place->of);
        memcpy(to + bytes, at, count * r->call->width);
        bytes += count * r->call->width;
    }
    return bytes;
}

static void put(const run *r, const pace_place *place, const char *message, bool add) {
    for (uint32_t i = 0; i < place->count; i++) {
        size_t count;
        char *at = block_at(&count, r, (place->first + i * place->stride) % place->of, place->of);
        if (add) r->call->reduce(at, at, message, count);
        else memcpy(at, message, count * r->call->width);
        message += count * r->call->width;
    }
}

static size_t bytes_of(const run *r, const pace_place *place) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < place->count; i++) {
        size_t count;
        block_at(&count, r, (place->first + i * place->stride) % place->of, place->of);
        bytes += count * r->call->width;
    }
    return bytes;
}

static size_t parcel_at(size_t *bytes, const run *r, size_t message_bytes, int number) {
    size_t from = (size_t)number * r->comm->parcel_bytes;
    *bytes = message_bytes - from < r->comm->parcel_bytes ? message_bytes - from : r->comm->parcel_bytes;
    return from;
}

/* Sends or takes a message of so many bytes in parcels, which may be none of bytes. False when MPI failed. */
static bool start_far(far_message *m, const run *r, int other, int channel, size_t bytes, bool sends) {
    for (m->parcels = m->through = 0; !m->parcels || (size_t)m->parcels * r->comm->parcel_bytes < bytes; m->parcels++) {
        size_t length, from = parcel_at(&length, r, bytes, m->parcels);
        MPI_Request *request = &m->requests[m->parcels];
        int error = sends ? PMPI_Isend(m->bytes + from, (int)length, MPI_BYTE, other, channel, r->far, request)
                          : PMPI_Irecv(m->bytes + from, (int)length, MPI_BYTE, other, channel, r->far, request);
        if (error != MPI_SUCCESS) return false;
    }
    return true;
}

/* Whether it has arrived, or was never started. */
static bool is_through(bool *failed, far_message *m) {
    int one = 1;
    *failed = false;
    for (; m->through < m->parcels && one && !*failed; m->through += one)
        *failed = PMPI_Test(&m->requests[m->through], &one, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (*failed || m->through < m->parcels) return false;
    m->parcels = 0;
    return true;
}

static bool try_send(bool *done, run *r, const pace_peer *peer, const pace_place *place) {
    int to = real_rank(r, pace_peer_rank(peer, (uint32_t)r->rank)), near = near_number(r, to), free_one = -1;
    if (near >= 0) {
        char *room = pace_pair_room(&r->e->rings, near, peer->channel);
        if (room) gather(room, r, place), pace_pair_send(&r->e->rings, near, peer->channel);
        *done = room != NULL;
        return true;
    }
    for (int i = 0; i < FAR_SENDS && free_one < 0; i++) {
        bool failed;
        if (is_through(&failed, &r->e->sends[i])) free_one = i;
        if (failed) return false;
    }
    *done = free_one >= 0;
    r->far_waits |= !*done;
    if (!*done) return true;
    far_message *m = &r->e->sends[free_one];
    size_t bytes = gather(m->bytes, r, place);
    return start_far(m, r, to, peer->channel, bytes, true);
}

static bool try_receive(bool *done, run *r, uint32_t lane, const pace_peer *peer, const pace_place *place, bool add) {
    int from = real_rank(r, pace_peer_rank(peer, (uint32_t)r->rank)), near = near_number(r, from);
    if (near >= 0) {
        const char *message = pace_pair_message(&r->e->rings, near, peer->channel);
        if (message) put(r, place, message, add), pace_pair_done(&r->e->rings, near, peer->channel);
        *done = message != NULL;
        return true;
    }
    far_message *m = &r->e->takes[lane];
    if (!m->parcels && !start_far(m, r, from, peer->channel, bytes_of(r, place), false)) return false;
    bool failed, come = is_through(&failed, m);
    if (come) put(r, place, m->bytes, add);
    *done = come;
    r->far_waits |= !come;
    return !failed;
}

static bool adds(const run *r, const pace_program_lane *lane, uint32_t i) {
    const pace_operation *ops = &r->program->operations.items[lane->first];
    while (i < lane->count && ops[i].kind == PACE_OPERATION_RECEIVE) i++;
    return i < lane->count && ops[i].kind == PACE_OPERATION_REDUCE;
}

/* One operation of a lane, if it can be done now. False when MPI failed. */
static bool try_one(bool *done, run *r, uint32_t lane) {
    const pace_program_lane *of = &r->program->lanes.items[r->class->first_lane + lane];
    uint32_t i = r->at[lane];
    const pace_operation *op = &r->program->operations.items[of->first + i];
    const pace_place *place = &r->program->places.items[of->first + i];
    const pace_peer *peer = &r->program->peers.items[op->peer];
    *done = true;
    switch (op->kind) {
    case PACE_OPERATION_SEND: return try_send(done, r, peer, place);
    case PACE_OPERATION_RECEIVE: return try_receive(done, r, lane, peer, place, adds(r, of, i));
    case PACE_OPERATION_WAIT: *done = r->at[op->peer] > (uint32_t)op->amount; return true;
    default: return true; /* a reduction was done as its messages came */
    }
}

/* As far as all lanes get. */
static pace_status advance(bool *moved, bool *ended, run *r) {
    *moved = false;
    *ended = true;
    r->far_waits = false;
    for (uint32_t lane = 0; lane < r->class->lane_count; lane++) {
        uint32_t count = r->program->lanes.items[r->class->first_lane + lane].count;
        for (bool done = true; r->at[lane] < count && done;) {
            if (!try_one(&done, r, lane)) return pace_fail(PACE_E_IO, "MPI failed to send or receive a message");
            r->at[lane] += done;
            *moved |= done;
        }
        *ended &= r->at[lane] == count;
    }
    return PACE_OK;
}

/* Nobody is woken by a message of MPI: who waits for one does not sleep. */
static pace_status wait_for_more(pace_wait *wait, const run *r) {
    pace_waiter *w = &r->comm->waiter;
    if (wait->turns < w->spin_now) {
        wait->turns++;
        pace_relax();
        return PACE_OK;
    }
    return r->far_waits ? pace_wait_awake(wait, w) : pace_wait_turn(wait, w);
}

static pace_status pass(run *r) {
    pace_wait wait = {0};
    pace_status status = PACE_OK;
    memset(r->at, 0, sizeof r->at);
    for (bool moved, ended = false; status == PACE_OK && !ended;) {
        status = advance(&moved, &ended, r);
        if (status != PACE_OK || ended) break;
        if (!moved) status = wait_for_more(&wait, r);
        else if (wait.turns) pace_wait_end(&wait, &r->comm->waiter), wait = (pace_wait){0};
    }
    pace_wait_end(&wait, &r->comm->waiter);
    return status;
}

/* --- all passes --------------------------------------------------------------------------------------------------- */

static pace_status build(pace_program *out, const run *r, int row) {
    const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
    bool by_host = strcmp(a->name, "rails") == 0 || strcmp(a->name, "leaders") == 0;
    pace_program_question q = {.ranks = (uint32_t)r->ranks,
                               .bytes = 1,
                               .group = (uint32_t)(by_host && !r->leaders ? r->comm->ranks / r->comm->hosts : 1),
                               .segments = a->segments ? SEGMENTS : 1,
                               .viewer = (uint32_t)r->rank + 1};
    PACE_TRY(pace_program_build(out, pace_collective_rows[r->call->collective].name, a->name, &q));
    const pace_rank_class *class = &out->classes.items[out->class_of[r->rank]];
    bool channels = true;
    for (size_t i = 0; i < out->peers.count; i++) channels &= out->peers.items[i].channel < PACE_PAIR_CHANNELS;
    if (channels && class->lane_count <= MOST_LANES) return PACE_OK;
    pace_program_free(out);
    return pace_fail(PACE_E_INTERNAL, "%s has more %s than there is room for", a->name,
                     channels ? "lanes" : "channels");
}

static kept_program *find_kept(const run *r, int row) {
    for (unsigned i = 0; i < r->e->kept_count; i++) {
        kept_program *k = &r->e->kept[i];
        if (k->collective == r->call->collective && k->row == row && k->root == r->root && k->leaders == r->leaders)
            return k;
    }
    return NULL;
}

/* Builds the program, or takes it from those that are kept; the oldest makes room. */
static pace_status find_program(run *r, int row) {
    executor *e = r->e;
    kept_program *k = find_kept(r, row);
    if (!k) {
        pace_program built = {0};
        PACE_TRY(build(&built, r, row));
        k = &e->kept[e->next_kept++ % KEPT];
        if (e->kept_count == KEPT) pace_program_free(&k->program);
        else e->kept_count++;
        *k = (kept_program){built, r->call->collective, row, r->root, r->leaders};
    }
    r->program = &k->program;
    r->class = &k->program.classes.items[k->program.class_of[r->rank]];
    return PACE_OK;
}

/* Elements of a pass, the same on all ranks: the largest message of any class fills a slot. */
static size_t pass_count(const run *r, size_t slot_bytes) {
    size_t fit = slot_bytes / r->call->width, most = SIZE_MAX;
    for (size_t i = 0; i < r->program->places.count; i++) {
        const pace_place *p = &r->program->places.items[i];
        size_t count = r->block ? fit / p->count : fit > p->count ? (fit - p->count) * p->of / p->count : 1;
        if (count < most) most = count;
    }
    return most ? most : 1;
}

static pace_status passes(run *r) {
    const pace_call *call = r->call;
    size_t most = pass_count(r, r->leaders ? FAR_BYTES : (size_t)r->e->pass_bytes);
    bool copies = !r->block && r->vector != call->in && r->call->collective != PACE_BROADCAST;
    for (r->from = 0; r->from < call->count; r->from += r->count) {
        r->count = call->count - r->from < most ? call->count - r->from : most;
        size_t at = r->from * call->width;
        if (copies) memcpy(r->vector + at, call->in + at, r->count * call->width);
        PACE_TRY(pass(r));
    }
    return PACE_OK;
}

/* Where the program works: in the output, or aside where that has no room for what comes by. */
static pace_status lay_out(run *r) {
    const pace_call *call = r->call;
    size_t bytes = call->count * call->width, all = bytes * (size_t)r->ranks;
    r->vector = call->out;
    if (call->collective == PACE_REDUCE && r->rank != 0) r->vector = pace_comm_scratch(r->comm, bytes);
    if (call->collective == PACE_REDUCESCATTER) r->vector = pace_comm_scratch(r->comm, all);
    if (!r->vector) return PACE_E_MEMORY;
    r->block = call->collective == PACE_REDUCESCATTER || call->collective == PACE_ALLGATHER ? call->count : 0;
    if (call->collective == PACE_REDUCESCATTER) memcpy(r->vector, call->in, all);
    char *own = r->vector + (size_t)r->rank * bytes;
    if (call->collective == PACE_ALLGATHER && own != call->in) memcpy(own, call->in, bytes);
    return PACE_OK;
}

pace_status pace_program_execute(pace_comm *c, const pace_call *call, int row, bool of_leaders) {
    run r = {.comm = c, .call = call, .leaders = of_leaders, .ranks = of_leaders ? c->hosts : c->ranks};
    r.far = of_leaders ? c->leaders : c->own;
    int rank = of_leaders ? c->first_of_host[c->rank] : c->rank;
    bool rooted = call->collective == PACE_BROADCAST || call->collective == PACE_REDUCE;
    r.root = rooted ? call->root : 0;
    r.rank = (rank - r.root + r.ranks) % r.ranks;
    r.e = c->executor;
    PACE_TRY(find_program(&r, row));
    pace_status status = lay_out(&r);
    if (status == PACE_OK) status = passes(&r);
    if (status == PACE_OK && call->collective == PACE_REDUCESCATTER)
        memcpy(call->out, r.vector + (size_t)r.rank * call->count * call->width, call->count * call->width);
    return status;
}
