#include "report/report_topology.h"

#include <strings.h>

static const pace_column columns[] = {
    {"name", "Name", PACE_SHOW_TEXT},
    {"device", "Device", PACE_SHOW_TEXT},
    {"devices_of_node", "Devices", PACE_SHOW_INT},
    {"inside", "Inside", PACE_SHOW_TEXT},
    {"inside_bytes_per_s", "one device", PACE_SHOW_RATE},
    {"between", "Between", PACE_SHOW_TEXT},
    {"nics", "NICs", PACE_SHOW_INT},
    {"nic_bytes_per_s", "one NIC", PACE_SHOW_RATE},
    {"confidence", NULL, PACE_SHOW_TEXT},
    {"source", NULL, PACE_SHOW_TEXT},
};

static void link_cells(pace_node *table, const pace_link *link, bool with_nics, int nics) {
    bool there = link->kind != PACE_LINK_NONE;
    pace_table_text(table, there ? pace_link_kind_names[link->kind] : NULL);
    if (with_nics) pace_table_int(table, there ? nics : 0);
    if (there) pace_table_real(table, link->bytes_per_s);
    else pace_table_none(table);
}

void pace_put_machines(pace_node *root, const pace_machine_catalog *catalog) {
    pace_node *table = pace_node_table(root, "machines", "Machines: nodes of devices, and what joins them",
                                       PACE_FOR_ALL, PACE_COLUMNS(columns), 0);
    for (size_t i = 0; i < catalog->machines.count; i++) {
        const pace_machine *m = &catalog->machines.items[i];
        pace_table_row(table);
        pace_table_text(table, m->name);
        pace_table_text(table, m->device);
        pace_table_int(table, m->devices);
        link_cells(table, &m->inside, false, 0);
        link_cells(table, &m->between, true, m->nics);
        pace_table_text(table, m->confidence);
        pace_table_text(table, m->source);
    }
    pace_node_note(
        root, "Rates of links are peaks of one direction. \"paceline predict --kind exchange --on NAME*NODES\" says "
              "what exchanges take.");
}

static void put_link(pace_node *root, const char *where, const pace_link *link) {
    if (link->kind == PACE_LINK_NONE) return;
    pace_node_sentence(root, false,
                       "%s: %s, %.4g GB/s at peak, of which a large exchange reaches %.3g %%; a message takes %.3g us.",
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
        if (strcasecmp(catalog->machines.items[i].name, name) == 0) return &catalog->machines.items[i];
    return NULL;
}
