#include "insight/ranks/link_machine.h"

#include <stdlib.h>
#include <string.h>

/* Links of slower machines take longer: what these take is the least. */
static bool is_faster(const pace_machine *one, const pace_machine *other) {
    return other->devices == 0 || pace_machine_inside_rate(one) > pace_machine_inside_rate(other);
}

static void choose_among(pace_link_machine *out, const pace_machine_catalog *catalog, const char *device) {
    pace_machine fastest = {.devices = 0}, alike = {.devices = 0};
    PACE_ITEMS (const pace_machine, one, &catalog->machines) {
        if (strcmp(one->device, device) != 0) continue;
        if (is_faster(one, &fastest)) fastest = *one;
        if (out->traced > 1 && (size_t)one->devices == out->traced && is_faster(one, &alike)) alike = *one;
    }
    if (fastest.devices == 0) return;
    out->basis = alike.devices ? PACE_LINKS_NODE_SIZE : PACE_LINKS_FASTEST;
    out->machine = alike.devices ? alike : fastest;
}

pace_status pace_link_machine_choose(pace_link_machine *out, const pace_rank *rank, const pace_machine *asked,
                                     pace_catalog *catalog) {
    pace_link_machine chosen = {.traced = rank->step.devices.count};
    pace_machine_catalog machines;
    if (asked) {
        chosen.basis = PACE_LINKS_ASKED;
        chosen.machine = *asked;
    } else if (rank->device) {
        PACE_TRY(pace_machine_catalog_load(&machines, catalog));
        choose_among(&chosen, &machines, rank->device->name);
        pace_machine_catalog_free(&machines);
    }
    *out = chosen;
    return PACE_OK;
}

enum { MOST_NODES = 1 << 20 };

int pace_link_machine_nodes(const pace_machine *machine, int64_t group_size, const char *members) {
    int64_t count = 0, nodes = 0, before = -1;
    for (const char *at = members; *at && !strstr(members, "...");) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        char *end;
        int64_t node = strtoll(at, &end, 10) / machine->devices;
        nodes += node != before;
        before = node;
        count++;
        at = end;
    }
    if (count != group_size) nodes = (group_size + machine->devices - 1) / machine->devices;
    return (int)(nodes < MOST_NODES ? nodes : MOST_NODES);
}
