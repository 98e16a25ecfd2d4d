/* What devices and NICs of a node hang on: PCIe switches below sockets. */
#include "base/yaml_member.h"
#include "machine/machine_read.h"

#include <math.h>
#include <string.h>

static const double MOST_BYTES_PER_S = 1e15; /* beyond any switch: a slipped digit */

static pace_status whole(int *out, const pace_yaml *yaml, const pace_yaml_node *node, int below) {
    double value;
    PACE_TRY(pace_yaml_number(&value, yaml, node));
    if (!(value >= 0 && value < below) || value != floor(value))
        return pace_yaml_fail(yaml, node, "expected a whole number from 0 to %d", below - 1);
    *out = (int)value;
    return PACE_OK;
}

/* Devices or NICs of a switch. */
static pace_status hang(signed char at[PACE_MESH_MOST], const pace_yaml *yaml, const pace_yaml_node *list, int vertex) {
    PACE_YAML_EACH (one, list) {
        int which = 0;
        PACE_TRY(whole(&which, yaml, one, PACE_MESH_MOST));
        if (at[which] != PACE_NOWHERE) return pace_yaml_fail(yaml, one, "number %d hangs on two switches", which);
        at[which] = (signed char)vertex;
    }
    return PACE_OK;
}

static pace_status read_switch(pace_host_tree *tree, const pace_yaml *yaml, const pace_yaml_node *map, int sockets) {
    const pace_yaml_node *socket = pace_yaml_get(map, "socket"), *above = pace_yaml_get(map, "switch");
    int on = 0, vertex = tree->count;
    if (vertex == PACE_TREE_MOST || !socket == !above)
        return pace_yaml_fail(yaml, map, "expected one of \"socket\" and \"switch\", of at most %d switches",
                              PACE_TREE_MOST);
    PACE_TRY(whole(&on, yaml, socket ? socket : above, socket ? sockets : vertex - sockets));
    tree->above[vertex] = (signed char)(socket ? on : sockets + on);
    PACE_TRY(pace_yaml_real(&tree->bytes_per_s[vertex], yaml, map, "bytes_per_s", 0, MOST_BYTES_PER_S));
    tree->count++;
    PACE_TRY(hang(tree->device_at, yaml, pace_yaml_get(map, "devices"), vertex));
    return hang(tree->nic_at, yaml, pace_yaml_get(map, "nics"), vertex);
}

pace_status pace_host_tree_read(pace_host_tree *out, const pace_yaml *yaml, const pace_yaml_node *map) {
    pace_host_tree tree = {0};
    double between;
    int sockets;
    memset(tree.device_at, PACE_NOWHERE, sizeof tree.device_at);
    memset(tree.nic_at, PACE_NOWHERE, sizeof tree.nic_at);
    PACE_TRY(pace_yaml_whole(&sockets, yaml, map, "sockets", 1, 8));
    PACE_TRY(pace_yaml_real(&between, yaml, map, "socket_bytes_per_s", 0, MOST_BYTES_PER_S));
    PACE_TRY(pace_yaml_real(&tree.nic_bytes_per_s, yaml, map, "nic_bytes_per_s", 0, MOST_BYTES_PER_S));
    for (; tree.count < sockets; tree.count++) {
        tree.above[tree.count] = PACE_NOWHERE;
        tree.bytes_per_s[tree.count] = between;
    }
    const pace_yaml_node *switches = pace_yaml_get(map, "switches");
    PACE_YAML_EACH (one, switches) PACE_TRY(read_switch(&tree, yaml, one, sockets));
    *out = tree;
    return PACE_OK;
}

static pace_status check_at(const pace_machine *m, const signed char *at, int count, const char *what) {
    for (int i = 0; i < count; i++)
        if (at[i] < 0 || at[i] >= m->host.count)
            return pace_fail(PACE_E_INPUT, "%s: %s %d hangs on no switch or socket of the host", m->name, what, i);
    for (int i = count; i < PACE_MESH_MOST; i++)
        if (at[i] != PACE_NOWHERE)
            return pace_fail(PACE_E_INPUT, "%s: %s %d hangs on a switch, but a node has %d", m->name, what, i, count);
    return PACE_OK;
}

pace_status pace_host_tree_check(const pace_machine *m) {
    const pace_host_tree *tree = &m->host;
    if (tree->count == 0) return PACE_OK;
    if (m->devices > PACE_MESH_MOST || m->nics > PACE_MESH_MOST)
        return pace_fail(PACE_E_INPUT, "%s: expected at most %d devices and NICs on a host tree, found %d and %d",
                         m->name, PACE_MESH_MOST, m->devices, m->nics);
    if (!(m->pcie_bytes_per_s > 0))
        return pace_fail(PACE_E_INPUT, "%s: expected pcie_bytes_per_s above 0 beside a host tree", m->name);
    if (m->nics > 0 && !(tree->nic_bytes_per_s > 0))
        return pace_fail(PACE_E_INPUT, "%s: expected nic_bytes_per_s above 0 of the host tree", m->name);
    for (int i = 0, sockets = 0; i < tree->count; i++) {
        sockets += tree->above[i] == PACE_NOWHERE;
        bool alone = tree->above[i] == PACE_NOWHERE && sockets == 1 &&
                     (i + 1 == tree->count || tree->above[i + 1] != PACE_NOWHERE);
        if (!alone && (!(tree->bytes_per_s[i] > 0) || !isfinite(tree->bytes_per_s[i])))
            return pace_fail(PACE_E_INPUT, "%s: switch %d of the host: expected a bandwidth above 0, found %g bytes/s",
                             m->name, i, tree->bytes_per_s[i]);
    }
    PACE_TRY(check_at(m, tree->device_at, m->devices, "device"));
    return check_at(m, tree->nic_at, m->nics, "NIC");
}

double pace_machine_slot_rate(const pace_machine *m, int device, double share) {
    int at = m->host.count > 0 ? m->host.device_at[device] : PACE_NOWHERE;
    double beside = 0;
    if (at == PACE_NOWHERE || m->host.above[at] == PACE_NOWHERE) return m->pcie_bytes_per_s;
    for (int d = 0; d < m->devices; d++) beside += m->host.device_at[d] == at;
    double sharing = beside * share > 1 ? beside * share : 1, rate = m->host.bytes_per_s[at] / sharing;
    return rate < m->pcie_bytes_per_s ? rate : m->pcie_bytes_per_s;
}
