/* The style sheets and scripts of a page: the files of src/report/render/page, compiled in (CMakeLists.txt lists
 * them). */
#pragma once

#include <stddef.h>

typedef struct {
    const char *name; /* "page.css" */
    const unsigned char *bytes;
    size_t size;
} pace_page_file;

extern const pace_page_file pace_page_files[]; /* closed by a NULL name */
