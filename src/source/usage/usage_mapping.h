/*
 * What a source of cluster records calls things: a mapping file says how its files are recognised, which of their
 * columns are which fields, in which units, and what its states mean. The catalogue has one for each source that is
 * known (catalog/clusters); users may bring their own (docs/fleet.md).
 */
#pragma once

#include "base/words.h"
#include "machine/catalog.h"
#include "source/usage/usage_fields.h"
#include "source/usage/usage_words.h"

/* What a row of the source is. */
typedef enum {
    PACE_USAGE_OF_JOBS,     /* a run of a job, or a part of it: it holds GPUs for a time */
    PACE_USAGE_OF_FACTS,    /* what else is known of a job that another table has */
    PACE_USAGE_OF_COUNTERS, /* what a GPU did at a time */
    PACE_USAGE_OF_NOTHING,  /* of a source that is known, but tells nothing that is asked: it is not read */
} pace_usage_of;

/* Which of a JSON record's several values a column takes. */
typedef enum {
    PACE_TAKE_FIRST,
    PACE_TAKE_LAST,
    PACE_TAKE_SUM,
    PACE_TAKE_COUNT,
    PACE_TAKE_LATEST, /* in the order of characters: times of one form */
    PACE_TAKE_ALL,    /* with commas between them */
    PACE_TAKES
} pace_usage_take;

enum { PACE_USAGE_NAMES = 24, PACE_USAGE_METRICS = 32 };

/* Where a field comes from. Texts are borrowed from the mapping's document. */
typedef struct {
    const char *names[PACE_USAGE_NAMES]; /* the first that the file has */
    size_t name_count;                   /* 0 = the source does not have the field */
    double unit;                         /* what one of the column is in ours */
    const pace_yaml_node *units;         /* the same by what follows a loosely spelled name: "h"; NULL = nothing may */
    const char *before;                  /* the text ends before the first of these characters; NULL = whole */
    const char
        *list; /* "gres/gpu", or several names: the count of these in "key=count,key:model=count"; NULL = plain */
    const pace_yaml_node *slices;  /* how many slices a GPU has, by a word of its model's name; "" = any other */
    const pace_yaml_node *entries; /* of JSON: members of the objects of an array that is read as such a list, the last
                                      of them the count; NULL = plain */
    pace_usage_take take;
} pace_usage_column;

/* A counter by its name in the source. */
typedef struct {
    const char *name;
    pace_usage_field field;
    double unit, most;  /* values beyond `most`, in our unit, are none */
    const char *device; /* that the counter is of; NULL = the row says */
} pace_usage_metric;

typedef struct {
    pace_yaml *own;        /* of a user's file; NULL = the catalogue's */
    const pace_yaml *yaml; /* for messages */
    const char *name, *title;
    pace_usage_of of;
    bool json, samples; /* neither: lines of separated values */
    bool loose;         /* of columns and states letters and digits count, in any case */
    bool open;          /* a running run has no end yet, though its row may have one of a part of it */
    char separator;
    const pace_yaml_node *columns; /* of files without a header; NULL = they have one */
    const pace_yaml_node *known_by;
    const pace_yaml_node *missing; /* texts that say that there is no value */
    const pace_yaml_node *states;
    const pace_yaml_node *parts; /* columns of how many parts a job has, which its GPUs may be each one's */
    const char *rows, *each;     /* of JSON */
    const char *skip_column, *skip_having;
    pace_usage_times times;
    double zone_s; /* of times that have no zone; NAN = not said, they count as UTC */
    double gap_s;  /* counters further apart say nothing of the time between */
    pace_usage_column fields[PACE_USAGE_FIELDS];
    pace_usage_metric metrics[PACE_USAGE_METRICS];
    size_t metric_count;
} pace_usage_mapping;

typedef PACE_VEC(pace_usage_mapping) pace_usage_mappings;

/** The user's files first, then the catalogue's mappings. Errors: PACE_E_INPUT with the place of a member that is
 * missing or unknown. Free in either case. */
pace_status pace_usage_mappings_load(pace_usage_mappings *out, pace_catalog *catalog,
                                     const pace_words *own) PACE_MUST_CHECK;
void pace_usage_mappings_free(pace_usage_mappings *mappings);

/** One mapping of a document, which `out` borrows. */
pace_status pace_usage_mapping_read(pace_usage_mapping *out, const pace_yaml *yaml) PACE_MUST_CHECK;

/** Whether a text says that there is no value. */
bool pace_usage_is_missing(const pace_usage_mapping *mapping, pace_usage_text text);

/** The counter of a name; NULL = none that the mapping knows. */
const pace_usage_metric *pace_usage_metric_named(const pace_usage_mapping *mapping, pace_usage_text name);
