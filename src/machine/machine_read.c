/* Machines of a YAML file. A figure is a number, or a map {value, source, confidence}. */
#include "base/yaml_member.h"
#include "machine/device_entry.h"
#include "machine/device_names.h"
#include "machine/machine_read.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    const pace_yaml *yaml;
    pace_machine *machine;
    pace_catalog *catalog;
} reader;

typedef struct {
    const char *key;
    size_t offset;
    pace_figure_limits limits;
} figure_key;

/* Rates may be 0: none is known. */
enum { MOST = 1 << 20, LEAST_GENERATION = 20 };

static const figure_key
    whole_figures[] =
        {
            {"devices", offsetof(pace_machine, devices), {0, MOST, PACE_IN_NONE}},
            {"nodes", offsetof(pace_machine, nodes), {0, MOST, PACE_IN_NONE}},
            {"nics", offsetof(pace_machine, nics), {0, MOST, PACE_IN_NONE}},
            {"generation", offsetof(pace_machine, generation), {0, 500, PACE_IN_NONE}},
            {"sockets", offsetof(pace_machine, sockets), {0, MOST, PACE_IN_NONE}},
            {"axes", offsetof(pace_machine, axes), {0, 3, PACE_IN_NONE}},
},
    real_figures[] =
        {
            {"oversubscription", offsetof(pace_machine, oversubscription), {1, MOST, PACE_IN_NONE}},
            {"hop_inside", offsetof(pace_machine, hop_inside), {0, MOST, PACE_IN_NONE}},
            {"socket_share", offsetof(pace_machine, socket_share), {0, 1, PACE_IN_NONE}},
            {"stream_bytes_per_s", offsetof(pace_machine, stream_bytes_per_s), {0, 1e15, PACE_IN_BYTES_PER_S}},
            {"server_bytes_per_s", offsetof(pace_machine, server_bytes_per_s), {0, 1e15, PACE_IN_BYTES_PER_S}},
            {"jitter_inside", offsetof(pace_machine, jitter_inside), {0, MOST, PACE_IN_NONE}},
            {"host_memory_bytes", offsetof(pace_machine, host_memory_bytes), {0, 1e16, PACE_IN_BYTES}},
            {"launch_s", offsetof(pace_machine, launch_s), {0, 1, PACE_IN_S}},
            {"brick_bytes_per_s", offsetof(pace_machine, brick_bytes_per_s), {0, 1e15, PACE_IN_BYTES_PER_S}},
            {"pcie_bytes_per_s", offsetof(pace_machine, pcie_bytes_per_s), {0, 1e15, PACE_IN_BYTES_PER_S}},
},
    link_figures[] = {
        {"bytes_per_s", offsetof(pace_link, bytes_per_s), {0, 1e15, PACE_IN_BYTES_PER_S}},
        {"efficiency", offsetof(pace_link, efficiency), {0, MOST, PACE_IN_NONE}}, /* pace_machine_check() */
        {"latency_s", offsetof(pace_link, latency_s), {-MOST, MOST, PACE_IN_S}},
};

static const struct {
    const char *key;
    size_t offset;
} flags[] = {
    {"switched", offsetof(pace_machine, switched)},
    {"multicast", offsetof(pace_machine, multicast)},
    {"plain_between", offsetof(pace_machine, plain_between)},
};

static pace_status only_keys(const reader *r, const pace_yaml_node *map, const char *const *known, size_t count,
                             const char *of) {
    PACE_YAML_EACH (one, map)
        if (pace_word_number(known, count, pace_yaml_key_of(one)) < 0)
            return pace_yaml_fail(r->yaml, one, "unknown key \"%.40s\" of a %s", pace_yaml_key_of(one), of);
    return PACE_OK;
}

static pace_status read_value(double *out, const reader *r, const pace_yaml_node *node, const figure_key *key) {
    PACE_TRY(pace_figure_read(out, r->yaml, node, key->limits.dimension));
    bool meant = key->limits.dimension != PACE_IN_BYTES_PER_S || *out == 0 || pace_rate_is_meant(*out);
    if (*out >= key->limits.least && *out <= key->limits.most && meant) return PACE_OK;
    return pace_yaml_fail(r->yaml, node, "%s: %g is beyond any machine", key->key, *out);
}

static pace_status read_figure(double *out, const reader *r, const pace_yaml_node *node, const figure_key *key) {
    static const char *const grades[] = {"high", "medium", "low"}, *const members[] = {"value", "source", "confidence"};
    if (!pace_yaml_is_map(node)) return read_value(out, r, node, key);
    PACE_TRY(only_keys(r, node, members, PACE_COUNT(members), "figure"));
    const char *grade = pace_yaml_text_of(node, "confidence");
    bool known = false;
    for (size_t i = 0; grade && i < PACE_COUNT(grades); i++) known = known || strcmp(grade, grades[i]) == 0;
    if (!known || !pace_yaml_text_of(node, "source") || !pace_yaml_get(node, "value"))
        return pace_yaml_fail(r->yaml, node, "expected {value, source, confidence: high, medium or low}");
    return read_value(out, r, pace_yaml_get(node, "value"), key);
}

static pace_status read_text(char *out, size_t size, const reader *r, const pace_yaml_node *node) {
    const char *text = pace_yaml_text(node);
    if (!text || !*text || strlen(text) >= size)
        return pace_yaml_fail(r->yaml, node, "expected a text of at most %zu characters", size - 1);
    memcpy(out, text, strlen(text) + 1);
    return PACE_OK;
}

static pace_status read_link(pace_link *link, const reader *r, const pace_yaml_node *map) {
    static const char *const members[] = {"kind", "bytes_per_s", "efficiency", "latency_s"};
    const pace_yaml_node *kind = pace_yaml_get(map, "kind");
    PACE_TRY(only_keys(r, map, members, PACE_COUNT(members), "link"));
    link->kind = pace_link_kind_find(pace_yaml_text(kind));
    if (link->kind == PACE_LINK_NONE)
        return pace_yaml_fail(
            r->yaml, kind ? kind : map,
            "expected kind: nvlink, xgmi, pcie, infiniband, roce, efa, tcp, aries, ici or neuronlink, found \"%.40s\"",
            kind ? pace_yaml_text(kind) : "nothing");
    for (size_t i = 0; i < PACE_COUNT(link_figures); i++) {
        const pace_yaml_node *node = pace_yaml_get(map, link_figures[i].key);
        if (!node) return pace_yaml_fail(r->yaml, map, "expected a figure \"%s\" of the link", link_figures[i].key);
        PACE_TRY(read_figure((double *)(void *)((char *)link + link_figures[i].offset), r, node, &link_figures[i]));
    }
    const pace_yaml_node *rate = pace_yaml_get(map, "bytes_per_s");
    if (!pace_rate_is_meant(link->bytes_per_s))
        return pace_fail(PACE_E_INPUT, "%s: %g bytes/s is beyond any link", pace_yaml_place(r->yaml, rate),
                         link->bytes_per_s);
    return PACE_OK;
}

static pace_status read_bricks(const reader *r, const pace_yaml_node *rows) {
    size_t count = pace_yaml_count(rows);
    if (!pace_yaml_is_list(rows) || count < 2 || count > PACE_MESH_MOST)
        return pace_yaml_fail(r->yaml, rows, "expected 2 to %d rows of bricks", PACE_MESH_MOST);
    for (size_t i = 0; i < count; i++) {
        const pace_yaml_node *row = pace_yaml_item(rows, i);
        if (pace_yaml_count(row) != count)
            return pace_yaml_fail(r->yaml, row, "expected %zu bricks, one per device", count);
        for (size_t j = 0; j < count; j++) {
            double bricks;
            PACE_TRY(pace_yaml_number(&bricks, r->yaml, pace_yaml_item(row, j)));
            if (!(bricks >= 0 && bricks <= 64) || bricks != floor(bricks) || (i == j && bricks != 0))
                return pace_yaml_fail(r->yaml, pace_yaml_item(row, j),
                                      "expected a number of links from 0 to 64, and 0 to itself");
            r->machine->bricks[i][j] = (unsigned char)bricks;
        }
    }
    r->machine->mesh_devices = (int)count;
    return PACE_OK;
}

/* A text of the short form: "rails:32:2:1". */
static pace_status read_network(const reader *r, const pace_yaml_node *node) {
    if (!pace_yaml_text(node)) return pace_yaml_fail(r->yaml, node, "expected a network such as fat-tree:4:2:1");
    return pace_network_parse(&r->machine->network, r->catalog, r->machine, pace_yaml_text(node));
}

/* One member of the entry; false when its key is none of ours. */
static pace_status read_member(bool *known, const reader *r, const char *key, const pace_yaml_node *node) {
    pace_machine *m = r->machine;
    double value;
    *known = true;
    const figure_key *figure = PACE_FIND(whole_figures, PACE_COUNT(whole_figures), key, key);
    if (figure) {
        PACE_TRY(read_figure(&value, r, node, figure));
        if (value != floor(value)) return pace_yaml_fail(r->yaml, node, "%s: expected a whole number", key);
        *(int *)(void *)((char *)m + figure->offset) = (int)value;
        return PACE_OK;
    }
    figure = PACE_FIND(real_figures, PACE_COUNT(real_figures), key, key);
    if (figure) return read_figure((double *)(void *)((char *)m + figure->offset), r, node, figure);
    for (size_t i = 0; i < PACE_COUNT(flags); i++)
        if (strcmp(key, flags[i].key) == 0) {
            const figure_key flag = {flags[i].key, 0, {0, 1, PACE_IN_NONE}};
            PACE_TRY(read_figure(&value, r, node, &flag));
            *(bool *)((char *)m + flags[i].offset) = value != 0;
            return PACE_OK;
        }
    if (strcmp(key, "name") == 0) return read_text(m->name, sizeof m->name, r, node);
    if (strcmp(key, "device") == 0) return read_text(m->device, sizeof m->device, r, node);
    if (strcmp(key, "source") == 0) return read_text(m->source, sizeof m->source, r, node);
    if (strcmp(key, "confidence") == 0) return read_text(m->confidence, sizeof m->confidence, r, node);
    if (strcmp(key, "inside") == 0) return read_link(&m->inside, r, node);
    if (strcmp(key, "between") == 0) return read_link(&m->between, r, node);
    if (strcmp(key, "bricks") == 0) return read_bricks(r, node);
    if (strcmp(key, "host") == 0) return pace_host_tree_read(&m->host, r->yaml, node);
    if (strcmp(key, "network") == 0) return read_network(r, node);
    *known = false;
    return PACE_OK;
}

/* The entry of a device in the machine's own file; NULL without. */
static const pace_yaml_node *own_device(const pace_yaml *yaml, const char *name) {
    const pace_yaml_node *devices = pace_yaml_get(pace_yaml_root(yaml), "devices");
    PACE_YAML_EACH (item, devices) {
        const char *one = pace_yaml_text_of(item, "name");
        if (one && strcmp(one, name) == 0) return item;
    }
    return NULL;
}

/* A machine has a device that the catalogue or this file knows; what names a file or other figures ("mine.yaml", "h100
 * memory=2TB/s") is left to the resolver of steps. If it does not say its generation, it has the device's. */
static pace_status find_device(pace_machine *out, pace_catalog *catalog, const pace_yaml *yaml,
                               const pace_yaml_node *entry) {
    pace_device_catalog devices;
    const pace_yaml_node *own = own_device(yaml, out->device);
    const pace_yaml_node *said = pace_yaml_get(own, "generation");
    double generation = 0;
    if (pace_yaml_is_map(said)) said = pace_yaml_get(said, "value");
    if (said) PACE_TRY(pace_yaml_number(&generation, yaml, said));
    PACE_TRY(pace_device_catalog_load(&devices, catalog));
    const pace_device *device = NULL;
    bool plain = *out->device && !own && !strpbrk(out->device, "/.=");
    pace_status status = plain ? pace_device_named(&device, &devices, out->device, 0) : PACE_OK;
    if (!own && !plain) device = pace_device_find(&devices, out->device, 0);
    if (device) generation = device->generation, out->cycles_per_s = pace_device_cycles(device);
    pace_device_catalog_free(&devices);
    if (status != PACE_OK) return pace_fail_in(status, pace_yaml_place(yaml, pace_yaml_get(entry, "device")));
    if (plain && !device)
        return pace_yaml_fail(yaml, pace_yaml_get(entry, "device"),
                              "no device \"%.60s\" in the catalogue or in this file", out->device);
    if (!pace_yaml_get(entry, "generation")) out->generation = (int)generation;
    return PACE_OK;
}

static pace_status read_machine(pace_machine *out, pace_catalog *catalog, const pace_yaml *yaml,
                                const pace_yaml_node *entry) {
    *out = (pace_machine){.nodes = 1, .oversubscription = 1, .network = {.oversubscription = 1}};
    reader r = {yaml, out, catalog};
    if (!pace_yaml_is_map(entry)) return pace_yaml_fail(yaml, entry, "expected a machine");
    PACE_YAML_EACH (one, entry) {
        bool known;
        const char *key = pace_yaml_key_of(one);
        PACE_TRY(read_member(&known, &r, key, one));
        if (!known) return pace_yaml_fail(yaml, one, "unknown key \"%.40s\" of a machine", key);
    }
    if (!*out->name || !*out->source || !*out->confidence)
        return pace_yaml_fail(yaml, entry, "expected name, source and confidence of a machine");
    PACE_TRY(find_device(out, catalog, yaml, entry));
    if (out->generation > 0 && out->generation < LEAST_GENERATION)
        return pace_yaml_fail(yaml, pace_yaml_get(entry, "generation"),
                              "generation: expected the compute capability times ten, such as 90, found %d",
                              out->generation);
    return pace_machine_check(out);
}

pace_status pace_machines_read(pace_machine_catalog *out, pace_catalog *catalog, const pace_yaml *yaml) {
    pace_machine_catalog list = {0};
    const pace_yaml_node *entries;
    PACE_TRY(pace_yaml_list(&entries, yaml, pace_yaml_root(yaml), "machines"));
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < pace_yaml_count(entries); i++) {
        pace_machine machine;
        status = read_machine(&machine, catalog, yaml, pace_yaml_item(entries, i));
        if (status == PACE_OK) status = PACE_PUSH(&list.machines, machine);
    }
    return PACE_GIVE(out, list, status, PACE_VEC_FREE(&list.machines));
}

static void free_kept(void *value) { pace_machine_catalog_free(value); }

static pace_status make_kept(void *value, pace_catalog *catalog) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "machines.yaml"));
    return pace_machines_read(value, catalog, yaml);
}

pace_status pace_machine_catalog_load(pace_machine_catalog *out, pace_catalog *catalog) {
    static const char *const files[] = {"machines.yaml", "devices.yaml", "networks.yaml", NULL};
    static const pace_catalog_kind kind = {sizeof *out, make_kept, free_kept, files};
    PACE_TRY(pace_catalog_copy(out, catalog, &kind));
    out->borrows = true;
    return PACE_OK;
}

void pace_machine_catalog_free(pace_machine_catalog *catalog) {
    if (!catalog->borrows) PACE_VEC_FREE(&catalog->machines);
    *catalog = (pace_machine_catalog){0};
}
