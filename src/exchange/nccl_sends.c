#include "exchange/nccl_sends.h"
#include "base/numbers.h"

#include <math.h>

pace_status pace_nccl_sends_read(pace_nccl_sends *out, const pace_yaml *yaml, const pace_yaml_node *section,
                                 const pace_yaml_node *generation) {
    const struct {
        const char *key;
        double *field;
    } all[] = {{"channels", &out->channels},
               {"part_bytes", &out->part_bytes},
               {"net_channel_bytes_per_s", &out->net_channel_bytes_per_s},
               {"net_channels", &out->net_channels},
               {"peers", &out->peers}};
    for (size_t i = 0; i < PACE_COUNT(all); i++)
        PACE_TRY(pace_yaml_number(all[i].field, yaml, pace_yaml_get(section, all[i].key)));
    return pace_yaml_number(&out->channel_bytes_per_s, yaml, pace_yaml_get(generation, "channel_bytes_per_s"));
}

static double power_up(double x) { return x > 1 ? exp2(ceil(log2(x) - 1e-9)) : 1; }

static double power_down(double x) { return x > 1 ? exp2(floor(log2(x) + 1e-9)) : 1; }

/* Every peer could be sent to at once, so that a message has a part of the channels; a large one takes all. */
static void inside_a_node(pace_nccl_message_channels *out, const pace_nccl_sends *sends, int ranks) {
    out->most = sends->channels;
    out->least = pace_least(out->most, power_down(sends->channels / ranks));
    out->channel_bytes_per_s = sends->channel_bytes_per_s;
}

/* As many as the NIC's rate needs; fewer where the ranks are so many that their messages do not fit into one round. */
static void between_nodes(pace_nccl_message_channels *out, const pace_nccl_sends *sends, double nics, int ranks,
                          double net_rate) {
    double all = power_up(sends->net_channels * nics), rounds = ceil(ranks / sends->peers);
    out->most = power_up(ceil(net_rate / sends->net_channel_bytes_per_s));
    while (out->most > 1 && out->most * rounds > all) out->most /= 2;
    out->least = out->most;
    out->channel_bytes_per_s = sends->net_channel_bytes_per_s;
}

void pace_nccl_message_channels_of(pace_nccl_message_channels *out, const pace_nccl_sends *sends,
                                   const pace_machine *machine, int ranks, int nodes, double net_rate) {
    *out = (pace_nccl_message_channels){.part_bytes = sends->part_bytes};
    if (nodes > 1) between_nodes(out, sends, machine->nics, ranks, net_rate);
    else if (machine->switched) inside_a_node(out, sends, ranks);
}

/* A message of a power of two fills its channels' parts. Others have up to twice as many channels as they would fill,
 * and take less; NCCL's times fall behind each power of two, these do not. */
double pace_nccl_channels_s(const pace_nccl_message_channels *c, double bytes) {
    if (!(c->channel_bytes_per_s > 0)) return 0;
    double channels = pace_least(c->most, pace_most(c->least, bytes / c->part_bytes));
    return bytes / (channels * c->channel_bytes_per_s);
}
