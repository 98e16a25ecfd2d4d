/* Reads machines of a YAML document. Private to the room, and to its fuzz target. */
#pragma once

#include "machine/machine.h"

/** Every machine is checked. PACE_E_INPUT with line and column. Free with pace_machine_catalog_free(). */
pace_status pace_machines_read(pace_machine_catalog *out, pace_catalog *catalog, const pace_yaml *yaml) PACE_MUST_CHECK;

/** What devices and NICs hang on: {sockets, socket_bytes_per_s, nic_bytes_per_s, switches: [{socket or switch,
 * bytes_per_s, devices: [...], nics: [...]}]}. */
pace_status pace_host_tree_read(pace_host_tree *out, const pace_yaml *yaml, const pace_yaml_node *map) PACE_MUST_CHECK;
