/* What the closed loop shares: the steps that are predicted and trained, what is known of this machine, and where it is
 * kept. */
#pragma once

#include "base/memory.h"
#include "base/scratch.h"
#include "paceline/calibrate.h"
#include "paceline/train.h"

/* Networks that exchange one tensor of a known size: of the least one, and of the one whose rate stands for a link. */
enum { PACE_LIVE_PROBES = 7, PACE_LIVE_SMALL = 0, PACE_LIVE_LARGE = 5 };
enum { PACE_LIVE_RUNS = 64, PACE_LIVE_PARTS = 4, PACE_LIVE_PATH = PACE_SCRATCH_PATH + 32, PACE_LIVE_APPROACH = 128 };

/* One step of the grid, and what its runs took. */
typedef struct {
    pace_live_step step;
    double runs[PACE_LIVE_RUNS],
        parts[PACE_LIVE_PARTS][PACE_LIVE_RUNS]; /* parts: forward, backward, exchange, update */
    size_t steps;                               /* that count in a run; 0 = as many as of the loop */
    char status[160];
} pace_live_run;

/* What an approach exchanges by, as networks of known size show: what a buffer costs, and a rate or a curve of
 * all-reduces that `predict` is given. */
typedef struct {
    const char *approach, *link; /* link: NULL = the memory of this host */
    int ranks;
    bool bare;             /* hosts whose link delays nothing: what their own software takes */
    bool curved;           /* it exchanges by all-reduces: their time by size is told, by an algorithm of this name */
    const char *algorithm; /* "" = its library chooses */
    double probe_s[PACE_LIVE_PROBES][PACE_LIVE_RUNS]; /* exposed exchange of the probes; of all sizes where curved */
    double slowed[PACE_LIVE_RUNS];  /* how many times as long the third's forward takes beside the other ranks */
    double stretch[PACE_LIVE_RUNS]; /* how many times as long its backward takes, beside the exchange too */
    size_t runs;
    double control_s, bytes_per_s, slows;
    double curve_s[PACE_LIVE_PROBES]; /* of an all-reduce of a probe's bytes; once known */
    bool known;
} pace_live_road;

typedef struct {
    pace_context *context;
    const pace_question *question;
    size_t runs, steps, threads;
    int cores;
    bool quick, packs;    /* packs: a fit has rows of packed weights */
    pace_scratch scratch; /* of all files below */
    const char *on;       /* the device's entry */
    const char *runner;   /* another framework that trains; NULL = ours */
    char entry[PACE_LIVE_PATH], rows[PACE_LIVE_PATH], fit[PACE_LIVE_PATH], overheads[PACE_LIVE_PATH];
    char probes[PACE_LIVE_PROBES][PACE_LIVE_PATH], work[PACE_LIVE_PATH]; /* models */
    bool calibrates;                                                     /* here and now */
    bool fitted, overheard;                                              /* the files are there */
    unsigned machines; /* files of machines written so far: each has a name of its own */
    bool stopped;
    char software[64];
    PACE_VEC(pace_live_run) all;
    PACE_VEC(pace_live_road) roads;
} pace_live;

/** Whether a step has ranks that exchange. */
static inline bool pace_live_exchanges(const pace_live_step *step) { return step->ranks > 1; }
