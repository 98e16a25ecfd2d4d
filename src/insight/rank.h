/*
 * One rank, read and understood: its tasks, steps, work and tiles. The unit every insight works on.
 *
 * A process may drive several devices. Then each of them is a rank of its own (rank_devices.c): it has its own work,
 * steps and tiles, and borrows tasks, names and path from the rank that is the whole trace.
 */
#pragma once

#include "insight/matrix.h"
#include "insight/steps/stage_words.h"

enum { PACE_FOLD_STEPS = 8 };

/* Rounds of micro-batches that were left out of every step of a predicted rank, since they are like the two rounds that
 * follow each other there (forecast/micro_batch_fold.h). */
typedef struct {
    uint32_t times;    /* so many; 0 = the steps are whole */
    int64_t period_ns; /* a round */
    unsigned steps;
    int64_t from_ns[PACE_FOLD_STEPS]; /* of each step the first of the two */
} pace_step_fold;

typedef struct pace_rank {
    char *path;
    uint64_t bytes; /* of the file as decompressed */
    pace_step step;
    pace_marks marks;
    pace_work work;
    pace_tiles tiles;
    const pace_device *device;     /* NULL = unknown; borrowed from the catalogue */
    uint32_t device_id;            /* the trace's number of it */
    const struct pace_rank *trace; /* one device of several: the trace it is of, which outlives it; NULL = all of one */
    bool left_out;                 /* no rank is made of it: a trace without device work, or the chosen steps, among
                                      others that have them */
    pace_step_fold fold;
    int64_t shift_ns; /* to be added to its clock to agree with the first rank's */
} pace_rank;

/** Marks, stages, work; the tiles come later (pace_rank_tile), once the other ranks are known.
 * `rank->step` must be finished. */
pace_status pace_rank_understand(pace_rank *rank, const pace_kernel_classes *classes, const pace_stage_words *words,
                                 const char *step_regex) PACE_MUST_CHECK;
pace_status pace_rank_tile(pace_rank *rank) PACE_MUST_CHECK;

/** The matrix of [start, end), with the rounds that were left out of it. */
pace_matrix pace_rank_matrix(const pace_rank *rank, int64_t start_ns, int64_t end_ns);

/** When the whole steps have an instant of those that were walked: behind all rounds that were left out before it. */
int64_t pace_rank_shown_ns(const pace_rank *rank, int64_t at_ns);

/** How much longer each step is than what was walked of it. */
static inline int64_t pace_rank_left_out_ns(const pace_rank *rank) { return rank->fold.times * rank->fold.period_ns; }
void pace_rank_free(pace_rank *rank);

typedef PACE_VEC(uint32_t) pace_device_ids;

/** The devices that did work, ascending. */
pace_status pace_rank_device_ids(pace_device_ids *out, const pace_step *step) PACE_MUST_CHECK;

/** One device of an understood trace of several, as a rank of its own. `device` may be NULL (unknown). */
pace_status pace_rank_of_device(pace_rank **out, const pace_rank *trace, uint32_t device_id,
                                const pace_kernel_classes *classes, const pace_device *device) PACE_MUST_CHECK;

/** Nothing of a predicted step was recorded: each wait and exchange of it has the cause that it was given. */
static inline bool pace_rank_is_predicted(const pace_rank *rank) { return rank->bytes == 0; }

/** The whole trace: the rank itself, or what it is a device of. */
static inline const pace_rank *pace_rank_trace(const pace_rank *rank) { return rank->trace ? rank->trace : rank; }

enum { PACE_RANK_NAME = 64 };

/** "rank 3", "device 1", "rank 3 device 1", or the name of its file where the trace says neither. */
const char *pace_rank_name(char name[PACE_RANK_NAME], const pace_rank *rank);
