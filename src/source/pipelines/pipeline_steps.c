/* Rows become a step of each rank: what a worker does on streams of its own, its steps as annotations. */
#include "source/pipelines/pipeline_rows.h"

#include "base/order.h"
#include "base/print.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_WORKERS = 1 << 12, BETWEEN_STEPS_NS = 1000, STAMPS_DIFFER_NS = 50000 };

/* Where a step lies on the clock of all workers: its rows' times are moved by so much. */
typedef struct {
    int64_t step, from_ns, to_ns, move_ns;
} placed_step;

typedef struct {
    pace_pipeline_rows *all;
    const char *path;
    pace_read_notes *notes;
    PACE_VEC(placed_step) steps; /* ascending */
    bool laid;                   /* end to end, whatever lies between them */
    uint64_t nobody;             /* messages that were left out */
    PACE_VEC(int64_t) peers;
    PACE_VEC(char) members;
    struct {
        pace_name ranks; /* of the step at hand; 0 = not written so far */
        int64_t size;
    } groups[PACE_PIPELINE_TENSOR + 1]; /* of the worker at hand, by pace_pipeline_work */
} maker;

/* --- kinds, workers, steps ---------------------------------------------------------------------------------------- */

static pace_status find_kinds(maker *m) {
    for (pace_name name = 0; name < pace_names_count(&m->all->names); name++)
        PACE_TRY(PACE_PUSH(&m->all->kinds, pace_pipeline_kind_of(pace_names_text(&m->all->names, name))));
    return PACE_OK;
}

PACE_ORDER(by_rank_and_time, pace_pipeline_row,
           PACE_UP(rank) PACE_UP(step) PACE_UP(start_ns) PACE_UP(duration_ns) PACE_UP(kind))
PACE_ORDER(by_place, pace_pipeline_worker, PACE_UP(stage) PACE_UP(replica) PACE_UP(tensor))
PACE_ORDER(by_number, placed_step, PACE_UP(step))

static bool is_same_place(const pace_pipeline_worker *worker, const pace_pipeline_row *row) {
    return worker->stage == row->stage && worker->replica == row->replica && worker->tensor == row->tensor;
}

static pace_status find_workers(maker *m) {
    pace_pipeline_rows *all = m->all;
    for (size_t i = 0; i < all->rows.count; i++) {
        const pace_pipeline_row *row = &all->rows.items[i];
        pace_pipeline_worker *last = all->workers.count ? &all->workers.items[all->workers.count - 1] : NULL;
        bool own = last && last->rank == row->rank;
        if (own && !is_same_place(last, row))
            return pace_fail(PACE_E_INPUT,
                             "%s: expected a rank in one place, found rank %" PRId64 " in stages %" PRId64
                             " and %" PRId64 ", replicas %" PRId64 " and %" PRId64,
                             m->path, row->rank, last->stage, row->stage, last->replica, row->replica);
        if (own) last->count++;
        else
            PACE_TRY(PACE_PUSH(&all->workers,
                               ((pace_pipeline_worker){row->rank, row->replica, row->stage, row->tensor, i, 1})));
        if (all->workers.count > MOST_WORKERS)
            return pace_fail(PACE_E_LIMIT, "%s: more than %d ranks", m->path, (int)MOST_WORKERS);
    }
    PACE_SORT(&all->workers, by_place);
    return PACE_OK;
}

/* Rows are by rank, then by step: each run of a step widens the step. */
static pace_status find_steps(maker *m) {
    for (size_t i = 0; i < m->all->rows.count; i++) {
        const pace_pipeline_row *row = &m->all->rows.items[i];
        int64_t end_ns = row->start_ns + row->duration_ns;
        bool begins = i == 0 || row->rank != row[-1].rank || row->step != row[-1].step;
        if (begins) PACE_TRY(PACE_PUSH(&m->steps, ((placed_step){row->step, row->start_ns, end_ns, 0})));
        placed_step *own = &m->steps.items[m->steps.count - 1];
        if (end_ns > own->to_ns) own->to_ns = end_ns;
    }
    PACE_SORT(&m->steps, by_number);
    size_t kept = 0;
    PACE_ITEMS (const placed_step, one, &m->steps) {
        placed_step *last = kept ? &m->steps.items[kept - 1] : NULL;
        if (!last || last->step != one->step) {
            m->steps.items[kept++] = *one;
            continue;
        }
        if (one->from_ns < last->from_ns) last->from_ns = one->from_ns;
        if (one->to_ns > last->to_ns) last->to_ns = one->to_ns;
    }
    m->steps.count = kept;
    return PACE_OK;
}

static const placed_step *placed(const maker *m, int64_t step) {
    size_t low = 0;
    PACE_SEARCH(low, m->steps.count, i, m->steps.items[i].step < step);
    return &m->steps.items[low];
}

/* Times count from each step's own begin where steps would lie upon each other; between steps that are no neighbours
 * lie those that were not recorded. */
static bool steps_stand_alone(const maker *m) {
    for (size_t i = 1; i < m->steps.count; i++) {
        const placed_step *step = &m->steps.items[i];
        if (step->from_ns < step[-1].to_ns || step->step != step[-1].step + 1) return true;
    }
    return m->all->drawn;
}

static void lay_end_to_end(maker *m) {
    int64_t at_ns = 0;
    m->laid = true;
    PACE_ITEMS (placed_step, step, &m->steps) {
        step->move_ns = at_ns - step->from_ns;
        at_ns += step->to_ns - step->from_ns + BETWEEN_STEPS_NS;
    }
}

/* Steps whose length is said begin at their zero, one behind the other, in the files of all stages alike. */
static void lay_as_said(maker *m) {
    int64_t at_ns = 0;
    m->laid = m->all->steps.count > 1;
    PACE_ITEMS (const pace_pipeline_step, said, &m->all->steps) {
        size_t low = 0;
        PACE_SEARCH(low, m->steps.count, i, m->steps.items[i].step < said->step);
        placed_step *own = low < m->steps.count && m->steps.items[low].step == said->step ? &m->steps.items[low] : NULL;
        if (own) {
            own->from_ns = 0;
            own->move_ns = at_ns;
            if (own->to_ns < said->duration_ns) own->to_ns = said->duration_ns;
        }
        at_ns += said->duration_ns + BETWEEN_STEPS_NS;
    }
}

static void place_steps(maker *m) {
    if (m->all->steps.count) lay_as_said(m);
    else if (steps_stand_alone(m)) lay_end_to_end(m);
}

/* Rows of one worker in one step stand together: the number of the first behind those of row `first`. */
static size_t end_of_step(const maker *m, size_t first) {
    const pace_pipeline_row *rows = m->all->rows.items;
    size_t end = first;
    while (end < m->all->rows.count && rows[end].rank == rows[first].rank && rows[end].step == rows[first].step) end++;
    return end;
}

static bool is_exchange(const maker *m, size_t row) {
    return m->all->kinds.items[m->all->rows.items[row].kind].collective != NULL;
}

/* An exchange may be stamped some microseconds behind the begin of the pass that waited for it: it is cut at the first
 * pass that begins so shortly before its end. From the last on, so that a row's next pass is known. */
static pace_status cut_exchanges(maker *m) {
    pace_pipeline_row *rows = m->all->rows.items;
    size_t *next_pass = pace_alloc(m->all->rows.count + 1, sizeof *next_pass);
    if (!next_pass) return PACE_E_MEMORY;
    for (size_t first = 0, end; first < m->all->rows.count; first = end) {
        end = end_of_step(m, first);
        next_pass[end] = end;
        for (size_t i = end; i-- > first;) {
            next_pass[i] = is_exchange(m, i) ? next_pass[i + 1] : i;
            int64_t end_ns = rows[i].start_ns + rows[i].duration_ns;
            size_t near = i + 1;
            PACE_SEARCH(near, end, k,
                        rows[k].start_ns <= rows[i].start_ns || rows[k].start_ns < end_ns - STAMPS_DIFFER_NS);
            size_t pass = next_pass[near];
            if (is_exchange(m, i) && pass < end && rows[pass].start_ns < end_ns)
                rows[i].duration_ns = rows[pass].start_ns - rows[i].start_ns;
        }
    }
    pace_free(next_pass);
    return PACE_OK;
}

/* An exchange of which the file has the transfer alone was asked for when the operation before it ended. */
static void begin_exchanges(maker *m) {
    int64_t free_ns = 0;
    for (size_t i = 0; i < m->all->rows.count; i++) {
        pace_pipeline_row *row = &m->all->rows.items[i];
        int64_t end_ns = row->start_ns + row->duration_ns;
        bool begins = i == 0 || row->rank != row[-1].rank || row->step != row[-1].step;
        if (!begins && m->all->kinds.items[row->kind].collective && free_ns < row->start_ns) {
            row->duration_ns = end_ns - free_ns;
            row->start_ns = free_ns;
        }
        free_ns = begins || end_ns > free_ns ? end_ns : free_ns;
    }
}

/* --- exchanges ---------------------------------------------------------------------------------------------------- */

static pace_status write_members(maker *m, const int64_t *ranks, size_t count) {
    char text[32];
    m->members.count = 0;
    for (size_t i = 0; i < count; i++) {
        int length = snprintf(text, sizeof text, "%s%" PRId64 "%s", i ? ", " : "[", ranks[i], i + 1 < count ? "" : "]");
        for (int k = 0; k < length; k++) PACE_TRY(PACE_PUSH(&m->members, text[k]));
    }
    return PACE_OK;
}

static bool takes_part(const pace_pipeline_rows *all, const pace_pipeline_worker *worker, const pace_pipeline_row *row,
                       pace_pipeline_work work) {
    bool end = worker->stage == 0 || worker->stage == all->stages - 1;
    switch (work) {
    case PACE_PIPELINE_EVERYONE: return true;
    case PACE_PIPELINE_REPLICAS: return worker->stage == row->stage && worker->tensor == row->tensor;
    case PACE_PIPELINE_ENDS: return end && worker->replica == row->replica && worker->tensor == row->tensor;
    default: return worker->rank == row->rank;
    }
}

static pace_status find_members(maker *m, pace_step *step, const pace_pipeline_row *row, pace_pipeline_work work) {
    PACE_VEC(int64_t) ranks = {0};
    pace_status status = PACE_OK;
    PACE_ITEMS (const pace_pipeline_worker, worker, &m->all->workers)
        if (status == PACE_OK && takes_part(m->all, worker, row, work)) status = PACE_PUSH(&ranks, worker->rank);
    if (status == PACE_OK) status = write_members(m, ranks.items, ranks.count);
    if (status == PACE_OK)
        status = pace_names_add(&m->groups[work].ranks, &step->names, m->members.items, m->members.count);
    m->groups[work].size = (int64_t)ranks.count;
    PACE_VEC_FREE(&ranks);
    return status;
}

static pace_status find_group(pace_exchange_info *info, maker *m, pace_step *step, const pace_pipeline_row *row,
                              pace_pipeline_work work) {
    if (m->groups[work].ranks == 0) PACE_TRY(find_members(m, step, row, work));
    info->group = info->group_ranks = m->groups[work].ranks;
    info->group_size = m->groups[work].size;
    return PACE_OK;
}

/* Of a group of which the rows name one rank, nobody to wait for is known: its time is its own. */
static pace_status give_exchange(maker *m, pace_step *step, const pace_pipeline_row *row, int64_t peer) {
    const pace_pipeline_kind *kind = &m->all->kinds.items[row->kind];
    pace_exchange_info info = {.source = PACE_NO_RANK, .destination = PACE_NO_RANK};
    bool sends = kind->work == PACE_PIPELINE_SEND, message = sends || kind->work == PACE_PIPELINE_RECEIVE;
    if (!kind->collective) return PACE_OK;
    PACE_TRY(pace_names_add(&info.collective, &step->names, kind->collective, strlen(kind->collective)));
    if (message) {
        const char *group = kind->backward ? "backward" : "forward";
        info.source = sends ? row->rank : peer < 0 ? PACE_NO_RANK : peer;
        info.destination = !sends ? row->rank : peer < 0 ? PACE_NO_RANK : peer;
        PACE_TRY(pace_names_add(&info.group, &step->names, group, strlen(group)));
    } else PACE_TRY(find_group(&info, m, step, row, kind->work));
    return pace_step_give_exchange(step, &info);
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* What a worker does at once stands on streams of its own. */
static int stream_of(const pace_pipeline_kind *kind) {
    enum { COMPUTE = 7, MESSAGES = 20, COLLECTIVES = 24 };
    if (!kind->collective) return COMPUTE;
    bool sends = kind->work == PACE_PIPELINE_SEND;
    if (!sends && kind->work != PACE_PIPELINE_RECEIVE) return COLLECTIVES;
    return MESSAGES + kind->backward * 2 + sends;
}

static pace_status find_lane(uint32_t *out, pace_step *step, const pace_pipeline_kind *kind) {
    char key[64];
    bool host = kind->work == PACE_PIPELINE_HOST;
    if (host) snprintf(key, sizeof key, "host 1/1");
    else snprintf(key, sizeof key, "device 0 stream %d", stream_of(kind));
    return pace_step_lane(out, step, key, strlen(key), !host, 0);
}

/* Work of the host of no length is a mark: the profiler found nothing. */
static pace_status add_row(maker *m, pace_step *step, const pace_pipeline_row *row, int64_t peer) {
    const pace_pipeline_kind *kind = &m->all->kinds.items[row->kind];
    const char *text = pace_names_text(&m->all->names, row->kind);
    bool host = kind->work == PACE_PIPELINE_HOST;
    pace_name name;
    uint32_t lane;
    m->nobody += peer == PACE_PIPELINE_NOBODY;
    if (peer == PACE_PIPELINE_NOBODY || (host && row->duration_ns == 0)) return PACE_OK;
    PACE_TRY(pace_names_add(&name, &step->names, text, strlen(text)));
    PACE_TRY(find_lane(&lane, step, kind));
    PACE_TRY(pace_step_add_task(step, lane, host ? PACE_TASK_OP : PACE_TASK_KERNEL, name,
                                row->start_ns + placed(m, row->step)->move_ns, row->duration_ns));
    if (kind->stage != PACE_STAGE_NONE) PACE_TRY(pace_step_give_stage(step, (uint8_t)kind->stage));
    return host ? PACE_OK : give_exchange(m, step, row, peer);
}

static pace_status mark_step(const maker *m, pace_step *step, int64_t number, int64_t end_ns) {
    static const pace_pipeline_kind host = {.work = PACE_PIPELINE_HOST};
    const placed_step *place = placed(m, number);
    char text[64];
    pace_name name;
    uint32_t lane;
    int64_t start_ns = place->from_ns + place->move_ns, length_ns = end_ns - place->from_ns;
    snprintf(text, sizeof text, "ProfilerStep#%" PRId64, number);
    PACE_TRY(pace_names_add(&name, &step->names, text, strlen(text)));
    PACE_TRY(find_lane(&lane, step, &host));
    return pace_step_add_task(step, lane, PACE_TASK_ANNOTATION, name, start_ns, length_ns);
}

/* A worker's step ends with its own last row, or as long after its begin as the file says. */
static pace_status add_step(maker *m, pace_step *step, const pace_pipeline_row *rows, size_t count) {
    int64_t end_ns = rows[0].start_ns;
    m->peers.count = 0;
    for (size_t i = 0; i < count; i++) {
        PACE_TRY(PACE_PUSH(&m->peers, PACE_PIPELINE_UNKNOWN));
        if (rows[i].start_ns + rows[i].duration_ns > end_ns) end_ns = rows[i].start_ns + rows[i].duration_ns;
    }
    if (m->all->steps.count) end_ns = placed(m, rows[0].step)->to_ns;
    pace_pipeline_peers_find(m->peers.items, m->all, rows, count);
    PACE_TRY(mark_step(m, step, rows[0].step, end_ns));
    for (size_t i = 0; i < count; i++) PACE_TRY(add_row(m, step, &rows[i], m->peers.items[i]));
    step->event_count += count;
    step->complete_count += count;
    return PACE_OK;
}

static pace_status add_steps(maker *m, pace_step *step, const pace_pipeline_worker *worker) {
    const pace_pipeline_row *rows = m->all->rows.items + worker->first;
    step->rank = worker->rank;
    step->of_passes = true;
    if (m->all->alone) step->world_size = m->all->stages;
    memset(m->groups, 0, sizeof m->groups);
    for (size_t from = 0, to; from < worker->count; from = to) {
        for (to = from; to < worker->count && rows[to].step == rows[from].step;) to++;
        PACE_TRY(add_step(m, step, rows + from, to - from));
    }
    PACE_TRY(pace_step_finish(step));
    return pace_pipeline_waits_add(step);
}

static pace_status make_rank(pace_step_list *out, maker *m, const pace_pipeline_worker *worker) {
    pace_step step;
    PACE_TRY(pace_step_init(&step));
    pace_status status = add_steps(m, &step, worker);
    if (status == PACE_OK) status = PACE_PUSH(out, step);
    if (status != PACE_OK) pace_step_free(&step);
    return status;
}

/* --- what is to be said ------------------------------------------------------------------------------------------- */

static void list_unknown_kinds(char *out, size_t size, const maker *m) {
    *out = '\0';
    int listed = 0;
    PACE_ITEMS (const pace_pipeline_row, row, &m->all->rows) {
        const char *name = pace_names_text(&m->all->names, row->kind);
        if (m->all->kinds.items[row->kind].known || strstr(out, name)) continue;
        pace_list(out, size, ", ", "%.40s", name);
        if (++listed == 4) return;
    }
}

typedef PACE_VEC(int64_t) numbers;

static pace_status keep_new(numbers *list, int64_t number) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == number) return PACE_OK;
    return PACE_PUSH(list, number);
}

/* Stages, replicas and parts of tensors make a grid; who of it recorded nothing is missing. */
static pace_status count_missing(size_t *out, size_t *places, const maker *m) {
    numbers stages = {0}, replicas = {0}, tensors = {0};
    pace_status status = PACE_OK;
    PACE_ITEMS (const pace_pipeline_worker, worker, &m->all->workers) {
        if (status == PACE_OK) status = keep_new(&stages, worker->stage);
        if (status == PACE_OK) status = keep_new(&replicas, worker->replica);
        if (status == PACE_OK) status = keep_new(&tensors, worker->tensor);
    }
    *places = stages.count * replicas.count * tensors.count;
    *out = *places > m->all->workers.count ? *places - m->all->workers.count : 0;
    PACE_VEC_FREE(&stages, &replicas, &tensors);
    return status;
}

/* Of several warnings the gravest code counts. */
static pace_status say(maker *m) {
    char unknown[256], *text = m->notes->warning;
    size_t size = sizeof m->notes->warning, missing, places;
    PACE_TRY(count_missing(&missing, &places, m));
    if (missing) pace_list(text, size, "; ", "%zu of %zu ranks have no operations here", missing, places);
    list_unknown_kinds(unknown, sizeof unknown, m);
    if (*unknown) pace_list(text, size, "; ", "operations of unknown kind are taken for compute: %s", unknown);
    if (m->nobody) pace_list(text, size, "; ", "%" PRIu64 " messages to nobody were left out", m->nobody);
    m->notes->code = *unknown || m->nobody ? PACE_WARN_EVENTS_LEFT_OUT : PACE_WARN_TIMELINE_ASSUMED;
    if (missing) m->notes->code = PACE_WARN_RANKS_MISSING;
    pace_list(
        text, size, "; ",
        "a pass is one piece of work here, taken for bound by compute; nothing of the host is known; an operation is "
        "taken to wait for the one of its rank that ended before it%s",
        m->laid ? "; steps are laid end to end, for nothing is known of the time between them" : "");
    return PACE_OK;
}

static pace_status make_all(pace_step_list *out, maker *m) {
    pace_pipeline_rows *all = m->all;
    if (all->rows.count == 0) return pace_fail(PACE_E_INPUT, "%s: expected rows of operations, found none", m->path);
    PACE_SORT(&all->rows, by_rank_and_time);
    PACE_TRY(find_kinds(m));
    PACE_TRY(find_workers(m));
    PACE_TRY(find_steps(m));
    PACE_TRY(cut_exchanges(m));
    if (all->drawn) begin_exchanges(m);
    place_steps(m);
    PACE_ITEMS (const pace_pipeline_worker, worker, &all->workers) PACE_TRY(make_rank(out, m, worker));
    return say(m);
}

pace_status pace_pipeline_steps_make(pace_step_list *out, pace_pipeline_rows *rows, const char *path,
                                     pace_read_notes *notes) {
    maker m = {.all = rows, .path = path, .notes = notes};
    pace_step_list made = {0};
    pace_status status = make_all(&made, &m);
    PACE_VEC_FREE(&m.steps, &m.peers, &m.members);
    return PACE_GIVE(out, made, status, pace_step_list_free(&made));
}
