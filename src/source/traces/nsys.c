/* The tables of an export, and how their rows become tasks. */
#include "source/traces/nsys.h"
#include "base/order.h"
#include "base/print.h"
#include "source/database.h"
#include "source/traces/event_time.h"
#include "source/slice/slice_member.h"
#include "source/traces/foreign.h"
#include "source/traces/nsys_names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LANE_CACHE = 256, NAME_CACHE = 4096 };

#define PROCESS_OF(global_id) ((uint64_t)(global_id) >> 24) /* of a thread or a process, in all its bits */

/* An event was recorded: the stream had this in line. Waits name the event, not the record. */
typedef struct {
    uint64_t process;
    int64_t context, event, device, stream;
    uint32_t correlation;
} event_record;

/* What a process calls device `cuda` is GPU `gpu`. */
typedef struct {
    int64_t process, cuda, gpu;
} visible_device;

/* A process and how often it used a device. */
typedef struct {
    uint64_t process, count;
} busy_process;

typedef struct {
    const char *path;
    pace_step *step;
    pace_database *database;
    pace_read_notes *notes;
    pace_rows *strings;
    struct {
        int64_t key;
        pace_name name;
        bool used;
    } names[NAME_CACHE];
    struct {
        uint64_t hash;
        uint32_t lane;
    } lanes[LANE_CACHE];
    PACE_VEC(busy_process) processes; /* those that used a device; none = the export does not say */
    uint64_t process;                 /* the one that is read, when there are any */
    PACE_VEC(visible_device) visible;
    PACE_VEC(event_record) records; /* by process, context, event, correlation */
    PACE_VEC(char) text;            /* of the shapes at hand */
} reader;

/* Of several the gravest code counts, which is declared first. */
static void warn(reader *r, pace_warning_code code, const char *format, ...) PACE_PRINTF(3, 4);
static void warn(reader *r, pace_warning_code code, const char *format, ...) {
    char *warning = r->notes->warning;
    size_t size = sizeof r->notes->warning, used = strlen(warning);
    r->notes->code = used && r->notes->code < code ? r->notes->code : code;
    if (used && used + 3 < size) used += (size_t)snprintf(warning + used, size - used, "; ");
    va_list arguments;
    va_start(arguments, format);
    pace_vsnprintf(warning + used, size - used, format, arguments);
    va_end(arguments);
}

/* --- names --------------------------------------------------------------------------------------------------- */

static pace_status open_strings(reader *r) {
    static const char *const columns[] = {"!value", "!id"};
    if (!pace_database_has(r->database, "StringIds"))
        return pace_fail(PACE_E_INPUT, "%s: expected a table StringIds, which holds all names, found none", r->path);
    return pace_rows_open(&r->strings, r->database, "StringIds", columns, 2, "WHERE id = ?1");
}

/* The text of an id, borrowed until the next; NULL when there is none or it cannot be read. */
static pace_status find_string(const char **text, size_t *length, reader *r, int64_t id) {
    bool found = false;
    *text = NULL;
    *length = 0;
    pace_rows_ask(r->strings, id);
    pace_status status = pace_rows_next(&found, r->strings);
    if (status != PACE_OK && status != PACE_E_INPUT) return status;
    if (found) *text = pace_row_text(r->strings, 0, length);
    return PACE_OK;
}

static pace_status name_of_id(pace_name *out, reader *r, int64_t id, bool call) {
    int64_t key = (int64_t)((uint64_t)id * 2 + call);
    size_t slot = (uint64_t)key % NAME_CACHE;
    if (!r->names[slot].used || r->names[slot].key != key) {
        const char *text;
        size_t length;
        PACE_TRY(find_string(&text, &length, r, id));
        if (!text) text = "unnamed", length = strlen(text);
        if (call) length = pace_nsys_call_length(text, length);
        PACE_TRY(pace_names_add(&r->names[slot].name, &r->step->names, text, length));
        r->names[slot].key = key;
        r->names[slot].used = true;
    }
    *out = r->names[slot].name;
    return PACE_OK;
}

/* Names are ids of strings; a column of text is taken as it is. */
static pace_status name_in(pace_name *out, reader *r, pace_rows *rows, size_t column, bool call) {
    if (!pace_row_is_text(rows, column)) return name_of_id(out, r, pace_row_int(rows, column, -1), call);
    size_t length;
    const char *text = pace_row_text(rows, column, &length);
    return pace_names_add(out, &r->step->names, text, text && call ? pace_nsys_call_length(text, length) : length);
}

/* --- processes ------------------------------------------------------------------------------------------------ */

/* A step is of one process, the one that used devices most: correlations and streams are numbers of a process each. */
static bool is_read(const reader *r, uint64_t process) { return r->processes.count == 0 || process == r->process; }

PACE_ORDER(by_process, busy_process, PACE_UP(process))

static void join_processes(reader *r) {
    size_t kept = 0;
    busy_process *all = r->processes.items;
    if (r->processes.count) qsort(all, r->processes.count, sizeof *all, by_process);
    for (size_t i = 0; i < r->processes.count; i++) {
        if (kept && all[kept - 1].process == all[i].process) all[kept - 1].count += all[i].count;
        else all[kept++] = all[i];
    }
    r->processes.count = kept;
}

static void choose_process(reader *r) {
    uint64_t most = 0;
    join_processes(r);
    PACE_ITEMS (const busy_process, p, &r->processes) {
        if (p->count <= most) continue;
        most = p->count;
        r->process = p->process;
    }
}

static uint32_t correlation_in(pace_rows *rows, size_t column) {
    int64_t correlation = pace_row_int(rows, column, 0);
    return correlation > 0 && correlation <= UINT32_MAX ? (uint32_t)correlation : 0;
}

/* --- lanes ---------------------------------------------------------------------------------------------------- */

PACE_ORDER(by_visible, visible_device, PACE_UP(process) PACE_UP(cuda))

static uint32_t gpu_of(const reader *r, uint64_t process, int64_t device) {
    visible_device wanted = {.process = (int64_t)(process & 0xFFFFFF), .cuda = device};
    const visible_device *found =
        r->visible.count ? bsearch(&wanted, r->visible.items, r->visible.count, sizeof wanted, by_visible) : NULL;
    if (found) device = found->gpu;
    return device >= 0 && device < UINT32_MAX ? (uint32_t)device : 0;
}

static void write_device_key(char *key, size_t size, uint32_t gpu, int64_t stream) {
    pace_snprintf(key, size, "device %" PRIu32, gpu);
    if (stream >= 0) pace_append(key, size, " stream %" PRId64, stream);
}

/* A stream, or with stream -1 the device as a whole. */
static pace_status device_lane(uint32_t *out, reader *r, uint64_t process, int64_t device, int64_t stream) {
    uint64_t parts[3] = {process, (uint64_t)device, (uint64_t)stream}, hash = pace_hash(parts, sizeof parts) | 1;
    size_t slot = (hash >> 8) % LANE_CACHE;
    if (r->lanes[slot].hash != hash) {
        char key[64];
        uint32_t gpu = gpu_of(r, process, device);
        write_device_key(key, sizeof key, gpu, stream);
        PACE_TRY(pace_step_lane(&r->lanes[slot].lane, r->step, key, strlen(key), true, gpu));
        r->lanes[slot].hash = hash;
    }
    *out = r->lanes[slot].lane;
    return PACE_OK;
}

static pace_status host_lane(uint32_t *out, reader *r, int64_t thread) {
    uint64_t hash = pace_hash(&thread, sizeof thread) | 1;
    size_t slot = (hash >> 8) % LANE_CACHE;
    if (r->lanes[slot].hash != hash) {
        char key[64];
        snprintf(key, sizeof key, "host %" PRIu64 "/%" PRIu64, PROCESS_OF(thread) & 0xFFFFFF,
                 (uint64_t)thread & 0xFFFFFF);
        PACE_TRY(pace_step_lane(&r->lanes[slot].lane, r->step, key, strlen(key), false, 0));
        r->lanes[slot].hash = hash;
    }
    *out = r->lanes[slot].lane;
    return PACE_OK;
}

/* --- rows to tasks ---------------------------------------------------------------------------------------------- */

/* The first columns of every table of device work. */
#define DEVICE_COLUMNS "!start", "!end", "!deviceId", "!streamId", "correlationId", "globalPid"
enum { START, END, DEVICE, STREAM, CORRELATION, PROCESS, OWN };

/* False, and counted, when a row has no usable times. */
static bool read_times(reader *r, pace_rows *rows, int64_t *start_ns, int64_t *duration_ns) {
    int64_t end_ns = pace_row_int(rows, END, INT64_MIN);
    *start_ns = pace_row_int(rows, START, INT64_MIN);
    r->step->event_count++;
    bool usable = pace_time_is_sane(*start_ns, 0) && pace_time_is_sane(end_ns, 0) && end_ns >= *start_ns;
    *duration_ns = usable ? end_ns - *start_ns : 0;
    usable = usable && pace_time_is_sane(*start_ns, *duration_ns);
    *(usable ? &r->step->complete_count : &r->step->unknown_count) += 1;
    return usable;
}

static pace_status add_device_task(reader *r, pace_rows *rows, pace_task_kind kind, pace_name name, int64_t stream,
                                   uint32_t detail) {
    int64_t start_ns, duration_ns;
    uint32_t lane;
    uint64_t process = PROCESS_OF(pace_row_int(rows, PROCESS, 0));
    if (!is_read(r, process) || !read_times(r, rows, &start_ns, &duration_ns)) return PACE_OK;
    PACE_TRY(device_lane(&lane, r, process, pace_row_int(rows, DEVICE, 0), stream));
    PACE_TRY(pace_step_add_task(r->step, lane, kind, name, start_ns, duration_ns));
    r->step->detail[r->step->count - 1] = detail;
    r->step->correlation[r->step->count - 1] = correlation_in(rows, CORRELATION);
    return PACE_OK;
}

static pace_status keep_kernel(reader *r, pace_rows *rows) {
    pace_name name;
    size_t column = pace_row_is_null(rows, OWN) ? OWN + 1 : OWN;
    PACE_TRY(name_in(&name, r, rows, column, false));
    return add_device_task(r, rows, PACE_TASK_KERNEL, name, pace_row_int(rows, STREAM, -1), 0);
}

/* Graphs that were not traced node by node: each launch is one piece of work. */
static pace_status keep_graph(reader *r, pace_rows *rows) {
    pace_name name;
    static const char text[] = "CUDA graph";
    PACE_TRY(pace_names_add(&name, &r->step->names, text, strlen(text)));
    return add_device_task(r, rows, PACE_TASK_KERNEL, name, pace_row_int(rows, STREAM, -1), 0);
}

static pace_status keep_moved(reader *r, pace_rows *rows, pace_task_kind kind, const char *text, int64_t stream) {
    pace_name name;
    uint32_t detail = 0;
    int64_t bytes = pace_row_int(rows, OWN, -1);
    PACE_TRY(pace_names_add(&name, &r->step->names, text, strlen(text)));
    if (bytes >= 0) {
        PACE_TRY(PACE_PUSH(&r->step->bytes, bytes));
        detail = (uint32_t)r->step->bytes.count;
    }
    return add_device_task(r, rows, kind, name, stream, detail);
}

static pace_status keep_copy(reader *r, pace_rows *rows) {
    char text[64];
    int64_t kind = pace_row_int(rows, OWN + 1, 0);
    pace_nsys_copy_name(text, sizeof text, kind, pace_row_int(rows, OWN + 2, -1), pace_row_int(rows, OWN + 3, -1));
    return keep_moved(r, rows, PACE_TASK_COPY, text,
                      pace_nsys_copy_migrates(kind) ? -1 : pace_row_int(rows, STREAM, -1));
}

static pace_status keep_memset(reader *r, pace_rows *rows) {
    char text[64];
    pace_nsys_memset_name(text, sizeof text, pace_row_int(rows, OWN + 1, -1));
    return keep_moved(r, rows, PACE_TASK_MEMSET, text, pace_row_int(rows, STREAM, -1));
}

/* --- synchronisation -------------------------------------------------------------------------------------------- */

PACE_ORDER(by_event, event_record, PACE_UP(process) PACE_UP(context) PACE_UP(event) PACE_UP(correlation))

static pace_status keep_record(reader *r, pace_rows *rows) {
    enum { DEVICE_AT, STREAM_AT, CORRELATION_AT, PROCESS_AT, CONTEXT_AT, EVENT_AT };
    event_record record = {.process = PROCESS_OF(pace_row_int(rows, PROCESS_AT, 0)),
                           .context = pace_row_int(rows, CONTEXT_AT, 0),
                           .event = pace_row_int(rows, EVENT_AT, -1),
                           .device = pace_row_int(rows, DEVICE_AT, 0),
                           .stream = pace_row_int(rows, STREAM_AT, -1)};
    record.correlation = correlation_in(rows, CORRELATION_AT);
    return PACE_PUSH(&r->records, record);
}

/* The last record of an event before the wait, or NULL. */
static const event_record *recorded(const reader *r, const event_record *wait) {
    size_t low = 0;
    PACE_SEARCH(low, r->records.count, middle, by_event(&r->records.items[middle], wait) < 0);
    const event_record *found = low ? &r->records.items[low - 1] : NULL;
    return found && found->process == wait->process && found->context == wait->context && found->event == wait->event
               ? found
               : NULL;
}

static pace_status keep_sync(reader *r, pace_rows *rows) {
    /* CUpti_ActivitySynchronizationType, named as Kineto names it */
    static const struct {
        const char *name;
        pace_sync_kind kind;
    } kinds[] = {{"Unknown Sync", PACE_SYNC_OTHER},
                 {"Event Sync", PACE_SYNC_EVENT},
                 {"Stream Wait Event", PACE_SYNC_STREAM_WAITS},
                 {"Stream Sync", PACE_SYNC_STREAM},
                 {"Context Sync", PACE_SYNC_DEVICE}};
    int64_t type = pace_row_int(rows, OWN, 0);
    if (!is_read(r, PROCESS_OF(pace_row_int(rows, PROCESS, 0)))) return PACE_OK;
    if (type < 0 || type >= (int64_t)(PACE_COUNT(kinds))) type = 0;
    event_record wait = {.process = PROCESS_OF(pace_row_int(rows, PROCESS, 0)),
                         .context = pace_row_int(rows, OWN + 2, 0),
                         .event = pace_row_int(rows, OWN + 1, -1)};
    wait.correlation = correlation_in(rows, CORRELATION);
    pace_sync sync = {.kind = (uint8_t)kinds[type].kind, .on_lane = PACE_NO_LANE, .call = PACE_NO_TASK};
    const event_record *record = recorded(r, &wait);
    if (record && record->stream >= 0) {
        sync.record = record->correlation;
        PACE_TRY(device_lane(&sync.on_lane, r, record->process, record->device, record->stream));
    }
    pace_name name;
    PACE_TRY(pace_names_add(&name, &r->step->names, kinds[type].name, strlen(kinds[type].name)));
    PACE_TRY(PACE_PUSH(&r->step->syncs, sync));
    return add_device_task(r, rows, PACE_TASK_SYNC, name, pace_row_int(rows, STREAM, -1),
                           (uint32_t)r->step->syncs.count);
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

enum { THREAD = END + 1, HOST_OWN };

static pace_status keep_call(reader *r, pace_rows *rows) {
    int64_t start_ns, duration_ns, thread = pace_row_int(rows, THREAD, 0);
    uint32_t lane;
    pace_name name;
    if (!is_read(r, PROCESS_OF(thread)) || !read_times(r, rows, &start_ns, &duration_ns)) return PACE_OK;
    PACE_TRY(name_in(&name, r, rows, HOST_OWN, true));
    PACE_TRY(host_lane(&lane, r, thread));
    PACE_TRY(pace_step_add_task(r->step, lane, PACE_TASK_CALL, name, start_ns, duration_ns));
    r->step->correlation[r->step->count - 1] = correlation_in(rows, HOST_OWN + 1);
    return PACE_OK;
}

/* The shapes' text of step/op_shapes.h: dims without white space, and no types or values. */
static pace_status shapes_of(uint32_t *out, reader *r, const pace_nvtx_range *range) {
    PACE_TRY(pace_grow(&r->text.items, &r->text.capacity, range->sizes_length + 2, 1));
    size_t length = 0;
    for (size_t i = 0; i < range->sizes_length; i++)
        if (range->sizes[i] != ' ') r->text.items[length++] = range->sizes[i];
    r->text.items[length++] = '\n';
    r->text.items[length++] = '\n';
    return pace_names_add(out, &r->step->names, r->text.items, length);
}

/* The export does not say on which thread a backward operator's node was made; 1 stands for the one there is. */
static pace_status note_autograd(reader *r, const pace_nvtx_range *range) {
    pace_autograd_note note = {range->sequence, range->is_backward};
    PACE_TRY(PACE_PUSH(&r->step->autograd_notes, note));
    r->step->correlation[r->step->count - 1] = (uint32_t)r->step->autograd_notes.count;
    return PACE_OK;
}

static pace_status add_range(reader *r, pace_rows *rows, const char *text, size_t length) {
    int64_t start_ns, duration_ns;
    uint32_t lane, shapes = 0;
    pace_name name;
    pace_nvtx_range range;
    if (!read_times(r, rows, &start_ns, &duration_ns)) return PACE_OK;
    pace_nvtx_range_read(&range, text, length);
    PACE_TRY(pace_names_add(&name, &r->step->names, text, range.name_length));
    PACE_TRY(host_lane(&lane, r, pace_row_int(rows, THREAD, 0)));
    if (range.is_operator && range.sizes) PACE_TRY(shapes_of(&shapes, r, &range));
    pace_task_kind kind = range.is_operator ? PACE_TASK_OP : PACE_TASK_ANNOTATION;
    PACE_TRY(pace_step_add_task(r->step, lane, kind, name, start_ns, duration_ns));
    r->step->detail[r->step->count - 1] = shapes;
    return range.is_operator && range.sequence >= 0 ? note_autograd(r, &range) : PACE_OK;
}

static pace_status keep_range(reader *r, pace_rows *rows) {
    enum { TYPE = HOST_OWN, TEXT, TEXT_ID, PUSH_POP = 59, START_END = 60 }; /* NvtxPushPopRange, NvtxStartEndRange */
    int64_t type = pace_row_int(rows, TYPE, -1);
    bool is_range = pace_rows_have(rows, TYPE) ? type == PUSH_POP || type == START_END : !pace_row_is_null(rows, END);
    if (!is_range || !is_read(r, PROCESS_OF(pace_row_int(rows, THREAD, 0))))
        return PACE_OK; /* marks, names of domains, categories and threads */
    size_t length;
    const char *text = pace_row_text(rows, TEXT, &length);
    if (!text && !pace_row_is_null(rows, TEXT_ID))
        PACE_TRY(find_string(&text, &length, r, pace_row_int(rows, TEXT_ID, -1)));
    if (!text) text = "unnamed", length = strlen(text);
    return add_range(r, rows, text, length);
}

/* --- what the export says of itself ----------------------------------------------------------------------------- */

static pace_status keep_gpu(reader *r, pace_rows *rows) {
    pace_traced_device device = {.id = pace_row_int(rows, 0, (int64_t)r->step->devices.count)};
    int64_t bytes = pace_row_int(rows, 2, 0);
    PACE_TRY(name_in(&device.name, r, rows, 1, false));
    if (bytes > 0 && bytes < INT64_MAX / 8) device.memory_bytes = (double)bytes;
    return PACE_PUSH(&r->step->devices, device);
}

static pace_status keep_visible(reader *r, pace_rows *rows) {
    visible_device device = {pace_row_int(rows, 2, 0), pace_row_int(rows, 1, -1), pace_row_int(rows, 0, -1)};
    return PACE_PUSH(&r->visible, device);
}

static pace_status keep_origin(reader *r, pace_rows *rows) {
    int64_t at_ns = pace_row_int(rows, 0, 0);
    if (at_ns > 0 && at_ns < INT64_MAX / 2) r->step->base_ns = at_ns;
    return PACE_OK;
}

/* One entry for each run of rows of one process; join_processes() makes it one for each process. */
static pace_status keep_process(reader *r, pace_rows *rows) {
    if (pace_row_is_null(rows, 0)) return PACE_OK;
    uint64_t process = PROCESS_OF(pace_row_int(rows, 0, 0));
    busy_process *last = r->processes.count ? &r->processes.items[r->processes.count - 1] : NULL;
    if (last && last->process == process) return last->count++, PACE_OK;
    return PACE_PUSH(&r->processes, ((busy_process){process, 1}));
}

/* --- tables ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    bool events; /* else about them */
    pace_status (*keep)(reader *, pace_rows *);
    const char *columns[PACE_MOST_COLUMNS];
} table;

/* In this order: processes before all else, records before what waits for them. */
static const table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", false, keep_process, {"globalPid"}},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", false, keep_process, {"globalPid"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", false, keep_process, {"globalPid"}},
    {"TARGET_INFO_SESSION_START_TIME", false, keep_origin, {"utcEpochNs"}},
    {"TARGET_INFO_GPU", false, keep_gpu, {"id", "name", "totalMemory|memory"}},
    {"TARGET_INFO_CUDA_DEVICE", false, keep_visible, {"gpuId", "cudaId", "pid"}},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     false,
     keep_record,
     {"deviceId", "streamId", "correlationId", "globalPid", "contextId", "eventId"}},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", true, keep_call, {"!start", "!end", "globalTid", "!nameId", "correlationId"}},
    {"NVTX_EVENTS", true, keep_range, {"!start", "!end", "globalTid", "eventType", "text", "textId"}},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     true,
     keep_kernel,
     {DEVICE_COLUMNS, "!demangledName|shortName|mangledName|name", "shortName|name"}},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", true, keep_graph, {DEVICE_COLUMNS}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", true, keep_copy, {DEVICE_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"}},
    {"CUPTI_ACTIVITY_KIND_MEMSET", true, keep_memset, {DEVICE_COLUMNS, "bytes", "memKind"}},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", true, keep_sync, {DEVICE_COLUMNS, "syncType", "eventId", "contextId"}},
};
enum { TABLES = PACE_COUNT(tables) };

/* A table that breaks off is kept up to there. */
static pace_status read_rows(reader *r, const table *t, pace_rows *rows) {
    uint64_t count = 0;
    for (bool more;; count++) {
        pace_status status = pace_rows_next(&more, rows);
        if (status == PACE_E_INPUT) {
            warn(r, PACE_WARN_FILE_CUT_OFF, "%s; kept the %" PRIu64 " rows before it", pace_message(), count);
            return PACE_OK;
        }
        PACE_TRY(status);
        if (!more) return PACE_OK;
        PACE_TRY(t->keep(r, rows));
    }
}

static pace_status read_table(reader *r, const table *t) {
    size_t count = 0;
    while (count < PACE_MOST_COLUMNS && t->columns[count]) count++;
    pace_rows *rows;
    PACE_TRY(pace_rows_open(&rows, r->database, t->name, t->columns, count, ""));
    pace_status status = read_rows(r, t, rows);
    pace_rows_free(rows);
    if (t->keep == keep_process) choose_process(r);
    if (t->keep == keep_visible) PACE_SORT(&r->visible, by_visible);
    if (t->keep == keep_record) PACE_SORT(&r->records, by_event);
    return status;
}

static pace_status refuse_other(void *context, const char *name) {
    return pace_foreign_refuse_table(((const reader *)context)->path, name);
}

static const char *in_short_file(const reader *r) {
    return pace_database_is_short(r->database) ? " in a file that breaks off" : "";
}

static pace_status read_tables(reader *r, pace_progress progress) {
    bool found = false;
    for (size_t i = 0; i < TABLES; i++)
        found = found || (tables[i].events && pace_database_has(r->database, tables[i].name));
    if (!found) PACE_TRY(pace_database_tables(r->database, refuse_other, r));
    if (!found)
        return pace_fail(PACE_E_INPUT,
                         "%s: expected an Nsight Systems export, with tables such as CUPTI_ACTIVITY_KIND_KERNEL, "
                         "CUPTI_ACTIVITY_KIND_RUNTIME or NVTX_EVENTS, found none of them%s",
                         r->path, in_short_file(r));
    PACE_TRY(open_strings(r));
    for (size_t i = 0; i < TABLES; i++) {
        pace_progress_tell(progress, "reading", r->notes->bytes / TABLES * i, r->notes->bytes);
        if (pace_database_has(r->database, tables[i].name)) PACE_TRY(read_table(r, &tables[i]));
    }
    return PACE_OK;
}

static pace_status judge(reader *r) {
    const pace_step *step = r->step;
    if (step->count == 0)
        return pace_fail(PACE_E_INPUT, "%s: expected CUDA or NVTX events, found %s%s", r->path,
                         step->event_count ? "none with usable times" : "empty tables", in_short_file(r));
    if (r->processes.count > 1)
        warn(r, PACE_WARN_EVENTS_LEFT_OUT,
             "%s: %zu processes used devices; read is process %" PRIu64 ", which used them most", r->path,
             r->processes.count, r->process & 0xFFFFFF);
    if (pace_database_is_short(r->database)) {
        r->step->cut_ns = PACE_SLICE_OF_BROKEN_NS; /* where it was cut, no table says */
        warn(r, PACE_WARN_FILE_CUT_OFF, "%s: the file is shorter than it says", r->path);
    }
    if (step->unknown_count)
        warn(r, PACE_WARN_EVENTS_LEFT_OUT, "%s: %" PRIu64 " events without a usable time were left out", r->path,
             step->unknown_count);
    return PACE_OK;
}

static void count_from_earliest(pace_step *step) {
    int64_t earliest_ns = step->start_ns[0];
    for (size_t i = 1; i < step->count; i++)
        if (step->start_ns[i] < earliest_ns) earliest_ns = step->start_ns[i];
    for (size_t i = 0; i < step->count; i++) step->start_ns[i] -= earliest_ns;
    if (step->base_ns) step->base_ns += earliest_ns;
}

static uint64_t size_of(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && about.st_size > 0 ? (uint64_t)about.st_size : 0;
}

static pace_status read_all(reader *r, pace_progress progress) {
    PACE_TRY(pace_database_open(&r->database, r->path));
    PACE_TRY(read_tables(r, progress));
    PACE_TRY(judge(r));
    count_from_earliest(r->step);
    return pace_step_finish(r->step);
}

pace_status pace_nsys_read(pace_step *out, const char *path, pace_read_notes *notes, pace_progress progress) {
    pace_step step;
    *notes = (pace_read_notes){.bytes = size_of(path)};
    reader *r = pace_alloc(1, sizeof *r);
    if (!r) return PACE_E_MEMORY;
    pace_status status = pace_step_init(&step);
    if (status == PACE_OK) {
        r->path = path;
        r->step = &step;
        r->notes = notes;
        status = read_all(r, progress);
        if (status != PACE_OK) pace_step_free(&step);
        else *out = step;
    }
    pace_rows_free(r->strings);
    pace_database_free(r->database);
    PACE_VEC_FREE(&r->processes, &r->visible, &r->records, &r->text);
    pace_free(r);
    return status;
}
