/* A machine by a table's description of it: "4xM40/node 10GbE (9.3 Gb/s)", "VM 1xV100/node, 20 Gb/s TCP". */
#pragma once

#include "machine/machine.h"

/** The first word of a text that names a kind of network (catalog/system_names.yaml, `networks`), as the catalogue has
 * it: "rdma" of "Horovod NCCL RDMA"; "" for none. */
pace_status pace_machine_network_word(const char **out, pace_catalog *catalog, const char *text) PACE_MUST_CHECK;

/** Reads "N x DEVICE" of a node, a rate of the network and words for its kind (catalog/system_names.yaml, `networks`).
 * Several devices of a node are taken to be joined by PCIe at their own rate, unless a word or the device speaks of
 * other links. `nodes` above 1 need a network. PACE_E_MISSING for what is no such description, without a message of its
 * own. */
pace_status pace_machine_described(pace_machine *out, pace_catalog *catalog, const char *text,
                                   int nodes) PACE_MUST_CHECK;
