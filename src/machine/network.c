/* Networks between nodes in words: "fat-tree:4x16:2:1". */
#include "base/decimal.h"
#include "machine/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pace_network_kind_names[PACE_NETWORK_KINDS] = {
    [PACE_NETWORK_SWITCH] = "switch",       [PACE_NETWORK_FAT_TREE] = "fat-tree", [PACE_NETWORK_RAILS] = "rails",
    [PACE_NETWORK_DRAGONFLY] = "dragonfly", [PACE_NETWORK_TORUS] = "torus",
};

/* How many numbers a shape has, at least and at most. */
static const struct {
    int least, most;
} shapes[PACE_NETWORK_KINDS] = {
    [PACE_NETWORK_SWITCH] = {0, 0},    [PACE_NETWORK_FAT_TREE] = {0, 2}, [PACE_NETWORK_RAILS] = {0, 1},
    [PACE_NETWORK_DRAGONFLY] = {2, 2}, [PACE_NETWORK_TORUS] = {1, 3},
};

static pace_status expected(const char *text) {
    return pace_fail(PACE_E_USAGE,
                     "network \"%.60s\": expected switch, fat-tree[:LEAF[xPOD]], rails[:NODES], "
                     "dragonfly:NODESxROUTERS or torus:X[xYxZ], and behind it an oversubscription such as :2:1",
                     text);
}

/* "4x16x2": false when it is no shape. */
static bool read_shape(int shape[3], int *count, const char *text) {
    *count = 0;
    for (const char *at = text;; at++) {
        char *end;
        long number = strtol(at, &end, 10);
        if (end == at || *at == '-' || *at == '+' || number < 1 || number > 1 << 20 || *count == 3) return false;
        shape[(*count)++] = (int)number;
        at = end;
        if (!*at) return true;
        if (*at != 'x') return false;
    }
}

/* The catalogue's entry of a kind: 0 where it says nothing. */
static pace_status read_entry(double *ports, double *hop_s, pace_catalog *catalog, pace_network_kind kind) {
    const pace_yaml *yaml;
    double hop_ns = 0;
    *ports = *hop_s = 0;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "networks.yaml"));
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "networks");
    pace_status status = PACE_OK;
    for (size_t i = 0; i < pace_yaml_count(list) && status == PACE_OK; i++) {
        const pace_yaml_node *entry = pace_yaml_item(list, i), *count = pace_yaml_get(entry, "switch_ports");
        const pace_yaml_node *hop = pace_yaml_get(entry, "hop_ns");
        const char *name = pace_yaml_text_of(entry, "name");
        if (!name || strcmp(name, pace_network_kind_names[kind])) continue;
        if (count) status = pace_yaml_number(ports, yaml, count);
        if (hop && status == PACE_OK) status = pace_yaml_number(&hop_ns, yaml, pace_yaml_get(hop, "value"));
    }
    *hop_s = hop_ns * 1e-9;
    return status;
}

/* Half of a switch's ports lead down. */
static int nodes_below(double ports, pace_network_kind kind, const pace_machine *m) {
    int down = (int)(ports / 2), of_node = kind == PACE_NETWORK_FAT_TREE && m->nics > 0 ? m->nics : 1;
    return down > of_node ? down / of_node : 1;
}

/* "2" and "1" of "…:2:1". */
static bool read_ratio(double *out, const char *above, const char *below) {
    double a, b;
    if (!pace_number_parse(&a, above) || !pace_number_parse(&b, below) || !(b > 0)) return false;
    *out = a / b;
    return *out >= 1 && isfinite(*out);
}

pace_status pace_network_parse(pace_network *out, pace_catalog *catalog, const pace_machine *machine,
                               const char *text) {
    char words[96], *part[4], *rest = NULL;
    int count = 0, numbers = 0;
    pace_network network = {.oversubscription = 1};
    if (strlen(text) >= sizeof words) return expected(text);
    memcpy(words, text, strlen(text) + 1);
    for (char *word = strtok_r(words, ":", &rest); word; word = strtok_r(NULL, ":", &rest)) {
        if (count == 4) return expected(text);
        part[count++] = word;
    }
    if (count == 0) return expected(text);
    int kind = 0;
    while (kind < PACE_NETWORK_KINDS && strcmp(part[0], pace_network_kind_names[kind])) kind++;
    if (kind == PACE_NETWORK_KINDS) return expected(text);
    network.kind = (pace_network_kind)kind;
    if (count > 2 && !read_ratio(&network.oversubscription, part[count - 2], part[count - 1])) return expected(text);
    bool shaped = count == 2 || count == 4;
    if (shaped && !read_shape(network.shape, &numbers, part[1])) return expected(text);
    if (numbers < shapes[kind].least || numbers > shapes[kind].most) return expected(text);
    if ((kind == PACE_NETWORK_SWITCH || kind == PACE_NETWORK_TORUS) && network.oversubscription > 1)
        return pace_fail(PACE_E_USAGE, "network \"%.60s\": a %s is not oversubscribed", text,
                         pace_network_kind_names[kind]);
    double ports;
    if (kind != PACE_NETWORK_SWITCH) PACE_TRY(read_entry(&ports, &network.hop_s, catalog, network.kind));
    if (!shaped && (kind == PACE_NETWORK_FAT_TREE || kind == PACE_NETWORK_RAILS))
        network.shape[0] = nodes_below(ports, network.kind, machine);
    *out = network;
    return PACE_OK;
}

pace_status pace_network_check(const pace_machine *m) {
    const pace_network *n = &m->network;
    if (!(n->oversubscription >= 1) || !isfinite(n->oversubscription))
        return pace_fail(PACE_E_INPUT, "%s: expected an oversubscription of 1 or more, found %g", m->name,
                         n->oversubscription);
    if (n->kind == PACE_NETWORK_SWITCH || m->nodes == 1) return PACE_OK;
    if (n->kind == PACE_NETWORK_TORUS) {
        int64_t places = 1;
        for (int i = 0; i < 3; i++) places *= n->shape[i] ? n->shape[i] : 1;
        if (places == m->nodes) return PACE_OK;
        return pace_fail(PACE_E_INPUT, "%s: a torus of %lld nodes, but the machine has %d", m->name, (long long)places,
                         m->nodes);
    }
    if (n->kind == PACE_NETWORK_RAILS && m->nics < 2)
        return pace_fail(PACE_E_INPUT, "%s: expected several NICs a node for a network of rails, found %d", m->name,
                         m->nics);
    return PACE_OK;
}
