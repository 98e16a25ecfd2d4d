/* Reads machines of a YAML document. Private to the room, and to its fuzz target. */
#ifndef PACE_MACHINE_MACHINE_READ_H
#define PACE_MACHINE_MACHINE_READ_H

#include "machine/machine.h"

/** Every machine is checked. PACE_E_INPUT with line and column. Free with pace_machine_catalog_free(). */
pace_status pace_machines_read(pace_machine_catalog *out, const pace_yaml *yaml) PACE_MUST_CHECK;

/** The kind of a word; PACE_LINK_NONE when it is none. */
pace_link_kind pace_link_kind_find(const char *word);

#endif
