/* The document around the events, and how an event becomes a task. */
#include "source/traces/kineto.h"
#include "base/json_walk.h"
#include "base/print.h"
#include "source/traces/event_time.h"
#include "source/slice/slice_member.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANE_CACHE = 256 };

/* A B event whose E is still to come. A B that becomes no task is kept too, so that its E closes no other. */
typedef struct {
    uint64_t thread; /* its pid and tid: all that an E event has to repeat */
    uint32_t task;
} open_task;

typedef struct {
    pace_step *step;
    pace_json *json;
    pace_input *input;
    pace_kineto_event event;
    pace_traced_device device;                 /* that is being read */
    char pid[PACE_ID_TEXT], tid[PACE_ID_TEXT]; /* of the last event of a host thread */
    uint32_t thread;                           /* its lane + 1; 0 = none so far */
    struct {
        uint64_t hash;
        uint32_t lane;
    } lanes[LANE_CACHE];
    PACE_VEC(uint64_t)
    owners;                   /* of lanes that a device and a stream number, by lane: whose process wrote there first */
    uint64_t others;          /* events on such a lane of another process */
    PACE_VEC(open_task) open; /* B without its E yet */
    uint64_t foreign_begun;   /* B of another tool */
    pace_name foreign;        /* the category of the first complete event that is not read; 0 = none, or it has none */
    uint64_t of_others;       /* complete events of categories that the profiler of PyTorch does not write */
    bool joined;              /* several ranks, written for viewers */
    uint64_t wide_ids;        /* ids left out because a task's columns hold 32 bits */
    uint64_t host;            /* the process whose host thread was met last */
    uint64_t without_category; /* complete events of others, of another tool or of a device that is not read */
    uint64_t without_phase;    /* no events at all */
    uint64_t far_off;          /* complete events at times that are none */
    uint64_t without_length;   /* tasks that no usable duration is given for */
    bool events_whole;         /* the list of events was read to its end */
    int64_t last_ns;           /* start of the task read last */
    pace_status status;
    pace_progress progress;
} reader;

/* Ids that mark launches are 32 bits wide in CUPTI. A larger one is left out rather than cut to somebody else's. */
static uint32_t narrow_id(reader *r, uint64_t id) {
    if (PACE_LIKELY(id <= UINT32_MAX)) return (uint32_t)id;
    r->wide_ids++;
    return 0;
}

/* --- lanes -------------------------------------------------------------------------------------------------- */

static void write_stream_key(char *key, size_t size, int64_t device, int64_t stream) {
    snprintf(key, size, "device %" PRId64 " stream %" PRId64, device, stream);
}

static void write_key(char *key, size_t size, const pace_kineto_event *event, bool device, bool numbered) {
    if (numbered) write_stream_key(key, size, event->device, event->stream);
    else if (device) snprintf(key, size, "device %s %s", event->pid, event->tid);
    else snprintf(key, size, "host %s/%s", event->pid, event->tid);
}

static uint64_t hash_process(const pace_kineto_event *event) { return pace_hash(event->pid, strlen(event->pid)) | 1; }

/* Lanes are few and events many: what tells a lane is hashed and looked up before any text is made. */
static uint64_t hash_thread(const pace_kineto_event *event) {
    uint64_t parts[2] = {pace_hash(event->pid, strlen(event->pid)), pace_hash(event->tid, strlen(event->tid))};
    return pace_hash(parts, sizeof parts);
}

static uint64_t hash_lane(const pace_kineto_event *event, bool device, bool numbered) {
    int64_t numbers[3] = {event->device, event->stream, 0};
    if (numbered) numbers[2] = (int64_t)hash_process(event);
    if (numbered) return pace_hash(numbers, sizeof numbers) | 1;
    uint64_t parts[2] = {device, hash_thread(event)};
    return pace_hash(parts, sizeof parts) | 1;
}

/* Of a device event; where its arguments do not say, its process is the device. */
static uint32_t device_of(const pace_kineto_event *event) {
    if (event->device >= 0 && event->device < UINT32_MAX) return (uint32_t)event->device;
    char *end;
    unsigned long number = strtoul(event->pid, &end, 10);
    return end > event->pid && *end == '\0' && number < UINT32_MAX ? (uint32_t)number : 0;
}

/* A stream has one process. Where ranks were joined into one file, each has its first device and stream. */
static pace_status find_stream(uint32_t *out, reader *r) {
    const pace_kineto_event *event = &r->event;
    char key[2 * PACE_ID_TEXT + 32];
    write_key(key, sizeof key, event, true, true);
    PACE_TRY(pace_step_lane(out, r->step, key, strlen(key), true, device_of(event)));
    while (r->owners.count <= *out) PACE_TRY(PACE_PUSH(&r->owners, (uint64_t)0));
    uint64_t *owner = &r->owners.items[*out], own = hash_process(event);
    if (*owner == 0) *owner = own;
    if (*owner == own) return PACE_OK;
    r->others++;
    pace_append(key, sizeof key, " of %s", event->pid);
    return pace_step_lane(out, r->step, key, strlen(key), true, device_of(event));
}

static pace_status find_lane(uint32_t *out, reader *r, bool device) {
    const pace_kineto_event *event = &r->event;
    bool numbered = device && event->device >= 0 && event->stream >= 0;
    uint64_t hash = hash_lane(event, device, numbered);
    size_t slot = (hash >> 8) % LANE_CACHE;
    if (r->lanes[slot].hash != hash) {
        char key[2 * PACE_ID_TEXT + 32];
        write_key(key, sizeof key, event, device, numbered);
        if (numbered) PACE_TRY(find_stream(&r->lanes[slot].lane, r));
        else
            PACE_TRY(
                pace_step_lane(&r->lanes[slot].lane, r->step, key, strlen(key), device, device ? device_of(event) : 0));
        r->lanes[slot].hash = hash;
        if (!device) r->host = hash_process(event);
    }
    *out = r->lanes[slot].lane;
    return PACE_OK;
}

/* Host events come in runs of one thread. */
static pace_status lane_of(uint32_t *out, reader *r) {
    const pace_kineto_event *event = &r->event;
    bool device = pace_task_on_device((uint8_t)event->kind) || event->kind == PACE_TASK_SYNC;
    if (device) return find_lane(out, r, true);
    if (r->thread == 0 || strcmp(event->tid, r->tid) != 0 || strcmp(event->pid, r->pid) != 0) {
        PACE_TRY(find_lane(out, r, false));
        r->thread = *out + 1;
        memcpy(r->pid, event->pid, sizeof r->pid);
        memcpy(r->tid, event->tid, sizeof r->tid);
    }
    *out = r->thread - 1;
    return PACE_OK;
}

/* --- events to tasks --------------------------------------------------------------------------------------- */

/* Shapes of an operator as one interned text: dims, types and concrete inputs, a line each. */
static pace_status shapes_of(uint32_t *out, reader *r) {
    pace_kineto_event *e = &r->event;
    pace_name *concrete = &e->shapes[PACE_SHAPE_CONCRETE_PART];
    if (pace_kineto_text_length(&e->texts, *concrete) >= 512) *concrete = 0;
    return pace_kineto_texts_join(out, &e->texts, e->shapes, PACE_SHAPE_PARTS, &r->step->names);
}

/* How a kernel was launched, as one interned text: a line each; 0 without grid and block. */
static pace_status launch_of(pace_name *out, reader *r) {
    enum { LONGEST = 156 }; /* no grid that a device can have is as long */
    pace_kineto_event *e = &r->event;
    size_t length = 0;
    *out = 0;
    if (e->launch[PACE_LAUNCH_GRID] == 0 && e->launch[PACE_LAUNCH_BLOCK] == 0) return PACE_OK;
    for (int i = 0; i < PACE_LAUNCH_PARTS; i++) length += pace_kineto_text_length(&e->texts, e->launch[i]);
    if (length > LONGEST) return PACE_OK;
    return pace_kineto_texts_join(out, &e->texts, e->launch, PACE_LAUNCH_PARTS, &r->step->names);
}

static const struct {
    const char *name;
    pace_sync_kind kind;
} sync_names[] = {
    {"Stream Wait Event", PACE_SYNC_STREAM_WAITS},
    {"Event Sync", PACE_SYNC_EVENT},
    {"Stream Sync", PACE_SYNC_STREAM},
    {"Context Sync", PACE_SYNC_DEVICE},
};

static pace_status sync_of(uint32_t *out, reader *r) {
    pace_step *step = r->step;
    const pace_kineto_event *event = &r->event;
    pace_sync sync = {.on_lane = PACE_NO_LANE, .record = narrow_id(r, event->record_correlation), .call = PACE_NO_TASK};
    const char *name = pace_names_text(&step->names, event->name);
    for (size_t i = 0; i < PACE_COUNT(sync_names); i++)
        if (strcmp(name, sync_names[i].name) == 0) sync.kind = (uint8_t)sync_names[i].kind;
    if (event->device >= 0 && event->wait_stream >= 0) {
        char key[64];
        write_stream_key(key, sizeof key, event->device, event->wait_stream);
        PACE_TRY(pace_step_lane(&sync.on_lane, step, key, strlen(key), true, (uint32_t)event->device));
    }
    PACE_TRY(PACE_PUSH(&step->syncs, sync));
    *out = (uint32_t)step->syncs.count;
    return PACE_OK;
}

static pace_status detail_of(uint32_t *out, reader *r) {
    pace_step *step = r->step;
    const pace_kineto_event *event = &r->event;
    *out = 0;
    if (event->kind == PACE_TASK_OP && event->has_shapes) {
        return shapes_of(out, r);
    } else if (event->kind == PACE_TASK_KERNEL) {
        return launch_of(out, r);
    } else if ((event->kind == PACE_TASK_COPY || event->kind == PACE_TASK_MEMSET) && event->bytes >= 0) {
        PACE_TRY(PACE_PUSH(&step->bytes, event->bytes));
        *out = (uint32_t)step->bytes.count;
    } else if (event->kind == PACE_TASK_SYNC) {
        return sync_of(out, r);
    }
    return PACE_OK;
}

static pace_status note_autograd(reader *r, size_t task) {
    const pace_kineto_event *event = &r->event;
    pace_autograd_note note = {event->sequence, event->forward_thread};
    PACE_TRY(PACE_PUSH(&r->step->autograd_notes, note));
    r->step->correlation[task] = (uint32_t)r->step->autograd_notes.count;
    return PACE_OK;
}

static pace_status keep_arrow(reader *r) {
    pace_autograd_arrow arrow = {.at_ns = r->event.start_ns, .id = r->event.id, .ends = r->event.phase == 'f'};
    PACE_TRY(lane_of(&arrow.lane, r));
    return PACE_PUSH(&r->step->autograd_arrows, arrow);
}

static pace_status add_task(reader *r, int64_t duration_ns) {
    pace_step *step = r->step;
    const pace_kineto_event *event = &r->event;
    uint32_t lane, detail;
    PACE_TRY(lane_of(&lane, r));
    PACE_TRY(detail_of(&detail, r));
    PACE_TRY(pace_step_add_task(step, lane, event->kind, event->name, event->start_ns, duration_ns));
    size_t task = step->count - 1;
    step->detail[task] = detail;
    step->correlation[task] = event->kind == PACE_TASK_OP ? 0 : narrow_id(r, event->correlation);
    if (event->kind == PACE_TASK_KERNEL && event->has_exchange) {
        r->event.exchange.launch = detail;
        PACE_TRY(pace_step_give_exchange(step, &event->exchange));
    }
    if (event->kind == PACE_TASK_OP && event->sequence >= 0) PACE_TRY(note_autograd(r, task));
    if (event->kind == PACE_TASK_OP && event->has_exchange) {
        PACE_TRY(PACE_PUSH(&step->exchanges, event->exchange));
        PACE_TRY(
            PACE_PUSH(&step->records, ((pace_exchange_record){(uint32_t)task, (uint32_t)(step->exchanges.count - 1)})));
    }
    step->external[task] = narrow_id(r, event->external);
    r->last_ns = event->start_ns;
    return PACE_OK;
}

static pace_status begin_task(reader *r) {
    open_task opened = {hash_thread(&r->event), PACE_NO_TASK};
    if (r->event.known_category) {
        PACE_TRY(add_task(r, 0));
        opened.task = (uint32_t)(r->step->count - 1);
    }
    return PACE_PUSH(&r->open, opened);
}

static pace_status end_task(reader *r) {
    uint64_t thread = hash_thread(&r->event);
    size_t i = r->open.count;
    while (i > 0 && r->open.items[i - 1].thread != thread) i--;
    if (i == 0) return PACE_OK;
    uint32_t task = r->open.items[i - 1].task;
    if (task != PACE_NO_TASK) {
        int64_t duration_ns = r->event.start_ns - r->step->start_ns[task];
        if (duration_ns > 0 && duration_ns < PACE_LONGEST_NS) PACE_TRY(pace_task_set_ns(r->step, task, duration_ns));
    }
    memmove(&r->open.items[i - 1], &r->open.items[i], (r->open.count - i) * sizeof *r->open.items);
    r->open.count--;
    return PACE_OK;
}

/* The allocator's instants: all else that has no length is left out. */
static pace_status keep_memory(reader *r) {
    pace_memory_event memory = r->event.memory;
    if (strcmp(pace_names_text(&r->step->names, r->event.name), "[memory]") != 0) return PACE_OK;
    PACE_TRY(lane_of(&memory.lane, r));
    memory.at_ns = r->event.start_ns;
    memory.bytes = r->event.bytes;
    return PACE_PUSH(&r->step->memory, memory);
}

/* A range of counters is no task: it stands where the profiler put it, not where its kernel ran. */
static pace_status keep_counters(reader *r) {
    pace_step *step = r->step;
    uint32_t number = step->counters.count ? step->counters.items[step->counters.count - 1].number + 1 : 0;
    for (size_t i = 0; i < r->event.counters.count; i++) {
        pace_counter counter = r->event.counters.items[i];
        counter.range = r->event.name;
        counter.number = number;
        counter.at_ns = r->event.start_ns;
        PACE_TRY(PACE_PUSH(&step->counters, counter));
    }
    return PACE_OK;
}

static pace_status note_foreign(reader *r) {
    r->without_category += !r->event.has_category && hash_process(&r->event) != r->host;
    const pace_kineto_category *category = &r->event.categories[r->event.category];
    if (!r->event.has_category) return PACE_OK;
    bool first = !r->foreign || (r->of_others == 0 && !category->passed);
    r->of_others += !category->passed;
    if (first && category->length)
        return pace_names_add(&r->foreign, &r->step->names, category->text, category->length);
    return PACE_OK;
}

/* Complete events, or such as begin and end, none of which the profiler of PyTorch could have written. */
static bool is_foreign(const reader *r) {
    return r->step->complete_count + r->foreign_begun > 0 && r->step->count == 0 && r->step->counters.count == 0 &&
           r->step->memory.count == 0;
}

static bool has_device(const reader *r) {
    const size_t *kinds = r->step->kind_count;
    return kinds[PACE_TASK_KERNEL] + kinds[PACE_TASK_COPY] + kinds[PACE_TASK_MEMSET] > 0;
}

/* Work of a device that the profiler's list was joined with (Huawei's Ascend), beside the host's; not some marks of the
 * user's own. */
static bool lacks_device(const reader *r) {
    return r->without_category * 10 > r->step->complete_count && !has_device(r);
}

/* Another tool some of whose categories are called as the profiler's (Paddle's, ONNX Runtime's, Intel's unitrace). */
static bool is_half_foreign(const reader *r) {
    bool half = !has_device(r) || r->step->kind_count[PACE_TASK_CALL] == 0;
    return half && r->of_others * 10 > r->step->complete_count;
}

static pace_status refuse_foreign(const reader *r, const char *name) {
    return pace_fail(
        PACE_E_INPUT,
        "%s: expected events of the PyTorch profiler (categories such as cpu_op, kernel, cuda_runtime), found "
        "%" PRIu64 " of another tool (%s%.40s%s): record the step with torch.profiler, or the program with "
        "Nsight Systems (nsys profile, nsys export --type sqlite); a timeline of your own is read once its device work has the "
        "category kernel (docs/formats.md)",
        name, r->step->complete_count + r->foreign_begun,
        r->foreign ? "category '"
                   : "without a category, as the trace viewer "
                     "of JAX and TensorFlow writes them",
        r->foreign ? pace_names_text(&r->step->names, r->foreign) : "", r->foreign ? "'" : "");
}

static pace_status refuse_half_foreign(const reader *r, const char *name) {
    return pace_fail(PACE_E_INPUT,
                     "%s: expected events of the PyTorch profiler alone, found %" PRIu64 " of %" PRIu64
                     " complete events of another tool (category '%.40s'): what is read without them would mislead; "
                     "record the step with torch.profiler, or the program with Nsight Systems (nsys profile, nsys "
                     "export --type sqlite); docs/formats.md lists the categories of a timeline of your own",
                     name, r->of_others, r->step->complete_count, pace_names_text(&r->step->names, r->foreign));
}

static pace_status keep_event(reader *r) {
    pace_step *step = r->step;
    pace_kineto_event *event = &r->event;
    step->event_count++;
    r->without_phase += event->phase == 0;
    if (!event->has_start || !pace_time_is_sane(event->start_ns, event->duration_ns)) {
        if (event->phase != 'M') step->unknown_count++;
        r->far_off += event->phase == 'X';
        return PACE_OK;
    }
    switch (event->phase) {
    case 'X':
        step->complete_count++;
        if (event->counts) return keep_counters(r);
        if (!event->known_category) return note_foreign(r);
        r->without_length += event->duration_ns < 0;
        return add_task(r, event->duration_ns > 0 ? event->duration_ns : 0);
    case 'B':
        if (!event->known_category) r->foreign_begun++;
        if (!event->known_category) PACE_TRY(note_foreign(r));
        return begin_task(r);
    case 'E': return end_task(r);
    case 's':
    case 'f': return event->autograd ? keep_arrow(r) : PACE_OK;
    case 'i': return keep_memory(r);
    case 'M':
    case 't':
    case 'I':
    case 'C':
    case 'b':
    case 'n':
    case 'e': return PACE_OK;
    default: step->unknown_count++; return PACE_OK;
    }
}

static pace_json_token read_events(reader *r) {
    for (uint64_t count = 0;; count++) {
        pace_json_token token = pace_json_next(r->json);
        if (token == PACE_JSON_OBJECT) {
            pace_kineto_event_clear(&r->event);
            token = pace_kineto_event_read(&r->event, r->json, &r->step->names, &r->status);
            if (token == PACE_JSON_OBJECT_END) r->status = keep_event(r);
            if (r->status != PACE_OK) return PACE_JSON_ERROR;
        } else if (token == PACE_JSON_ARRAY_END || pace_json_failed(token)) {
            r->events_whole = token == PACE_JSON_ARRAY_END;
            return token;
        } else { /* no event */
            r->step->unknown_count++;
            if (token == PACE_JSON_ARRAY) token = pace_json_leave(r->json);
        }
        if (pace_json_failed(token)) return token;
        if (r->progress.tell && count % 65536 == 0)
            pace_progress_tell(r->progress, "reading", pace_input_stored_bytes(r->input),
                               pace_input_stored_size(r->input));
    }
}

/* --- what the trace says of itself ------------------------------------------------------------------------ */

static pace_json_token read_distributed(void *context, const char *key) {
    reader *r = context;
    bool rank = strcmp(key, "rank") == 0, world = strcmp(key, "world_size") == 0;
    pace_json_token token = pace_json_next(r->json);
    int64_t value;
    bool whole = (token == PACE_JSON_NUMBER || token == PACE_JSON_STRING) && pace_json_int(r->json, &value);
    if ((rank || world) && whole && value >= 0 && value < INT32_MAX)
        *(rank ? &r->step->rank : &r->step->world_size) = value;
    return pace_json_pass(r->json, token);
}

static pace_json_token read_of_device(void *context, const char *key) {
    reader *r = context;
    pace_json_token token = pace_json_next(r->json);
    double bytes;
    if (token == PACE_JSON_STRING && strcmp(key, "name") == 0) {
        r->status = pace_kineto_intern(&r->device.name, r->json, &r->step->names);
        if (r->status != PACE_OK) return PACE_JSON_ERROR;
    } else if (token == PACE_JSON_NUMBER && strcmp(key, "totalGlobalMem") == 0) {
        if (pace_json_double(r->json, &bytes) && bytes > 0 && bytes < 1e18) r->device.memory_bytes = bytes;
    } else if (token == PACE_JSON_NUMBER && strcmp(key, "id") == 0) pace_json_int(r->json, &r->device.id);
    return pace_json_pass(r->json, token);
}

static pace_json_token read_device(void *context) {
    reader *r = context;
    r->device = (pace_traced_device){.id = (int64_t)r->step->devices.count};
    pace_json_token token = pace_json_each_member(r->json, read_of_device, r);
    if (token == PACE_JSON_OBJECT_END) r->status = PACE_PUSH(&r->step->devices, r->device);
    return r->status == PACE_OK ? token : PACE_JSON_ERROR;
}

static pace_json_token read_member(reader *r, bool *events_seen) {
    bool events = pace_json_is(r->json, "traceEvents"), devices = pace_json_is(r->json, "deviceProperties");
    bool distributed = pace_json_is(r->json, "distributedInfo"), base = pace_json_is(r->json, "baseTimeNanoseconds");
    bool slice = pace_json_is(r->json, PACE_SLICE_MEMBER);
    if (pace_json_is(r->json, PACE_RANKS_MEMBER)) r->joined = true;
    if (!events && !devices && !distributed && !base && !slice) return pace_json_skip(r->json);
    pace_json_token token = pace_json_next(r->json);
    if (slice && token == PACE_JSON_OBJECT) return pace_slice_member_read(r->step, r->json, &r->status);
    if (events && token == PACE_JSON_ARRAY) {
        *events_seen = true;
        return read_events(r);
    }
    if (devices && token == PACE_JSON_ARRAY) return pace_json_each_object(r->json, read_device, r);
    if (distributed && token == PACE_JSON_OBJECT) return pace_json_each_member(r->json, read_distributed, r);
    if (token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY) return pace_json_leave(r->json);
    int64_t value;
    if (base && token == PACE_JSON_NUMBER && pace_json_int(r->json, &value) && value > 0 && value < INT64_MAX / 2)
        r->step->base_ns = value;
    return token;
}

static pace_json_token read_document(reader *r, bool *events_seen) {
    pace_json_token token = pace_json_next(r->json);
    if (token == PACE_JSON_ARRAY) { /* the bare array form */
        *events_seen = true;
        token = read_events(r);
        return pace_json_failed(token) ? token : pace_json_next(r->json);
    }
    if (token != PACE_JSON_OBJECT) return token;
    for (;;) {
        token = pace_json_next(r->json);
        if (token != PACE_JSON_KEY) break;
        token = read_member(r, events_seen);
        if (pace_json_failed(token)) return token;
    }
    return pace_json_failed(token) ? token : pace_json_next(r->json);
}

/* What the list of events has that is not used, behind what was said before. */
static void note_events(const reader *r, pace_read_notes *notes, const char *name) {
    char *out = notes->warning;
    const size_t size = sizeof notes->warning;
    if (!*out) notes->code = PACE_WARN_EVENTS_LEFT_OUT;
    if (r->step->unknown_count)
        pace_list(out, size, "; ", "%s: %" PRIu64 " events of an unknown phase or without a usable time were left out",
                  name, r->step->unknown_count);
    if (r->wide_ids)
        pace_list(out, size, "; ",
                  "%s: %" PRIu64 " correlation and external ids above 32 bits were left out: what they launched has no "
                  "known cause",
                  name, r->wide_ids);
    if (r->others)
        pace_list(out, size, "; ",
                  "%s: several processes wrote work of one device and stream: ranks that were joined into a file are "
                  "analysed one by one, from the file of each",
                  name);
    if (r->of_others)
        pace_list(out, size, "; ",
                  "%s: %" PRIu64 " of %" PRIu64 " complete events have categories that the PyTorch profiler does not "
                  "write ('%.40s' first) and were left out",
                  name, r->of_others, r->step->complete_count, pace_names_text(&r->step->names, r->foreign));
    if (r->without_length)
        pace_list(out, size, "; ",
                  "%s: %" PRIu64 " events of %" PRIu64 " have no usable duration (none, below zero, or no number) and "
                  "count as taking no time",
                  name, r->without_length, r->step->complete_count);
}

static pace_status judge(reader *r, pace_json_token token, bool events_seen, pace_read_notes *notes) {
    const char *name = pace_input_name(r->input);
    if (r->status != PACE_OK) return r->status;
    if (r->joined)
        return pace_fail(PACE_E_INPUT,
                         "%s: expected the trace of one rank, found several that were joined for a viewer", name);
    if (pace_json_failed(token)) {
        pace_status status = pace_json_status(r->json);
        if (status != PACE_E_INPUT || r->step->complete_count == 0) return status;
        notes->code = PACE_WARN_FILE_CUT_OFF;
        snprintf(notes->warning, sizeof notes->warning, "%s; kept the %" PRIu64 " events before it", pace_message(),
                 r->step->event_count);
        if (is_foreign(r)) return refuse_foreign(r, name);
        note_events(r, notes, name);
        return PACE_OK;
    }
    if (!events_seen)
        return pace_fail(PACE_E_INPUT,
                         "%s: byte %" PRIu64
                         ": expected an object with \"traceEvents\" or an array of events, found neither",
                         name, pace_json_offset(r->json));
    if (r->step->event_count == 0)
        return pace_fail(PACE_E_INPUT, "%s: expected trace events, found an empty list", name);
    if (is_foreign(r)) return refuse_foreign(r, name);
    if (is_half_foreign(r)) return refuse_half_foreign(r, name);
    if (lacks_device(r))
        return pace_fail(
            PACE_E_INPUT,
            "%s: expected kernels, found %" PRIu64
            " complete events without a category, as a device has them whose work is not read (Ascend's NPUs): the "
            "host's part alone would mislead",
            name, r->without_category);
    if (r->without_phase == r->step->event_count)
        return pace_fail(PACE_E_INPUT, "%s: expected trace events (with \"ph\" and \"ts\"), found a list of others",
                         name);
    if (r->step->complete_count == 0 && r->open.count == 0 && r->far_off > 0)
        return pace_fail(PACE_E_INPUT,
                         "%s: expected times in microseconds, found none in %" PRIu64
                         " events that is a number within 87 years of time zero: are they nanoseconds?",
                         name, r->far_off);
    note_events(r, notes, name);
    return PACE_OK;
}

/* Kineto lists what the host did first, then what the device did, each by time; older versions list both together. Of
 * work of the device that breaks off, more than what the host was at may be lost: what it had issued since the last
 * that was read. */
static void find_cut(pace_step *step, int64_t last_ns) {
    uint32_t last = PACE_NO_TASK;
    for (uint32_t task = 0; task < step->count; task++)
        if (pace_task_on_device(step->kind[task]) &&
            (last == PACE_NO_TASK || step->start_ns[task] > step->start_ns[last]))
            last = task;
    step->cut_ns = last_ns;
    if (last == PACE_NO_TASK) return;
    int64_t issued_ns =
        step->start_ns[pace_task_cause(step, last) == PACE_NO_TASK ? last : pace_task_cause(step, last)];
    if (issued_ns < step->cut_ns) step->cut_ns = issued_ns;
}

pace_status pace_kineto_read(pace_step *out, pace_input *input, pace_read_notes *notes, pace_progress progress) {
    pace_step step;
    PACE_TRY(pace_step_init(&step));
    reader r = {.step = &step, .input = input, .progress = progress};
    *notes = (pace_read_notes){0};
    pace_status status = pace_json_open(&r.json, input);
    if (status == PACE_OK) {
        bool events_seen = false;
        pace_json_token token = read_document(&r, &events_seen);
        status = judge(&r, token, events_seen, notes);
        notes->bytes = pace_json_bytes(r.json);
    }
    if (status == PACE_OK) status = pace_step_finish(&step);
    if (status == PACE_OK && notes->code == PACE_WARN_FILE_CUT_OFF && !r.events_whole) find_cut(&step, r.last_ns);
    pace_json_free(r.json);
    pace_kineto_event_free(&r.event);
    PACE_VEC_FREE(&r.open);
    PACE_VEC_FREE(&r.owners);
    return PACE_GIVE(out, step, status, pace_step_free(&step));
}
