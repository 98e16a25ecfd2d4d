/* Columns of tables that say something and that no reader looked at: of remarks, of another meaning, or with a slip in
 * the name. */
#pragma once

#include "base/csv.h"
#include "report/report.h"

typedef struct {
    PACE_VEC(const char *) names; /* each once, borrowed from the tables */
} pace_unread_columns;

/** Adds the columns of a table that are not marked in `looked`. */
pace_status pace_unread_columns_add(pace_unread_columns *to, const pace_csv *csv, const bool *looked) PACE_MUST_CHECK;

/** Names them in one warning; says nothing where there are none. */
void pace_warn_of_unread_columns(pace_report *report, const pace_unread_columns *unread);

void pace_unread_columns_free(pace_unread_columns *unread);
