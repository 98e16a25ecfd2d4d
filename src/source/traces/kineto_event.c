/* Reading one event object: members and args in any order, numbers also as text, everything else skipped. */
#include "source/traces/kineto_event.h"
#include "base/text.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *text;
    pace_task_kind kind;
} categories[] = {
    {"cpu_op", PACE_TASK_OP},
    {"Operator", PACE_TASK_OP}, /* of 2021, exactly so: MXNet writes "operator" */
    {"kernel", PACE_TASK_KERNEL},
    {"gpu_memcpy", PACE_TASK_COPY},
    {"memcpy", PACE_TASK_COPY},
    {"gpu_memset", PACE_TASK_MEMSET},
    {"memset", PACE_TASK_MEMSET},
    {"cuda_runtime", PACE_TASK_CALL},
    {"cuda_driver", PACE_TASK_CALL},
    {"runtime", PACE_TASK_CALL},
    {"driver", PACE_TASK_CALL},
    {"mtia_ccp_events", PACE_TASK_KERNEL}, /* on the device */
    {"hpu_op", PACE_TASK_CALL},            /* of the host */
    {"concurrent_kernel", PACE_TASK_KERNEL},
    {"user_annotation", PACE_TASK_ANNOTATION},
    {"python_function", PACE_TASK_PYTHON},
    {"cuda_sync", PACE_TASK_SYNC},
};

/* What Kineto puts behind the name of a device: hip_runtime, xpu_driver, musa_sync, privateuse1_kernel. */
static const struct {
    const char *ending;
    pace_task_kind kind;
} of_devices[] = {
    {"_runtime", PACE_TASK_CALL}, {"_driver", PACE_TASK_CALL},   {"_kernel", PACE_TASK_KERNEL},
    {"_memcpy", PACE_TASK_COPY},  {"_memset", PACE_TASK_MEMSET}, {"_sync", PACE_TASK_SYNC},
};

/* What Kineto writes and nothing here needs; nor what a trace of ours adds to it ("paceline_stage"). */
static const char *const passed_over[] = {
    "Trace",
    "overhead",
    "gpu_user_annotation",
    "privateuse1_user_annotation",
    "external_correlation",
    "cuda_event",
    "mtia_insight",
    "cpu_instant_event",
    "mtia_counters",
    "gpu_pm_counter",
};

static bool kineto_passes(const char *text, size_t length) {
    if (pace_span_starts(text, length, "paceline_")) return true;
    for (size_t i = 0; i < PACE_COUNT(passed_over); i++)
        if (pace_span_is(text, length, passed_over[i])) return true;
    return false;
}

static bool category_of_device(pace_task_kind *kind, const char *text, size_t length) {
    for (size_t i = 0; i < PACE_COUNT(of_devices); i++) {
        size_t ending = strlen(of_devices[i].ending);
        if (length > ending && memcmp(text + length - ending, of_devices[i].ending, ending) == 0) {
            *kind = of_devices[i].kind;
            return true;
        }
    }
    return false;
}

/* Kind of a category, in any capitalisation but for what has a capital here. False: it does not become tasks. */
static bool kineto_category(pace_task_kind *kind, const char *text, size_t length) {
    for (size_t i = 0; i < PACE_COUNT(categories); i++) {
        const char *known = categories[i].text;
        bool exactly = known[0] >= 'A' && known[0] <= 'Z';
        if (strlen(known) == length && (exactly ? strncmp : strncasecmp)(known, text, length) == 0) {
            *kind = categories[i].kind;
            return true;
        }
    }
    return category_of_device(kind, text, length);
}

void pace_kineto_event_clear(pace_kineto_event *event) {
    event->phase = 0;
    event->kind = PACE_TASK_OTHER;
    event->known_category = event->autograd = event->has_category = event->counts = false;
    event->counters.count = 0;
    event->name = 0;
    event->pid[0] = event->tid[0] = '\0';
    event->has_start = event->has_shapes = event->has_exchange = false;
    event->start_ns = 0;
    event->duration_ns = -1; /* none, or none that can be */
    event->device = event->stream = event->bytes = event->wait_stream = event->sequence = -1;
    event->correlation = event->external = event->id = event->record_correlation = 0;
    event->forward_thread = 0;
    event->memory = (pace_memory_event){.allocated_bytes = -1, .reserved_bytes = -1};
    event->exchange = (pace_exchange_info){.source = PACE_NO_RANK, .destination = PACE_NO_RANK};
    memset(event->shapes, 0, sizeof event->shapes);
    memset(event->launch, 0, sizeof event->launch);
}

void pace_kineto_event_free(pace_kineto_event *event) {
    PACE_VEC_FREE(&event->counters);
    pace_kineto_texts_free(&event->texts);
}

static bool is_open(pace_json_token token) { return token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY; }

/* A macro, so that the literal's length is known and the comparison is a few instructions. */
#define is(text, length, word) ((length) == sizeof(word) - 1 && memcmp(text, word, sizeof(word) - 1) == 0)

/* Any scalar as text, cut to the buffer. Always as many bytes, which the window holds behind every token: no call. */
static void copy_id(char *out, const pace_json_value *value) {
    static_assert((int)PACE_ID_TEXT <= (int)PACE_JSON_BEHIND, "the window holds so many bytes behind a token");
    memcpy(out, value->text, PACE_ID_TEXT);
    out[value->length < PACE_ID_TEXT ? value->length : PACE_ID_TEXT - 1] = '\0';
}

static inline int64_t int_or(const pace_json_value *value, int64_t otherwise) {
    int64_t number;
    return pace_json_value_int(value, &number) ? number : otherwise;
}

pace_status pace_kineto_intern(pace_name *out, pace_json *json, pace_names *names) {
    size_t length;
    const char *text = pace_json_escaped(json) ? pace_json_decoded(json, &length) : pace_json_text(json, &length);
    if (!text) return PACE_E_MEMORY;
    return pace_names_add(out, names, text, length);
}

/* An escaped value is the last token. */
static inline pace_status intern(pace_name *out, const pace_json_value *value, pace_json *json, pace_names *names) {
    if (PACE_UNLIKELY(value->kind == PACE_JSON_VALUE_ESCAPED)) return pace_kineto_intern(out, json, names);
    return pace_names_add(out, names, value->text, value->length);
}

/* --- args ----------------------------------------------------------------------------------------------- */

/* How an argument is kept, and as which type of member. */
typedef enum {
    KEEP_INT,         /* int64_t, 0 where it is no number */
    KEEP_INT_OR_NONE, /* int64_t, -1 where it is none */
    KEEP_ID,          /* uint64_t */
    KEEP_RANK,        /* int64_t */
    KEEP_INT16,
    KEEP_UINT8,
    KEEP_NAME, /* pace_name, interned */
    KEEP_TEXT, /* pace_name, among the event's own texts */
} keeping;

/* Arguments that say more than their value. */
enum { ARG_NONE, ARG_DIMS, ARG_COLLECTIVE, ARG_EXTERNAL };

#define AT(member) offsetof(pace_kineto_event, member)

/* The argument names of Kineto, 2021 to today. */
static const struct {
    const char *key;
    keeping keep;
    size_t at;
} arguments[] = {
    [ARG_NONE] = {""},
    [ARG_DIMS] = {"Input Dims", KEEP_TEXT, AT(shapes[PACE_SHAPE_DIMS_PART])},
    [ARG_COLLECTIVE] = {"Collective name", KEEP_NAME, AT(exchange.collective)},
    [ARG_EXTERNAL] = {"External id", KEEP_ID, AT(external)}, /* in any capitalisation */
    {"Input type", KEEP_TEXT, AT(shapes[PACE_SHAPE_TYPES_PART])},
    {"Concrete Inputs", KEEP_TEXT, AT(shapes[PACE_SHAPE_CONCRETE_PART])},
    {"grid", KEEP_TEXT, AT(launch[PACE_LAUNCH_GRID])},
    {"block", KEEP_TEXT, AT(launch[PACE_LAUNCH_BLOCK])},
    {"est. achieved occupancy %", KEEP_TEXT, AT(launch[PACE_LAUNCH_OCCUPANCY])},
    {"blocks per SM", KEEP_TEXT, AT(launch[PACE_LAUNCH_BLOCKS_PER_SM])},
    {"device", KEEP_INT_OR_NONE, AT(device)},
    {"stream", KEEP_INT_OR_NONE, AT(stream)},
    {"correlation", KEEP_ID, AT(correlation)},
    {"bytes", KEEP_INT_OR_NONE, AT(bytes)},
    {"Bytes", KEEP_INT_OR_NONE, AT(bytes)},
    {"Addr", KEEP_INT, AT(memory.address)},
    {"Device Id", KEEP_INT16, AT(memory.device_id)},
    {"Device Type", KEEP_UINT8, AT(memory.device_type)},
    {"Total Allocated", KEEP_INT_OR_NONE, AT(memory.allocated_bytes)},
    {"Total Reserved", KEEP_INT_OR_NONE, AT(memory.reserved_bytes)},
    {"wait_on_cuda_event_record_corr_id", KEEP_ID, AT(record_correlation)},
    {"wait_on_stream", KEEP_INT_OR_NONE, AT(wait_stream)},
    {"Sequence number", KEEP_INT_OR_NONE, AT(sequence)},
    {"Fwd thread id", KEEP_INT, AT(forward_thread)},
    {"In msg nelems", KEEP_INT, AT(exchange.in_elements)},
    {"Out msg nelems", KEEP_INT, AT(exchange.out_elements)},
    {"Group size", KEEP_INT, AT(exchange.group_size)},
    {"Process Group Name", KEEP_NAME, AT(exchange.group)},
    {"Process Group Ranks", KEEP_NAME, AT(exchange.group_ranks)},
    {"Src Rank", KEEP_RANK, AT(exchange.source)},
    {"Dst Rank", KEEP_RANK, AT(exchange.destination)},
    {"dtype", KEEP_NAME, AT(exchange.dtype)},
};

static uint8_t arg_of(const char *key, size_t length) {
    for (uint8_t i = 1; i < PACE_COUNT(arguments); i++)
        if (pace_span_is(key, length, arguments[i].key)) return i;
    bool external = length == strlen("external id") && pace_strncasecmp(key, "external id", length) == 0;
    return external ? ARG_EXTERNAL : ARG_NONE;
}

static inline uint64_t id_or_zero(const pace_json_value *value) {
    int64_t number = int_or(value, 0);
    return number > 0 ? (uint64_t)number : 0;
}

/* A rank of the world, or PACE_NO_RANK. */
static int64_t rank_of(const pace_json_value *value) {
    int64_t number = int_or(value, PACE_NO_RANK);
    return number >= 0 && number < INT32_MAX ? number : PACE_NO_RANK;
}

/* Where an argument goes that is kept as text; NULL for all others. */
static pace_name *text_of(pace_kineto_event *event, uint8_t which) {
    if (which == ARG_NONE || arguments[which].keep != KEEP_TEXT) return NULL;
    if (which == ARG_DIMS) event->has_shapes = true;
    return (pace_name *)(void *)((char *)event + arguments[which].at);
}

static pace_status keep_arg(pace_kineto_event *event, const pace_json_value *value, pace_json *json,
                            pace_names *names) {
    if (value->meaning == ARG_NONE) return PACE_OK;
    void *to = (char *)event + arguments[value->meaning].at;
    switch (arguments[value->meaning].keep) {
    case KEEP_INT: *(int64_t *)to = int_or(value, 0); break;
    case KEEP_INT_OR_NONE: *(int64_t *)to = int_or(value, -1); break;
    case KEEP_ID: *(uint64_t *)to = id_or_zero(value); break;
    case KEEP_RANK: *(int64_t *)to = rank_of(value); break;
    case KEEP_INT16: *(int16_t *)to = (int16_t)int_or(value, -1); break;
    case KEEP_UINT8: *(uint8_t *)to = (uint8_t)int_or(value, 0); break;
    case KEEP_NAME:
        if (value->meaning == ARG_COLLECTIVE) event->has_exchange = true;
        return intern(to, value, json, names);
    case KEEP_TEXT: return pace_kineto_text_add(text_of(event, value->meaning), &event->texts, value);
    }
    return PACE_OK;
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

/* The argument whose first token is the last; returns its last token. */
static pace_json_token keep_any_arg(pace_kineto_event *event, uint8_t which, pace_json *json, pace_json_token token,
                                    pace_names *names, pace_status *status) {
    pace_name *text = text_of(event, which);
    if (text) return pace_kineto_text_read(text, &event->texts, json, token, event->name * 32 + which, status);
    if (is_open(token)) return pace_json_leave(json);
    pace_json_value value = pace_json_value_of(json);
    value.meaning = which;
    if (value.kind != PACE_JSON_VALUE_OTHER) *status = keep_arg(event, &value, json, names);
    return *status == PACE_OK ? token : PACE_JSON_ERROR;
}

static pace_json_token read_args(pace_kineto_event *event, pace_json *json, pace_names *names, pace_status *status) {
    pace_json_habit *habit = &event->args[event->kind];
    for (;;) {
        uint8_t which;
        pace_json_value run[PACE_JSON_RUN];
        size_t count = pace_json_habit_run(json, habit, run);
        for (size_t i = 0; i < count && *status == PACE_OK; i++) *status = keep_arg(event, &run[i], json, names);
        if (*status != PACE_OK) return PACE_JSON_ERROR;
        pace_json_token token = pace_json_habit_member(json, habit, arg_of, &which);
        if (token == PACE_JSON_OBJECT_END || pace_json_failed(token)) return token;
        token = keep_any_arg(event, which, json, token, names, status);
        if (pace_json_failed(token)) return token;
    }
}

/* --- the event's own members ----------------------------------------------------------------------------- */

static void read_category(pace_kineto_category *out, const char *text, size_t length) {
    *out = (pace_kineto_category){.kind = PACE_TASK_OTHER};
    out->known = kineto_category(&out->kind, text, length);
    out->autograd = is(text, length, "fwdbwd") || is(text, length, "forward_backward");
    out->counts = is(text, length, "cuda_profiler_range");
    out->passed = kineto_passes(text, length);
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

static pace_status keep_member(pace_kineto_event *event, const pace_json_value *value, pace_json *json,
                               pace_names *names) {
    switch (value->meaning) {
    case PHASE: event->phase = value->length ? value->text[0] : 0; break;
    case START: event->has_start = pace_json_value_us_to_ns(value, &event->start_ns); break;
    case DURATION: (void)pace_json_value_us_to_ns(value, &event->duration_ns); break;
    case CATEGORY: keep_category(event, value->text, value->length); break;
    case NAME: return intern(&event->name, value, json, names);
    case PROCESS: copy_id(event->pid, value); break;
    case THREAD: copy_id(event->tid, value); break;
    case IDENTITY: event->id = id_or_zero(value); break;
    default: break;
    }
    return PACE_OK;
}

/* An arrow of which nothing is kept but that it was there (one in three events of a trace). */
static bool is_idle_arrow(const pace_kineto_event *event) {
    return (event->phase == 's' || event->phase == 'f') && !event->autograd && event->has_start && !event->reads_arrows;
}

/* The member whose first token is the last; returns its last token. */
static pace_json_token keep_any_member(pace_kineto_event *event, uint8_t which, pace_json *json, pace_json_token token,
                                       pace_names *names, pace_status *status) {
    if (which == ARGS && token == PACE_JSON_OBJECT)
        return (event->counts ? read_counters : read_args)(event, json, names, status);
    if (is_open(token)) return pace_json_leave(json);
    pace_json_value value = pace_json_value_of(json);
    value.meaning = which;
    if (value.kind != PACE_JSON_VALUE_OTHER) *status = keep_member(event, &value, json, names);
    return *status == PACE_OK ? token : PACE_JSON_ERROR;
}

pace_json_token pace_kineto_event_read(pace_kineto_event *event, pace_json *json, pace_names *names,
                                       pace_status *status) {
    *status = PACE_OK;
    for (;;) {
        uint8_t which;
        pace_json_value run[PACE_JSON_RUN];
        size_t count = pace_json_habit_run(json, &event->members, run);
        for (size_t i = 0; i < count; i++) {
            *status = keep_member(event, &run[i], json, names);
            if (*status != PACE_OK) return PACE_JSON_ERROR;
            if (run[i].meaning == CATEGORY && is_idle_arrow(event)) return pace_json_leave(json);
        }
        pace_json_token token = pace_json_habit_member(json, &event->members, member_of, &which);
        if (token == PACE_JSON_OBJECT_END || pace_json_failed(token)) return token;
        token = keep_any_member(event, which, json, token, names, status);
        if (pace_json_failed(token)) return token;
        if (which == CATEGORY && is_idle_arrow(event)) return pace_json_leave(json);
    }
}
