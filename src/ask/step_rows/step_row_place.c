/* Where a row runs: its device, and the machine that joins several of them. */
#include "ask/step_rows/step_cells.h"
#include "ask/step_rows/step_row_worded.h"
#include "base/decimal.h"
#include "base/print.h"
#include "base/text.h"
#include "machine/device_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEVERAL = 2 }; /* nodes: only names of machines count, not those of devices */

/* The machine of the catalogue with this name, "_" read as "-", or the one that tables and logs call so ("DGX-1V"), or
 * one with figures of its own; NULL when there is none. */
static const pace_machine *machine_named(pace_step_things *things, const char *text) {
    char name[64];
    const pace_step_worded *worded = pace_step_worded_find(things, text);
    if (worded) return worded->joined ? &worded->machine : NULL;
    snprintf(name, sizeof name, "%.63s", text);
    for (char *c = name; *c; c++) *c = *c == '_' ? '-' : pace_lower(*c);
    const pace_machine *own = PACE_FIND(things->machines.machines.items, things->machines.machines.count, name, name);
    pace_machine called;
    if (own || pace_machine_named(&called, things->devices.documents, text, SEVERAL) != PACE_OK) return own;
    return PACE_FIND(things->machines.machines.items, things->machines.machines.count, name, called.name);
}

/* The first machine that holds the device, or else one of the same generation ("h100-96-hbm2e": one of h100-80-sxm). */
static const pace_machine *machine_of(const pace_step_things *things, const pace_device *device) {
    size_t family = strcspn(device->name, "-"), name = strcspn(device->name, " "); /* changed figures follow */
    for (int pass = 0; pass < 2; pass++)
        PACE_ITEMS (const pace_machine, machine, &things->machines.machines) {
            bool same = pass == 0 ? strlen(machine->device) == name && strncmp(machine->device, device->name, name) == 0
                                  : strncmp(machine->device, device->name, family) == 0 &&
                                        machine->device[family] == device->name[family];
            if (same) return machine;
        }
    return NULL;
}

/* "x", "*" or U+00D7, with digits on one side and blanks or a word's end on the other. 0 = none begins here, else its
 * bytes. */
static size_t times_sign(const char *c) {
    if (*c == 'x' || *c == 'X' || *c == '*') return 1;
    return strncmp(c, "\xc3\x97", 2) == 0 ? 2 : 0;
}

/* Where a name ends that a sign and digits follow without a blank: "A100x4", "L40Sx8". A number or a capital before it
 * tells the sign from a letter of a name ("RTX4090", "rtx4090"); "dgx-a100*8" is a machine of eight nodes. NULL =
 * nowhere. */
static const char *before_glued_sign(const char *text, const char *digits) {
    for (size_t sign = 2; sign > 0; sign--) {
        if ((size_t)(digits - text) <= sign || times_sign(digits - sign) != sign) continue;
        const char *at = digits - sign;
        if (*at == '*') return NULL;
        bool capital = at[-1] >= 'A' && at[-1] <= 'Z' && *at != 'X';
        return pace_is_digit(at[-1]) || capital ? at : NULL;
    }
    return NULL;
}

/* "8x H100" -> 8 and "H100", "A100 40GB x4" and "A100x4" -> 4 and what stands before. The number of a name
 * ("RTX 4090") is no count. 0 = none. */
static double split_count(char name[96], const char *text) {
    const char *end = text + strlen(text), *digits = end;
    double count;
    snprintf(name, 96, "%.95s", text);
    const char *behind = pace_number_read(&count, text);
    while (behind && *behind == ' ') behind++;
    size_t sign = behind && pace_is_digit(*text) ? times_sign(behind) : 0;
    if (sign > 0 && behind[sign] && count >= 1 && count == floor(count)) {
        snprintf(name, 96, "%.95s", behind + sign + strspn(behind + sign, " "));
        return count;
    }
    while (digits > text && pace_is_digit(digits[-1])) digits--;
    const char *before = digits;
    while (before > text && before[-1] != ' ') before--;
    sign = times_sign(before);
    bool apart = before > text && sign > 0 && before + sign == digits;
    const char *named = apart ? before - 1 : before_glued_sign(text, digits);
    if (digits == end || !named) return 0;
    snprintf(name, 96, "%.*s", (int)(named - text), text);
    return pace_number_read(&count, digits) && count >= 1 ? count : 0;
}

double pace_step_row_counted(const pace_step_reader *r, size_t row) {
    char name[96];
    return split_count(name, pace_step_cell(r, row, PACE_STEP_DEVICE));
}

/* A device, the one of a machine, or the words behind a maker's name ("dgx_gb200" is a gb200). */
static const pace_device *device_in(pace_step_things *things, const char *text) {
    char spaced[96];
    const pace_step_worded *worded = pace_step_worded_find(things, text);
    if (worded) return worded->device;
    split_count(spaced, text);
    const pace_machine *machine = machine_named(things, spaced);
    const pace_device *device = pace_device_find(&things->devices, machine ? machine->device : spaced, 0);
    if (device) return device;
    for (char *c = spaced; *c; c++)
        if (*c == '_' || *c == '-') *c = ' ';
    device = pace_device_find(&things->devices, spaced, 0);
    for (const char *c = spaced; !device && (c = strchr(c, ' ')); c++)
        device = pace_device_find(&things->devices, c + 1, 0);
    return device;
}

/* A node that is known to join devices of this name, too: a MI325X's is a MI300X's. */
static bool machine_like(pace_machine *out, const pace_step_reader *r, const pace_device *device) {
    return pace_machine_named(out, r->things->devices.documents, device->name, 1) == PACE_OK;
}

/* The cell that names a machine: its own, or that of the device ("a100*8 nvlink=300GB/s"). */
static const char *machine_cell(const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_MACHINE), *device = pace_step_cell(r, row, PACE_STEP_DEVICE);
    const pace_step_worded *worded = *text ? NULL : pace_step_worded_find(r->things, device);
    return worded && worded->joined ? device : text;
}

double pace_step_row_node(const pace_step_reader *r, size_t row, const pace_device *device) {
    const char *text = machine_cell(r, row);
    const pace_machine *machine = *text ? machine_named(r->things, text) : NULL;
    pace_machine like;
    if (!machine) machine = machine_of(r->things, device);
    if (!machine && machine_like(&like, r, device)) machine = &like;
    return machine ? machine->devices : 0;
}

static const char *machine_word(const pace_step_reader *r, size_t row) {
    const char *text = machine_cell(r, row);
    return *text && machine_named(r->things, text) ? text : "";
}

/* What the row's own words name; NULL: nothing known. */
static const pace_device *own_device(const pace_step_reader *r, size_t row) {
    const char *device = pace_step_cell(r, row, PACE_STEP_DEVICE), *machine = pace_step_cell(r, row, PACE_STEP_MACHINE);
    const pace_machine *known = *machine ? machine_named(r->things, machine) : NULL;
    if (*device) return device_in(r->things, device);
    if (known && pace_step_worded_find(r->things, machine)) return device_in(r->things, machine);
    if (known) return pace_device_find(&r->things->devices, known->device, 0);
    return *machine ? device_in(r->things, machine) : NULL;
}

double pace_step_row_devices(const pace_step_reader *r, size_t row) {
    const char *text = machine_cell(r, row), *on = r->defaults->machine;
    pace_machine machine;
    if (!*text && on && !own_device(r, row)) text = on;
    if (!*text || pace_machine_asked(&machine, r->things->devices.documents, text) != PACE_OK) return 0;
    return (double)machine.devices * machine.nodes;
}

/* Names the device where words of the row's text have no part in it: "h100 foo". */
static void note_device(pace_step_row *out, const pace_step_reader *r, const char *text) {
    char name[96];
    const pace_device *named = NULL;
    split_count(name, text);
    if (pace_step_worded_find(r->things, text) || machine_named(r->things, name)) return;
    for (char *c = name; *c; c++)
        if (*c == '_') *c = ' ';
    bool whole = pace_device_named(&named, &r->things->devices, name, 0) == PACE_OK && named;
    if (!whole) pace_step_note(out, "took %s for \"%.40s\"", out->device->name, text);
}

/* Figures of a cell that no device or machine can have are not passed over. */
static bool has_refused(pace_step_row *out, const pace_step_reader *r, const char *text) {
    const pace_step_worded *worded = pace_step_worded_find(r->things, text);
    if (!worded || worded->device) return false;
    pace_step_note(out, "%s", worded->refused);
    return true;
}

bool pace_step_row_device(pace_step_row *out, pace_step_reader *r, size_t row) {
    const char *device = pace_step_cell(r, row, PACE_STEP_DEVICE), *machine = pace_step_cell(r, row, PACE_STEP_MACHINE);
    const char *on = r->defaults->machine, *word = *device ? device : machine;
    if (has_refused(out, r, device) || has_refused(out, r, machine)) return false;
    bool own = (out->device = own_device(r, row)) != NULL;
    if (!own && on) out->device = r->things->on_device;
    if (out->device && !own && *word) pace_step_note(out, "took --on for \"%.40s\"", word);
    if (own) note_device(out, r, word);
    if (out->device) return true;
    if (*word) pace_step_note(out, "unknown device \"%.60s\"", word);
    else pace_step_note(out, "device is missing (--on supplies one)");
    return false;
}

/* Nodes on PCIe, as catalog/system_names.yaml has them. */
static bool by_bus(pace_machine *out, pace_catalog *catalog, const pace_device *device) {
    const pace_yaml *yaml;
    double devices, share;
    char text[160];
    if (!(device->pcie_bytes_per_s > 0) || pace_catalog_document(&yaml, catalog, "system_names.yaml") != PACE_OK)
        return false;
    const pace_yaml_node *nodes = pace_yaml_get(pace_yaml_root(yaml), "unjoined");
    const char *words = pace_yaml_text_of(nodes, "words");
    if (!words || pace_yaml_number(&devices, yaml, pace_yaml_get(nodes, "devices")) != PACE_OK ||
        pace_yaml_number(&share, yaml, pace_yaml_get(nodes, "pcie_share")) != PACE_OK)
        return false;
    pace_snprintf(text, sizeof text, "%.*s*%.0f pcie=%.4gGB/s nodes=2 %.40s", (int)strcspn(device->name, " "),
                  device->name, devices, share * device->pcie_bytes_per_s / 1e9, words);
    return pace_machine_parse(out, catalog, text) == PACE_OK;
}

/* Names what of such nodes the row does not say itself, as far as its step depends on it. */
static void note_bus(pace_step_machine *out, const pace_machine *bus, double devices_said, bool gbit_said,
                     double ranks) {
    bool between = ranks > (devices_said >= 1 ? devices_said : bus->devices) && !gbit_said;
    size_t room = sizeof out->assumed;
    if (devices_said >= 1) pace_snprintf(out->assumed, room, "assumed nodes on PCIe");
    else pace_snprintf(out->assumed, room, "assumed nodes of %d on PCIe", bus->devices);
    if (between) pace_append(out->assumed, room, ", %g Gb/s between", bus->between.bytes_per_s * bus->nics * 8 / 1e9);
}

/* Devices of a node, as the row says: itself, or by how many nodes it takes; 0 = it does not. */
static double devices_of_node(const pace_step_reader *r, size_t row, double ranks) {
    double devices, nodes;
    if (pace_step_number(&devices, r, row, PACE_STEP_GPUS_PER_NODE) && devices >= 1) return devices;
    return pace_step_number(&nodes, r, row, PACE_STEP_NODES) && nodes >= 1 ? ceil(ranks / nodes) : 0;
}

/* Memory of the host of a machine that is named; 0 = unknown. */
static double host_of(const pace_step_reader *r, size_t row) {
    const char *word = machine_word(r, row), *on = r->defaults->machine;
    const pace_machine *known = *word ? machine_named(r->things, word) : NULL;
    pace_machine machine;
    if (known || own_device(r, row) || !on) return known ? known->host_memory_bytes : 0;
    return pace_machine_asked(&machine, r->things->devices.documents, on) == PACE_OK ? machine.host_memory_bytes : 0;
}

/* A device tells what joins those of its node, which are sold together, but not what joins nodes. */
static void note_network_of(pace_step_machine *out, const pace_machine *machine, double ranks) {
    double gbit = machine->between.bytes_per_s * machine->nics * 8 / 1e9;
    if (!(machine->nics > 0) || ranks <= machine->devices) return;
    out->any_network = true;
    if (!*out->assumed)
        snprintf(out->assumed, sizeof out->assumed, "assumed %.0f Gb/s between nodes, as %.40s has", gbit,
                 machine->name);
}

/* The machine with what the row says of its nodes. */
static void fill(pace_step_machine *out, pace_step_reader *r, size_t row, const pace_device *device, double ranks) {
    const char *word = machine_word(r, row), *on = r->defaults->machine;
    pace_machine machine;
    bool silent = !own_device(r, row);
    const pace_machine *known = *word ? machine_named(r->things, word) : machine_of(r->things, device);
    double devices = devices_of_node(r, row, ranks), gbit = 0;
    bool gbit_said = pace_step_number(&gbit, r, row, PACE_STEP_NODE_GBIT) && gbit > 0;
    if (known && devices > 1 && known->devices < 2) known = NULL; /* it does not say what joins several of a node */
    if (silent && on && pace_machine_asked(&machine, r->things->devices.documents, on) == PACE_OK) known = &machine;
    if (known == &machine && machine.nodes > 1 && ranks > (double)machine.devices * machine.nodes)
        snprintf(out->assumed, sizeof out->assumed, "took more nodes than --on has");
    if (!known && machine_like(&machine, r, device)) {
        known = &machine;
        snprintf(out->assumed, sizeof out->assumed, "assumed %.60s", machine.name);
        out->guessed = ranks > machine.devices; /* what joins its nodes is another device's */
    }
    if (!known && by_bus(&machine, r->things->devices.documents, device)) {
        known = &machine;
        note_bus(out, &machine, devices, gbit_said, ranks);
        out->guessed = true;
    }
    if (!known) {
        snprintf(out->failed, sizeof out->failed, "no machine of the catalogue joins several %s: name one with --on",
                 device->name);
        return;
    }
    machine = *known;
    snprintf(machine.device, sizeof machine.device, "%s", device->name);
    machine.cycles_per_s = pace_device_cycles(device);
    machine.host_memory_bytes = host_of(r, row); /* of a row that names a device the host may be any */
    if (devices >= 1 && machine.inside.kind != PACE_LINK_ICI) pace_machine_set_devices(&machine, (int)devices);
    pace_machine_cut_slice(&machine, ranks);
    if (gbit_said && machine.nics > 0) machine.between.bytes_per_s = gbit * 1e9 / 8 / machine.nics;
    machine.nodes = (int)ceil(ranks / machine.devices) + (machine.nics > 0);
    if (!*word && !gbit_said && !(silent && on)) note_network_of(out, &machine, ranks);
    if (machine.nics == 0 && ranks > machine.devices)
        snprintf(out->failed, sizeof out->failed, "%s: nothing joins its nodes", machine.name);
    else if (pace_exchange_open(&out->exchange, r->things->devices.documents, &machine, PACE_LIBRARY_AUTO, NULL) !=
             PACE_OK)
        snprintf(out->failed, sizeof out->failed, "%.150s", pace_message_in_answer());
}

/* Devices of one kind are joined as those of a machine that has others. */
static void note_others(pace_step_row *out, const pace_machine *machine) {
    size_t family = strcspn(out->device->name, "-");
    if (strncmp(machine->device, out->device->name, family + 1) != 0)
        pace_step_note(out, "%.40s has %.40s: taken for its links alone", machine->name, machine->device);
}

/* What the row says of its nodes and is not understood, or not as a whole. */
static void note_unused(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_MACHINE), *gbit = pace_step_cell(r, row, PACE_STEP_NODE_GBIT);
    const pace_machine *machine = *text ? machine_named(r->things, text) : NULL;
    bool both = *text && *pace_step_cell(r, row, PACE_STEP_DEVICE);
    double rate;
    if (both && machine) note_others(out, machine);
    if (both && !machine) pace_step_note(out, "unknown machine \"%.40s\"", text);
    if (*gbit && !(pace_step_number(&rate, r, row, PACE_STEP_NODE_GBIT) && rate > 0))
        pace_step_note(out, "unknown inter_node_gbit_per_s \"%.20s\"", gbit);
}

/* A rate between nodes moves nothing in a step on one node. */
static void note_network(pace_step_row *out, const pace_step_reader *r, size_t row, double devices) {
    double rate;
    if (out->ranks <= devices && pace_step_number(&rate, r, row, PACE_STEP_NODE_GBIT))
        pace_step_note(out, "no effect within one node: inter_node_gbit_per_s %g", rate);
}

/* A machine's name that says how many nodes there are ("dgx-a100*2") leaves no room for more. */
static bool exceeds_machine(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *text = machine_cell(r, row);
    pace_machine m;
    double nodes = 0;
    if (!strpbrk(text, "*=") || pace_machine_asked(&m, r->things->devices.documents, text) != PACE_OK || m.nodes < 2)
        return false;
    pace_step_number(&nodes, r, row, PACE_STEP_NODES);
    if (nodes <= m.nodes && out->ranks <= (double)m.devices * m.nodes) return false;
    pace_step_note(out, "\"%.40s\" has %d nodes of %d devices, the row takes more", text, m.nodes, m.devices);
    return true;
}

bool pace_step_row_place(pace_step_row *out, pace_step_reader *r, size_t row) {
    char key[256];
    if (exceeds_machine(out, r, row)) return false;
    if (out->config.offload) out->host_bytes = host_of(r, row);
    if (out->config.offload && out->host_bytes == 0) pace_step_note(out, "host memory unknown: not checked");
    if (out->ranks <= 1) {
        note_network(out, r, row, out->ranks);
        return true;
    }
    note_unused(out, r, row);
    pace_snprintf(key, sizeof key, "%s|%d|%s|%g|%s|%g", out->device->name, own_device(r, row) != NULL,
                  machine_word(r, row), devices_of_node(r, row, out->ranks),
                  pace_step_cell(r, row, PACE_STEP_NODE_GBIT), out->ranks);
    pace_step_machine *place = NULL;
    for (size_t i = 0; i < r->things->places.count && !place; i++)
        if (strcmp(r->things->places.items[i]->key, key) == 0) place = r->things->places.items[i];
    if (!place) {
        place = pace_alloc(1, sizeof *place);
        if (!place || !(place->key = pace_copy_text(key, strlen(key))) ||
            PACE_PUSH(&r->things->places, place) != PACE_OK) {
            if (place) pace_free(place->key);
            pace_free(place);
            pace_step_note(out, "%.60s", pace_message_in_answer());
            return false;
        }
        fill(place, r, row, out->device, out->ranks);
    }
    if (*place->failed) {
        pace_step_note(out, "%.140s", place->failed);
        return false;
    }
    out->exchange = &place->exchange;
    note_network(out, r, row, place->exchange.machine.devices);
    if (*place->assumed) pace_step_note(out, "%s", place->assumed);
    if (place->guessed) pace_step_doubt(out, r, PACE_DOUBT_ROW_NODES);
    out->any_network = place->any_network;
    return true;
}
