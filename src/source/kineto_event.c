/* Reading one event object: members and args in any order, numbers also as text, everything else skipped. */
#include "source/kineto_event.h"

#include "base/json_compact.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *text;
    pace_task_kind kind;
} categories[] = {
    {"cpu_op", PACE_TASK_OP},
    {"operator", PACE_TASK_OP},
    {"kernel", PACE_TASK_KERNEL},
    {"gpu_memcpy", PACE_TASK_COPY},
    {"memcpy", PACE_TASK_COPY},
    {"gpu_memset", PACE_TASK_MEMSET},
    {"memset", PACE_TASK_MEMSET},
    {"cuda_runtime", PACE_TASK_CALL},
    {"cuda_driver", PACE_TASK_CALL},
    {"runtime", PACE_TASK_CALL},
    {"driver", PACE_TASK_CALL},
    {"hip_runtime", PACE_TASK_CALL},
    {"xpu_runtime", PACE_TASK_CALL},
    {"xpu_driver", PACE_TASK_CALL},
    {"mtia_runtime", PACE_TASK_CALL},
    {"mtia_ccp_events", PACE_TASK_KERNEL}, /* on the device */
    {"hpu_op", PACE_TASK_CALL},            /* of the host */
    {"glow_runtime", PACE_TASK_CALL},
    {"privateuse1_runtime", PACE_TASK_CALL},
    {"privateuse1_driver", PACE_TASK_CALL},
    {"concurrent_kernel", PACE_TASK_KERNEL},
    {"user_annotation", PACE_TASK_ANNOTATION},
    {"python_function", PACE_TASK_PYTHON},
    {"cuda_sync", PACE_TASK_SYNC},
};

/* Kind of a category, any capitalisation. False: not a category that becomes tasks. */
static bool kineto_category(pace_task_kind *kind, const char *text, size_t length) {
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (strlen(categories[i].text) == length && strncasecmp(categories[i].text, text, length) == 0) {
            *kind = categories[i].kind;
            return true;
        }
    }
    return false;
}

void pace_kineto_event_clear(pace_kineto_event *event) {
    event->phase = 0;
    event->kind = PACE_TASK_OTHER;
    event->known_category = event->autograd = event->has_category = event->counts = false;
    event->counters.count = 0;
    event->name = 0;
    event->pid[0] = event->tid[0] = '\0';
    event->has_start = event->has_duration = event->has_shapes = event->has_exchange = false;
    event->start_ns = event->duration_ns = 0;
    event->device = event->stream = event->bytes = event->wait_stream = event->sequence = -1;
    event->correlation = event->external = event->id = event->record_correlation = 0;
    event->forward_thread = 0;
    event->memory = (pace_memory_event){.allocated_bytes = -1, .reserved_bytes = -1};
    event->exchange = (pace_exchange_info){.source = PACE_NO_RANK, .destination = PACE_NO_RANK};
    event->dims.count = event->types.count = event->concrete.count = 0;
    for (int i = 0; i < PACE_LAUNCH_PARTS; i++) event->launch[i].count = 0;
}

void pace_kineto_event_free(pace_kineto_event *event) {
    PACE_VEC_FREE(&event->dims);
    PACE_VEC_FREE(&event->types);
    PACE_VEC_FREE(&event->concrete);
    PACE_VEC_FREE(&event->counters);
    for (int i = 0; i < PACE_LAUNCH_PARTS; i++) PACE_VEC_FREE(&event->launch[i]);
}

static bool is_open(pace_json_token token) { return token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY; }

/* A macro, so that the literal's length is known and the comparison is a few instructions. */
#define is(text, length, word) ((length) == sizeof(word) - 1 && memcmp(text, word, sizeof(word) - 1) == 0)

/* Any scalar as text, cut to the buffer. Always as many bytes, which the window holds behind every token: no call. */
static void copy_id(char *out, const pace_json *json) {
    static_assert((int)PACE_ID_TEXT <= (int)PACE_JSON_BEHIND, "the window holds so many bytes behind a token");
    size_t length;
    const char *text = pace_json_text(json, &length);
    if (length >= PACE_ID_TEXT) length = PACE_ID_TEXT - 1;
    memcpy(out, text, PACE_ID_TEXT);
    out[length] = '\0';
}

static int64_t int_or(const pace_json *json, int64_t otherwise) {
    int64_t value;
    return pace_json_int(json, &value) ? value : otherwise;
}

pace_status pace_kineto_intern(pace_name *out, pace_json *json, pace_names *names) {
    size_t length;
    const char *text = pace_json_escaped(json) ? pace_json_decoded(json, &length) : pace_json_text(json, &length);
    if (!text) return PACE_E_MEMORY;
    return pace_names_add(out, names, text, length);
}

/* --- values kept as compact JSON text (shapes, types) ---------------------------------------------------- */

static pace_status append(pace_text_buffer *to, const char *text, size_t length) {
    PACE_TRY(pace_grow(&to->items, &to->capacity, to->count + length + 1, 1));
    memcpy(to->items + to->count, text, length);
    to->count += length;
    return PACE_OK;
}

/* Copies an array without the white space between its tokens; strings in it have no escapes. */
static pace_status append_compact(pace_text_buffer *to, const char *text, size_t length) {
    PACE_TRY(pace_grow(&to->items, &to->capacity, to->count + length + 8, 1));
    to->count = (size_t)(pace_json_compact(to->items + to->count, text, length) - to->items);
    return PACE_OK;
}

/* One token of a value; an object becomes null whole. */
static pace_json_token capture_one(pace_text_buffer *buffer, pace_json *json, pace_json_token token,
                                   pace_status *status) {
    size_t length;
    const char *text = pace_json_text(json, &length);
    if (token == PACE_JSON_ARRAY) {
        *status = append(buffer, "[", 1);
    } else if (token == PACE_JSON_STRING) {
        *status = append(buffer, "\"", 1);
        if (*status == PACE_OK) *status = append(buffer, text, length);
        if (*status == PACE_OK) *status = append(buffer, "\"", 1);
    } else if (token == PACE_JSON_NUMBER) {
        *status = append(buffer, text, length);
    } else {
        if (token == PACE_JSON_OBJECT) token = pace_json_leave(json);
        if (!pace_json_failed(token)) *status = append(buffer, "null", 4);
    }
    return token;
}

/* Copies the array or scalar that `token` begins; arrays only as deep as shapes go, objects are dropped. */
static pace_json_token capture(pace_text_buffer *buffer, pace_json *json, pace_json_token token, pace_status *status) {
    unsigned depth = 0;
    bool comma = false;
    size_t length;
    const char *plain = token == PACE_JSON_ARRAY ? pace_json_plain_array(json, &length) : NULL;
    if (plain) {
        *status = append_compact(buffer, plain, length);
        return *status == PACE_OK ? PACE_JSON_STRING : PACE_JSON_ERROR;
    }
    for (;; token = pace_json_next(json)) {
        if (pace_json_failed(token)) return token;
        if (token == PACE_JSON_ARRAY_END) {
            depth--;
            *status = append(buffer, "]", 1);
            comma = true;
        } else {
            if (comma) *status = append(buffer, ",", 1);
            comma = token != PACE_JSON_ARRAY;
            depth += token == PACE_JSON_ARRAY;
            if (*status == PACE_OK) token = capture_one(buffer, json, token, status);
            if (pace_json_failed(token)) return token;
        }
        if (*status != PACE_OK) return PACE_JSON_ERROR;
        if (depth == 0) return PACE_JSON_STRING;
    }
}

/* --- args ----------------------------------------------------------------------------------------------- */

enum {
    ARG_NONE,
    ARG_DEVICE,
    ARG_STREAM,
    ARG_CORRELATION,
    ARG_EXTERNAL,
    ARG_BYTES,
    ARG_DIMS,
    ARG_TYPES,
    ARG_CONCRETE,
    ARG_GRID,
    ARG_BLOCK,
    ARG_OCCUPANCY,
    ARG_BLOCKS_PER_SM,
    ARG_ADDRESS,
    ARG_DEVICE_ID,
    ARG_DEVICE_TYPE,
    ARG_TOTAL_ALLOCATED,
    ARG_TOTAL_RESERVED,
    ARG_COLLECTIVE,
    ARG_IN_ELEMENTS,
    ARG_OUT_ELEMENTS,
    ARG_GROUP_SIZE,
    ARG_GROUP,
    ARG_GROUP_RANKS,
    ARG_SOURCE,
    ARG_DESTINATION,
    ARG_DTYPE,
    ARG_RECORD_CORRELATION,
    ARG_WAIT_STREAM,
    ARG_SEQUENCE,
    ARG_FORWARD_THREAD
};

/* The argument names of Kineto, 2021 to today; the length decides first, so most keys cost one comparison. */
static uint8_t arg_of(const char *key, size_t length) {
    switch (length) {
    case 4:
        if (is(key, length, "Addr")) return ARG_ADDRESS;
        return is(key, length, "grid") ? ARG_GRID : ARG_NONE;
    case 5:
        if (is(key, length, "block")) return ARG_BLOCK;
        if (is(key, length, "bytes") || is(key, length, "Bytes")) return ARG_BYTES;
        return is(key, length, "dtype") ? ARG_DTYPE : ARG_NONE;
    case 6:
        if (is(key, length, "device")) return ARG_DEVICE;
        return is(key, length, "stream") ? ARG_STREAM : ARG_NONE;
    case 8:
        if (is(key, length, "Src Rank")) return ARG_SOURCE;
        return is(key, length, "Dst Rank") ? ARG_DESTINATION : ARG_NONE;
    case 9: return is(key, length, "Device Id") ? ARG_DEVICE_ID : ARG_NONE;
    case 10:
        if (is(key, length, "Input Dims")) return ARG_DIMS;
        if (is(key, length, "Input type")) return ARG_TYPES;
        return is(key, length, "Group size") ? ARG_GROUP_SIZE : ARG_NONE;
    case 11:
        if (is(key, length, "correlation")) return ARG_CORRELATION;
        if (is(key, length, "Device Type")) return ARG_DEVICE_TYPE;
        return is(key, length, "External id") || strncasecmp(key, "external id", length) == 0 ? ARG_EXTERNAL : ARG_NONE;
    case 13:
        if (is(key, length, "Fwd thread id")) return ARG_FORWARD_THREAD;
        if (is(key, length, "blocks per SM")) return ARG_BLOCKS_PER_SM;
        return is(key, length, "In msg nelems") ? ARG_IN_ELEMENTS : ARG_NONE;
    case 14:
        if (is(key, length, "wait_on_stream")) return ARG_WAIT_STREAM;
        if (is(key, length, "Total Reserved")) return ARG_TOTAL_RESERVED;
        return is(key, length, "Out msg nelems") ? ARG_OUT_ELEMENTS : ARG_NONE;
    case 15:
        if (is(key, length, "Concrete Inputs")) return ARG_CONCRETE;
        if (is(key, length, "Total Allocated")) return ARG_TOTAL_ALLOCATED;
        if (is(key, length, "Sequence number")) return ARG_SEQUENCE;
        return is(key, length, "Collective name") ? ARG_COLLECTIVE : ARG_NONE;
    case 18: return is(key, length, "Process Group Name") ? ARG_GROUP : ARG_NONE;
    case 19: return is(key, length, "Process Group Ranks") ? ARG_GROUP_RANKS : ARG_NONE;
    case 25: return is(key, length, "est. achieved occupancy %") ? ARG_OCCUPANCY : ARG_NONE;
    case 33: return is(key, length, "wait_on_cuda_event_record_corr_id") ? ARG_RECORD_CORRELATION : ARG_NONE;
    default: return ARG_NONE;
    }
}

static uint64_t id_or_zero(const pace_json *json) {
    int64_t value = int_or(json, 0);
    return value > 0 ? (uint64_t)value : 0;
}

/* A rank of the world, or PACE_NO_RANK. */
static int64_t rank_of(const pace_json *json) {
    int64_t value = int_or(json, PACE_NO_RANK);
    return value >= 0 && value < INT32_MAX ? value : PACE_NO_RANK;
}

static pace_status keep_arg(pace_kineto_event *event, uint8_t which, pace_json *json, pace_names *names) {
    switch (which) {
    case ARG_DEVICE: event->device = int_or(json, -1); break;
    case ARG_STREAM: event->stream = int_or(json, -1); break;
    case ARG_CORRELATION: event->correlation = id_or_zero(json); break;
    case ARG_EXTERNAL: event->external = id_or_zero(json); break;
    case ARG_BYTES: event->bytes = int_or(json, -1); break;
    case ARG_ADDRESS: event->memory.address = (uint64_t)int_or(json, 0); break;
    case ARG_DEVICE_ID: event->memory.device_id = (int16_t)int_or(json, -1); break;
    case ARG_DEVICE_TYPE: event->memory.device_type = (uint8_t)int_or(json, 0); break;
    case ARG_TOTAL_ALLOCATED: event->memory.allocated_bytes = int_or(json, -1); break;
    case ARG_TOTAL_RESERVED: event->memory.reserved_bytes = int_or(json, -1); break;
    case ARG_RECORD_CORRELATION: event->record_correlation = id_or_zero(json); break;
    case ARG_WAIT_STREAM: event->wait_stream = int_or(json, -1); break;
    case ARG_SEQUENCE: event->sequence = int_or(json, -1); break;
    case ARG_FORWARD_THREAD: event->forward_thread = int_or(json, 0); break;
    case ARG_IN_ELEMENTS: event->exchange.in_elements = int_or(json, 0); break;
    case ARG_OUT_ELEMENTS: event->exchange.out_elements = int_or(json, 0); break;
    case ARG_GROUP_SIZE: event->exchange.group_size = int_or(json, 0); break;
    case ARG_COLLECTIVE:
        event->has_exchange = true;
        return pace_kineto_intern(&event->exchange.collective, json, names);
    case ARG_GROUP: return pace_kineto_intern(&event->exchange.group, json, names);
    case ARG_GROUP_RANKS: return pace_kineto_intern(&event->exchange.group_ranks, json, names);
    case ARG_SOURCE: event->exchange.source = rank_of(json); break;
    case ARG_DESTINATION: event->exchange.destination = rank_of(json); break;
    case ARG_DTYPE: return pace_kineto_intern(&event->exchange.dtype, json, names);
    default: break;
    }
    return PACE_OK;
}

/* Where the text of an argument is kept that is not one number or name; NULL for all others. */
static pace_text_buffer *buffer_of(pace_kineto_event *event, uint8_t which) {
    switch (which) {
    case ARG_DIMS: return &event->dims;
    case ARG_TYPES: return &event->types;
    case ARG_CONCRETE: return &event->concrete;
    case ARG_GRID: return &event->launch[PACE_LAUNCH_GRID];
    case ARG_BLOCK: return &event->launch[PACE_LAUNCH_BLOCK];
    case ARG_OCCUPANCY: return &event->launch[PACE_LAUNCH_OCCUPANCY];
    case ARG_BLOCKS_PER_SM: return &event->launch[PACE_LAUNCH_BLOCKS_PER_SM];
    default: return NULL;
    }
}

/* The arguments of a range of counters: a number by the name of each counter. */
static pace_json_token read_counters(pace_kineto_event *event, pace_json *json, pace_names *names,
                                     pace_status *status) {
    for (;;) {
        pace_counter counter = {0};
        pace_json_token token = pace_json_next(json);
        if (token != PACE_JSON_KEY) return token;
        *status = pace_kineto_intern(&counter.counter, json, names);
        if (*status != PACE_OK) return PACE_JSON_ERROR;
        token = pace_json_next(json);
        if (is_open(token)) token = pace_json_leave(json);
        else if (token == PACE_JSON_NUMBER && pace_json_double(json, &counter.value))
            *status = PACE_PUSH(&event->counters, counter);
        if (*status != PACE_OK) return PACE_JSON_ERROR;
        if (pace_json_failed(token)) return token;
    }
}

static pace_json_token read_args(pace_kineto_event *event, pace_json *json, pace_names *names, pace_status *status) {
    for (;;) {
        uint8_t which;
        pace_json_token token = pace_json_habit_member(json, &event->args[event->kind], arg_of, &which);
        if (token == PACE_JSON_OBJECT_END || pace_json_failed(token)) return token;
        pace_text_buffer *buffer = buffer_of(event, which);
        if (buffer) {
            event->has_shapes = event->has_shapes || which == ARG_DIMS;
            buffer->count = 0;
            token = capture(buffer, json, token, status);
        } else if (is_open(token)) {
            token = pace_json_leave(json);
        } else if (which != ARG_NONE && (token == PACE_JSON_STRING || token == PACE_JSON_NUMBER)) {
            *status = keep_arg(event, which, json, names);
        }
        if (*status != PACE_OK) return PACE_JSON_ERROR;
        if (pace_json_failed(token)) return token;
    }
}

/* --- the event's own members ----------------------------------------------------------------------------- */

static void read_category(pace_kineto_category *out, const char *text, size_t length) {
    *out = (pace_kineto_category){.kind = PACE_TASK_OTHER};
    out->known = kineto_category(&out->kind, text, length);
    out->autograd = is(text, length, "fwdbwd") || is(text, length, "forward_backward");
    out->counts = is(text, length, "cuda_profiler_range");
    out->length = length < sizeof out->text ? length : 0;
    memcpy(out->text, text, out->length);
}

static bool is_category(const pace_kineto_category *category, const char *text, size_t length) {
    return category->length == length && length && memcmp(text, category->text, length) == 0;
}

/* Categories are few: each is understood once. */
static size_t find_category(pace_kineto_event *event, const char *text, size_t length) {
    if (is_category(&event->categories[event->category], text, length)) return event->category;
    for (size_t i = 0; i < event->category_count; i++)
        if (is_category(&event->categories[i], text, length)) return i;
    size_t place = event->category_count;
    if (length == 0 || length >= sizeof event->categories[0].text || place + 1 >= PACE_KINETO_CATEGORIES)
        place = PACE_KINETO_CATEGORIES - 1;
    else event->category_count++;
    read_category(&event->categories[place], text, length);
    return place;
}

static void keep_category(pace_kineto_event *event, const char *text, size_t length) {
    event->category = find_category(event, text, length);
    const pace_kineto_category *category = &event->categories[event->category];
    event->has_category = true;
    event->known_category = category->known;
    event->autograd = category->autograd;
    event->counts = category->counts;
    event->kind = category->kind;
}

enum { NO_MEMBER, PHASE, START, DURATION, CATEGORY, NAME, PROCESS, THREAD, IDENTITY, ARGS };

static uint8_t member_of(const char *key, size_t length) {
    switch (length) {
    case 2:
        if (is(key, length, "ph")) return PHASE;
        if (is(key, length, "ts")) return START;
        return is(key, length, "id") ? IDENTITY : NO_MEMBER;
    case 3:
        if (is(key, length, "dur")) return DURATION;
        if (is(key, length, "cat")) return CATEGORY;
        if (is(key, length, "pid")) return PROCESS;
        return is(key, length, "tid") ? THREAD : NO_MEMBER;
    case 4:
        if (is(key, length, "name")) return NAME;
        return is(key, length, "args") ? ARGS : NO_MEMBER;
    default: return NO_MEMBER;
    }
}

static pace_status keep_member(pace_kineto_event *event, uint8_t which, pace_json *json, pace_names *names) {
    size_t length;
    const char *text = pace_json_text(json, &length);
    switch (which) {
    case PHASE: event->phase = length ? text[0] : 0; break;
    case START: event->has_start = pace_json_us_to_ns(json, &event->start_ns); break;
    case DURATION: event->has_duration = pace_json_us_to_ns(json, &event->duration_ns); break;
    case CATEGORY: keep_category(event, text, length); break;
    case NAME: return pace_kineto_intern(&event->name, json, names);
    case PROCESS: copy_id(event->pid, json); break;
    case THREAD: copy_id(event->tid, json); break;
    case IDENTITY: event->id = id_or_zero(json); break;
    default: break;
    }
    return PACE_OK;
}

/* An arrow of which nothing is kept but that it was there (one in three events of a trace). */
static bool is_idle_arrow(const pace_kineto_event *event) {
    return (event->phase == 's' || event->phase == 'f') && !event->autograd && event->has_start && !event->reads_arrows;
}

pace_json_token pace_kineto_event_read(pace_kineto_event *event, pace_json *json, pace_names *names,
                                       pace_status *status) {
    *status = PACE_OK;
    for (;;) {
        uint8_t which;
        pace_json_token token = pace_json_habit_member(json, &event->members, member_of, &which);
        if (token == PACE_JSON_OBJECT_END || pace_json_failed(token)) return token;
        if (which == ARGS && token == PACE_JSON_OBJECT)
            token = (event->counts ? read_counters : read_args)(event, json, names, status);
        else if (is_open(token)) token = pace_json_leave(json);
        else if (which != NO_MEMBER && (token == PACE_JSON_STRING || token == PACE_JSON_NUMBER))
            *status = keep_member(event, which, json, names);
        if (which == CATEGORY && is_idle_arrow(event)) return pace_json_leave(json);
        if (*status != PACE_OK) return PACE_JSON_ERROR;
        if (pace_json_failed(token)) return token;
    }
}
