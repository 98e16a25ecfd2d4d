/* Which kernels of a rank are messages, and to or from whom. */
#include "base/order.h"
#include "insight/ranks/messages.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* --- what a host task says --------------------------------------------------------------------------------------- */

typedef enum { SAYS_NOTHING, SAYS_SEND, SAYS_RECEIVE, SAYS_COALESCED, SAYS_COLLECTIVE } saying;

static saying says_word(const char *word, size_t length) {
    if (pace_span_is(word, length, "send")) return SAYS_SEND;
    if (pace_span_is(word, length, "recv")) return SAYS_RECEIVE;
    if (pace_span_starts(word, length, "coalesced")) return SAYS_COALESCED;
    return SAYS_COLLECTIVE;
}

/* "nccl:send 0->1": the library, the exchange, and for messages the two ranks inside their group, own one first. Or the
 * range that NCCL opens around its own function, of which it does not say to whom. */
static saying says_title(const char *title) {
    if (strcmp(title, "ncclSend") == 0) return SAYS_SEND;
    if (strcmp(title, "ncclRecv") == 0) return SAYS_RECEIVE;
    size_t length = pace_name_library(title);
    return length ? says_word(title + length, strcspn(title + length, " ")) : SAYS_NOTHING;
}

static saying says_task(const pace_step *step, uint32_t task) {
    if (step->kind[task] > PACE_TASK_ANNOTATION) return SAYS_NOTHING;
    const pace_exchange_info *info = step->kind[task] == PACE_TASK_OP ? pace_step_exchange(step, task) : NULL;
    if (!info) return says_title(pace_step_name(step, task));
    const char *word = pace_names_text(&step->names, info->collective);
    return *word ? says_word(word, strlen(word)) : SAYS_NOTHING;
}

static bool is_message(saying said) { return said == SAYS_SEND || said == SAYS_RECEIVE; }

/* --- who the peer is ---------------------------------------------------------------------------------------------- */

/* The rank of the world that is number `place` in "[4, 6]"; PACE_NO_RANK where the list is cut or not given. */
static int64_t member(const char *ranks, long place) {
    for (const char *at = ranks; *at;) {
        if (*at < '0' || *at > '9') {
            if (*at == '.') return PACE_NO_RANK;
            at++;
            continue;
        }
        char *end;
        long number = strtol(at, &end, 10);
        if (place-- == 0) return number;
        at = end;
    }
    return PACE_NO_RANK;
}

/* A title counts inside its group; without the group's members it is believed where the own rank stands for itself. */
static int64_t peer_of_title(const pace_rank *rank, const char *title, const char *members) {
    const char *at = strchr(title, ' ');
    if (!at || at[1] < '0' || at[1] > '9') return PACE_NO_RANK;
    char *end;
    long own = strtol(at + 1, &end, 10);
    if (!pace_starts(end, "->") && !pace_starts(end, "<-")) return PACE_NO_RANK;
    if (end[2] < '0' || end[2] > '9') return PACE_NO_RANK;
    long peer = strtol(end + 2, NULL, 10);
    if (*members) return member(members, peer);
    return rank->step.rank < 0 || own == rank->step.rank ? peer : PACE_NO_RANK;
}

/* A record's own title, or that of a range directly inside it. */
static const char *title_of(const pace_step *step, uint32_t task) {
    if (task == PACE_NO_TASK) return "";
    if (is_message(says_title(pace_step_name(step, task)))) return pace_step_name(step, task);
    for (uint32_t inner = task + 1; inner < step->count && pace_task_parent(step, inner) == task; inner++)
        if (is_message(says_title(pace_step_name(step, inner)))) return pace_step_name(step, inner);
    return "";
}

static pace_message_side side_of_info(const pace_rank *rank, uint32_t item, const pace_exchange_info *info,
                                      const char *title) {
    const pace_step *step = &rank->step;
    const char *word = pace_names_text(&step->names, info->collective);
    pace_message_side side = {.item = item,
                              .side = says_word(word, strlen(word)) == SAYS_SEND ? PACE_SENDS : PACE_RECEIVES,
                              .group = pace_names_text(&step->names, info->group),
                              .bytes = pace_exchange_bytes(step, info)};
    side.peer = side.side == PACE_SENDS ? info->destination : info->source;
    if (side.peer == PACE_NO_RANK)
        side.peer = peer_of_title(rank, title, pace_names_text(&step->names, info->group_ranks));
    return side;
}

static pace_message_side side_of_record(const pace_rank *rank, uint32_t item, uint32_t record) {
    const pace_exchange_info *info = pace_step_exchange(&rank->step, record);
    const char *title = title_of(&rank->step, record);
    if (info) return side_of_info(rank, item, info, title);
    return (pace_message_side){.item = item,
                               .side = says_title(title) == SAYS_SEND ? PACE_SENDS : PACE_RECEIVES,
                               .group = "",
                               .bytes = -1,
                               .peer = peer_of_title(rank, title, "")};
}

/* --- from kernels to records -------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t task;
    bool used;
} host_record;

typedef struct {
    uint32_t cause, item;
} batch; /* a kernel that may carry several messages */

typedef struct {
    pace_rank *rank;
    pace_message_sides *sides;
    PACE_VEC(host_record) records; /* by task, so by thread and time */
    PACE_VEC(batch) batches;
} finder;

static pace_status add_side(finder *f, pace_message_side side) {
    f->rank->work.items.items[side.item].message = true;
    side.place = (uint32_t)f->sides->count;
    return PACE_PUSH(f->sides, side);
}

/* The outermost host task around `task` that speaks of messages, or what else the tasks around it speak of. */
static uint32_t record_around(saying *said, const pace_step *step, uint32_t task) {
    uint32_t record = PACE_NO_TASK;
    *said = SAYS_NOTHING;
    for (; task != PACE_NO_TASK; task = pace_task_parent(step, task)) {
        saying own = says_task(step, task);
        if (is_message(own)) record = task;
        if (own != SAYS_NOTHING && (*said == SAYS_NOTHING || is_message(own))) *said = own;
    }
    return record;
}

/* Every message the host recorded, once: a range inside an operator that says the same is the same. NCCL's own ranges
 * are messages where the launch lies inside them; what it groups may as well be parts of an all-to-all. */
static pace_status list_records(finder *f) {
    const pace_step *step = &f->rank->step;
    uint8_t *speaks = pace_alloc(pace_names_count(&step->names), 1);
    if (!speaks) return PACE_E_MEMORY;
    bool any = step->records.count > 0;
    for (uint32_t name = 1; name < pace_names_count(&step->names); name++) {
        const char *text = pace_names_text(&step->names, name);
        speaks[name] = strchr(text, ':') && is_message(says_title(text));
        any = any || speaks[name];
    }
    pace_status status = PACE_OK;
    size_t next = 0; /* of step->records */
    for (uint32_t task = 0; any && status == PACE_OK && task < step->count; task++) {
        while (next < step->records.count && step->records.items[next].task < task) next++;
        bool informed = next < step->records.count && step->records.items[next].task == task;
        if (!informed && !speaks[step->name[task]]) continue;
        saying above;
        if (!is_message(says_task(step, task))) continue;
        if (record_around(&above, step, pace_task_parent(step, task)) != PACE_NO_TASK) continue;
        status = PACE_PUSH(&f->records, ((host_record){task, false}));
    }
    pace_free(speaks);
    return status;
}

static size_t first_record_from(const finder *f, uint32_t task) {
    size_t low = 0;
    PACE_SEARCH(low, f->records.count, middle, f->records.items[middle].task < task);
    return low;
}

static pace_status find_of_kernel(finder *f, uint32_t item) {
    const pace_step *step = &f->rank->step;
    uint32_t task = f->rank->work.items.items[item].task;
    const char *name = pace_step_name(step, task);
    const pace_exchange_info *info = pace_step_exchange(step, task);
    uint32_t cause = pace_task_on_device(step->kind[task]) ? pace_task_made_for(step, task) : task;
    saying own = SAYS_NOTHING, above;
    if (info) {
        const char *word = pace_names_text(&step->names, info->collective);
        own = says_word(word, strlen(word));
    }
    uint32_t record = record_around(&above, step, cause);
    size_t at = record == PACE_NO_TASK ? f->records.count : first_record_from(f, record);
    if (at < f->records.count && f->records.items[at].task == record) {
        if (f->rank->work.host_is_device && f->records.items[at].used) return PACE_OK; /* the rest of its self time */
        f->records.items[at].used = true;
    }
    if (is_message(own)) return add_side(f, side_of_info(f->rank, item, info, title_of(step, record)));
    if (own == SAYS_COLLECTIVE || (own == SAYS_NOTHING && above == SAYS_COLLECTIVE)) return PACE_OK;
    if (record != PACE_NO_TASK) return add_side(f, side_of_record(f->rank, item, record));
    if (cause == PACE_NO_TASK) return PACE_OK;
    if (own != SAYS_COALESCED && above != SAYS_COALESCED && !strstr(name, "SendRecv")) return PACE_OK;
    return PACE_PUSH(&f->batches, ((batch){cause, item}));
}

PACE_ORDER(by_cause, batch, PACE_UP(cause) PACE_UP(item))

/* A batch carries what its thread recorded before it and no other kernel carries. */
static pace_status settle_batches(finder *f) {
    const pace_step *step = &f->rank->step;
    PACE_SORT(&f->batches, by_cause);
    for (size_t i = 0; i < f->batches.count; i++) {
        const batch *own = &f->batches.items[i];
        const pace_lane *lane = &step->lanes.items[pace_task_lane(step, own->cause)];
        uint32_t since = lane->first;
        if (i && f->batches.items[i - 1].cause > since) since = f->batches.items[i - 1].cause;
        for (size_t r = first_record_from(f, since); r < f->records.count && f->records.items[r].task < own->cause;
             r++) {
            if (f->records.items[r].used) continue;
            f->records.items[r].used = true;
            PACE_TRY(add_side(f, side_of_record(f->rank, own->item, f->records.items[r].task)));
        }
    }
    return PACE_OK;
}

PACE_ORDER(by_item, pace_message_side, PACE_UP(item) PACE_UP(place))

pace_status pace_message_sides_find(pace_message_sides *out, pace_rank *rank) {
    pace_message_sides sides = {0};
    finder f = {.rank = rank, .sides = &sides};
    pace_status status = list_records(&f);
    for (uint32_t i = 0; status == PACE_OK && i < rank->work.items.count; i++)
        if (rank->work.items.items[i].class == PACE_WORK_COMMUNICATION) status = find_of_kernel(&f, i);
    if (status == PACE_OK) status = settle_batches(&f);
    PACE_SORT(&sides, by_item);
    PACE_VEC_FREE(&f.records, &f.batches);
    return PACE_GIVE(out, sides, status, PACE_VEC_FREE(&sides));
}
