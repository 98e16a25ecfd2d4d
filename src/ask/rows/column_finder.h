/*
 * Finds columns of a table by the names that catalog/columns.yaml lists for them. Of a list the first name counts that
 * a column has: as it stands but for case, or with the same letters and digits ("Batch size", "batch_size"). Where no
 * column has one, names are compared without a leading "number of" and a trailing unit in parentheses.
 */
#pragma once

#include "base/csv.h"
#include "base/yaml.h"

/** The column that one of the names stands for; -1 = none. */
int pace_find_column(const pace_csv *csv, const pace_yaml_node *names);
/** The same of names that hold their unit, or that only their unit tells apart: they are compared whole. */
int pace_find_column_whole(const pace_csv *csv, const pace_yaml_node *names);

/** The column of one name, which need not end at `length`; names are compared whole. -1 = none. */
int pace_find_column_named(const pace_csv *csv, const char *name, size_t length);

/* A column whose name is a stem and a unit: "time_ms", "Step time (ms)". */
typedef struct {
    int column;       /* -1 = none */
    double unit;      /* of columns.yaml, units; 0 = none is named */
    const char *word; /* the unit's; "" = none; borrowed */
} pace_unit_column;

/** The first column called one of the stems with one of the units behind it. A stem of `bare_from` letters or more also
 * counts alone. `units` maps words to numbers. */
pace_unit_column pace_find_unit_column(const pace_csv *csv, const pace_yaml_node *stems, const pace_yaml *yaml,
                                       const pace_yaml_node *units, size_t bare_from);
