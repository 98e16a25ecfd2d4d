/* How the text of a table parts its cells, as its first lines show. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Bytes to pass over before the header, and what parts cells besides the separator that the header shows. */
typedef struct {
    size_t skip;
    bool piped;      /* Markdown whose lines do not begin with a bar: a line of dashes stands below the header */
    unsigned spaces; /* cells are parted by so many blanks or more, as pandas and tabulate print; 0 = they are not */
} pace_csv_form;

/** The form of a table that begins with these bytes; all zero for separated values and Markdown with bars in front. */
pace_csv_form pace_csv_form_of(const char *head, size_t length);
