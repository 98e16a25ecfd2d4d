/*
 * The links between the NICs of a machine's nodes, and which of them lie between two NICs. All links between the same
 * two switches count as one that is as wide as they are together: traffic spreads evenly over them.
 *
 * Fat tree (Leiserson 1985; Al-Fares et al., SIGCOMM 2008), rails (NVIDIA's SuperPOD: a switch for the k-th NICs of a
 * group of nodes), dragonfly with least ways (Kim, Dally, Scott, Abts, ISCA 2008), torus with dimension-order ways.
 */
#pragma once

#include "exchange/fabric.h"
#include "machine/machine.h"

typedef struct {
    pace_network_kind kind;
    uint32_t nodes, nics;   /* of the machine; of a node */
    uint32_t shape[3];      /* as in pace_network; a torus: extents, at least 1 */
    uint32_t groups, outer; /* leaves and pods, groups of rails, or routers and groups of a dragonfly */
    uint32_t first;         /* number of its first link */
    double nic_bytes_per_s, oversubscription;
} pace_network_links;

/** Counts the links: their number in `*count`. */
void pace_network_links_init(pace_network_links *out, uint64_t *count, const pace_machine *machine, uint32_t first);

/** Sets rates and classes (from `first_class` on, fewer than PACE_NETWORK_CLASSES). */
enum { PACE_NETWORK_CLASSES = 8 };
void pace_network_links_fill(pace_fabric *fabric, const pace_network_links *network, uint32_t first_class);

/** Appends the links from a NIC of one node to a NIC of another. */
pace_status pace_network_route(pace_route *out, const pace_network_links *network, uint32_t from_node,
                               uint32_t from_nic, uint32_t to_node, uint32_t to_nic) PACE_MUST_CHECK;

/** Switches on that way beyond the first; of a torus nodes between the two. */
uint32_t pace_network_hops(const pace_network_links *network, uint32_t from_node, uint32_t from_nic, uint32_t to_node,
                           uint32_t to_nic);

void pace_network_describe(char *out, size_t size, const pace_network_links *network, uint32_t link);
