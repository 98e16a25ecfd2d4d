/* Over which links ranks are taken to exchange, when what that should take is asked: those of the machine that was
 * named, else of the fastest machine of the catalogue with the rank's device and as many of them a node as the trace
 * lists. */
#pragma once

#include "insight/rank.h"
#include "machine/machine.h"

typedef enum {
    PACE_LINKS_UNKNOWN,   /* the catalogue has no machine with the device */
    PACE_LINKS_ASKED,     /* --on names the machine */
    PACE_LINKS_NODE_SIZE, /* a machine with as many devices a node as the trace lists */
    PACE_LINKS_FASTEST    /* the trace lists one device, or as many as no machine has: the fastest */
} pace_links_basis;

typedef struct {
    pace_links_basis basis;
    pace_machine machine; /* its nodes are as many as an exchange needs */
    size_t traced;        /* devices that the trace lists */
} pace_link_machine;

/** `asked` may be NULL. */
pace_status pace_link_machine_choose(pace_link_machine *out, const pace_rank *rank, const pace_machine *asked,
                                     pace_catalog *catalog) PACE_MUST_CHECK;

/** Nodes that a group fills: by its members ("[0, 8, 16]"; "" or cut short = ranks side by side). */
int pace_link_machine_nodes(const pace_machine *machine, int64_t group_size, const char *members);
