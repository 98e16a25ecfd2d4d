/*
 * Rows of a table or a log as questions about exchanges: which ranks, how much, and the time when it was measured.
 *
 * Read: CSV (columns by name, catalog/columns.yaml), the text and the JSON (-J) of nccl-tests, the text of the OSU
 * micro-benchmarks (latency) and of DeepSpeed's communication benchmark. Of nccl-tests' logs the out-of-place times
 * count; rows of a table that say in place are curves of their own. An OSU size is a rank's own buffer: of allgather
 * and reduce_scatter it is turned into the size of nccl-tests.
 */
#pragma once

#include "ask/rows/measured_cell.h"
#include "exchange/calibration.h"
#include "machine/machine.h"
#include "base/csv.h"

typedef struct {
    uint32_t row;     /* of the table; of a log, its line */
    char system[96];  /* "" = the row names none */
    char device[64];  /* what it says of the device, when that is not its system */
    char variant[96]; /* library, implementation, algorithm, in place: as the row says, joined by "/" */
    pace_collective collective;
    int ranks_per_node, nodes;
    char algorithm[24], protocol[16];  /* "" = the library's choice */
    char approach[48];                 /* as frameworks exchange; "" = the library alone */
    double bytes, time_s;              /* time NAN: not measured */
    double call_s;                     /* of it the host's call of a framework, where that was timed; else 0 */
    int element_bytes;                 /* 0 = not said */
    pace_nccl_stack stack;             /* what started it */
    pace_exchange_library library;     /* TEXTBOOK, else AUTO: a version is in `variant`, others are not followed */
    bool rccl;                         /* it names RCCL, which is of AMD's devices alone */
    bool unused_timed;                 /* its word for what was timed is not known */
    bool unused_elements;              /* they say other bytes than the row's */
    bool unused_per_node;              /* ranks and nodes say another number */
    bool said_in_place, said_channels; /* only measured curves tell these apart */
    bool said_dtype;                   /* beside bytes, without elements: again only curves tell types apart */
    char unused_variant[64];           /* column and word of another library or way, which only curves tell apart */
    char other_library[24];            /* of those, a library that no closed form is of */
    bool assumed_dtype;                /* elements without one were taken for four bytes */
    bool nodes_guessed;                /* no column said how many: as few as a machine that is known allows */
    char status[96];                   /* "" = it can be asked */
    char unmeasured[PACE_CELL_FAULT];  /* "" = its time is a time; else it can be asked but not fitted */
} pace_exchange_row;

typedef struct {
    pace_csv csv; /* columns 0: it was a log */
    char name[256];
    uint64_t bytes; /* as stored */
    PACE_VEC(pace_exchange_row) rows;
    int measured; /* column, -1 = none */
    double unit_s;
    char unit[8];
} pace_exchange_rows;

/* What answers where rows are silent. */
typedef struct {
    const pace_machine *machine; /* may be NULL */
    const char *collective;      /* may be NULL */
} pace_exchange_defaults;

/** Errors: PACE_E_INPUT for a missing column (named) or a log that does not say how many ranks it ran on or what. */
pace_status pace_exchange_rows_read(pace_exchange_rows *out, pace_catalog *catalog, pace_input *input,
                                    const pace_exchange_defaults *defaults) PACE_MUST_CHECK;
void pace_exchange_rows_free(pace_exchange_rows *rows);

/** Makes a fit of the measured rows of `tables` for which keep(context, table, row) is true (NULL = all): a curve for
 * each system, collective and group of ranks. With `probes` above 0 only so many sizes of each curve are kept.
 * PACE_E_INPUT when nothing was measured. */
pace_status pace_exchange_rows_fit(pace_exchange_fit *out, const pace_exchange_rows *tables, size_t count, int probes,
                                   bool (*keep)(void *context, size_t table, size_t row),
                                   void *context) PACE_MUST_CHECK;
