#include "schedule/meetings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY = 512 };

typedef struct {
    uint32_t meeting, rank, launch;
} arrival;

/* What a rank's exchanges of one kind are counted as. */
typedef struct {
    pace_name collective, group;
    int64_t peer;
    pace_name sequence, counted; /* among those of all ranks; the number of the rank's own side of it */
} exchange_kind;

typedef PACE_VEC(uint32_t) numbers;

typedef struct {
    const pace_walk_rank *ranks;
    size_t count;
    pace_names sequences, sides; /* exchanges that meet others of their sequence one by one; what a rank has of each */
    pace_names groups;
    PACE_VEC(exchange_kind) kinds; /* of the rank at hand, few */
    PACE_VEC(numbers) meetings;    /* sequence -> the meetings of it, in order */
    numbers said;                  /* number that the input gives -> meeting + 1; 0 = not yet met */
    uint32_t meeting_count;
    PACE_VEC(uint32_t) here; /* ranks that have exchanges of each */
    bool **alone;            /* rank -> its graph's name of a group -> no other rank here has exchanges of it */
    numbers seen;            /* of each side, so far */
    PACE_VEC(arrival) arrivals;
} matcher;

static bool is(const char *text, const char *word) { return strcmp(text, word) == 0; }

/* Only messages have a partner that must answer: of a collective's group some ranks may not have been given. */
static bool is_message(const matcher *m, uint32_t rank, const pace_graph_exchange *exchange) {
    const char *collective = pace_names_text(&m->ranks[rank].graph->names, exchange->collective);
    return is(collective, "send") || is(collective, "recv");
}

static int64_t rank_number(const matcher *m, uint32_t rank) {
    int64_t number = m->ranks[rank].graph->rank;
    return number >= 0 ? number : (int64_t)rank;
}

/* What the exchange is one of: a group's collective, or messages from one rank to another. */
static void sequence_key(char out[KEY], const matcher *m, uint32_t rank, const pace_graph_exchange *exchange) {
    const pace_graph *graph = m->ranks[rank].graph;
    const char *collective = pace_names_text(&graph->names, exchange->collective);
    const char *group = pace_names_text(&graph->names, exchange->group);
    bool send = is(collective, "send"), receive = is(collective, "recv");
    if (send || receive) {
        int64_t here = rank_number(m, rank);
        snprintf(out, KEY, "%" PRId64 " to %" PRId64 " in %.200s", send ? here : exchange->peer,
                 send ? exchange->peer : here, group);
    } else {
        snprintf(out, KEY, "%.100s in %.200s", collective, group);
    }
}

static pace_status arrive_at(matcher *m, uint32_t meeting, uint32_t rank, uint32_t launch) {
    return PACE_PUSH(&m->arrivals, ((arrival){meeting, rank, launch}));
}

static pace_status arrive_as_said(matcher *m, uint32_t number, uint32_t rank, uint32_t launch) {
    while (m->said.count <= number) PACE_TRY(PACE_PUSH(&m->said, 0));
    uint32_t *meeting = &m->said.items[number];
    if (*meeting == 0) *meeting = ++m->meeting_count;
    return arrive_at(m, *meeting - 1, rank, launch);
}

static pace_status add_kind(matcher *m, uint32_t rank, const pace_graph_exchange *exchange) {
    char sequence[KEY], side[KEY + 32];
    bool sends = is(pace_names_text(&m->ranks[rank].graph->names, exchange->collective), "send");
    exchange_kind kind = {.collective = exchange->collective, .group = exchange->group, .peer = exchange->peer};
    sequence_key(sequence, m, rank, exchange);
    snprintf(side, sizeof side, "%u: %s%s", rank, sequence, sends ? "s" : "");
    PACE_TRY(pace_names_add(&kind.sequence, &m->sequences, sequence, strlen(sequence)));
    PACE_TRY(pace_names_add(&kind.counted, &m->sides, side, strlen(side)));
    while (m->meetings.count <= kind.sequence) PACE_TRY(PACE_PUSH(&m->meetings, ((numbers){0})));
    while (m->seen.count <= kind.counted) PACE_TRY(PACE_PUSH(&m->seen, 0));
    return PACE_PUSH(&m->kinds, kind);
}

static pace_status kind_of(const exchange_kind **out, matcher *m, uint32_t rank, const pace_graph_exchange *exchange) {
    for (size_t i = m->kinds.count; i-- > 0;) {
        const exchange_kind *kind = &m->kinds.items[i];
        if (kind->collective != exchange->collective || kind->group != exchange->group || kind->peer != exchange->peer)
            continue;
        *out = kind;
        return PACE_OK;
    }
    PACE_TRY(add_kind(m, rank, exchange));
    *out = &m->kinds.items[m->kinds.count - 1];
    return PACE_OK;
}

static pace_status arrive(matcher *m, uint32_t rank, uint32_t launch, const pace_graph_exchange *exchange) {
    const exchange_kind *kind;
    if (exchange->meeting == PACE_MEETS_NOBODY) return PACE_OK;
    if (exchange->meeting > 0) return arrive_as_said(m, (uint32_t)exchange->meeting, rank, launch);
    if (m->alone[rank][exchange->group] && !is_message(m, rank, exchange)) return PACE_OK;
    PACE_TRY(kind_of(&kind, m, rank, exchange));
    numbers *meetings = &m->meetings.items[kind->sequence];
    uint32_t time = m->seen.items[kind->counted]++;
    while (meetings->count <= time) PACE_TRY(PACE_PUSH(meetings, m->meeting_count++));
    return arrive_at(m, meetings->items[time], rank, launch);
}

/* Groups that a rank has exchanges of, each once. `counts` = they are counted, else looked up. */
static pace_status go_through_groups(matcher *m, uint32_t rank, bool counts) {
    const pace_graph *graph = m->ranks[rank].graph;
    bool *seen = pace_alloc(pace_names_count(&graph->names) + 1, sizeof *seen);
    pace_status status = seen ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < graph->exchanges.count; i++) {
        pace_name group = graph->exchanges.items[i].group, number;
        const char *text = pace_names_text(&graph->names, group);
        if (seen[group]) continue;
        seen[group] = true;
        status = pace_names_add(&number, &m->groups, text, strlen(text));
        while (status == PACE_OK && m->here.count <= number) status = PACE_PUSH(&m->here, 0);
        if (status == PACE_OK && counts) m->here.items[number]++;
        if (status == PACE_OK && !counts) m->alone[rank][group] = m->here.items[number] == 1;
    }
    pace_free(seen);
    return status;
}

static pace_status find_lone_groups(matcher *m) {
    if (!PACE_MAKE(m->alone, m->count)) return PACE_E_MEMORY;
    for (uint32_t rank = 0; rank < m->count; rank++) {
        if (!PACE_MAKE(m->alone[rank], pace_names_count(&m->ranks[rank].graph->names) + 1)) return PACE_E_MEMORY;
        PACE_TRY(go_through_groups(m, rank, true));
    }
    for (uint32_t rank = 0; rank < m->count; rank++) PACE_TRY(go_through_groups(m, rank, false));
    return PACE_OK;
}

static pace_status find_arrivals(matcher *m) {
    PACE_TRY(find_lone_groups(m));
    for (uint32_t rank = 0; rank < m->count; rank++) {
        const pace_graph *graph = m->ranks[rank].graph;
        m->kinds.count = 0;
        for (uint32_t i = 0; i < graph->launches.count; i++) {
            uint32_t exchange = graph->launches.items[i].exchange;
            if (exchange) PACE_TRY(arrive(m, rank, i, &graph->exchanges.items[exchange - 1]));
        }
    }
    return PACE_OK;
}

static bool rank_is_here(const matcher *m, int64_t number) {
    for (uint32_t rank = 0; rank < m->count; rank++)
        if (rank_number(m, rank) == number) return true;
    return false;
}

static pace_status check_alone(const matcher *m, const arrival *alone) {
    const pace_graph *graph = m->ranks[alone->rank].graph;
    const pace_graph_exchange *exchange = &graph->exchanges.items[graph->launches.items[alone->launch].exchange - 1];
    const char *collective = pace_names_text(&graph->names, exchange->collective);
    if (!is_message(m, alone->rank, exchange) || !rank_is_here(m, exchange->peer)) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "rank %" PRId64 ": a %s with rank %" PRId64 " has no counterpart there",
                     rank_number(m, alone->rank), collective, exchange->peer);
}

static pace_status place_members(pace_meetings *out, const matcher *m) {
    size_t meetings = m->meeting_count;
    for (size_t i = 0; i < meetings; i++) PACE_TRY(PACE_PUSH(&out->items, ((pace_meeting){0})));
    for (size_t i = 0; i < m->arrivals.count; i++) out->items.items[m->arrivals.items[i].meeting].count++;
    uint32_t first = 0;
    for (size_t i = 0; i < meetings; i++) {
        out->items.items[i].first = first;
        first += out->items.items[i].count;
        out->items.items[i].count = 0;
    }
    for (uint32_t i = 0; i < first; i++) PACE_TRY(PACE_PUSH(&out->members, ((pace_meeting_member){0})));
    PACE_ITEMS (const arrival, a, &m->arrivals) {
        pace_meeting *meeting = &out->items.items[a->meeting];
        out->members.items[meeting->first + meeting->count++] = (pace_meeting_member){a->rank, a->launch};
    }
    PACE_ITEMS (const arrival, a, &m->arrivals) {
        if (out->items.items[a->meeting].count == 1) PACE_TRY(check_alone(m, a));
        out->of[a->rank][a->launch] = a->meeting;
    }
    return PACE_OK;
}

static pace_status make_tables(pace_meetings *out, const pace_walk_rank *ranks, size_t count) {
    out->rank_count = count;
    if (!PACE_MAKE(out->of, count + 1)) return PACE_E_MEMORY;
    for (size_t rank = 0; rank < count && count > 1; rank++) {
        size_t launches = ranks[rank].graph->launches.count;
        if (!PACE_MAKE(out->of[rank], launches + 1)) return PACE_E_MEMORY;
        memset(out->of[rank], 0xff, launches * sizeof *out->of[rank]);
    }
    return PACE_OK;
}

pace_status pace_meetings_match(pace_meetings *out, const pace_walk_rank *ranks, size_t count) {
    matcher m = {.ranks = ranks, .count = count};
    PACE_TRY(make_tables(out, ranks, count));
    if (count < 2) return PACE_OK;
    pace_status status = pace_names_init(&m.sequences);
    if (status == PACE_OK) status = pace_names_init(&m.sides);
    if (status == PACE_OK) status = pace_names_init(&m.groups);
    if (status == PACE_OK) status = find_arrivals(&m);
    if (status == PACE_OK) status = place_members(out, &m);
    pace_names_free(&m.sequences);
    pace_names_free(&m.sides);
    pace_names_free(&m.groups);
    for (size_t rank = 0; m.alone && rank < count; rank++) pace_free(m.alone[rank]);
    pace_free(m.alone);
    PACE_ITEMS (numbers, of, &m.meetings) PACE_VEC_FREE(of);
    PACE_VEC_FREE(&m.meetings, &m.kinds, &m.said, &m.seen, &m.arrivals, &m.here);
    return status;
}

void pace_meetings_free(pace_meetings *meetings) {
    for (size_t i = 0; meetings->of && i < meetings->rank_count; i++) pace_free(meetings->of[i]);
    pace_free(meetings->of);
    PACE_VEC_FREE(&meetings->items, &meetings->members);
}
