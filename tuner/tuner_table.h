/* The table that a plug-in reads: docs/tune.md, "The plug-in". */
#pragma once

#include "nccl_abi.h"

#include <stdbool.h>

enum { TUNER_ANY = -1, TUNER_MESSAGE = 512 };

typedef struct {
    tuner_collective collective;
    uint64_t least_bytes, most_bytes;
    tuner_algorithm algorithm;
    tuner_protocol protocol;
    int channels;                        /* TUNER_ANY: the library's own number */
    int nodes, ranks, piped, registered; /* TUNER_ANY: whatever they are */
    int line;
} tuner_row;

typedef struct {
    tuner_row *rows;
    size_t count, room;
} tuner_table;

/** Reads a file whole, or nothing of it: false, and a message that names file, line and what was expected. */
bool tuner_table_read(tuner_table *out, char message[TUNER_MESSAGE], const char *path);
void tuner_table_free(tuner_table *table);

/** Keeps the rows for so many nodes and ranks alone. */
void tuner_table_keep(tuner_table *table, size_t nodes, size_t ranks);

/** The first row that fits; NULL: none. */
const tuner_row *tuner_table_find(const tuner_table *table, tuner_collective collective, uint64_t bytes, int piped,
                                  int registered);
