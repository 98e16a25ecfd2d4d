/*
 * What a cluster's GPUs were held for, of records of any source: runs of jobs, facts that other tables know of them,
 * and counters of GPUs. Rows come in any order; pace_usage_join() then puts together what belongs together.
 *
 * GPU-hours of a run are its GPUs times the time it held them. What a source does not say stays unknown: nothing is
 * made up.
 */
#pragma once

#include "base/id_set.h"
#include "base/intern.h"
#include "fleet/covered.h"
#include "fleet/usage_nodes.h"
#include "source/usage/usage_mapping.h"

/* By what runs are put together. */
typedef enum {
    PACE_BY_USER,
    PACE_BY_ACCOUNT,
    PACE_BY_QUEUE,
    PACE_BY_TYPE,
    PACE_BY_GPU,
    PACE_BY_STATE,
    PACE_BY_SIZE, /* GPUs of a run */
    PACE_USAGE_BYS
} pace_usage_by;

/* A run of a job, or of a part of it, on GPUs of one model. Names number texts of pace_usage.names; 0 = not said. */
typedef struct {
    pace_name job, part, by[PACE_BY_STATE];
    uint32_t row; /* the row it is of: those of one row are one run on GPUs of several models */
    uint8_t state;
    bool has_state, split; /* split: other GPUs of a run that stands before it */
    bool open;             /* it has no end: it counts up to the last time of the records */
    double gpus;           /* held; 0 = it never got any */
    double tasks;          /* of an array of which none has started: 1 for any other run */
    double asked;          /* for; NAN = as many as it held */
    double each;           /* GPUs of one of its workers */
    double submit_s, start_s, end_s, elapsed_s;
    double gpu_hours;                    /* NAN = the time is not known */
    double judged;                       /* GPU-hours of these that counters saw */
    double busy;                         /* share of its GPUs' time, by counters; NAN = none tell */
    float counters[PACE_USAGE_COUNTERS]; /* means; NAN = none */
} pace_usage_run;

/* What is known of a job beside its runs. */
typedef struct {
    pace_name by[PACE_BY_STATE], link;
    double submit_s;
    double start_s;                /* of its first part without GPUs; INFINITY = none */
    double gpu_hours;              /* of its runs */
    double most_gpus, node_gauges; /* GPUs of its largest run; those that counters show on its nodes */
    double busy_sum, busy_count;   /* of its workers */
    double seconds[PACE_USAGE_COUNTERS], sums[PACE_USAGE_COUNTERS]; /* of its GPUs' counters: value times time */
} pace_usage_fact;

/* The time between two values of a counter, which is the later one's. */
typedef struct {
    int counter;
    pace_stretch stretch;
    double value;
} pace_usage_between;

/* A counter's value, which stands for the time before it. */
typedef struct {
    double at_s, value;
} pace_usage_value;

/* The counters of one GPU, or of a part of it, while one job had it. */
typedef struct {
    pace_name job, by[PACE_BY_STATE];
    pace_name gpu, node; /* gpu: node and device */
    bool part;           /* of a GPU that is cut (MIG) */
    double share;        /* of the GPU; 0 of a whole one whose parts have counters of their own */
    bool by_node;        /* the job is the one that held the node then */
    bool shared;         /* several jobs did */
    double gap_s;        /* a value stands for no more time than this */
    double at_s[PACE_USAGE_COUNTERS], value[PACE_USAGE_COUNTERS]; /* of the value read last; NAN = none so far */
    double first_s[PACE_USAGE_COUNTERS], last_s[PACE_USAGE_COUNTERS];
    double seconds[PACE_USAGE_COUNTERS], sums[PACE_USAGE_COUNTERS];
    pace_covered covered[PACE_USAGE_COUNTERS]; /* what `seconds` are of */
    PACE_VEC(pace_usage_between) wide;         /* as far apart as all others may be */
    bool in_order[PACE_USAGE_COUNTERS];        /* values came in their order of time, so far as it was looked at */
    PACE_VEC(pace_usage_value) kept[PACE_USAGE_COUNTERS]; /* until it is known that they do; else up to the end */
} pace_usage_gauge;

/* A wait for GPUs: of a job's first run after it was submitted. */
typedef struct {
    size_t run;
    double seconds;
} pace_usage_wait;

/* By name: a number in another list, + 1; 0 = none. */
typedef PACE_VEC(uint32_t) pace_usage_numbers;

/* Zero-initialise, then pace_usage_init(). */
typedef struct {
    pace_names names;
    PACE_VEC(pace_usage_run) runs;
    PACE_VEC(pace_usage_fact) facts;
    PACE_VEC(pace_usage_gauge) gauges;
    pace_usage_numbers fact_of, gauge_of;
    pace_usage_numbers namespace_of; /* of jobs: the first that a row of its name has */
    PACE_VEC(pace_usage_wait) waits;
    pace_id_set seen;
    pace_usage_nodes nodes;        /* of runs */
    bool zoneless;                 /* jobs have times without a zone */
    uint64_t of_two_zones;         /* runs that have a time with a zone, and one without */
    bool year_last;                /* and dates that end with their year */
    double first_s, last_s;        /* the times of all records */
    double step_s;                 /* the least between two values of a counter; INFINITY = there are none */
    uint32_t rows;                 /* runs so far */
    uint64_t without_gpus;         /* runs that neither hold nor ask for GPUs */
    uint64_t on_shares;            /* those that hold shares of GPUs of unknown size */
    uint64_t on_claims;            /* those that hold no GPU that their row says, but claims on devices */
    uint64_t repeated, impossible; /* rows that were there before; that end before they start */
    uint64_t earlier;              /* runs that a row shows while they ran, and another one later */
    uint64_t overlapping;          /* runs that begin before another one of their job ends */
    double overlap_gpu_hours;      /* while both ran, of the smaller */
    uint64_t overlong;             /* runs that took longer than from their start to their end */
    double longest_s;              /* run */
    uint64_t backwards;            /* jobs that start before they were submitted */
    pace_name cluster;             /* the first that a row names; 0 = none does */
    pace_name of;                  /* the cluster of the row that is added, where it is another; else 0 */
    uint64_t other_clusters;       /* rows of jobs of others */
    char other_cluster[64];        /* the first of them */
    uint64_t unknown_states;
    char unknown_state[64]; /* the first */
    bool counted;           /* the runs are made of counters: no table of jobs was there */
    double unseen_hours;    /* of runs made of counters: GPU-hours between values that stand too far apart */
    double unheld_hours;    /* GPU-hours that counters saw and no job held */
    double unmatched_hours; /* GPU-hours of counters of jobs that no table has */
    double covered_hours[PACE_USAGE_COUNTERS]; /* between values of a counter: GPU-hours that others cover already */
    double shared_hours;  /* GPU-hours of counters on nodes of which it is not clear which GPUs a job held */
    double unnamed_hours; /* GPU-hours of counters that name no job, beside a table of jobs */
} pace_usage;

pace_status pace_usage_init(pace_usage *usage) PACE_MUST_CHECK;
void pace_usage_free(pace_usage *usage);

/** Adds a row; `context` is a pace_usage. For pace_usage_read(). */
pace_status pace_usage_add(void *context, const pace_usage_mapping *mapping, const pace_usage_row *row) PACE_MUST_CHECK;

/** Puts runs, facts and counters together: times, GPU-hours, waits, what was busy. Once, after the last row. */
pace_status pace_usage_join(pace_usage *usage) PACE_MUST_CHECK;

/** Of runs that several rows show, the latest row counts. */
pace_status pace_usage_drop_earlier(pace_usage *usage) PACE_MUST_CHECK;

/** Counts runs of one job and part that overlap in time. */
pace_status pace_usage_find_overlaps(pace_usage *usage) PACE_MUST_CHECK;

/** Takes the values of counters that were kept, in their order of time. Once, after the last row. */
pace_status pace_usage_take_kept(pace_usage *usage) PACE_MUST_CHECK;

/** Counts of the time between two values what no others cover. */
pace_status pace_usage_cover(pace_usage *usage, pace_usage_gauge *gauge,
                             const pace_usage_between *between) PACE_MUST_CHECK;

/** The fact about what a name is of; a new one if there is none so far. */
pace_status pace_usage_fact_named(pace_usage_fact **out, pace_usage *usage, pace_name name) PACE_MUST_CHECK;

/** Numbers what runs are put together by, from 0 in the order of first appearance: `(*out)[name]`, and how many there
 * are. Free with pace_free(). `by` is below PACE_BY_STATE. */
pace_status pace_usage_number_names(uint32_t **out, size_t *count, const pace_usage *usage,
                                    pace_usage_by by) PACE_MUST_CHECK;

/** The number of a counter among the counters. */
static inline int pace_usage_counter(pace_usage_field field) { return (int)field - (int)PACE_USAGE_COUNTERS_FROM; }

/** The text of a name; "" = not said. */
static inline const char *pace_usage_name(const pace_usage *usage, pace_name name) {
    return pace_names_text(&usage->names, name);
}
