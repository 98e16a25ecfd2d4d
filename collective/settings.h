/* What a communicator is told: which way a collective of some size goes, and how to wait. docs/collective.md has the
 * grammar, which the environment variable PACELINE_COLLECTIVE and tables of measured choices share. */
#pragma once

#include "exchange/collective.h"
#include "segment.h"

#include <stdbool.h>

/* A barrier is none of the collectives that programs are made for. */
enum { PACE_BARRIER = PACE_COLLECTIVES, PACE_CHOSEN, PACE_MOST_CHOICES = 8, PACE_SETTINGS_TEXT = 4096 };
enum { PACE_LEAST_PARCEL = 8 << 10 }; /* bytes */

typedef enum {
    PACE_WAY_FLAT,      /* everybody posts everything on its board and reads all others' */
    PACE_WAY_STAGED,    /* over boards in pieces, each reduced by one rank */
    PACE_WAY_COPY,      /* straight out of the other processes' memory (process_vm_readv) */
    PACE_WAY_TWO_LEVEL, /* inside hosts, between their leaders, inside hosts */
    PACE_WAY_MPI,       /* handed on to MPI */
    PACE_WAY_PROGRAM    /* and after: row number `way - PACE_WAY_PROGRAM` of exchange/algorithms.h */
} pace_way;

typedef struct {
    uint64_t up_to_bytes; /* UINT64_MAX: any */
    int way;
} pace_choice;

typedef struct {
    pace_choice of[PACE_MOST_CHOICES];
    int count; /* 0 = nothing is said */
} pace_choices;

typedef struct {
    pace_choices choices[PACE_CHOSEN];
    bool off, check, no_copy;
    uint32_t spin;
    double patience_s;
    uint64_t parcel_bytes; /* 0 = as suits the network */
    pace_shm_kind shm;
    bool no_shm;
} pace_settings;

/** Reads items of the grammar into settings that may hold some already; `where` names the text in messages.
 * PACE_E_USAGE with what was expected. */
pace_status pace_settings_read(pace_settings *settings, const char *text, const char *where) PACE_MUST_CHECK;

/** The way of so many bytes, or -1 where nothing is said. */
int pace_settings_way(const pace_settings *settings, int collective, uint64_t bytes);

/** "flat", "ring", …; NULL for no way. */
const char *pace_way_name(int way);

/** "allreduce", …, "barrier"; NULL for none. */
const char *pace_chosen_name(int collective);
