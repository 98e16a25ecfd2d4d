/* A row about an exchange, answered: by measured curves where a fit has them, else in closed form. */
#pragma once

#include "ask/predict/approach_exchange.h"
#include "ask/rows/exchange_rows.h"
#include "exchange/exchange.h"

/* What rows are answered from, and the machine that was asked for last: systems come in runs. Zero-initialise. */
typedef struct {
    pace_catalog *catalog;        /* borrowed */
    const pace_exchange_fit *fit; /* curves; may have none; borrowed */
    const pace_exchange_fit *own; /* those of them that name no algorithm, protocol or channels; borrowed */
    pace_doubts doubts;
    pace_machine machine; /* --on */
    bool has_machine, has_exchange;
    pace_exchange exchange;         /* of the row's machine */
    char last[96], last_version[8]; /* of NCCL, that chooses; "" = the newest */
    int last_nodes;
    pace_exchange_library last_library;
    char refused[200]; /* why the last one names no machine; "" = it does */
    char spread[96];   /* the system that was asked last how many devices its nodes have, 0 = unknown */
    int spread_over;
    char fitted[96];            /* the system whose curves were looked for last; "" = none yet */
    const char *system;         /* of the fit, that it is; NULL = none */
    pace_doubts_used used;      /* what the last answer rests on, where curves gave it */
    pace_approaches approaches; /* empty until a row names one */
    char approach[48];          /* that is `ready`, on `ready_on` with so many nodes; "" = none */
    char ready_on[64];
    int ready_nodes;
    pace_approach_opened ready;
    bool unused_device; /* by the row answered last: its machine has another */
    bool took_on;       /* the row answered last names a system that nobody knows, and --on answered */
    bool more_nodes;    /* it was asked of more nodes than --on has */
    char compared[96];  /* the system that was last compared with --on, on so many nodes; "" = none yet */
    int compared_nodes;
    bool compared_known, compared_other; /* it is --on's machine; it is another one that is known */
    bool by_on;                          /* `exchange` is of --on */
    char unfitted[200];                  /* why the fit did not give the last answer; "" = it did, or there is none */
} pace_exchange_asker;

/** Frees what it read itself. */
void pace_exchange_asker_free(pace_exchange_asker *asker);

/** Puts the ranks of a row that was just read on nodes of its machine, where no column says how many nodes there are.
 * Rows are learned from and answered where this puts them. */
void pace_exchange_row_place(pace_exchange_asker *asker, pace_exchange_row *row);

/** The time of a row's exchange. Errors belong to the row. */
pace_status pace_exchange_row_answer(pace_estimate *out, pace_exchange_asker *asker,
                                     const pace_exchange_row *row) PACE_MUST_CHECK;

/** The model of the machine that a curve was measured on, and what started its exchanges; NULL: nothing tells. It is
 * the asker's until the next question. */
const pace_exchange *pace_exchange_curve_model(pace_nccl_stack *stack, pace_exchange_asker *asker,
                                               const pace_exchange_curve *curve);
