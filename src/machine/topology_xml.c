#include "machine/topology_xml.h"
#include "base/decimal.h"
#include "base/input.h"
#include "base/order.h"
#include "base/print.h"
#include "base/xml_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUS = 24, MOST_BYTES = 1 << 24, SWITCH = -2 };

/* What hangs on a place of the host; `vertex` is the switch or socket above. */
typedef struct {
    char bus[BUS];
    int vertex, order;
    double bytes_per_s; /* of its slot */
} device;

typedef struct {
    char name[BUS];
    int vertex;
    double bytes_per_s, slot_bytes_per_s;
} nic;

typedef struct {
    int from;
    char target[BUS];
    int count;
    bool to_switch;
    size_t line;
} brick;

/* An open element that may hold others. */
typedef struct {
    int vertex; /* switch or socket; of a device or NIC: that above it */
    double bytes_per_s;
    char bus[BUS];
} frame;

typedef struct {
    pace_xml xml;
    const pace_yaml *yaml;
    const pace_yaml_node *rates;
    pace_host_tree host;
    frame frames[PACE_XML_DEPTH + 1];
    device devices[PACE_MESH_MOST];
    nic nics[PACE_MESH_MOST];
    PACE_VEC(brick) bricks;
    int device_count, nic_count, sm;
    bool xgmi, assumed; /* assumed: a PCIe link without a rate */
} reader;

static pace_status fault(const reader *r, const char *expected, const char *found) {
    return pace_fail(PACE_E_INPUT, "%s:%zu: <%.24s>: expected %s, found \"%.40s\"", r->xml.name, r->xml.line,
                     r->xml.element, expected, found ? found : "nothing");
}

static pace_status number(double *out, const reader *r, const char *key, double least, double most) {
    const char *text = pace_xml_get(&r->xml, key);
    char expected[64];
    double value;
    if (text && pace_number_parse(&value, text) && value >= least && value <= most) {
        *out = value;
        return PACE_OK;
    }
    pace_snprintf(expected, sizeof expected, "%.16s=\"%g\" to \"%g\"", key, least, most);
    return fault(r, expected, text);
}

static pace_status figure(double *out, const reader *r, const pace_yaml_node *entry, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(entry, key);
    if (!node) return pace_yaml_fail(r->yaml, entry, "expected \"%s\"", key);
    return pace_yaml_number(out, r->yaml, node);
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

/* Virtual machines say nothing, no lanes, or "Unknown". */
static bool unsaid(const char *text) {
    return !text || !*text || strcmp(text, "0") == 0 || strncmp(text, "Unknown", 7) == 0;
}

/* "8.0 GT/s PCIe" and a number of lanes; where they are unsaid what NCCL then assumes. */
static pace_status slot_rate(double *out, reader *r) {
    const char *speed = pace_xml_get(&r->xml, "link_speed"), *width = pace_xml_get(&r->xml, "link_width");
    const pace_yaml_node *pcie = pace_yaml_get(r->rates, "pcie");
    double transfers, lanes, factor;
    if (unsaid(speed) || unsaid(width)) r->assumed = true;
    if (unsaid(speed)) {
        PACE_TRY(figure(&transfers, r, pcie, "assumed_transfers"));
    } else {
        const char *end = pace_number_read(&transfers, speed);
        if (!end || !(transfers > 0 && transfers <= 1024) || strncmp(end, " GT/s", 5) != 0)
            return fault(r, "link_speed=\"8.0 GT/s PCIe\" or the like", speed);
    }
    PACE_TRY(unsaid(width) ? figure(&lanes, r, pcie, "assumed_lanes") : number(&lanes, r, "link_width", 1, 64));
    PACE_TRY(figure(&factor, r, pcie, "bytes_per_transfer"));
    *out = transfers * 1e9 * lanes * factor;
    return PACE_OK;
}

static pace_status add_vertex(int *out, reader *r, int above, double bytes_per_s) {
    if (r->host.count == PACE_TREE_MOST) return fault(r, "fewer switches", NULL);
    r->host.above[r->host.count] = (signed char)above;
    r->host.bytes_per_s[r->host.count] = bytes_per_s;
    *out = r->host.count++;
    return PACE_OK;
}

static pace_status socket_rate(double *out, const reader *r) {
    const char *vendor = pace_xml_get(&r->xml, "vendor"), *arch = pace_xml_get(&r->xml, "arch");
    const char *model_text = pace_xml_get(&r->xml, "modelid");
    double model = 0, from;
    const pace_yaml_node *list = pace_yaml_get(r->rates, "sockets");
    if (model_text && !pace_number_read(&model, model_text)) model = 0;
    *out = 0;
    if (arch && strcmp(arch, "x86_64") != 0) vendor = arch;
    PACE_YAML_EACH (entry, list) {
        const char *known = pace_yaml_text_of(entry, "vendor");
        PACE_TRY(figure(&from, r, entry, "from_model"));
        if (vendor && known && strcmp(vendor, known) == 0 && model >= from)
            PACE_TRY(figure(out, r, entry, "bytes_per_s"));
    }
    return *out > 0 ? PACE_OK : fault(r, "a vendor of CPUs that catalog/topology.yaml knows", vendor);
}

/* A PCIe function of class 0604 is a switch; devices (0302, 0300, 1200 of AMD), NICs (02..) and NVSwitches (0680)
 * hang on what is above. */
static pace_status read_pci(frame *f, reader *r, const frame *above) {
    const char *class = pace_xml_get(&r->xml, "class"), *bus = pace_xml_get(&r->xml, "busid");
    if (!class || !bus || strlen(bus) >= BUS) return fault(r, "class= and busid=", bus);
    memcpy(f->bus, bus, strlen(bus) + 1);
    f->vertex = above->vertex;
    PACE_TRY(slot_rate(&f->bytes_per_s, r));
    if (strncmp(class, "0x0604", 6) == 0) return add_vertex(&f->vertex, r, above->vertex, f->bytes_per_s);
    if (strncmp(class, "0x03", 4) == 0 || strncmp(class, "0x12", 4) == 0 || strncmp(class, "0x02", 4) == 0 ||
        strncmp(class, "0x0b40", 6) == 0 || strncmp(class, "0x0680", 6) == 0)
        return PACE_OK;
    return fault(r, "class of a switch (0x0604..), a device (0x03.., 0x12..) or a NIC (0x02..)", class);
}

static pace_status read_gpu(reader *r, const frame *above) {
    double dev, sm;
    const char *order = pace_xml_get(&r->xml, "rank") ? "rank" : "dev";
    if (r->device_count == PACE_MESH_MOST) return fault(r, "at most 16 devices", NULL);
    if (!*above->bus) return fault(r, "a device below a <pci>", NULL);
    PACE_TRY(number(&dev, r, order, -1, 1 << 20));
    PACE_TRY(number(&sm, r, "sm", 0, 1000));
    if (r->device_count && (int)sm != r->sm) return fault(r, "devices of one kind", pace_xml_get(&r->xml, "sm"));
    r->sm = (int)sm;
    device *d = &r->devices[r->device_count++];
    *d = (device){.vertex = above->vertex, .order = (int)dev, .bytes_per_s = above->bytes_per_s};
    memcpy(d->bus, above->bus, BUS);
    return PACE_OK;
}

/* Another device (class 0302, 0300, 1200) or an NVSwitch (0680). */
static pace_status read_link(reader *r, bool xgmi) {
    const char *target = pace_xml_get(&r->xml, "target"), *class = pace_xml_get(&r->xml, "tclass");
    double count;
    PACE_TRY(number(&count, r, "count", 1, 64));
    if (!target || strlen(target) >= BUS || !class || r->device_count == 0)
        return fault(r, "target= and tclass=", target);
    brick b = {.from = r->device_count - 1, .count = (int)count, .line = r->xml.line};
    b.to_switch = strncmp(class, "0x0680", 6) == 0;
    if (!b.to_switch && strncmp(class, "0x03", 4) != 0 && strncmp(class, "0x12", 4) != 0)
        return fault(r, "tclass of a device (0x03.., 0x12..) or of an NVSwitch (0x0680..)", class);
    memcpy(b.target, target, strlen(target) + 1);
    r->xgmi = xgmi;
    return PACE_PUSH(&r->bricks, b);
}

/* speed= is in Mb/s. Ports of one card are NICs of their own. */
static pace_status read_net(reader *r, const frame *above) {
    const char *name = pace_xml_get(&r->xml, "name");
    double speed;
    if (r->nic_count == PACE_MESH_MOST) return fault(r, "at most 16 NICs", NULL);
    if (!name || !*name) return fault(r, "name=", name);
    PACE_TRY(number(&speed, r, "speed", 1, 1e8));
    nic *n = &r->nics[r->nic_count++];
    *n = (nic){.vertex = above->vertex, .bytes_per_s = speed * 1.25e5, .slot_bytes_per_s = above->bytes_per_s};
    snprintf(n->name, sizeof n->name, "%.*s", BUS - 1, name);
    return PACE_OK;
}

static pace_status read_element(reader *r) {
    const char *is = r->xml.element;
    frame *f = &r->frames[r->xml.depth], *above = &r->frames[r->xml.depth - 1];
    *f = *above;
    if (strcmp(is, "system") == 0) return PACE_OK;
    if (strcmp(is, "cpu") == 0) {
        double rate = 0;
        PACE_TRY(socket_rate(&rate, r));
        f->bytes_per_s = rate;
        return add_vertex(&f->vertex, r, PACE_NOWHERE, rate);
    }
    if (strcmp(is, "nvlink") == 0 || strcmp(is, "xgmi") == 0) return read_link(r, *is == 'x');
    if (strcmp(is, "c2c") == 0) return PACE_OK; /* from a device to its own CPU: no way to another device */
    bool known = strcmp(is, "pci") == 0 || strcmp(is, "gpu") == 0 || strcmp(is, "nic") == 0 || strcmp(is, "net") == 0;
    if (!known && r->xml.depth == 1) return fault(r, "<system>, as a run writes it to NCCL_TOPO_DUMP_FILE", is);
    if (!known) return fault(r, "system, cpu, pci, gpu, nvlink, xgmi, c2c, nic or net", is);
    if (f->vertex == PACE_NOWHERE) return fault(r, "a <cpu> around it", NULL);
    if (strcmp(is, "pci") == 0) return read_pci(f, r, above);
    if (strcmp(is, "gpu") == 0) return read_gpu(r, above);
    return strcmp(is, "net") == 0 ? read_net(r, above) : PACE_OK;
}

static pace_status read_elements(reader *r) {
    r->frames[0].vertex = PACE_NOWHERE;
    for (;;) {
        pace_xml_kind kind;
        PACE_TRY(pace_xml_next(&kind, &r->xml));
        if (kind == PACE_XML_END) break;
        if (kind == PACE_XML_OPEN) PACE_TRY(read_element(r));
    }
    if (r->device_count) return PACE_OK;
    return pace_fail(
        PACE_E_INPUT,
        "%s: expected a topology of NCCL, <system> with a <gpu>; found no device: NCCL adds them to a file of "
        "NCCL_TOPO_FILE; give what a run writes to NCCL_TOPO_DUMP_FILE",
        r->xml.name);
}

/* --- a machine ---------------------------------------------------------------------------------------------------- */

PACE_ORDER(by_order, device, PACE_UP(order))

static int find_device(const reader *r, const char *bus) {
    for (int i = 0; i < r->device_count; i++)
        if (strcmp(r->devices[i].bus, bus) == 0) return i;
    return PACE_NOWHERE;
}

/* The line of what joins devices: that of the greatest capability that is not greater. */
static pace_status link_line(const pace_yaml_node **out, const reader *r) {
    const pace_yaml_node *list = pace_yaml_get(r->rates, "nvlink");
    double sm;
    *out = r->xgmi ? pace_yaml_get(r->rates, "xgmi") : r->bricks.count ? NULL : pace_yaml_get(r->rates, "pcie");
    for (size_t i = 0; !r->xgmi && r->bricks.count && i < pace_yaml_count(list); i++) {
        PACE_TRY(figure(&sm, r, pace_yaml_item(list, i), "sm"));
        if (sm <= r->sm) *out = pace_yaml_item(list, i);
    }
    return *out ? PACE_OK : pace_fail(PACE_E_INPUT, "%s: NVLink of devices of sm %d: not known", r->xml.name, r->sm);
}

/* Devices are sorted: the ends of links are found again by their bus. */
static pace_status set_bricks(pace_machine *m, const reader *r, const char *const *from, double brick_rate) {
    int to_switch = 0, most = 0;
    for (size_t i = 0; i < r->bricks.count; i++) {
        const brick *b = &r->bricks.items[i];
        int end = find_device(r, from[i]), target = b->to_switch ? SWITCH : find_device(r, b->target);
        if (target == PACE_NOWHERE || target == end)
            return pace_fail(PACE_E_INPUT, "%s:%zu: links to \"%s\", which is no other device of the file", r->xml.name,
                             b->line, b->target);
        if (target == SWITCH) to_switch += b->count;
        else m->bricks[end][target] = (unsigned char)(m->bricks[end][target] + b->count);
    }
    for (int i = 0; i < m->devices; i++) {
        int sum = 0;
        for (int j = 0; j < m->devices; j++) sum += m->bricks[i][j];
        most = sum > most ? sum : most;
    }
    if (to_switch && most)
        return pace_fail(PACE_E_INPUT, "%s: links to a switch and between devices: expected one of both", r->xml.name);
    m->switched = to_switch > 0;
    if (to_switch % m->devices)
        return pace_fail(PACE_E_INPUT, "%s: expected as many links to the switch from every device", r->xml.name);
    if (!to_switch) m->mesh_devices = m->devices, m->brick_bytes_per_s = brick_rate;
    m->inside.bytes_per_s = brick_rate * (to_switch ? to_switch / m->devices : most);
    return PACE_OK;
}

static pace_status set_inside(pace_machine *m, const reader *r, const char *const *from) {
    const pace_yaml_node *line = NULL;
    double rate = 0, multicast;
    PACE_TRY(link_line(&line, r));
    PACE_TRY(figure(&m->inside.efficiency, r, line, "efficiency"));
    PACE_TRY(figure(&m->inside.latency_s, r, line, "latency_s"));
    PACE_TRY(figure(&m->launch_s, r, line, "launch_s"));
    PACE_TRY(figure(&multicast, r, r->rates, "multicast_sm"));
    m->inside.kind = r->xgmi ? PACE_LINK_XGMI : r->bricks.count ? PACE_LINK_NVLINK : PACE_LINK_PCIE;
    m->inside.bytes_per_s = m->pcie_bytes_per_s;
    if (r->bricks.count == 0) return PACE_OK;
    PACE_TRY(figure(&rate, r, line, "bytes_per_s"));
    PACE_TRY(set_bricks(m, r, from, rate));
    m->multicast = m->switched && r->sm >= multicast;
    return PACE_OK;
}

/* The fastest ones join nodes. */
static pace_status set_nics(pace_machine *m, const reader *r) {
    const pace_yaml_node *list = pace_yaml_get(r->rates, "nics"), *line = NULL;
    for (int i = 0; i < r->nic_count; i++)
        m->between.bytes_per_s = fmax(m->between.bytes_per_s, r->nics[i].bytes_per_s);
    const char *name = NULL;
    m->host.nic_bytes_per_s = INFINITY;
    for (int i = 0; i < r->nic_count; i++) {
        if (r->nics[i].bytes_per_s < m->between.bytes_per_s) continue;
        name = name ? name : r->nics[i].name;
        m->host.nic_at[m->nics++] = (signed char)r->nics[i].vertex;
        m->host.nic_bytes_per_s = fmin(m->host.nic_bytes_per_s, r->nics[i].slot_bytes_per_s);
    }
    if (!m->nics) {
        m->host.nic_bytes_per_s = 0;
        return PACE_OK;
    }
    for (size_t i = 0; i < pace_yaml_count(list) && !line; i++) {
        const char *begin = pace_yaml_text_of(pace_yaml_item(list, i), "name");
        if (begin && strncmp(name, begin, strlen(begin)) == 0) line = pace_yaml_item(list, i);
    }
    if (!line)
        return pace_fail(PACE_E_INPUT, "%s: NIC \"%s\": expected a kind that catalog/topology.yaml knows by its name",
                         r->xml.name, name);
    m->between.kind = pace_link_kind_find(pace_yaml_text_of(line, "kind"));
    PACE_TRY(figure(&m->between.efficiency, r, line, "efficiency"));
    return figure(&m->between.latency_s, r, line, "latency_s");
}

static pace_status build(pace_machine *m, reader *r) {
    const char *base = strrchr(r->xml.name, '/');
    char buses[PACE_MESH_MOST][BUS];
    const char **from = pace_alloc(r->bricks.count + 1, sizeof *from);
    if (!from) return PACE_E_MEMORY;
    for (int i = 0; i < r->device_count; i++) memcpy(buses[i], r->devices[i].bus, BUS);
    for (size_t i = 0; i < r->bricks.count; i++) from[i] = buses[r->bricks.items[i].from];
    qsort(r->devices, (size_t)r->device_count, sizeof *r->devices, by_order);
    *m = (pace_machine){.devices = r->device_count,
                        .nodes = 1,
                        .generation = r->xgmi ? 0 : r->sm,
                        .oversubscription = 1,
                        .network = {.oversubscription = 1},
                        .host = r->host,
                        .pcie_bytes_per_s = r->devices[0].bytes_per_s};
    memset(m->host.device_at, PACE_NOWHERE, sizeof m->host.device_at);
    memset(m->host.nic_at, PACE_NOWHERE, sizeof m->host.nic_at);
    for (int i = 0; i < r->device_count; i++) {
        m->host.device_at[i] = (signed char)r->devices[i].vertex;
        m->pcie_bytes_per_s = fmin(m->pcie_bytes_per_s, r->devices[i].bytes_per_s);
    }
    snprintf(m->name, sizeof m->name, "%.40s", base ? base + 1 : r->xml.name);
    memcpy(m->confidence, "medium", 7);
    pace_status status = set_inside(m, r, from);
    pace_free(from);
    if (status == PACE_OK) status = set_nics(m, r);
    if (status != PACE_OK) return status;
    snprintf(m->source, sizeof m->source, "%.100s, a topology of NCCL; rates by kind of catalog/topology.yaml%s%s",
             m->name, m->nics < r->nic_count ? "; slower NICs left out" : "",
             r->assumed ? "; PCIe links without a rate are taken as NCCL takes them (3.0 x16)" : "");
    return pace_machine_check(m);
}

pace_status pace_topology_xml_parse(pace_machine *out, pace_catalog *catalog, const char *name, char *text,
                                    size_t length) {
    pace_machine machine;
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "topology.yaml"));
    reader *r = pace_alloc(1, sizeof *r);
    pace_status status = r ? PACE_OK : PACE_E_MEMORY;
    if (r) {
        r->yaml = yaml;
        r->rates = pace_yaml_root(yaml);
        pace_xml_init(&r->xml, name, text, length);
        status = read_elements(r);
        if (status == PACE_OK) status = build(&machine, r);
        PACE_VEC_FREE(&r->bricks);
    }
    pace_free(r);
    if (status == PACE_OK) *out = machine;
    return status;
}

pace_status pace_topology_xml_load(pace_machine *out, pace_catalog *catalog, const char *path) {
    pace_input *input;
    char *text;
    size_t length;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_input_read_all(&text, &length, input, MOST_BYTES);
    pace_input_free(input);
    if (status != PACE_OK) return status;
    status = pace_topology_xml_parse(out, catalog, path, text, length);
    pace_free(text);
    return status;
}
