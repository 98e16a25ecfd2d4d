/*
 * The links inside one node of a machine, and which of them lie between two of its devices, or between a device and
 * its NIC: bricks between pairs of devices, ports into a switch, a host tree of PCIe switches and sockets.
 *
 * A message takes the way whose narrowest link is widest; of those the one with fewest links. Devices and NICs pass
 * nothing on. Rates are peaks times the share that large exchanges reach.
 */
#pragma once

#include "exchange/fabric.h"
#include "machine/machine.h"

typedef enum {
    PACE_NODE_LINK_DEVICE, /* a device's port into the switch inside the node; `a` = device */
    PACE_NODE_LINK_BRICKS, /* from device a to device b */
    PACE_NODE_LINK_SLOT,   /* a device's slot in the host tree */
    PACE_NODE_LINK_HOST,   /* of a PCIe switch to what is above it; between sockets a and b */
    PACE_NODE_LINK_NIC_SLOT,
    PACE_NODE_LINK_NIC, /* a NIC's port to the network */
    PACE_NODE_LINK_KINDS
} pace_node_link_kind;

typedef struct {
    double bytes_per_s;
    uint16_t from, to; /* vertices */
    uint8_t kind;
    bool out; /* away from the device, up the tree, out of the node */
    uint16_t a, b;
} pace_node_link;

typedef struct {
    uint32_t devices, nics, vertices;
    PACE_VEC(pace_node_link) links;
    PACE_VEC(uint32_t) hops; /* links */
    uint32_t *first;  /* [from * ends + to] -> its first hop, and one more at the end; an end is a device or NIC */
    uint32_t ends;    /* devices + NICs */
    uint32_t *nic_of; /* device -> the NIC it takes */
} pace_node_graph;

/** PACE_E_INPUT when a device reaches another, or a NIC, over no link. */
pace_status pace_node_graph_init(pace_node_graph *out, const pace_machine *machine) PACE_MUST_CHECK;
void pace_node_graph_free(pace_node_graph *graph);

/** What a link is called, without the node. */
void pace_node_link_describe(char *out, size_t size, const pace_node_link *link);
