/* Where a server's program lies. */
#pragma once

#include <stddef.h>

/** Beside the module that this code is part of. */
void pace_server_program_path(char *out, size_t size, const char *name);
