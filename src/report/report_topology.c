#include "report/report_topology.h"
#include "report/table.h"
#include "base/text.h"

typedef struct {
    pace_machine of;
    const char *inside, *between;
    double inside_bytes_per_s, nic_bytes_per_s;
    int nics;
} machine_row;

PACE_TABLE(machines, "machines", "Machines: nodes of devices and their links", PACE_FOR_ALL, 0,
           {"name", "Name", PACE_SHOW_TEXT, PACE_OF(machine_row, of.name)},
           {"device", "Device", PACE_SHOW_TEXT, PACE_OF(machine_row, of.device)},
           {"devices_of_node", "Devices", PACE_SHOW_INT, PACE_OF(machine_row, of.devices)},
           {"inside", "Inside", PACE_SHOW_TEXT, PACE_OF(machine_row, inside)},
           {"inside_bytes_per_s", "one device", PACE_SHOW_RATE, PACE_OF(machine_row, inside_bytes_per_s)},
           {"between", "Between", PACE_SHOW_TEXT, PACE_OF(machine_row, between)},
           {"nics", "NICs", PACE_SHOW_INT, PACE_OF(machine_row, nics)},
           {"nic_bytes_per_s", "one NIC", PACE_SHOW_RATE, PACE_OF(machine_row, nic_bytes_per_s)},
           {"confidence", NULL, PACE_SHOW_TEXT, PACE_OF(machine_row, of.confidence)},
           {"source", NULL, PACE_SHOW_TEXT, PACE_OF(machine_row, of.source)});

static const char *kind_of(const pace_link *link) {
    return link->kind == PACE_LINK_NONE ? NULL : pace_link_kind_names[link->kind];
}

static double rate_of(const pace_link *link) { return link->kind == PACE_LINK_NONE ? NAN : link->bytes_per_s; }

void pace_put_machines(pace_node *root, const pace_machine_catalog *catalog) {
    pace_node *table = pace_open_table(root, &machines, 0);
    PACE_ITEMS (const pace_machine, m, &catalog->machines) {
        pace_table_put(table, &(machine_row){.of = *m,
                                             .inside = kind_of(&m->inside),
                                             .inside_bytes_per_s = rate_of(&m->inside),
                                             .between = kind_of(&m->between),
                                             .nics = m->between.kind == PACE_LINK_NONE ? 0 : m->nics,
                                             .nic_bytes_per_s = rate_of(&m->between)});
    }
    pace_node_note(
        root, "Link rates are peaks in one direction. \"paceline predict --kind exchange --on NAME*NODES\" predicts "
              "exchanges.");
}

static void put_link(pace_node *root, const char *where, const pace_link *link) {
    if (link->kind == PACE_LINK_NONE) return;
    pace_node_sentence(
        root, false, "%s: %s, %.4g GB/s at peak, of which large exchanges reach %.3g %%; latency %.3g µs per message.",
        where, pace_link_kind_names[link->kind], link->bytes_per_s / 1e9, 100 * link->efficiency,
        link->latency_s * 1e6);
}

void pace_put_machine(pace_node *root, const pace_machine *m) {
    pace_node_sentence(root, true, "%s: nodes of %d %s", m->name, m->devices, m->device);
    put_link(root, "One device inside a node", &m->inside);
    put_link(root, "One NIC", &m->between);
    pace_node_text(root, "name", m->name);
    pace_node_text(root, "device", m->device);
    pace_node_int(root, "devices_of_node", m->devices);
    pace_node_int(root, "nics", m->nics);
    pace_node_real(root, "inside_bytes_per_s", m->inside.bytes_per_s);
    pace_node_real(root, "inside_latency_s", m->inside.latency_s);
    pace_node_real(root, "nic_bytes_per_s", m->between.bytes_per_s);
    pace_node_real(root, "between_latency_s", m->between.latency_s);
    pace_node_note(root, "Source (%s): %s.", m->confidence, m->source);
}

const pace_machine *pace_machine_of_name(const pace_machine_catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->machines.count; i++)
        if (pace_strcasecmp(catalog->machines.items[i].name, name) == 0) return &catalog->machines.items[i];
    return NULL;
}
