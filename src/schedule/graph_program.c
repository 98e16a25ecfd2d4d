#include "schedule/graph_program.h"

#include "exchange/program_by_name.h"
#include "schedule/meetings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A collective as a program of its group's ranks; made once for those of one kind and size. */
typedef struct {
    const char *collective;
    uint32_t ranks;
    double bytes;
    pace_program program;
} part;

typedef struct {
    const pace_walk_rank *ranks;
    uint32_t count;
    const pace_collective_choice *choices;
    size_t choice_count;
    pace_meetings meetings;
    PACE_VEC(part) parts;
    PACE_VEC(uint32_t) ends; /* of one rank: launch -> its last operation on its lane */
    uint32_t part_hint;
    size_t apart; /* exchanges whose partners are not all here */
} builder;

static const char *collective_of(const pace_graph *graph, const pace_graph_exchange *exchange) {
    return pace_names_text(&graph->names, exchange->collective);
}

static bool is(const char *text, const char *word) { return strcmp(text, word) == 0; }

static const char *algorithm_of(const builder *b, const char *collective) {
    for (size_t i = 0; i < b->choice_count; i++)
        if (is(b->choices[i].collective, collective)) return b->choices[i].algorithm;
    if (is(collective, "broadcast") || is(collective, "reduce")) return "binomial";
    return is(collective, "alltoall") ? "pairwise" : "ring";
}

/* Sizes of programs are those of the whole vector; a trace's are what one rank puts in. */
static double whole_bytes(const char *collective, double bytes, uint32_t ranks) {
    return is(collective, "allgather") ? bytes * ranks : bytes;
}

static pace_status find_part(const pace_program **out, builder *b, const char *collective, uint32_t ranks,
                             double bytes) {
    for (size_t i = 0; i < b->parts.count; i++) {
        const part *known = &b->parts.items[(i + b->part_hint) % b->parts.count];
        if (known->ranks != ranks || known->bytes != bytes || !is(known->collective, collective)) continue;
        b->part_hint = (uint32_t)(known - b->parts.items);
        *out = &known->program;
        return PACE_OK;
    }
    part made = {.collective = collective, .ranks = ranks, .bytes = bytes};
    const char *algorithm = algorithm_of(b, collective);
    PACE_TRY(
        pace_program_build(&made.program, collective, algorithm,
                           &(pace_program_question){.ranks = ranks, .bytes = whole_bytes(collective, bytes, ranks)}));
    pace_status status = PACE_OK;
    for (size_t c = 0; c < made.program.classes.count && status == PACE_OK; c++)
        if (made.program.classes.items[c].lane_count != 1)
            status =
                pace_fail(PACE_E_INPUT, "the algorithm '%s' needs several lanes a rank: a stream has one", algorithm);
    if (status == PACE_OK) status = PACE_PUSH(&b->parts, made);
    return PACE_GIVE(out, &b->parts.items[b->parts.count - 1].program, status, pace_program_free(&made.program));
}

/* What a launch becomes: work, a message, or a lane of a part. */
typedef struct {
    const pace_graph_exchange *exchange; /* NULL = work */
    const pace_meeting *meeting;         /* of a collective */
    const pace_program *program;         /* of a collective */
    const pace_program_lane *lane;
    uint32_t place; /* the rank's in its group */
} action;

/* Some of those it exchanges with are not here: nothing can be sent, and only its own time says how long it takes. */
static pace_status act_apart(const builder *b, uint32_t rank, uint32_t number, const pace_graph_exchange *exchange,
                             uint32_t here) {
    const pace_graph *graph = b->ranks[rank].graph;
    const char *collective = collective_of(graph, exchange);
    if (!isnan(b->ranks[rank].launch_ns[number]) || exchange->group_size == 1) return PACE_OK;
    if (exchange->peer >= 0)
        return pace_fail(PACE_E_INPUT, "rank %u: a %s with rank %" PRId64 ", which is not here, and no time of it",
                         rank, collective, exchange->peer);
    if (exchange->group_size > here)
        return pace_fail(PACE_E_INPUT, "rank %u: of %s by %" PRId64 " ranks only %u %s here, and no time of it", rank,
                         collective, exchange->group_size, here, here == 1 ? "is" : "are");
    return pace_fail(PACE_E_INPUT,
                     "rank %u: %s without partners, and no time of it: expected the traces of the other ranks", rank,
                     collective);
}

static pace_status act(action *out, builder *b, uint32_t rank, uint32_t number) {
    const pace_graph *graph = b->ranks[rank].graph;
    const pace_launch *launch = &graph->launches.items[number];
    *out = (action){0};
    if (!launch->exchange) return PACE_OK;
    const pace_graph_exchange *exchange = &graph->exchanges.items[launch->exchange - 1];
    const char *collective = collective_of(graph, exchange);
    if (is(collective, "send") || is(collective, "recv")) {
        if (exchange->peer < 0 || exchange->peer >= b->count) return act_apart(b, rank, number, exchange, 1);
        out->exchange = exchange;
        return PACE_OK;
    }
    uint32_t meets = b->meetings.of[rank] ? b->meetings.of[rank][number] : PACE_NO_MEETING;
    if (meets == PACE_NO_MEETING) return act_apart(b, rank, number, exchange, 1);
    const pace_meeting *meeting = &b->meetings.items.items[meets];
    if (meeting->count < 2 || meeting->count < exchange->group_size)
        return act_apart(b, rank, number, exchange, meeting->count);
    action collected = {.exchange = exchange, .meeting = meeting};
    PACE_TRY(find_part(&collected.program, b, collective, meeting->count, exchange->bytes));
    while (b->meetings.members.items[meeting->first + collected.place].rank != rank) collected.place++;
    const pace_rank_class *class = &collected.program->classes.items[collected.program->class_of[collected.place]];
    collected.lane = &collected.program->lanes.items[class->first_lane];
    *out = collected;
    return PACE_OK;
}

/* A launch waits for those of other streams; on its own it comes after those before it anyway. */
static bool waits(const pace_graph *graph, const pace_launch *launch, int k) {
    return launch->waits[k] != PACE_NO_LAUNCH && graph->launches.items[launch->waits[k]].stream != launch->stream;
}

static uint32_t operations_of(const action *what) { return what->lane && what->lane->count ? what->lane->count : 1; }

static pace_status find_ends(builder *b, uint32_t rank) {
    const pace_graph *graph = b->ranks[rank].graph;
    uint32_t *used = pace_alloc((size_t)graph->stream_count + 1, sizeof *used);
    if (!used) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    b->ends.count = 0;
    for (uint32_t i = 0; i < graph->launches.count && status == PACE_OK; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        action what;
        status = act(&what, b, rank, i);
        if (status != PACE_OK) break;
        used[launch->stream] += (uint32_t)waits(graph, launch, 0) + waits(graph, launch, 1) + operations_of(&what);
        status = PACE_PUSH(&b->ends, used[launch->stream] - 1);
    }
    pace_free(used);
    return status;
}

static pace_status add_part(pace_program *p, const builder *b, const action *what, uint32_t stream) {
    for (uint32_t i = what->lane->first; i < what->lane->first + what->lane->count; i++) {
        const pace_operation *o = &what->program->operations.items[i];
        if (o->kind != PACE_OPERATION_SEND && o->kind != PACE_OPERATION_RECEIVE) {
            PACE_TRY(pace_program_local(p, (pace_operation_kind)o->kind, o->amount));
            continue;
        }
        uint32_t place = pace_peer_rank(&what->program->peers.items[o->peer], what->place);
        pace_peer peer = pace_peer_of_rank(b->meetings.members.items[what->meeting->first + place].rank);
        peer.channel = (uint8_t)(1 + stream); /* messages of the trace itself are on channel 0 */
        PACE_TRY(o->kind == PACE_OPERATION_SEND ? pace_program_send(p, peer, 0, o->amount)
                                                : pace_program_receive(p, peer, 0, o->amount));
    }
    return what->lane->count ? PACE_OK : pace_program_local(p, PACE_OPERATION_WORK, 0);
}

static pace_status add_launch(pace_program *p, builder *b, uint32_t rank, uint32_t number) {
    const pace_graph *graph = b->ranks[rank].graph;
    const pace_launch *launch = &graph->launches.items[number];
    for (int k = 0; k < 2; k++)
        if (waits(graph, launch, k))
            PACE_TRY(
                pace_program_wait(p, graph->launches.items[launch->waits[k]].stream, b->ends.items[launch->waits[k]]));
    action what;
    PACE_TRY(act(&what, b, rank, number));
    if (what.lane) return add_part(p, b, &what, launch->stream);
    if (!what.exchange) {
        double work_ns = b->ranks[rank].launch_ns[number];
        bool apart = launch->exchange && !isnan(work_ns);
        b->apart += apart;
        return pace_program_local(p, PACE_OPERATION_WORK, launch->exchange && !apart ? 0 : work_ns);
    }
    pace_peer peer = pace_peer_of_rank((uint32_t)what.exchange->peer);
    if (is(collective_of(graph, what.exchange), "send")) return pace_program_send(p, peer, 0, what.exchange->bytes);
    return pace_program_receive(p, peer, 0, what.exchange->bytes);
}

static pace_status add_rank(pace_program *p, builder *b, uint32_t rank) {
    const pace_graph *graph = b->ranks[rank].graph;
    if (graph->stream_count > 255)
        return pace_fail(PACE_E_INPUT, "rank %u has %u streams; expected at most 255", rank, graph->stream_count);
    p->class_of[rank] = rank;
    PACE_TRY(find_ends(b, rank));
    PACE_TRY(pace_program_open_class(p));
    for (uint32_t stream = 0; stream < graph->stream_count; stream++) {
        if (stream) PACE_TRY(pace_program_open_lane(p));
        for (uint32_t i = 0; i < graph->launches.count; i++)
            if (graph->launches.items[i].stream == stream) PACE_TRY(add_launch(p, b, rank, i));
    }
    return PACE_OK;
}

static void free_builder(builder *b) {
    for (size_t i = 0; i < b->parts.count; i++) pace_program_free(&b->parts.items[i].program);
    PACE_VEC_FREE(&b->parts, &b->ends);
    pace_meetings_free(&b->meetings);
}

pace_status pace_program_of_graphs(pace_program *out, size_t *apart, const pace_walk_rank *ranks, size_t count,
                                   const pace_collective_choice *choices, size_t choice_count) {
    builder b = {.ranks = ranks, .count = (uint32_t)count, .choices = choices, .choice_count = choice_count};
    pace_program program = {0};
    pace_status status = pace_program_init(&program, (uint32_t)count);
    if (status == PACE_OK) status = pace_meetings_match(&b.meetings, ranks, count);
    for (uint32_t rank = 0; rank < count && status == PACE_OK; rank++) status = add_rank(&program, &b, rank);
    if (status == PACE_OK) status = pace_program_finish(&program);
    free_builder(&b);
    if (apart && status == PACE_OK) *apart = b.apart;
    return PACE_GIVE(out, program, status, pace_program_free(&program));
}
