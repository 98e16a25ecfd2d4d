/* Optional modules: shared objects around other libraries, found beside the program and loaded when they are wanted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** The first place where the file is: in `folder`, else where the environment variable PACELINE_MODULES says, else
 * beside the program, in a build tree or installed, else beside the library. False when it is nowhere. */
bool pace_shared_object_find(char *out, size_t size, const char *folder, const char *file);

/** Behind advice to build a module that was not found: that PACELINE_MODULES names a folder without it; "" where that
 * variable is not set. */
const char *pace_shared_object_elsewhere(void);

/** Loads the object and returns the address of a symbol, or NULL with the reason as a text. It stays loaded: libraries
 * keep threads and device contexts that do not survive being unloaded. */
void *pace_shared_object_symbol(const char *path, const char *symbol, char *reason, size_t size);
