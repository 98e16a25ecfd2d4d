#include "source/slice/slice_cut.h"
#include "base/order.h"
#include "source/traces/event_time.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* --- what an event is --------------------------------------------------------------------------------------------- */

static bool is_complete(const pace_kineto_event *event) { return event->phase == 'X' && event->has_start; }

static int64_t end_of(const pace_kineto_event *event) {
    bool sane = event->duration_ns > 0 && pace_time_is_sane(event->start_ns, event->duration_ns);
    return event->start_ns + (sane ? event->duration_ns : 0);
}

static bool is_work(const pace_kineto_event *event) {
    return is_complete(event) && event->known_category && pace_task_on_device((uint8_t)event->kind);
}

static bool has_category(const pace_kineto_event *event, const char *name) {
    size_t length = strlen(name);
    const pace_kineto_category *seen = &event->categories[event->category];
    return event->has_category && seen->length == length && pace_strncasecmp(seen->text, name, length) == 0;
}

/* What the profiler records on a device's time line besides its work. */
static bool is_beside_work(const pace_kineto_event *event) {
    return is_complete(event) &&
           ((event->known_category && event->kind == PACE_TASK_SYNC) || has_category(event, "gpu_user_annotation"));
}

static uint64_t arrow_of(const pace_kineto_event *event) {
    const pace_kineto_category *seen = &event->categories[event->category];
    return pace_hash(seen->text, event->has_category ? seen->length : 0) ^ event->id * UINT64_C(0x9e3779b97f4a7c15);
}

static bool in_window(const pace_slice_cut *cut, int64_t at_ns) {
    return at_ns >= cut->from_ns && at_ns < cut->until_ns;
}

/* --- the first pass: what the window launched --------------------------------------------------------------------- */

static pace_status note_call(pace_slice_cut *cut, const pace_kineto_event *event) {
    cut->has_calls = true;
    if (event->correlation == 0 || !in_window(cut, event->start_ns)) return PACE_OK;
    if (event->correlation < cut->least) cut->least = event->correlation;
    if (event->correlation > cut->most) cut->most = event->correlation;
    return pace_id_set_add(&cut->calls, event->correlation);
}

static pace_status note_launch(void *context, const pace_kineto_event *event, const char *bytes, size_t length) {
    pace_slice_cut *cut = context;
    (void)bytes, (void)length;
    if (!event->has_start) return PACE_OK;
    if (event->phase == 's')
        return in_window(cut, event->start_ns) ? pace_id_set_add(&cut->arrows, arrow_of(event)) : PACE_OK;
    if ((event->phase != 'X' && event->phase != 'B') || !event->known_category) return PACE_OK;
    if (event->kind == PACE_TASK_CALL) return note_call(cut, event);
    if (event->kind != PACE_TASK_OP || event->external == 0 || !in_window(cut, event->start_ns)) return PACE_OK;
    return pace_id_set_add(&cut->operators, event->external);
}

/* --- the second pass: how long devices worked for it -------------------------------------------------------------- */

typedef enum { EARLIER, CHOSEN, LATER } launch_time;

/* Calls are numbered as they are made. Work whose call was not recorded counts by its own time, as in a step. */
static launch_time launch_of(const pace_slice_cut *cut, const pace_kineto_event *event) {
    uint64_t call = cut->has_calls ? event->correlation : 0;
    if (call && pace_id_set_has(&cut->calls, call)) return CHOSEN;
    if (call && cut->calls.count && call < cut->least) return EARLIER;
    if (call && cut->calls.count && call > cut->most) return LATER;
    if (event->external && !cut->has_calls && pace_id_set_has(&cut->operators, event->external)) return CHOSEN;
    return event->start_ns < cut->from_ns ? EARLIER : event->start_ns < cut->until_ns ? CHOSEN : LATER;
}

static int64_t device_of(const pace_kineto_event *event) {
    if (event->device >= 0) return event->device;
    return strtoll(event->pid, NULL, 10);
}

static pace_status find_device(pace_slice_device **out, pace_slice_cut *cut, int64_t id) {
    for (size_t i = 0; i < cut->devices.count; i++) {
        *out = &cut->devices.items[i];
        if ((*out)->id == id) return PACE_OK;
    }
    PACE_TRY(PACE_PUSH(&cut->devices, ((pace_slice_device){id, INT64_MIN, INT64_MIN})));
    *out = &cut->devices.items[cut->devices.count - 1];
    return PACE_OK;
}

/* Work that was launched outside of the window and may run beside its work. */
typedef struct {
    uint64_t correlation;
    int64_t device, start_ns, end_ns;
    bool earlier;
} outsider;

typedef struct {
    pace_slice_cut *cut;
    int64_t operator_ns; /* the end of the last operator that began before the window */
    const pace_kernel_classes *classes;
    pace_names names;
    PACE_VEC(uint8_t) communicates; /* name -> 0 not looked up, 1 no, 2 yes */
    PACE_VEC(outsider) outsiders;
    size_t prune_at;
} measurer;

static pace_status communicates(bool *out, measurer *m, pace_name name) {
    while (m->communicates.count <= name) PACE_TRY(PACE_PUSH(&m->communicates, 0));
    uint8_t *known = &m->communicates.items[name];
    if (*known == 0) *known = 1 + pace_kernel_classify(m->classes, pace_names_text(&m->names, name)).communication;
    *out = *known == 2;
    return PACE_OK;
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* Whether it runs while the device works for the window, or while the host does. */
static bool beside(const pace_slice_cut *cut, const pace_slice_device *device, int64_t start_ns, int64_t end_ns) {
    return end_ns >= least_of(device->from_ns, cut->from_ns) && start_ns < most_of(device->until_ns, cut->until_ns);
}

static bool runs_beside(const pace_slice_cut *cut, const outsider *o, bool final) {
    PACE_ITEMS (const pace_slice_device, device, &cut->devices) {
        if (device->id != o->device) continue;
        if (o->earlier && o->end_ns < least_of(device->from_ns, cut->from_ns)) return false;
        return !final || beside(cut, device, o->start_ns, o->end_ns);
    }
    return !final;
}

/* What ended before the last kernel that was launched before the window runs beside nothing of the window. */
static void prune(measurer *m, bool final) {
    size_t kept = 0;
    for (size_t i = 0; i < m->outsiders.count; i++)
        if (runs_beside(m->cut, &m->outsiders.items[i], final)) m->outsiders.items[kept++] = m->outsiders.items[i];
    m->outsiders.count = kept;
    m->prune_at = 2 * kept + 4096;
}

/* Without a device the host's operators are the work. */
static pace_status note_operator(measurer *m, const pace_kineto_event *event) {
    bool exchanges, mark = pace_name_marks_step(pace_names_text(&m->names, event->name));
    if (mark || event->start_ns >= m->cut->from_ns || end_of(event) <= m->operator_ns) return PACE_OK;
    PACE_TRY(communicates(&exchanges, m, event->name));
    if (!exchanges) m->operator_ns = end_of(event);
    return PACE_OK;
}

static pace_status note_work(void *context, const pace_kineto_event *event, const char *bytes, size_t length) {
    measurer *m = context;
    pace_slice_device *device;
    (void)bytes, (void)length;
    if (is_complete(event) && event->known_category && event->kind == PACE_TASK_OP) return note_operator(m, event);
    if (!is_work(event)) return PACE_OK;
    launch_time launched = launch_of(m->cut, event);
    int64_t end_ns = end_of(event);
    PACE_TRY(find_device(&device, m->cut, device_of(event)));
    if (launched == CHOSEN) {
        if (end_ns > device->until_ns) device->until_ns = end_ns;
        return PACE_OK;
    }
    bool exchanges;
    PACE_TRY(communicates(&exchanges, m, event->name));
    bool computes = event->kind == PACE_TASK_KERNEL && !exchanges;
    if (launched == EARLIER && computes && end_ns > device->from_ns) device->from_ns = end_ns;
    PACE_TRY(PACE_PUSH(&m->outsiders, ((outsider){event->correlation, device_of(event), event->start_ns, end_ns,
                                                  launched == EARLIER})));
    if (m->outsiders.count > m->prune_at) prune(m, false);
    return PACE_OK;
}

static pace_status settle(measurer *m) {
    pace_slice_cut *cut = m->cut;
    for (size_t i = 0; i < cut->devices.count; i++)
        if (cut->devices.items[i].from_ns == INT64_MIN) cut->devices.items[i].from_ns = cut->from_ns;
    prune(m, true);
    for (size_t i = 0; i < m->outsiders.count; i++)
        PACE_TRY(pace_id_set_add(&cut->context, m->outsiders.items[i].correlation));
    if (cut->devices.count == 0 && m->operator_ns != INT64_MIN)
        cut->host_from_ns = least_of(cut->from_ns, m->operator_ns);
    cut->last_ns = cut->until_ns; /* INT64_MAX of the last step */
    PACE_ITEMS (const pace_slice_device, device, &cut->devices) {
        if (device->from_ns < cut->host_from_ns) cut->host_from_ns = device->from_ns;
        if (device->until_ns > cut->last_ns) cut->last_ns = device->until_ns;
    }
    return PACE_OK;
}

/* --- the third pass: the calls that launched other work ----------------------------------------------------------- */

static uint64_t thread_of(const pace_kineto_event *event) {
    return pace_hash(event->pid, strlen(event->pid)) * 31 + pace_hash(event->tid, strlen(event->tid));
}

static pace_status note_context_call(void *context, const pace_kineto_event *event, const char *bytes, size_t length) {
    pace_slice_cut *cut = context;
    (void)bytes, (void)length;
    if (!is_complete(event) || !event->known_category || event->kind != PACE_TASK_CALL || !event->correlation ||
        !pace_id_set_has(&cut->context, event->correlation))
        return PACE_OK;
    return PACE_PUSH(&cut->context_calls, ((pace_slice_call){thread_of(event), event->start_ns}));
}

PACE_ORDER(by_thread, pace_slice_call, PACE_UP(thread) PACE_UP(at_ns))

/* Whether a host event is around a call that launched kept work of another step. */
static bool encloses_context(const pace_slice_cut *cut, const pace_kineto_event *event) {
    pace_slice_call from = {thread_of(event), event->start_ns};
    size_t low = 0;
    PACE_SEARCH(low, cut->context_calls.count, middle, by_thread(&cut->context_calls.items[middle], &from) < 0);
    if (low == cut->context_calls.count) return false;
    const pace_slice_call *next = &cut->context_calls.items[low];
    return next->thread == from.thread && next->at_ns <= end_of(event);
}

/* --- all --------------------------------------------------------------------------------------------------------- */

static pace_status find(measurer *m, const char *path, pace_event_visitor *visitor) {
    pace_read_notes notes;
    visitor->names = &m->names;
    visitor->context = m->cut;
    visitor->event = note_launch;
    PACE_TRY(pace_trace_events_read(&notes, path, visitor));
    visitor->context = m;
    visitor->event = note_work;
    PACE_TRY(pace_trace_events_read(&notes, path, visitor));
    PACE_TRY(settle(m));
    if (m->cut->context.count == 0) return PACE_OK;
    visitor->context = m->cut;
    visitor->event = note_context_call;
    PACE_TRY(pace_trace_events_read(&notes, path, visitor));
    if (m->cut->context_calls.count)
        qsort(m->cut->context_calls.items, m->cut->context_calls.count, sizeof(pace_slice_call), by_thread);
    return PACE_OK;
}

pace_status pace_slice_cut_find(pace_slice_cut *out, const char *path, int64_t from_ns, int64_t until_ns,
                                const pace_kernel_classes *classes, pace_progress progress) {
    pace_slice_cut cut = {.from_ns = from_ns, .until_ns = until_ns, .host_from_ns = from_ns, .least = UINT64_MAX};
    measurer m = {.cut = &cut, .classes = classes, .prune_at = 4096, .operator_ns = INT64_MIN};
    pace_event_visitor visitor = {.progress = progress};
    PACE_TRY(pace_names_init(&m.names));
    pace_status status = find(&m, path, &visitor);
    pace_names_free(&m.names);
    PACE_VEC_FREE(&m.communicates, &m.outsiders);
    return PACE_GIVE(out, cut, status, pace_slice_cut_free(&cut));
}

void pace_slice_cut_free(pace_slice_cut *cut) {
    pace_id_set_free(&cut->calls);
    pace_id_set_free(&cut->operators);
    pace_id_set_free(&cut->arrows);
    pace_id_set_free(&cut->context);
    PACE_VEC_FREE(&cut->context_calls, &cut->devices);
}

/* --- judging events ----------------------------------------------------------------------------------------------- */

static bool overlaps_device(const pace_slice_cut *cut, const pace_kineto_event *event) {
    int64_t id = device_of(event), end_ns = end_of(event);
    PACE_ITEMS (const pace_slice_device, device, &cut->devices)
        if (device->id == id && beside(cut, device, event->start_ns, end_ns)) return true;
    return false;
}

static bool keeps_complete(const pace_slice_cut *cut, const pace_kineto_event *event) {
    if (is_work(event) && launch_of(cut, event) == CHOSEN) return true;
    if (is_work(event) || is_beside_work(event)) return overlaps_device(cut, event);
    bool host = event->known_category;
    if (host && event->kind == PACE_TASK_CALL && event->correlation &&
        pace_id_set_has(&cut->context, event->correlation))
        return true;
    if (host && event->kind < PACE_TASK_CALL && encloses_context(cut, event)) return true;
    int64_t until_ns = host ? cut->until_ns : cut->last_ns, end_ns = end_of(event);
    return event->start_ns < until_ns && end_ns >= cut->host_from_ns;
}

static bool keeps_arrow(const pace_slice_cut *cut, const pace_kineto_event *event) {
    if (pace_id_set_has(&cut->arrows, arrow_of(event))) return true;
    return has_category(event, "ac2g") && pace_id_set_has(&cut->context, event->id);
}

bool pace_slice_keeps(const pace_slice_cut *cut, const pace_kineto_event *event) {
    if (event->phase == 'M' || !event->has_start) return event->phase == 'M';
    if (event->phase == 's' || event->phase == 't' || event->phase == 'f') return keeps_arrow(cut, event);
    if (event->phase == 'X') return keeps_complete(cut, event);
    return event->start_ns >= cut->host_from_ns && event->start_ns < cut->last_ns;
}
