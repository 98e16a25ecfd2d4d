/*
 * The measured training steps of one rank: tasks on lanes, and what waits for what.
 *
 * Tasks are columns. After pace_step_finish() they are sorted by (lane, start, longest first), so a lane is one
 * contiguous range and a parent stands before its children. Host tasks nest (parent); a device task names the
 * host call that launched it (cause). What else the trace says waits for what, and which operator a backward operator
 * differentiates, is true of few tasks and kept in tables beside the columns (waits, gradients).
 */
#pragma once

#include "base/intern.h"
#include "base/order.h"

#include <string.h>

#define PACE_NO_TASK UINT32_MAX
#define PACE_DETAIL_EXCHANGE (UINT32_C(1) << 31)

/* Host tasks nest at most so deep. Python refuses deeper calls than 1000 frames, and real traces reach 200. */
#define PACE_STEP_DEPTH 256

typedef enum {
    PACE_TASK_OP,         /* an operator on a host thread */
    PACE_TASK_ANNOTATION, /* a range named by the user or the framework on a host thread */
    PACE_TASK_PYTHON,     /* a Python frame */
    PACE_TASK_CALL,       /* a runtime or driver call */
    PACE_TASK_KERNEL,
    PACE_TASK_COPY,
    PACE_TASK_MEMSET,
    PACE_TASK_SYNC, /* a synchronisation as the device saw it (stream waits for event, …) */
    PACE_TASK_OTHER,
    PACE_TASK_KINDS
} pace_task_kind;

typedef enum {
    PACE_STAGE_INPUT,
    PACE_STAGE_FORWARD,
    PACE_STAGE_RECOMPUTE, /* forward again, inside the backward pass */
    PACE_STAGE_BACKWARD,
    PACE_STAGE_UPDATE,
    PACE_STAGE_PREFILL, /* inference: the pass over a prompt */
    PACE_STAGE_DECODE,  /* inference: a pass over one new token */
    PACE_STAGE_OTHER,
    PACE_STAGES,
    PACE_STAGE_NOTED = 254, /* not yet attributed; autograd noted it as a forward operator */
    PACE_STAGE_NONE = 255   /* not yet attributed */
} pace_stage;

extern const char *const pace_stage_names[PACE_STAGES];

typedef struct {
    pace_name key;         /* unique text, "host 123/456" or "device 0 stream 7" */
    bool device;           /* a device stream, else a host thread */
    uint32_t device_id;    /* device lanes: which device */
    uint32_t first, count; /* its tasks */
} pace_lane;

/* What a communication task moved, where the trace says. Zero = unknown. */
typedef struct {
    pace_name collective, dtype, group;
    pace_name group_ranks; /* the members as the trace writes them, "[0, 2]" */
    int64_t in_elements, out_elements, group_size;
    int64_t source, destination; /* of a message: ranks of the world; PACE_NO_RANK = unknown */
    pace_name launch;            /* of a kernel: how it was launched, as of a kernel that exchanges nothing */
    uint8_t group_kind, role;    /* of predicted steps: pace_group_kind, pace_exchange_role */
} pace_exchange_info;

/* A synchronisation record: who waits is its task's stream or `call`; for what, a stream up to an event. */
typedef enum {
    PACE_SYNC_OTHER,
    PACE_SYNC_STREAM_WAITS, /* its stream waits for what `on_lane` had in line when the event was recorded */
    PACE_SYNC_EVENT,        /* the host waits for the same */
    PACE_SYNC_STREAM,       /* the host waits for all its stream has in line */
    PACE_SYNC_DEVICE        /* the host waits for all streams of its device */
} pace_sync_kind;

#define PACE_NO_LANE UINT32_MAX

typedef struct {
    uint8_t kind;     /* pace_sync_kind */
    uint32_t on_lane; /* the stream waited for, or PACE_NO_LANE */
    uint32_t record;  /* correlation of the call that recorded the event; 0 = the trace does not name it */
    uint32_t call;    /* set by pace_step_finish(): the call that waits, or asked for it; or PACE_NO_TASK */
    uint32_t on;      /* set by pace_step_finish(): the last device task waited for; or PACE_NO_TASK */
} pace_sync;

/* The trace says: `task` does not start (device) or return (host call) before the device task `on` has ended. */
typedef struct {
    uint32_t task, on;
} pace_wait;

/* `task` is a backward operator; `forward` the operator it differentiates, or PACE_NO_TASK when that was not recorded.
 * What it directly encloses of the same node is not listed again. */
typedef struct {
    uint32_t task, forward;
} pace_gradient;

/* What autograd noted of an operator: its node's number on the thread that made it. */
typedef struct {
    int64_t sequence;
    int64_t thread; /* backward operator: autograd's number of that thread; forward: 0 */
} pace_autograd_note;

/* One end of an arrow from a forward operator to its backward operator: where it begins or ends. */
typedef struct {
    int64_t at_ns;
    uint64_t id;
    uint32_t lane;
    bool ends;
} pace_autograd_arrow;

#define PACE_NO_RANK (-1)

/* A task that lasts longer than its column can say. */
typedef struct {
    uint32_t task;
    int64_t duration_ns;
} pace_long_task;

#define PACE_LONG_TASK UINT32_MAX

/* A host operator that says what it exchanges. */
typedef struct {
    uint32_t task, exchange; /* exchange is an index into exchanges */
} pace_exchange_record;

/* The allocator took memory (bytes above 0) or gave it back, on a host thread. */
typedef struct {
    int64_t at_ns, bytes;
    int64_t allocated_bytes, reserved_bytes; /* of the device, afterwards; -1 = not recorded */
    uint64_t address;                        /* 0 = not recorded */
    uint32_t lane;
    int16_t device_id;   /* -1: the host's */
    uint8_t device_type; /* PyTorch's number: 0 = host, 1 = CUDA, 6 = HIP, … */
} pace_memory_event;

/* A hardware counter of a range of the profiler: a kernel, or what the user measured as one. */
typedef struct {
    pace_name range, counter; /* names */
    uint32_t number;          /* of the range, in order of appearance */
    int64_t at_ns;            /* where the profiler puts the range: no time of the device */
    double value;
} pace_counter;

/* A device as the trace describes it. */
typedef struct {
    int64_t id;
    pace_name name;      /* 0 = unknown */
    double memory_bytes; /* 0 = unknown */
} pace_traced_device;

/* Device work that the call of another operator launched than the one it is of: it is one of a device graph's. */
typedef struct {
    uint32_t task, of; /* host task */
} pace_made_for;

/* A step that the cutter of a slice kept: its annotation's name and time. */
typedef struct {
    pace_name label;
    int64_t start_ns, end_ns;
} pace_kept_step;

typedef struct {
    pace_names names;

    /* tasks, column by column */
    size_t count, capacity;
    int64_t *start_ns;
    uint32_t *duration; /* nanoseconds, or PACE_LONG_TASK: `long_tasks` has them; read by pace_task_ns() */
    pace_name *name;
    uint16_t *lane;        /* only until pace_step_finish(); then pace_task_lane() tells */
    uint32_t *above;       /* set by pace_step_finish(); read by pace_task_parent() and pace_task_cause() */
    uint32_t *detail;      /* op: name of its shapes; kernel: name of its launch, or an exchange with
                              PACE_DETAIL_EXCHANGE; copy, memset: bytes + 1; sync: sync + 1 */
    uint8_t *kind, *stage; /* pace_task_kind, pace_stage */
    uint8_t *stage_given;  /* 1 = the step was predicted, or its source knew: the stage is not to be inferred; NULL = of
                              no task */
    uint32_t *correlation, *external;    /* only until pace_step_finish(); op: correlation is its autograd note + 1 */
    bool of_passes;                      /* of a timeline of a job: device tasks are passes and exchanges, no kernels */
    bool numbered;                       /* until then: `external` and `correlation` are pace_step_link_numbers()'s */
    PACE_VEC(pace_long_task) long_tasks; /* by task */

    PACE_VEC(pace_lane) lanes;
    uint32_t *lane_slots; /* hash table of keys: lane + 1 */
    size_t lane_slot_count;
    PACE_VEC(pace_exchange_info) exchanges;
    PACE_VEC(pace_exchange_record) records; /* of host operators, by task once finished */
    PACE_VEC(int64_t) bytes;
    PACE_VEC(pace_sync) syncs;
    PACE_VEC(pace_memory_event) memory; /* by time once finished */
    PACE_VEC(pace_counter) counters;    /* range by range, as the trace lists them */
    PACE_VEC(pace_wait) waits;          /* by task, then by on; set by pace_step_finish() */
    PACE_VEC(pace_gradient) gradients;  /* by task; set by pace_step_finish() */
    PACE_VEC(pace_made_for) made_for;   /* by task; set by pace_step_finish(), of predicted steps */
    uint64_t *has_gradient;             /* a bit a task; NULL = no task has one */
    size_t has_gradient_words;
    PACE_VEC(pace_autograd_note) autograd_notes;   /* only until pace_step_finish() */
    PACE_VEC(pace_autograd_arrow) autograd_arrows; /* only until pace_step_finish() */

    /* what the trace says of itself */
    int64_t rank, world_size;                            /* -1 = unknown */
    int64_t base_ns;                                     /* to be added to every time for the wall clock */
    PACE_VEC(pace_kept_step) kept_steps;                 /* of a slice, by start: those it was cut for */
    PACE_VEC(uint8_t) marking;                           /* name -> 1: of annotations that insight takes for steps */
    int64_t kept_until_ns;                               /* of a slice: where the host's last kept step ends */
    int64_t kept_since_ns;                               /* of a slice: where the first step of its trace began */
    PACE_VEC(pace_traced_device) devices;                /* as it lists them; few of them may have worked */
    uint64_t event_count, complete_count, unknown_count; /* events read; complete ones; of unknown phase */
    uint64_t linked_kernels;
    uint64_t shared_calls;    /* calls that have the correlation of another process's call */
    uint64_t flattened_count; /* tasks that hang on one further out, for PACE_STEP_DEPTH */
    uint64_t repeated_count;  /* records that were written twice, and dropped */
    int64_t begins_ns;        /* when the first task starts; 0 without tasks */
    int64_t cut_ns; /* the file breaks off in the step that the host was at then; INT64_MAX = it is whole; one less =
                                 a slice of whole steps of a file that breaks off */
    size_t kind_count[PACE_TASK_KINDS];
} pace_step;

pace_status pace_step_init(pace_step *step) PACE_MUST_CHECK;
void pace_step_free(pace_step *step);

/** Appends a task and returns its columns zeroed but for the given; its number is step->count - 1. */
pace_status pace_step_add_task(pace_step *step, uint32_t lane, pace_task_kind kind, pace_name name, int64_t start_ns,
                               int64_t duration_ns) PACE_MUST_CHECK;

/** Makes room for so many tasks in all. */
pace_status pace_step_reserve(pace_step *step, size_t count) PACE_MUST_CHECK;

/** Gives the task added last its stage; PACE_STAGE_NONE leaves it to be inferred. */
pace_status pace_step_give_stage(pace_step *step, uint8_t stage) PACE_MUST_CHECK;

/** Whether a task was given its stage, which is not to be inferred then. */
static inline bool pace_stage_is_given(const pace_step *step, uint32_t task) {
    return step->stage_given && step->stage_given[task];
}

/** The lane of a key, added when new. */
pace_status pace_step_lane(uint32_t *out, pace_step *step, const char *key, size_t length, bool device,
                           uint32_t device_id) PACE_MUST_CHECK;

/** Sorts, nests, links device work to its cause, waits to what they wait for, backward operators to their forward
 * ones. Call once, after the last task. */
pace_status pace_step_finish(pace_step *step) PACE_MUST_CHECK;

/** The lowest number of a device that did work; 0 when none did. */
uint32_t pace_step_first_device(const pace_step *step);

/** Whether a lane is a device's and holds work, not only waits. */
bool pace_lane_works(const pace_step *step, const pace_lane *lane);

/** The first task of a lane that starts at an instant or later; the one behind its last when none does. */
uint32_t pace_lane_first_from(const pace_step *step, const pace_lane *lane, int64_t at_ns);

/** The last task of a lane that starts at an instant or before it; PACE_NO_TASK = none. Those that cover the instant
 * are it or around it. */
uint32_t pace_lane_begun_by(const pace_step *step, const pace_lane *lane, int64_t at_ns);

/** The lane of a task of a finished step: the last that begins at it or before, since empty ones begin where the next
 * does. */
static inline uint32_t pace_task_lane(const pace_step *step, uint32_t task) {
    uint32_t low = 0;
    PACE_SEARCH(low, (uint32_t)step->lanes.count, middle, step->lanes.items[middle].first <= task);
    return low - 1;
}

/** What the trace says of a device: the entry of that id, else its first; NULL when it lists none. */
const pace_traced_device *pace_step_device(const pace_step *step, uint32_t id);

/** The invariants of a finished step: lanes tile the tasks in order, times are sane, parents enclose and come
 * first, causes are host tasks. PACE_E_INTERNAL names the first task that breaks one. */
pace_status pace_step_check(const pace_step *step) PACE_MUST_CHECK;

/** The waits of a task: `*count` of them from the returned one on; NULL when it has none. */
const pace_wait *pace_step_waits(size_t *count, const pace_step *step, uint32_t task);

/** What a backward operator differentiates; NULL when the task is not listed as one. */
const pace_gradient *pace_step_gradient(const pace_step *step, uint32_t task);

/** The innermost backward operator around a task, or itself, whose forward operator is known; NULL when there is none.
 * Operators without one may lie inside: what backward of a checkpoint runs again is no part of a module. */
const pace_gradient *pace_step_gradient_around(const pace_step *step, uint32_t task);

/** How long a task of PACE_LONG_TASK lasts. */
int64_t pace_long_task_ns(const pace_step *step, uint32_t task);

static inline int64_t pace_task_ns(const pace_step *step, uint32_t task) {
    uint32_t duration = step->duration[task];
    return duration == PACE_LONG_TASK ? pace_long_task_ns(step, task) : duration;
}

/** Sets how long a task of no length lasts. Before pace_step_finish(). */
pace_status pace_task_set_ns(pace_step *step, uint32_t task, int64_t duration_ns) PACE_MUST_CHECK;

static inline int64_t pace_step_end_ns(const pace_step *step, uint32_t task) {
    return step->start_ns[task] + pace_task_ns(step, task);
}

static inline bool pace_task_on_device(uint8_t kind) {
    return kind == PACE_TASK_KERNEL || kind == PACE_TASK_COPY || kind == PACE_TASK_MEMSET;
}

/** The task around a host task, on its lane; PACE_NO_TASK = none. */
static inline uint32_t pace_task_parent(const pace_step *step, uint32_t task) {
    return pace_task_on_device(step->kind[task]) ? PACE_NO_TASK : step->above[task];
}

/** The call or operator that launched device work; PACE_NO_TASK = none is known. */
static inline uint32_t pace_task_cause(const pace_step *step, uint32_t task) {
    return pace_task_on_device(step->kind[task]) ? step->above[task] : PACE_NO_TASK;
}

/** The host task that device work is of: what launched it, but the operator itself where a device graph holds its
 * work; PACE_NO_TASK = none is known. */
uint32_t pace_task_made_for(const pace_step *step, uint32_t task);

/** When the host issued a task, which also decides the step it belongs to: the start of the call that launched it. */
static inline int64_t pace_task_issued_ns(const pace_step *step, uint32_t task) {
    uint32_t cause = pace_task_cause(step, task);
    return step->start_ns[cause == PACE_NO_TASK ? task : cause];
}

static inline const char *pace_step_name(const pace_step *step, uint32_t task) {
    return pace_names_text(&step->names, step->name[task]);
}

/** What a host operator or a device task says it exchanges; NULL = nothing. `step` must be finished. */
const pace_exchange_info *pace_step_exchange(const pace_step *step, uint32_t task);

/** Notes what the kernel added last exchanges. */
pace_status pace_step_give_exchange(pace_step *step, const pace_exchange_info *info) PACE_MUST_CHECK;

/** How a kernel was launched, as the trace says it, a line each (each may be empty): grid "[1,2,3]", block, estimated
 * occupancy in percent, blocks per multiprocessor. 0 = unknown, or no kernel. */
pace_name pace_step_launch(const pace_step *step, uint32_t task);

/** Bytes of an element by the name that PyTorch's trace has for its type: "BFloat16"; 0 = unknown. */
int pace_torch_dtype_bytes(const char *dtype);

/** What an exchange puts in or takes out, whichever is known; -1 = unknown. */
int64_t pace_exchange_bytes(const pace_step *step, const pace_exchange_info *info);

/** Whether a name is the profiler's own mark of a step. */
static inline bool pace_name_marks_step(const char *name) {
    return name[0] == 'P' && strncmp(name, "ProfilerStep#", 13) == 0;
}

/** Whether a task is the mark of a step: the profiler's own, or one of those that insight found. */
static inline bool pace_task_marks_step(const pace_step *step, uint32_t task) {
    pace_name name = step->name[task];
    return (name < step->marking.count && step->marking.items[name]) ||
           pace_name_marks_step(pace_step_name(step, task));
}

/** Notes that annotations of this name mark steps. */
pace_status pace_step_note_mark(pace_step *step, pace_name name) PACE_MUST_CHECK;

/** Whether a name is a label that traces before PyTorch 1.12 record as an operator: it heads operators, it is none. */
bool pace_name_is_label(const char *name);

/** How long the library's name is with which the range of an exchange begins: 5 of "nccl:all_reduce"; 0 = of none. */
size_t pace_name_library(const char *name);

/** Whether a name is what a compiler puts between modules and operators: eager steps have nothing like it. */
bool pace_name_wraps_compiled(const char *name);

/** Whether a task is an operator that does something: traces of 2021 record the profiler's own step marks as operators.
 */
static inline bool pace_task_is_operator(const pace_step *step, uint32_t task) {
    return step->kind[task] == PACE_TASK_OP && !pace_name_marks_step(pace_step_name(step, task));
}
