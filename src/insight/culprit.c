#include "insight/culprit.h"

#include "base/order.h"
#include "base/text.h"
#include "insight/tables/operators.h"
#include "step/launch_time.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *around; /* "" = none */
    bool before;
    int64_t time_ns, longest_ns, before_ns;
} behind;

typedef struct {
    const char *name;
    int64_t time_ns;
} holder;

static bool is_operator(const pace_step *step, uint32_t task) {
    const char *name = pace_step_name(step, task);
    return pace_task_is_operator(step, task) && !pace_name_is_label(name) && !pace_name_wraps_compiled(name);
}

uint32_t pace_outermost_operator(const pace_step *step, uint32_t task) {
    uint32_t found = PACE_NO_TASK;
    for (; task != PACE_NO_TASK; task = pace_task_parent(step, task))
        if (is_operator(step, task)) found = task;
    return found;
}

/* A frame that says what is done: the user's own, or one of what writes logs; not PyTorch's, a builtin, or where Python
 * waits. */
static bool is_own_frame(const char *name) {
    static const char *const others[] = {"torch/",      "<",        "nn.Module",    "threading.py", "queue.py",
                                         "socket.py",   "ssl.py",   "http/",        "urllib3/",     "multiprocessing/",
                                         "concurrent/", "asyncio/", "selectors.py", "botocore/",    "boto3/",
                                         "fsspec/",     "s3fs/",    "gcsfs/",       "aiohttp/",     "requests/"};
    if (strstr(name, "/tensorboard/")) return true;
    for (size_t i = 0; i < PACE_COUNT(others); i++)
        if (pace_starts(name, others[i])) return false;
    return !strstr(name, "/torch/");
}

uint32_t pace_task_at(const pace_step *step, const pace_lane *lane, int64_t at_ns) {
    uint32_t task = pace_lane_begun_by(step, lane, at_ns);
    while (task != PACE_NO_TASK && pace_step_end_ns(step, task) <= at_ns) task = pace_task_parent(step, task);
    return task;
}

/* Whether a host task says by itself where time goes. */
static bool is_place(const pace_step *step, uint32_t task) {
    const char *name = pace_step_name(step, task);
    bool python = step->kind[task] == PACE_TASK_PYTHON;
    if (python && (pace_starts(name, "nn.Module") || is_own_frame(name))) return true;
    bool annotation = step->kind[task] == PACE_TASK_ANNOTATION || pace_name_is_label(name);
    /* the range that c10d opens around an exchange says no more than the exchange */
    return annotation && step->kind[task] <= PACE_TASK_ANNOTATION && !pace_name_library(name);
}

/* A library's frame, where nothing of the user's tells: PyTorch's, or that of a queue that other threads fill. */
static bool is_library_frame(const pace_step *step, uint32_t task) {
    const char *name = pace_step_name(step, task);
    return step->kind[task] == PACE_TASK_PYTHON && (pace_starts(name, "torch/") || pace_starts(name, "queue.py("));
}

/* The user's function around a whole step says nothing of the step: a library's function within it says more. */
const char *pace_host_place(const pace_step *step, uint32_t task) {
    const char *outermost = NULL;
    for (; task != PACE_NO_TASK; task = pace_task_parent(step, task)) {
        const char *name = pace_step_name(step, task);
        if (pace_task_marks_step(step, task)) {
            if (outermost) return outermost;
            continue;
        }
        if (is_place(step, task)) return name;
        if (is_library_frame(step, task)) outermost = name;
    }
    return outermost;
}

static const char *name_or_none(const pace_step *step, uint32_t task) {
    return task == PACE_NO_TASK ? "" : pace_step_name(step, task);
}

/* The module that device work is for, or else where it was launched. */
static const char *place_of_device_work(const pace_step *step, uint32_t task) {
    uint32_t module = pace_module_of(step, task), cause = pace_task_made_for(step, task);
    if (module != PACE_NO_TASK && !pace_name_library(pace_step_name(step, module))) return pace_step_name(step, module);
    return cause == PACE_NO_TASK ? NULL : pace_host_place(step, cause);
}

/* What the thread of the step does, while another that works for it waits. */
static const char *place_of_step_thread(const pace_rank *rank, int64_t at_ns) {
    const pace_step *step = &rank->step;
    PACE_ITEMS (const uint32_t, lane, &rank->marks.lanes) {
        uint32_t task = pace_task_at(step, &step->lanes.items[*lane], at_ns), mark = task;
        while (mark != PACE_NO_TASK && !pace_task_marks_step(step, mark)) mark = pace_task_parent(step, mark);
        if (mark != PACE_NO_TASK) return pace_host_place(step, task);
    }
    return NULL;
}

/* The middle of a piece, in its rank's clock. */
static int64_t middle_of(const pace_analysis *analysis, const pace_path_piece *piece, uint32_t home) {
    int64_t offset = analysis->ranks.items[home]->shift_ns - analysis->ranks.items[piece->rank]->shift_ns;
    return piece->start_ns + (pace_piece_end(piece) - piece->start_ns) / 2 + offset;
}

/* What a host thread does during a piece: the task, or what covers the wait before it; PACE_NO_TASK = not known. */
static uint32_t host_task_of(const pace_analysis *analysis, const pace_path_piece *piece, uint32_t home) {
    const pace_step *step = &analysis->ranks.items[piece->rank]->step;
    if (piece->task == PACE_NO_TASK || pace_task_on_device(step->kind[piece->task])) return PACE_NO_TASK;
    if (!piece->waiting) return piece->task;
    return pace_task_at(step, &step->lanes.items[pace_task_lane(step, piece->task)], middle_of(analysis, piece, home));
}

static const char *place_of_piece(const pace_analysis *analysis, const pace_path_piece *piece, uint32_t home) {
    const pace_step *step = &analysis->ranks.items[piece->rank]->step;
    if (piece->task == PACE_NO_TASK) return NULL;
    if (pace_task_on_device(step->kind[piece->task])) return place_of_device_work(step, piece->task);
    const char *own = pace_host_place(step, host_task_of(analysis, piece, home));
    return own || !piece->waiting
               ? own
               : place_of_step_thread(analysis->ranks.items[piece->rank], middle_of(analysis, piece, home));
}

/* The innermost function of a library within the place; not a builtin, whose name is an address. */
static const char *frame_of_piece(const pace_analysis *analysis, const pace_path_piece *piece, uint32_t home) {
    const pace_step *step = &analysis->ranks.items[piece->rank]->step;
    uint32_t task = host_task_of(analysis, piece, home);
    for (; task != PACE_NO_TASK && !is_place(step, task); task = pace_task_parent(step, task))
        if (step->kind[task] == PACE_TASK_PYTHON && *pace_step_name(step, task) != '<')
            return pace_step_name(step, task);
    return NULL;
}

typedef const char *(*name_of_piece)(const pace_analysis *, const pace_path_piece *, uint32_t home);

/* The call whose length device work waits for, and not what was done before it; PACE_NO_TASK = none. */
static uint32_t long_launch(const pace_step *step, const pace_path_piece *piece) {
    uint32_t call =
        piece->waiting && piece->resource == PACE_ADVICE_HOST ? pace_task_cause(step, piece->task) : PACE_NO_TASK;
    bool is_long =
        call != PACE_NO_TASK && step->kind[call] == PACE_TASK_CALL && pace_task_ns(step, call) > PACE_LAUNCH_REACHES_NS;
    return is_long ? call : PACE_NO_TASK;
}

static behind behind_piece(const pace_analysis *analysis, const pace_path_piece *piece, uint32_t home) {
    const pace_rank *rank = analysis->ranks.items[piece->rank];
    const pace_step *step = &rank->step;
    behind one = {.name = "",
                  .around = "",
                  .before = piece->waiting,
                  .time_ns = pace_piece_end(piece) - piece->start_ns};
    one.longest_ns = one.time_ns;
    one.before_ns = piece->waiting ? one.time_ns : 0;
    if (piece->task == PACE_NO_TASK) return one;
    bool device = pace_task_on_device(step->kind[piece->task]);
    uint32_t op = pace_outermost_operator(step, device ? pace_task_made_for(step, piece->task) : piece->task);
    uint32_t call = device ? long_launch(step, piece) : PACE_NO_TASK;
    one.name = pace_step_name(step, call == PACE_NO_TASK ? piece->task : call);
    if (call != PACE_NO_TASK) {
        one.before = false;
        one.before_ns = 0;
    }
    if (rank->work.host_is_device && piece->resource == PACE_ADVICE_HOST) { /* coming to it is part of calling it */
        const char *place = piece->waiting ? place_of_piece(analysis, piece, home) : NULL;
        one.name = place ? place : pace_step_name(step, op == PACE_NO_TASK ? piece->task : op);
        one.before = false;
        if (place) one.before_ns = 0;
        return one;
    }
    if (op != PACE_NO_TASK && op != piece->task) one.around = name_or_none(step, op);
    if (!device && piece->waiting && op != PACE_NO_TASK) { /* the host comes to an operator, whichever call is first */
        one.name = one.around[0] ? one.around : one.name;
        one.around = "";
    }
    return one;
}

PACE_ORDER(by_behind, behind, PACE_TEXT(name) PACE_TEXT(around) PACE_UP(before))

PACE_ORDER(by_holder, holder, PACE_TEXT(name))

static behind longest_behind(behind *all, size_t count) {
    behind best = {.name = "", .around = ""}, sum = best;
    if (count) qsort(all, count, sizeof *all, by_behind);
    for (size_t i = 0; i < count; i++) {
        behind before = i && by_behind(&all[i - 1], &all[i]) == 0 ? sum : (behind){0};
        sum = all[i];
        sum.time_ns += before.time_ns;
        sum.before_ns += before.before_ns;
        if (before.longest_ns > sum.longest_ns) sum.longest_ns = before.longest_ns;
        if (sum.time_ns > best.time_ns) best = sum;
    }
    return best;
}

/* Names the operators alone: one may run many kernels, none of which takes much. */
static behind *by_operator(behind *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (all[i].around[0]) all[i].name = all[i].around;
        all[i].around = "";
    }
    return all;
}

static holder longest_holder(holder *all, size_t count) {
    holder best = {.name = NULL}, sum = best;
    if (count) qsort(all, count, sizeof *all, by_holder);
    for (size_t i = 0; i < count; i++) {
        int64_t before = i && by_holder(&all[i - 1], &all[i]) == 0 ? sum.time_ns : 0;
        sum = all[i];
        sum.time_ns += before;
        if (sum.time_ns > best.time_ns) best = sum;
    }
    return best;
}

static double share_of(int64_t part, int64_t whole) { return whole > 0 ? (double)part / (double)whole : 0; }

/* The rank that spends most of the resource's time on the path. */
static void find_rank(pace_culprit *out, const pace_critical *critical, pace_advice resource, int64_t *by_rank) {
    int64_t whole = critical->by_resource_ns[resource];
    PACE_ITEMS (const pace_path_piece, piece, &critical->pieces)
        if (piece->resource == resource) by_rank[piece->rank] += pace_piece_end(piece) - piece->start_ns;
    for (uint32_t r = 1; r < critical->by_rank_ns.count; r++)
        if (by_rank[r] > by_rank[out->rank]) out->rank = r;
    out->rank_share = share_of(by_rank[out->rank], whole);
}

static size_t count_pieces(const pace_critical *critical, pace_advice resource) {
    size_t count = 0;
    for (size_t i = 0; i < critical->pieces.count; i++) count += critical->pieces.items[i].resource == resource;
    return count;
}

static pace_status find_name(pace_culprit *out, const pace_critical *critical, const pace_analysis *analysis,
                             pace_advice resource) {
    size_t count = 0;
    behind *all = pace_alloc(count_pieces(critical, resource), sizeof *all);
    if (!all) return PACE_E_MEMORY;
    for (size_t i = 0; i < critical->pieces.count; i++)
        if (critical->pieces.items[i].resource == resource)
            all[count++] = behind_piece(analysis, &critical->pieces.items[i], critical->home);
    int64_t whole = critical->by_resource_ns[resource];
    behind most = longest_behind(all, count);
    if (10 * most.time_ns < whole) {
        behind of_operator = longest_behind(by_operator(all, count), count);
        if (2 * of_operator.time_ns >= whole) most = of_operator;
    }
    out->name = most.name[0] ? most.name : NULL;
    out->around = most.around[0] ? most.around : NULL;
    out->before = 2 * most.before_ns > most.time_ns;
    out->share = share_of(most.time_ns, whole);
    out->longest_share = share_of(most.longest_ns, whole);
    pace_free(all);
    return PACE_OK;
}

static pace_status find_holder(holder *out, name_of_piece name_of, const pace_critical *critical,
                               const pace_analysis *analysis, pace_advice resource) {
    size_t count = 0;
    holder *all = pace_alloc(count_pieces(critical, resource), sizeof *all);
    if (!all) return PACE_E_MEMORY;
    PACE_ITEMS (const pace_path_piece, piece, &critical->pieces) {
        const char *name = piece->resource == resource ? name_of(analysis, piece, critical->home) : NULL;
        if (name) all[count++] = (holder){name, pace_piece_end(piece) - piece->start_ns};
    }
    *out = longest_holder(all, count);
    pace_free(all);
    return PACE_OK;
}

static pace_status find_place(pace_culprit *out, const pace_critical *critical, const pace_analysis *analysis,
                              pace_advice resource) {
    holder most, inmost;
    PACE_TRY(find_holder(&most, place_of_piece, critical, analysis, resource));
    PACE_TRY(find_holder(&inmost, frame_of_piece, critical, analysis, resource));
    int64_t whole = critical->by_resource_ns[resource];
    out->within = most.name;
    out->within_share = share_of(most.time_ns, whole);
    if (inmost.name && inmost.name != most.name && 2 * inmost.time_ns >= whole) out->inmost = inmost.name;
    return PACE_OK;
}

static bool is_within(const pace_step *step, uint32_t task, const char *place) {
    while (task != PACE_NO_TASK && pace_step_name(step, task) != place) task = pace_task_parent(step, task);
    return task != PACE_NO_TASK;
}

/* Whether kernels of the step are launched within the place. */
static bool launches_kernels(const pace_culprit *culprit, const pace_critical *critical,
                             const pace_analysis *analysis) {
    const pace_rank *rank = analysis->ranks.items[culprit->rank];
    int64_t offset_ns = analysis->ranks.items[critical->home]->shift_ns - rank->shift_ns;
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        if (item->class == PACE_WORK_COPY || item->start_ns < critical->from_ns + offset_ns ||
            item->start_ns >= critical->to_ns + offset_ns)
            continue;
        if (is_within(&rank->step, pace_task_made_for(&rank->step, item->task), culprit->within)) return true;
    }
    return false;
}

/* A bit for each task that work of the device follows from; the caller's. NULL = no memory. */
static uint8_t *launching_tasks(const pace_step *step) {
    uint8_t *bits = pace_alloc(step->count / 8 + 1, 1);
    for (uint32_t task = 0; bits && task < step->count; task++) {
        uint32_t cause = pace_task_on_device(step->kind[task]) ? pace_task_cause(step, task) : PACE_NO_TASK;
        if (cause != PACE_NO_TASK) bits[cause / 8] |= (uint8_t)(1u << cause % 8);
    }
    return bits;
}

/* The longest stretch of the host's on the path of the rank, at whose end something is launched again. */
static pace_status find_dry_stretch(pace_culprit *out, const pace_critical *critical, const pace_analysis *analysis) {
    const pace_step *step = &analysis->ranks.items[out->rank]->step;
    uint8_t *launches = launching_tasks(step);
    if (!launches) return PACE_E_MEMORY;
    int64_t begun_ns = INT64_MIN; /* of the stretch; INT64_MIN = none is open */
    PACE_ITEMS (const pace_path_piece, piece, &critical->pieces) {
        bool host = piece->resource == PACE_ADVICE_HOST && piece->rank == out->rank && piece->task != PACE_NO_TASK;
        if (!host) {
            begun_ns = INT64_MIN;
            continue;
        }
        if (begun_ns == INT64_MIN) begun_ns = piece->start_ns;
        bool device = pace_task_on_device(step->kind[piece->task]);
        uint32_t call = device ? pace_task_cause(step, piece->task) : piece->task;
        if (call == PACE_NO_TASK || !(device || launches[call / 8] >> call % 8 & 1)) continue;
        if (pace_piece_end(piece) - begun_ns > out->dry_ns) {
            uint32_t op = pace_outermost_operator(step, call);
            out->dry_ns = pace_piece_end(piece) - begun_ns;
            out->dry_before = pace_step_name(step, op == PACE_NO_TASK ? call : op);
        }
        begun_ns = INT64_MIN;
    }
    out->dry_share = share_of(out->dry_ns, critical->by_resource_ns[PACE_ADVICE_HOST]);
    pace_free(launches);
    return PACE_OK;
}

pace_status pace_culprit_find(pace_culprit *out, const pace_critical *critical, const pace_analysis *analysis,
                              pace_advice resource) {
    pace_culprit culprit = {0};
    int64_t *by_rank = pace_alloc(critical->by_rank_ns.count, sizeof *by_rank);
    pace_status status = by_rank ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = find_name(&culprit, critical, analysis, resource);
    if (status == PACE_OK) status = find_place(&culprit, critical, analysis, resource);
    if (status == PACE_OK) find_rank(&culprit, critical, resource, by_rank);
    pace_free(by_rank);
    if (status == PACE_OK && resource == PACE_ADVICE_HOST) status = find_dry_stretch(&culprit, critical, analysis);
    if (status != PACE_OK) return status;
    culprit.no_launches =
        culprit.within && resource == PACE_ADVICE_HOST && !launches_kernels(&culprit, critical, analysis);
    *out = culprit;
    return PACE_OK;
}
