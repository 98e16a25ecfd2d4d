/* What a table asks about, told from its columns: for those who leave --kind out. */
#ifndef PACE_ASK_TABLE_KIND_H
#define PACE_ASK_TABLE_KIND_H

#include "paceline/paceline.h"

/** "kernel", "exchange", "step", "scaling" or "job", by the columns and first row of a file, or by what a log looks
 * like; "kernel" for a named pipe, which can be read only once, and for what looks like nothing else. Only the start of
 * the file is read; a file that cannot be read is left to its reader to complain about. */
const char *pace_table_kind(const char *path);

#endif
