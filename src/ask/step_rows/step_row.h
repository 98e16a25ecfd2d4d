/* Reading one row of a table about steps. Private to ask/step_rows/. */
#pragma once

#include "ask/rows/column_words.h"
#include "machine/machine.h"
#include "model/config.h"
#include "model/model_catalog.h"
#include "model/model_names.h"
#include "ask/step_rows/step_rows.h"

typedef enum {
    PACE_STEP_DEVICE,
    PACE_STEP_MACHINE,
    PACE_STEP_MODEL,
    PACE_STEP_FAMILY,
    PACE_STEP_FRAMEWORK,
    PACE_STEP_RELEASE,
    PACE_STEP_TASK,
    PACE_STEP_MODE,
    PACE_STEP_PRECISION,
    PACE_STEP_FP8,
    PACE_STEP_FP16,
    PACE_STEP_BF16,
    PACE_STEP_TF32,
    PACE_STEP_RECOMPUTE,
    PACE_STEP_RECOMPUTE_METHOD,
    PACE_STEP_SHARDING,
    PACE_STEP_FSDP,
    PACE_STEP_EXECUTION,
    PACE_STEP_COMPILE,
    PACE_STEP_GRAPHS,
    PACE_STEP_LAYOUT,
    PACE_STEP_NOTES,
    PACE_STEP_N_GPU,
    PACE_STEP_NODES,
    PACE_STEP_GPUS_PER_NODE,
    PACE_STEP_NODE_GBIT,
    PACE_STEP_PARAMS_B,
    PACE_STEP_HIDDEN,
    PACE_STEP_LAYERS,
    PACE_STEP_HEADS,
    PACE_STEP_HEAD_DIM,
    PACE_STEP_KV_HEADS,
    PACE_STEP_FFN,
    PACE_STEP_VOCAB,
    PACE_STEP_IMAGE,
    PACE_STEP_SEQ,
    PACE_STEP_EXPERTS,
    PACE_STEP_TOPK,
    PACE_STEP_EXPERT_FFN,
    PACE_STEP_SHARED,
    PACE_STEP_DENSE,
    PACE_STEP_AHEAD,
    PACE_STEP_QUERY_RANK,
    PACE_STEP_KEY_RANK,
    PACE_STEP_SLIDING,
    PACE_STEP_TP,
    PACE_STEP_PP,
    PACE_STEP_VPP,
    PACE_STEP_CP,
    PACE_STEP_EP,
    PACE_STEP_DP,
    PACE_STEP_MICRO_BATCH,
    PACE_STEP_GLOBAL_BATCH,
    PACE_STEP_GRAD_ACCUM,
    PACE_STEP_ZERO_STAGE,
    PACE_STEP_ZERO_GROUP,
    PACE_STEP_DIST_OPT,
    PACE_STEP_SEQ_PAR,
    PACE_STEP_FLASH,
    PACE_STEP_SCHEDULE,
    PACE_STEP_POWER,
    PACE_STEP_TOKENS_BATCH,
    PACE_STEP_TRAIN_TOKENS,
    PACE_STEP_TRAIN_STEPS,
    PACE_STEP_SUITE,
    PACE_STEP_COLUMNS
} pace_step_column;

enum { PACE_STEP_RATES = 15, PACE_STEP_RUNS = 5 };

typedef struct {
    char *key; /* name and settings */
    pace_model model;
    char failed[160]; /* why there is none */
} pace_step_model;

typedef struct {
    char *key;
    pace_exchange exchange;
    const pace_device *device;
    char failed[160];
    char assumed[96]; /* what was taken for it; "" = it is known */
    bool guessed;     /* that is a guess */
    bool any_network; /* what joins its nodes is not given: that of the usual machine */
} pace_step_machine;

/* What a cell names with figures of its own, as --on would: "h100 memory=4TB/s", "a100*8 nvlink=300GB/s". */
typedef struct {
    char *text;
    const pace_device *device; /* NULL: refused */
    pace_machine machine;
    bool joined;       /* `machine` says what joins devices */
    char refused[160]; /* why there is none */
} pace_step_worded;

struct pace_step_things {
    pace_device_catalog devices;
    pace_machine_catalog machines;
    const pace_device *on_device; /* of --on, for rows that name none; NULL = not given */
    pace_frameworks frameworks;
    pace_approach approach; /* pace_step_usual_approach() */
    pace_model_names names;
    const pace_yaml *columns; /* catalog/columns.yaml */
    pace_doubts doubts;
    PACE_VEC(pace_step_model *) models;
    PACE_VEC(pace_step_machine *) places;
    PACE_VEC(pace_step_worded *) worded;
    pace_step_pricer pricer; /* for batches that are not given; opened by the first */
    bool has_pricer;
};

/* One table while it is read. */
typedef struct {
    pace_step_rows *rows;
    pace_step_things *things;
    const pace_step_defaults *defaults;
    int column[PACE_STEP_COLUMNS]; /* -1 = not there */
    int field[PACE_CONFIG_FIELDS]; /* pace_step_find_fields() */
    int measured;                  /* of time */
    double unit_s;
    bool guessed_unit;
    int rate[PACE_STEP_RATES], run[PACE_STEP_RUNS];
    bool distributed;  /* the table has columns of how many ranks there are, or how they share the work */
    bool shares_model; /* of tensor-parallel ranks or pipeline stages */
} pace_step_reader;

/** Finds the columns of what was measured. `names` is catalog/columns.yaml, step. */
void pace_step_find_measured(pace_step_reader *reader, const pace_yaml_node *names);
/** What that did not find, by the words of columns. */
void pace_step_find_measured_words(pace_step_reader *reader, const pace_yaml_node *names, pace_column_words *words);
/** Reads what was measured in a row that is known otherwise. */
void pace_step_row_measured(pace_step_row *out, const pace_step_reader *reader, size_t row);
/** Finds out whether a table counts steps a second of each device, and turns its rows' into those of all. */
void pace_step_rows_count_steps(pace_step_rows *rows);
/** How many devices the cell says that names one ("8x H100", "A100 40GB x4"); 0 = it does not say. */
double pace_step_row_counted(const pace_step_reader *reader, size_t row);
/** Devices of a node of the machine on which a row runs; 0 = unknown. */
double pace_step_row_node(const pace_step_reader *reader, size_t row, const pace_device *device);
/** Devices of the machine that the row names, or --on where it names no device; 0 = none is named. */
double pace_step_row_devices(const pace_step_reader *reader, size_t row);

/* What a text says of a model's size: "7B"; "8x7B" (experts); "30B-A3B" (active). 0 = nothing. */
typedef struct {
    double billions, experts, active;
} pace_step_size;

/* Sizes of a decoder. 0 = none. */
typedef struct {
    double hidden, layers, vocab, experts, topk, ffn;
} pace_step_sizes;

/** The size in a name or a cell; a number without a unit is none. */
pace_step_size pace_step_size_of(const char *text);
/** What a row says of it: in its own column, else in the model's name. */
pace_step_size pace_step_size_stated(const pace_step_reader *reader, size_t row);
/** A decoder of that size, said in the row's status. False without a size. */
bool pace_step_sizes_guess(pace_step_sizes *out, pace_step_row *row, const pace_step_reader *reader,
                           pace_step_size size);

/** Whether every cell of a number holds one that a step can have. False with the reason in the row's status. */
bool pace_step_row_check(pace_step_row *out, const pace_step_reader *reader, size_t row);
/** Puts adapters beside its products where its configuration says so, once. The same. */
bool pace_step_row_adapt(pace_step_row *out, pace_step_reader *reader);
/** The row's model, loaded once. False with the reason in the row's status. */
bool pace_step_row_model(pace_step_row *out, pace_step_reader *reader, size_t row);
/** Its device, and its machine when it has several. */
bool pace_step_row_place(pace_step_row *out, pace_step_reader *reader, size_t row);
bool pace_step_row_device(pace_step_row *out, pace_step_reader *reader, size_t row);
/** The first key of `says` (catalog/columns.yaml) under `kind` of which a text says a word; NULL without. */
const char *pace_step_said(const pace_step_things *things, const char *kind, const char *text);
/** "eager" or "compiled" where the row says which; else NULL. */
const char *pace_step_row_execution(const pace_step_reader *reader, size_t row);
/** Whose steps the implementations of the benchmark are like that a row is of; NULL without. */
const char *pace_step_row_suite_framework(const pace_step_row *out, const pace_step_reader *reader, size_t row);
/** Whether that benchmark's submissions interleave their pipelines. */
bool pace_step_row_suite_interleaves(const pace_step_row *out, const pace_step_reader *reader, size_t row);
/** Precision, recomputation, execution, attention and sharding, as the row's words say. */
bool pace_step_row_words(pace_step_row *out, const pace_step_reader *reader, size_t row);
/** Finds the columns that are called as fields of a configuration (model/config.h), unless their numbers are read as
 * PACE_STEP_... columns. */
void pace_step_find_fields(pace_step_reader *reader);
/** Sets the fields of which a cell holds a value, as --set does. Notes the others in the row's status. */
void pace_step_row_fields(pace_step_row *out, const pace_step_reader *reader, size_t row);
/** Notes the fields of which a cell holds a value that can change nothing: --set is refused then, but tables say of all
 * rows what means nothing in some. */
void pace_step_row_note_idle(pace_step_row *out, const pace_step_reader *reader, size_t row);
/** Words that a sample has on the average where what is padding is skipped, as the row's benchmark is known for; and
 * what no column tells of the model's words. */
void pace_step_row_padding(pace_step_row *out, const pace_step_reader *r, size_t row);
/** What a limit of power, stated or the part's own, slows down. False with the reason in the row's status. */
bool pace_step_row_power(pace_step_row *out, const pace_step_reader *r, size_t row);
/** How it is run, but for its batches. */
bool pace_step_row_config(pace_step_row *out, pace_step_reader *reader, size_t row);
/** Its batches, once it is known where it runs. False with the reason in the row's status. */
bool pace_step_row_batches(pace_step_row *out, pace_step_reader *reader, size_t row);
/** Once these are known: interleaves the pipelines of benchmarks that do, and widens for interleaving and 8 bits of
 * which a row says nothing. */
void pace_step_row_unsaid(pace_step_row *out, const pace_step_reader *reader, size_t row);
/** Names the cells that change nothing in the answer; the configuration must be complete. */
void pace_step_row_unused(pace_step_row *out, const pace_step_reader *reader, size_t row);
/** A whole number of at least 1 in a cell; 0 without. */
double pace_step_at_least_one(const pace_step_reader *reader, size_t row, pace_step_column column);
