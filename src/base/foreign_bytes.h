/* Files that no reader takes, known by their first bytes: what each is, and what to do with it. */
#pragma once

#include "base/status.h"

/** PACE_E_INPUT with what it is and what to do; PACE_OK for bytes that some reader may take. `unpacked`: they come out
 * of a compressed file. */
pace_status pace_foreign_bytes_refuse(const char *name, const unsigned char *bytes, size_t length, bool unpacked);
