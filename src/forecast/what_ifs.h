/*
 * What-ifs, one row each: what it is called, how it is read, what it edits, what reports say of it. To add one, write
 * a file with its row and name the row in what_ifs.c.
 */
#pragma once

#include "forecast/forecast_data.h"
#include "forecast/variant.h"
#include "insight/advice.h"
#include "base/words.h"

#include <regex.h>

/* A scenario's edits under way: the variants of all ranks. */
typedef struct {
    const pace_forecast *forecast;
    const pace_scenario *scenario;
    const pace_forecast_rank *ranks;
    pace_variant *variants;
    size_t count;
    pace_forecast_edits *edits;
} pace_editing;

/** What a launch of a variant took in the recording. */
static inline double pace_editing_measured_ns(const pace_editing *e, size_t rank, uint32_t launch) {
    return e->ranks[rank].measured_ns[e->variants[rank].launches[launch].part];
}

/* When a what-if edits: what others have sized is put together last. */
typedef enum { PACE_TURN_COUNT, PACE_TURN_SIZE, PACE_TURN_BALANCE, PACE_TURN_FUSE, PACE_TURNS } pace_what_if_turn;

typedef struct {
    pace_option option; /* PACE_WHAT_IF_FLAG() or PACE_WHAT_IF_VALUES() */
    const char *label;  /* of its scenario, %s = the value */
    unsigned acts_on;   /* resources whose time it can save, 1 << pace_advice of each; 0 = any (saving_bound.h) */
    bool of_host;       /* it is asked of steps of the host alone, too */
    bool alone;         /* of two values only one can be: nothing stands for both together */
    /* Reads a value, or NULL of a flag, into a scenario. PACE_E_USAGE. NULL: a flag, or a regular expression, is kept
     * among the scenario's values. */
    pace_status (*parse)(pace_scenario *scenario, const char *text);
    bool (*asked)(const pace_scenario *scenario); /* NULL: it has a value there */
    pace_what_if_turn turn;
    /* Edits the variants and adds up how many things it changed, or what pricing and walking will. NULL: nothing to
     * do. */
    pace_status (*apply)(pace_editing *editing, size_t *changed);
    bool edits_kernels;
    bool needs_sizes;       /* what nothing is known of the sizes of is guessed */
    const char *assumption; /* that reports note; NULL = none */
    size_t changed;         /* place in pace_forecast_edits of how many it changed; 0 = none keeps it */
    const char *idle;       /* said where it changed nothing; NULL = nothing is */
    bool needs_change;      /* it is refused then, instead */
    bool by_name; /* a regular expression chooses what it changes; if it finds nothing, the names are listed */
} pace_what_if;

/* The option of a what-if: help, and for one that takes values what they are, the column of a table that says the same,
 * and the kinds of questions that take it (option_table.c). */
#define PACE_WHAT_IF_FLAG(name, help) \
    { name, 0, PACE_OPTION_FLAG, PACE_OPTION_ASKS, NULL, NULL, "what if", help, NULL, " step " }
#define PACE_WHAT_IF_VALUES(name, argument, help, field, kinds) \
    { name, 0, PACE_OPTION_LIST, PACE_OPTION_ASKS, argument, NULL, "what if", help, field, kinds }

/** All what-ifs, in the order in which they are tried. */
extern const pace_what_if *const pace_what_ifs[];
extern const size_t pace_what_if_count;
extern const pace_word_list pace_what_if_precisions;

enum { PACE_WHAT_IFS_MOST = 24 };

/** Asks one of a scenario, with a value or of a flag NULL. PACE_E_USAGE. */
pace_status pace_what_if_ask(pace_scenario *scenario, const pace_what_if *what_if, const char *text) PACE_MUST_CHECK;
bool pace_what_if_is_asked(const pace_scenario *scenario, const pace_what_if *what_if);

extern const pace_what_if pace_if_batch, pace_if_precision, pace_if_fuse, pace_if_fuse_tables, pace_if_balance_tables,
    pace_if_scale, pace_if_drop_overhead, pace_if_graph, pace_if_loader, pace_if_pinned, pace_if_drop_sync,
    pace_if_fuse_update, pace_if_links, pace_if_exchange_bytes, pace_if_exchange_algorithm, pace_if_bucket_cap,
    pace_if_balance_experts;

/** Whether one that was asked and tells whether it changed anything (`idle`) changed nothing. */
bool pace_what_if_is_idle(const pace_what_if *what_if, const pace_forecast_edits *edits);

/** Whether the scenario asks for any edit. */
bool pace_what_ifs_edit(const pace_scenario *scenario, const pace_what_if *const *what_ifs, size_t count);

/** Makes the edits that the scenario asks for, turn by turn. */
pace_status pace_what_ifs_apply(pace_editing *editing, const pace_what_if *const *what_ifs,
                                size_t count) PACE_MUST_CHECK;

/* Noted of both what-ifs of tables. */
extern const char pace_what_if_tables_note[];

/** A step of `samples` on each rank becomes one of `wanted`. What is as large as the parameters stays: updates,
 * gradients' accumulation and exchange. Fetching input grows in proportion. Of the other operations the size that
 * counts samples grows in proportion, and so do transfers from the host and exchanges of activations. Where an
 * operation's sizes are unknown its time is taken to grow in proportion. */
pace_status pace_what_if_batch(pace_variant *variant, double samples, double wanted) PACE_MUST_CHECK;

/** Matrix operations in another precision (step/op_edit.h); casts that this adds or removes are not. Adds to
 * *changes the launches that it is another precision for. */
pace_status pace_what_if_precision(size_t *changes, pace_variant *variant, pace_precision precision) PACE_MUST_CHECK;

/** Element-wise kernels that follow each other on a stream, of equally many elements, issued by one thread within one
 * annotation, become one kernel when the names of each, or of its operator, match. Adds to *fused those that went. */
pace_status pace_what_if_fuse(size_t *fused, pace_variant *variant, const regex_t *names) PACE_MUST_CHECK;

/** The lookups of several tables become one kernel for each direction (of equal samples and width, on one stream,
 * within one annotation): Lin et al. 2022, the embedding co-design. Adds to *fused those that went. */
pace_status pace_what_if_fuse_tables(size_t *fused, pace_variant *variant) PACE_MUST_CHECK;

/** Tables move between ranks until their costs are even: largest first, each to the rank that has least (`cost_s` gives
 * each rank's launches' costs in seconds). All-to-all exchanges follow the widest rank. Returns PACE_E_INPUT where
 * fewer than two ranks have lookups. */
pace_status pace_what_if_balance_tables(pace_variant *variants, const double *const *cost_s,
                                        size_t count) PACE_MUST_CHECK;

/* What a host fetches itself: nodes that say what they take (step/graph.h). */
typedef struct {
    size_t count;
    double ns;
} pace_input_stretches;

pace_input_stretches pace_graph_stretches(const pace_graph *graph);
