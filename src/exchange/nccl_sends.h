/* How many channels carry one message of NCCL's, which limits its rate: docs/exchange.md, "NCCL's own model". The
 * constants are catalog/nccl.yaml, section "sends". */
#pragma once

#include "base/yaml.h"
#include "machine/machine.h"

/* Of devices of one generation. A rate of 0 is no limit. */
typedef struct {
    double channels;                /* of a device below switches */
    double part_bytes;              /* of a message that a channel takes before there are more channels */
    double channel_bytes_per_s;     /* that one carries inside a node */
    double net_channel_bytes_per_s; /* and between nodes: NCCL takes as many as a NIC's rate needs */
    double net_channels, peers;     /* each NIC of a node has so many, each of which serves so many peers at once */
} pace_nccl_sends;

pace_status pace_nccl_sends_read(pace_nccl_sends *out, const pace_yaml *yaml, const pace_yaml_node *section,
                                 const pace_yaml_node *generation) PACE_MUST_CHECK;

/* The channels of a message of a group of ranks. */
typedef struct {
    double least, most, part_bytes, channel_bytes_per_s;
} pace_nccl_message_channels;

/** `net_rate` is what the NICs of one device send. */
void pace_nccl_message_channels_of(pace_nccl_message_channels *out, const pace_nccl_sends *sends,
                                   const pace_machine *machine, int ranks, int nodes, double net_rate);

/** Seconds that the channels take at least; 0 where nothing is known of them. */
double pace_nccl_channels_s(const pace_nccl_message_channels *channels, double bytes);
