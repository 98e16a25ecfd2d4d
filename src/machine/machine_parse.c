/* What --on says of a machine: a catalogue name, a file, or devices and how they are joined. */
#include "machine/device_names.h"
#include "base/decimal.h"
#include "base/input.h"
#include "base/text.h"
#include "machine/device_resolve.h"
#include "machine/machine_read.h"
#include "machine/counted_name.h"
#include "machine/topology_xml.h"
#include "base/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    pace_machine *machine;
    pace_catalog *catalog;
    const char *text;
    pace_doubts doubts; /* of what the text does not say */
    unsigned given;     /* keys, by their place in `groups` */
    bool now_efa;       /* what joins nodes is EFA by net-kind=, which it was not */
    int count;          /* of "NAME*COUNT" */
} parser;

enum { MOST_COUNTED = 1 << 20, MOST_JOINED_BY_BRICKS = 4 };

/* "NAME*COUNT": the count, 1 without; 0 when it is none. */
static int split_count(char *name) {
    char *star = strrchr(name, '*'), *end;
    if (!star) return 1;
    long count = strtol(star + 1, &end, 10);
    if (end == star + 1 || *end || count < 1 || count > MOST_COUNTED) return 0;
    *star = '\0';
    return (int)count;
}

/* "2x": so many times what the machine has. */
static pace_status set_factor(const parser *p, double *rate, const char *value) {
    double factor;
    const char *end = pace_is_digit(*value) || *value == '.' ? pace_number_read(&factor, value) : NULL;
    if (!end || pace_strcasecmp(end, "x") != 0 || !(factor > 0)) return PACE_E_MISSING;
    if (!(*rate > 0))
        return pace_fail(PACE_E_USAGE, "%s: %.40s of a link without a rate: expected a bandwidth such as 300GB/s",
                         p->text, value);
    *rate *= factor;
    return PACE_OK;
}

static pace_status read_rate(const parser *p, double *rate, const char *value) {
    size_t length = strlen(value);
    pace_status status = set_factor(p, rate, value);
    if (status != PACE_E_MISSING) return status;
    bool read = pace_parse_rate(rate, value) && *rate > 0;
    if (read && strspn(value + length - 1, "0123456789."))
        return pace_fail(PACE_E_USAGE, "%s: a bandwidth of %.40s has no unit: expected %.40sGB/s, %.40sGb/s or another",
                         p->text, value, value, value);
    if (read) return PACE_OK;
    return pace_fail(
        PACE_E_USAGE,
        "%s: expected a bandwidth above 0 such as 300GB/s or 200Gb/s, or a factor such as 2x, found \"%.40s\"", p->text,
        value);
}

static pace_status set_rate(const parser *p, double *out, const char *value) {
    double rate = *out;
    PACE_TRY(read_rate(p, &rate, value));
    if (!pace_rate_is_meant(rate)) return pace_fail(PACE_E_USAGE, "%s: %.40s is beyond any link", p->text, value);
    *out = rate;
    return PACE_OK;
}

static pace_status set_time(const parser *p, double *out, const char *value) {
    if (pace_parse_time(out, value)) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected a time such as 3us, found \"%.40s\"", p->text, value);
}

static pace_status set_bytes(const parser *p, double *out, const char *value) {
    if (pace_parse_figure(out, value, PACE_IN_BYTES) && *out > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected a size above 0 such as 512GB or 2TiB, found \"%.40s\"", p->text,
                     value);
}

static pace_status set_whole(const parser *p, int *out, const char *value) {
    char *end;
    long number = strtol(value, &end, 10);
    if (end == value || *end || number < 1 || number > MOST_COUNTED)
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number from 1 to %d, found \"%.40s\"", p->text,
                         MOST_COUNTED, value);
    *out = (int)number;
    return PACE_OK;
}

/* What goes through the host's memory takes the slots of both devices in turn. */
static pace_status set_peer(parser *p, const char *value) {
    bool yes = strcmp(value, "yes") == 0, no = strcmp(value, "no") == 0;
    if (!yes && !no)
        return pace_fail(PACE_E_USAGE, "%s: expected peer=yes or peer=no, found \"%.40s\"", p->text, value);
    if (p->machine->inside.kind != PACE_LINK_PCIE)
        return pace_fail(PACE_E_USAGE, "%s: peer= is of devices on PCIe: expected pcie= before it", p->text);
    p->machine->inside.efficiency =
        p->doubts.figure[PACE_DOUBT_LINK_SHARE] * (no ? p->doubts.figure[PACE_DOUBT_STAGED_SHARE] : 1);
    p->machine->inside.share_assumed = true;
    p->machine->inside.staged = no;
    return PACE_OK;
}

static pace_status set_sockets(parser *p, const char *value) {
    if (p->machine->inside.kind != PACE_LINK_PCIE)
        return pace_fail(PACE_E_USAGE, "%s: sockets= is of devices on PCIe: expected pcie= before it", p->text);
    p->machine->socket_share = p->doubts.figure[PACE_DOUBT_SOCKET_SHARE];
    return set_whole(p, &p->machine->sockets, value);
}

/* Keys that say the same of a machine. "net" is a rate or, with letters, how switches join nodes. */
static const char *const groups[][7] = {{"nvlink", "xgmi", "pcie", "roce", "ici", "neuronlink"},
                                        {"peer"},
                                        {"sockets"},
                                        {"net"},
                                        {"net-kind"},
                                        {"net-stream"},
                                        {"host-memory"},
                                        {"latency"},
                                        {"net-latency"},
                                        {"launch"},
                                        {"nodes"},
                                        {"nics"},
                                        {"net"}};

/* What is said twice is said wrong once. The nodes of a machine of the catalogue stand behind its '*'. */
static pace_status take_key(parser *p, const char *key, const char *value, bool counted) {
    bool shape = pace_is_lower(*value);
    for (size_t i = 0; i < PACE_COUNT(groups); i++) {
        bool same = false;
        for (size_t k = 0; groups[i][k]; k++) same |= strcmp(groups[i][k], key) == 0;
        if (!same || (strcmp(key, "net") == 0 && shape != (i + 1 == PACE_COUNT(groups)))) continue;
        if (p->given >> i & 1)
            return pace_fail(PACE_E_USAGE, "%s: %s= is given twice%s%s", p->text, key,
                             groups[i][1] ? ", or beside " : "", groups[i][1] ? "another link inside a node" : "");
        if (counted && p->count > 1 && strcmp(key, "nodes") == 0)
            return pace_fail(PACE_E_USAGE, "%s: nodes are given twice: expected *%d or nodes=%.20s", p->text, p->count,
                             value);
        p->given |= 1u << i;
    }
    return PACE_OK;
}

static bool is_given(const parser *p, const char *key) {
    for (size_t i = 0; i < PACE_COUNT(groups); i++)
        if (strcmp(groups[i][0], key) == 0 && p->given >> i & 1) return true;
    return false;
}

/* More devices than bricks could join have switches, which add themselves from Hopper on (NVLink SHARP). */
static pace_status set_multicast(parser *p) {
    const pace_yaml *yaml;
    double from;
    pace_machine *m = p->machine;
    if (m->inside.kind != PACE_LINK_NVLINK || m->devices <= MOST_JOINED_BY_BRICKS) return PACE_OK;
    PACE_TRY(pace_catalog_document(&yaml, p->catalog, "topology.yaml"));
    PACE_TRY(pace_yaml_number(&from, yaml, pace_yaml_get(pace_yaml_root(yaml), "multicast_sm")));
    m->multicast = m->generation >= from;
    return PACE_OK;
}

/* Whose links they are: NVLink joins NVIDIA's devices, xGMI AMD's. */
static pace_status check_maker(const parser *p, pace_link_kind kind, const pace_device *device) {
    bool amd = strcmp(device->vendor, "AMD") == 0, nvidia = strcmp(device->vendor, "NVIDIA") == 0;
    if (!(kind == PACE_LINK_NVLINK ? amd : kind == PACE_LINK_XGMI && nvidia)) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: %s= joins devices of %s, and %s is one of %s: expected %s= or pcie=", p->text,
                     pace_link_kind_names[kind], amd ? "NVIDIA" : "AMD", device->name, device->vendor,
                     amd ? "xgmi" : "nvlink");
}

/* Other links than those that the machine has: only its devices, its host and its network stay. */
static pace_status replace_inside(parser *p, pace_link_kind kind) {
    pace_machine *m = p->machine;
    pace_device_catalog devices;
    const pace_device *device = NULL;
    PACE_TRY(pace_device_catalog_load(&devices, p->catalog));
    pace_status status = pace_device_resolve(&device, &devices, m->device, 0);
    bool staged = status == PACE_OK && kind == PACE_LINK_PCIE && device->peers_over_nvlink;
    if (status == PACE_OK) status = check_maker(p, kind, device);
    pace_device_catalog_free(&devices);
    m->inside.kind = kind;
    m->inside.bytes_per_s = 0;
    m->inside.efficiency = p->doubts.figure[PACE_DOUBT_LINK_SHARE];
    if (staged) m->inside.efficiency *= p->doubts.figure[PACE_DOUBT_STAGED_SHARE];
    m->inside.share_assumed = true;
    m->inside.staged = staged;
    if (!is_given(p, "latency")) m->inside.latency_s = p->doubts.figure[PACE_DOUBT_LATENCY_INSIDE];
    m->switched = kind != PACE_LINK_PCIE;
    m->multicast = false;
    m->mesh_devices = m->sockets = m->axes = 0;
    m->hop_inside = m->socket_share = m->brick_bytes_per_s = 0;
    memset(m->bricks, 0, sizeof m->bricks);
    return status == PACE_OK ? set_multicast(p) : status;
}

/* Faster links of the kind that a machine has reach the same share of their peak, with the same latency, and join the
 * same devices. */
static pace_status set_inside(parser *p, pace_link_kind kind, const char *value) {
    pace_machine *m = p->machine;
    bool same = m->inside.kind == kind;
    double before = m->inside.bytes_per_s;
    if (!same) PACE_TRY(replace_inside(p, kind));
    PACE_TRY(set_rate(p, &m->inside.bytes_per_s, value));
    if (same) m->brick_bytes_per_s *= m->inside.bytes_per_s / before;
    return PACE_OK;
}

static pace_status set_between(parser *p, const char *value) {
    pace_link *link = &p->machine->between;
    if (p->machine->nics == 0) p->machine->nics = 1;
    if (!link->kind) link->kind = PACE_LINK_INFINIBAND;
    if (!(link->efficiency > 0)) {
        link->efficiency = p->doubts.figure[PACE_DOUBT_LINK_SHARE];
        link->share_assumed = true;
    }
    if (!(link->latency_s > 0)) link->latency_s = p->doubts.figure[PACE_DOUBT_LATENCY_BETWEEN];
    return set_rate(p, &link->bytes_per_s, value);
}

/* Another kind of network has another share of its peak, latency and rate of a connection, unless they are given,
 * whichever word comes first. */
static pace_status set_net_kind(parser *p, const char *value) {
    pace_machine *m = p->machine;
    pace_link_kind kind = pace_link_kind_find(value);
    bool tcp = kind == PACE_LINK_TCP;
    if (kind <= PACE_LINK_PCIE)
        return pace_fail(PACE_E_USAGE, "%s: expected net-kind= infiniband, roce, efa, tcp or aries, found \"%.40s\"",
                         p->text, value);
    if (kind == m->between.kind) return PACE_OK;
    m->between.kind = kind;
    m->between.efficiency = p->doubts.figure[PACE_DOUBT_LINK_SHARE];
    m->between.share_assumed = true;
    m->plain_between = false;
    p->now_efa = kind == PACE_LINK_EFA;
    if (!is_given(p, "net-latency"))
        m->between.latency_s = p->doubts.figure[tcp ? PACE_DOUBT_LATENCY_TCP : PACE_DOUBT_LATENCY_BETWEEN];
    if (!is_given(p, "net-stream")) m->stream_bytes_per_s = tcp ? p->doubts.figure[PACE_DOUBT_TCP_STREAM] : 0;
    return PACE_OK;
}

/* `counted`: COUNT of "NAME*COUNT" is of nodes. */
static pace_status set_option(parser *p, char *word, bool counted) {
    pace_machine *m = p->machine;
    char *value = strchr(word, '=');
    if (!value) return pace_fail(PACE_E_USAGE, "%s: expected KEY=VALUE, found \"%.40s\"", p->text, word);
    *value++ = '\0';
    PACE_TRY(take_key(p, word, value, counted));
    pace_link_kind kind = pace_link_kind_find(word);
    if (kind == PACE_LINK_NVLINK || kind == PACE_LINK_XGMI || kind == PACE_LINK_PCIE || kind == PACE_LINK_ROCE ||
        kind == PACE_LINK_ICI || kind == PACE_LINK_NEURONLINK)
        return set_inside(p, kind, value);
    if (strcmp(word, "peer") == 0) return set_peer(p, value);
    if (strcmp(word, "sockets") == 0) return set_sockets(p, value);
    if (strcmp(word, "net") == 0 && pace_is_lower(*value)) return pace_network_parse(&m->network, p->catalog, m, value);
    if (strcmp(word, "net") == 0) return set_between(p, value);
    if (strcmp(word, "net-kind") == 0) return set_net_kind(p, value);
    if (strcmp(word, "host-memory") == 0) return set_bytes(p, &m->host_memory_bytes, value);
    if (strcmp(word, "net-stream") == 0) return set_rate(p, &m->stream_bytes_per_s, value);
    if (strcmp(word, "latency") == 0) return set_time(p, &m->inside.latency_s, value);
    if (strcmp(word, "net-latency") == 0) return set_time(p, &m->between.latency_s, value);
    if (strcmp(word, "launch") == 0) return set_time(p, &m->launch_s, value);
    if (strcmp(word, "nodes") == 0) return set_whole(p, &m->nodes, value);
    if (strcmp(word, "nics") == 0) return set_whole(p, &m->nics, value);
    return pace_fail(
        PACE_E_USAGE,
        "%s: unknown key \"%.40s\": expected nvlink, xgmi, pcie, roce, ici, neuronlink, peer, sockets, latency, launch, nodes, "
        "net, nics, net-kind, net-stream, net-latency or host-memory",
        p->text, word);
}

/* A device of the catalogue, or of a file ("FILE.yaml", "FILE.yaml:NAME"). */
static pace_status find_device(parser *p, const char *name) {
    pace_device_catalog devices;
    PACE_TRY(pace_device_catalog_load(&devices, p->catalog));
    const pace_device *device = NULL;
    size_t path = pace_device_path_length(name);
    pace_status status =
        path ? pace_device_resolve(&device, &devices, name, 0) : pace_device_named(&device, &devices, name, 0);
    if (status == PACE_OK && device) {
        if (path)
            pace_snprintf(p->machine->device, sizeof p->machine->device, "%.*s:%s", (int)path, name, device->name);
        else pace_snprintf(p->machine->device, sizeof p->machine->device, "%s", device->name);
        p->machine->generation = device->generation;
        p->machine->cycles_per_s = pace_device_cycles(device);
    }
    if (status == PACE_OK && !device) status = pace_counted_name_refuse(&devices, p->catalog, p->text);
    pace_device_catalog_free(&devices);
    if (status != PACE_OK) return status;
    if (device) return PACE_OK;
    if (pace_is_file(name))
        return pace_fail(
            PACE_E_INPUT,
            "%s: expected a description of a machine, whose name ends with .yaml, .yml or .xml (NCCL's, as a run "
            "writes it to NCCL_TOPO_DUMP_FILE)",
            name);
    return pace_fail(PACE_E_MISSING, "%.60s: neither a machine nor a device of the catalogue, nor a file", name);
}

/* Devices that nobody joined: machines of the catalogue hold them joined. */
static pace_status check_joined(const parser *p) {
    const pace_machine *m = p->machine;
    char names[PACE_HOLDERS_TEXT];
    if (m->devices < 2 || m->inside.kind != PACE_LINK_NONE) return PACE_OK;
    PACE_TRY(pace_machines_that_hold(names, p->catalog, m->device));
    return pace_fail(PACE_E_USAGE, "%s: its %d devices are not connected: expected nvlink=, xgmi= or pcie=%s%s",
                     m->name, m->devices, *names ? "; machines that hold them: " : "", names);
}

static pace_status of_device(parser *p, const char *name, int count, char *options) {
    pace_machine *m = p->machine;
    char *rest = NULL;
    *m = (pace_machine){.devices = count, .nodes = 1, .oversubscription = 1};
    m->joined = true;
    m->launch_s = p->doubts.figure[PACE_DOUBT_LAUNCH];
    m->network.oversubscription = 1;
    snprintf(m->name, sizeof m->name, "%.63s", p->text);
    snprintf(m->source, sizeof m->source, "as given; latency, launch and share of the peak assumed where not given");
    memcpy(m->confidence, "low", 4);
    PACE_TRY(find_device(p, name));
    for (char *word = strtok_r(options, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest))
        PACE_TRY(set_option(p, word, false));
    return check_joined(p);
}

/* AWS's plug-in gives machines that it does not know plain buffers alone; it knows those of NVLink from Hopper on. */
static void set_plain(pace_machine *m, const parser *p) {
    if (p->now_efa) m->plain_between = m->generation < 90 || m->inside.kind != PACE_LINK_NVLINK;
}

static void set_nodes(pace_machine *m, int nodes) {
    char name[sizeof m->name];
    if (nodes > 1 || m->nodes == 1) m->nodes = nodes;
    if (nodes > 1) {
        snprintf(name, sizeof name, "%.40s*%d", m->name, nodes);
        memcpy(m->name, name, sizeof name);
    }
}

/* The device that the machine's own file describes comes before one of the catalogue whose name is like it. */
static pace_status take_own_device(pace_machine *m, const pace_yaml *yaml, const char *path) {
    pace_device_catalog own;
    char name[sizeof m->device];
    if (!pace_yaml_get(pace_yaml_root(yaml), "devices")) return PACE_OK;
    PACE_TRY(pace_device_catalog_load_file(&own, path));
    memcpy(name, m->device, sizeof name);
    for (size_t i = 0; i < own.count; i++) {
        if (pace_strcasecmp(own.devices[i].name, name) != 0) continue;
        m->generation = own.devices[i].generation;
        m->cycles_per_s = pace_device_cycles(&own.devices[i]);
        pace_snprintf(m->device, sizeof m->device, "%s:%s", path, own.devices[i].name);
    }
    pace_device_catalog_free(&own);
    return PACE_OK;
}

static pace_status read_machine(pace_machine *out, pace_catalog *catalog, const pace_yaml *yaml, const char *path) {
    pace_machine_catalog list;
    PACE_TRY(pace_machines_read(&list, catalog, yaml));
    size_t count = list.machines.count;
    if (count == 1) *out = list.machines.items[0];
    pace_machine_catalog_free(&list);
    if (count != 1) return pace_fail(PACE_E_INPUT, "%s: expected one machine, found %zu", path, count);
    return take_own_device(out, yaml, path);
}

/* A file may describe a machine, or devices alone, or both: then it is the machine. */
static pace_status of_file(bool *found, pace_machine *out, pace_catalog *catalog, const char *path, int nodes) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_load(&yaml, path));
    const pace_yaml_node *root = pace_yaml_root(yaml);
    pace_status status = PACE_OK;
    bool machine = pace_yaml_get(root, "machines");
    *found = machine || !pace_yaml_get(root, "devices");
    if (machine) status = read_machine(out, catalog, yaml, path);
    else if (*found) status = pace_yaml_fail(yaml, root, "expected a list \"machines\" or \"devices\"");
    pace_yaml_free(yaml);
    if (status == PACE_OK && *found) set_nodes(out, nodes);
    return status;
}

static pace_status of_catalog(bool *found, pace_machine *out, pace_catalog *catalog, const char *name, int nodes) {
    pace_machine_catalog list;
    *found = false;
    PACE_TRY(pace_machine_catalog_load(&list, catalog));
    for (size_t i = 0; i < list.machines.count && !*found; i++) {
        *found = pace_strcasecmp(list.machines.items[i].name, name) == 0;
        if (*found) *out = list.machines.items[i];
    }
    pace_machine_catalog_free(&list);
    if (*found) set_nodes(out, nodes);
    return PACE_OK;
}

/* A node by its name, or that of its file. */
static pace_status find_machine(bool *found, pace_machine *out, pace_catalog *catalog, const char *name, int nodes) {
    *found = true;
    if (!pace_ends(name, ".xml")) {
        bool file = pace_ends(name, ".yaml") || pace_ends(name, ".yml");
        return (file ? of_file : of_catalog)(found, out, catalog, name, nodes);
    }
    PACE_TRY(pace_topology_xml_load(out, catalog, name));
    set_nodes(out, nodes);
    return PACE_OK;
}

/* "NAME*COUNT CHANGES" into its parts; `words` holds the text. */
static pace_status split_words(int *count, char **options, char *words, const char *text) {
    size_t named = pace_changed_name_length(words);
    *options = named ? words + named : NULL;
    if (named) *(*options)++ = '\0';
    *count = split_count(words);
    if (*count > 0 && *words) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected NAME or NAME*COUNT with a whole number from 1 to %d", text,
                     MOST_COUNTED);
}

/* A machine that was changed has no name of its own: the changes belong to it, and come before its source. */
static void add_changes(pace_machine *m, const char *changes) {
    char name[sizeof m->name], source[sizeof m->source];
    pace_snprintf(name, sizeof name, "%s %s", m->name, changes);
    pace_snprintf(source, sizeof source, "%s as given; the rest: %s", changes, m->source);
    memcpy(m->name, name, sizeof name);
    memcpy(m->source, source, sizeof source);
}

pace_status pace_machine_parse(pace_machine *out, pace_catalog *catalog, const char *text) {
    char words[512], none[1] = "", *options, *rest = NULL;
    pace_machine machine = {0};
    parser p = {.machine = &machine, .catalog = catalog, .text = text};
    bool found;
    int count;
    if (strlen(text) >= sizeof words) return pace_fail(PACE_E_USAGE, "a machine's description is too long");
    pace_snprintf(words, sizeof words, "%s", text);
    for (size_t end = strlen(words); end > 0 && strchr(" ,", words[end - 1]);) words[--end] = '\0';
    PACE_TRY(pace_doubts_load(&p.doubts, catalog));
    PACE_TRY(split_words(&count, &options, words, text));
    PACE_TRY(find_machine(&found, &machine, catalog, words, count));
    if (!options) options = none;
    if (found && *options) add_changes(&machine, options);
    p.count = count;
    if (!found) PACE_TRY(of_device(&p, words, count, options));
    for (char *word = found ? strtok_r(options, " ,", &rest) : NULL; word; word = strtok_r(NULL, " ,", &rest))
        PACE_TRY(set_option(&p, word, true));
    set_plain(&machine, &p);
    pace_status status = pace_machine_check(&machine);
    if (status == PACE_E_INPUT) status = PACE_E_USAGE; /* of the text: a file was checked when it was read */
    if (status != PACE_OK) return status;
    pace_snprintf(machine.asked, sizeof machine.asked, "%s", text);
    *out = machine;
    return PACE_OK;
}

/* In "NAME*COUNT CHANGES" the count; in "NAME*DEVICES nodes=COUNT" that of nodes. */
static void say_nodes(char *text, size_t size, bool joined, int nodes) {
    char before[sizeof((pace_machine *)0)->asked], count[24];
    pace_snprintf(before, sizeof before, "%s", text);
    const char *from = joined ? strstr(before, "nodes=") : strpbrk(before, "* ,");
    size_t length = from ? (size_t)(from - before) : strlen(before);
    const char *rest = !from || (!joined && *from != '*') ? before + length : from + strcspn(from, " ,");
    pace_snprintf(count, sizeof count, "%s%d", !joined ? "*" : from ? "nodes=" : " nodes=", nodes);
    pace_snprintf(text, size, "%.*s%s%s", (int)length, before, count, rest);
}

void pace_machine_take_nodes(pace_machine *machine, int nodes) {
    machine->nodes = nodes;
    say_nodes(machine->name, sizeof machine->name, machine->joined, nodes);
    say_nodes(machine->asked, sizeof machine->asked, machine->joined, nodes);
}

bool pace_machine_is_meant(pace_catalog *catalog, const char *text) {
    char words[512], *options;
    pace_machine machine;
    bool found = true;
    int count;
    pace_snprintf(words, sizeof words, "%s", text);
    if (split_words(&count, &options, words, text) || count > 1) return true;
    pace_status status = find_machine(&found, &machine, catalog, words, count);
    return found && (status != PACE_OK || !pace_device_path_length(machine.device)); /* its device may be meant */
}
