/*
 * What the rows of a fit had: the least and the most of each amount that rows differ in. A fit answers beyond them as
 * at the nearest row, and whoever is answered is told so.
 */
#pragma once

#include "base/json_writer.h"
#include "base/yaml.h"

/* Zeros: nothing is known. */
typedef struct {
    double low, high;
} pace_fit_range;

/** Widens the ranges by one row's amounts, all above 0. */
void pace_fit_ranges_add(pace_fit_range *ranges, const double *amounts, size_t count);

/** The name of the first amount that lies outside its range; NULL where none does or none is known. */
const char *pace_fit_ranges_beyond(const pace_fit_range *ranges, const char *const *names, const double *amounts,
                                   size_t count);

/** Member "seen" of a fit's document: {name: [least, most]}. Nothing where no range is known. */
void pace_fit_ranges_write(pace_jsonw *json, const pace_fit_range *ranges, const char *const *names, size_t count);
/** Leaves `ranges` alone where the document has no such member. Errors: PACE_E_INPUT with the place. */
pace_status pace_fit_ranges_read(pace_fit_range *ranges, const pace_yaml *yaml, const char *const *names,
                                 size_t count) PACE_MUST_CHECK;
