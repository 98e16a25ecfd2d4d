/* What the readers of logs of exchanges share: the run at hand, and the rows that it gives. Private to exchange_logs.
 */
#pragma once

#include "ask/rows/exchange_rows.h"
#include "base/intern.h"
#include "machine/device.h"

typedef struct {
    pace_exchange_rows *rows;
    const pace_exchange_defaults *defaults;
    pace_exchange_row common;                /* collective and ranks, once known */
    bool knows_collective, settled, guesses; /* guesses: what the collective is, before rows are added */
    int ranks;
    int per_thread, threads; /* of one process, where no rank is listed; 0 = not said */
    pace_names hosts;
    pace_device_catalog devices;
    const pace_device
        *device;      /* of the run's ranks, as far as the catalogue knows it; NULL = not said, or of several */
    size_t versioned; /* rows that stood before the version was said */
    unsigned line;
    int before;                  /* words that whoever collected the lines put before each: a pod, a time */
    bool has_header, has_root;   /* the columns of nccl-tests' rows, as the last header names them */
    int time_column;             /* of the rows of a benchmark that names its columns; 0 = none yet */
    const pace_machine *machine; /* may be NULL */
} pace_log_reader;

/** Takes note of "NCCL version 2.22.3+cuda12.5", or of "nccl-library=22203" of the tests' own head. */
void pace_log_note_version(pace_log_reader *r, const char *line);

/** The collective as asked, or as the log or the name of the file says. */
void pace_log_find_collective(pace_log_reader *r, const char *text);
bool pace_log_names_program(pace_collective *out, const char *text);

pace_status pace_log_add_host(pace_log_reader *r, const char *name) PACE_MUST_CHECK;

/** Finds out what all rows of a run have, or says what is missing. */
pace_status pace_log_settle(pace_log_reader *r) PACE_MUST_CHECK;

/** The same for a run of which the log says the ranks, not the nodes; without a machine they are one node's. */
void pace_log_place_ranks(pace_log_reader *r, int ranks);

/** A run without a collective's name shows it where the bus bandwidth of no other collective fits. */
void pace_log_guess_collective(pace_log_reader *r, const char *operation, const char *root, double algorithm,
                               double bus);

/** Fails where the bus bandwidth of a row contradicts the collective or the ranks by more than a twentieth. */
pace_status pace_log_check_bus(const pace_log_reader *r, double algorithm, double bus) PACE_MUST_CHECK;

/** Sums of halves take other ways than those of floats; where nothing is summed, bytes are bytes. */
void pace_log_take_type(pace_log_reader *r, const char *type);

/** `wrong`: elements that the exchange got wrong, by the log's own check; what took that time was none. */
pace_status pace_log_add(pace_log_reader *r, double bytes, double time_us, double wrong) PACE_MUST_CHECK;

enum { PACE_LOG_WORDS = 32 };

/** Parts a line at its blanks. */
int pace_log_split(char *line, char **words);

pace_status pace_log_read_nccl(pace_log_reader *r, const char *text) PACE_MUST_CHECK;
pace_status pace_log_read_json(pace_log_reader *r, const char *text, size_t length) PACE_MUST_CHECK;
pace_status pace_log_read_osu(pace_log_reader *r, const char *text) PACE_MUST_CHECK;
pace_status pace_log_read_deepspeed(pace_log_reader *r, const char *text) PACE_MUST_CHECK;
pace_status pace_log_read_benchmark(pace_log_reader *r, const char *text) PACE_MUST_CHECK;

/** Reads a line, which it may change. */
typedef pace_status (*pace_log_take)(pace_log_reader *r, char *line);
pace_status pace_log_each_line(pace_log_reader *r, const char *text, pace_log_take take) PACE_MUST_CHECK;
