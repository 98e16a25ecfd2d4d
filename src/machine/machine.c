#include "machine/machine.h"

#include <math.h>

const char *const pace_link_kind_names[PACE_LINK_KINDS] = {
    [PACE_LINK_NONE] = "none",
    [PACE_LINK_NVLINK] = "nvlink",
    [PACE_LINK_XGMI] = "xgmi",
    [PACE_LINK_PCIE] = "pcie",
    [PACE_LINK_INFINIBAND] = "infiniband",
    [PACE_LINK_ROCE] = "roce",
    [PACE_LINK_EFA] = "efa",
    [PACE_LINK_TCP] = "tcp",
    [PACE_LINK_ARIES] = "aries",
    [PACE_LINK_ICI] = "ici",
    [PACE_LINK_NEURONLINK] = "neuronlink",
};

pace_link_kind pace_link_kind_find(const char *word) {
    int kind = pace_word_number(pace_link_kind_names, PACE_LINK_KINDS, word);
    return kind > PACE_LINK_NONE ? (pace_link_kind)kind : PACE_LINK_NONE;
}

double pace_machine_inside_rate(const pace_machine *machine) {
    return machine->inside.bytes_per_s * machine->inside.efficiency *
           pace_machine_socket_share(machine, machine->devices);
}

double pace_machine_socket_share(const pace_machine *m, int ranks_per_node) {
    return m->sockets > 1 && ranks_per_node * m->sockets > m->devices ? m->socket_share : 1;
}

double pace_machine_node_rate(const pace_machine *machine) {
    return machine->between.bytes_per_s * machine->between.efficiency * machine->nics / machine->oversubscription;
}

void pace_machine_set_devices(pace_machine *m, int devices) {
    for (int i = devices; i < PACE_MESH_MOST; i++) m->host.device_at[i] = PACE_NOWHERE;
    if (devices > m->devices) m->mesh_devices = m->host.count = 0;
    else if (m->mesh_devices > devices) m->mesh_devices = devices;
    m->devices = devices;
}

void pace_machine_cut_slice(pace_machine *m, double ranks) {
    if (m->inside.kind == PACE_LINK_ICI && ranks > 1 && ranks < m->devices) pace_machine_set_devices(m, (int)ranks);
}

bool pace_machine_mesh_is_full(const pace_machine *m) {
    if (m->mesh_devices == 0) return false;
    for (int i = 0; i < m->devices; i++)
        for (int j = 0; j < m->devices; j++)
            if (i != j && !m->bricks[i][j]) return false;
    return true;
}

static pace_status check_link(const pace_machine *m, const pace_link *link, const char *where) {
    if (!(link->bytes_per_s > 0) || !isfinite(link->bytes_per_s))
        return pace_fail(PACE_E_INPUT, "%s: %s: expected a bandwidth above 0, found %g bytes/s", m->name, where,
                         link->bytes_per_s);
    if (!(link->efficiency > 0 && link->efficiency <= 1))
        return pace_fail(PACE_E_INPUT, "%s: %s: expected an efficiency above 0 and at most 1, found %g", m->name, where,
                         link->efficiency);
    if (!(link->latency_s > 0 && link->latency_s < 1))
        return pace_fail(PACE_E_INPUT, "%s: %s: expected a latency between 0 and 1 s, found %g s", m->name, where,
                         link->latency_s);
    return PACE_OK;
}

/* Every device of the mesh is reached from the first, over bricks or over the host. */
static pace_status check_mesh(const pace_machine *m) {
    bool reached[PACE_MESH_MOST] = {true};
    if (m->mesh_devices == 0) return PACE_OK;
    if (m->mesh_devices != m->devices)
        return pace_fail(PACE_E_INPUT, "%s: expected a matrix of %d rows of bricks, found %d", m->name, m->devices,
                         m->mesh_devices);
    if (!(m->brick_bytes_per_s > 0))
        return pace_fail(PACE_E_INPUT, "%s: expected brick_bytes_per_s above 0 beside bricks", m->name);
    for (int round = 0; round < m->devices; round++)
        for (int i = 0; i < m->devices; i++)
            for (int j = 0; j < m->devices; j++) {
                if (m->bricks[i][j] != m->bricks[j][i])
                    return pace_fail(PACE_E_INPUT, "%s: expected as many bricks from device %d to %d as back", m->name,
                                     i, j);
                if (reached[i] && m->bricks[i][j] > 0) reached[j] = true;
            }
    for (int i = 0; i < m->devices; i++)
        if (!reached[i] && !(m->pcie_bytes_per_s > 0))
            return pace_fail(PACE_E_INPUT, "%s: device %d is not connected to device 0", m->name, i);
    return PACE_OK;
}

pace_status pace_machine_check(const pace_machine *m) {
    if (m->devices < 1 || m->nodes < 1 || m->devices > 4096 || m->nodes > 1 << 20)
        return pace_fail(PACE_E_INPUT, "%s: expected 1 to 4096 devices a node and 1 to 1048576 nodes, found %d and %d",
                         m->name, m->devices, m->nodes);
    if (m->devices > 1 && m->inside.kind == PACE_LINK_NONE)
        return pace_fail(PACE_E_INPUT,
                         "%s: its %d devices are not connected: expected nvlink=, xgmi= or pcie=, in a file \"inside\"",
                         m->name, m->devices);
    if (m->nodes > 1 && (m->between.kind == PACE_LINK_NONE || m->nics < 1))
        return pace_fail(PACE_E_INPUT, "%s: its %d nodes are not connected: expected net=, in a file %s", m->name,
                         m->nodes, m->between.kind == PACE_LINK_NONE ? "\"between\" and \"nics\"" : "\"nics\" above 0");
    if (m->inside.kind != PACE_LINK_NONE) PACE_TRY(check_link(m, &m->inside, "inside a node"));
    if (m->between.kind != PACE_LINK_NONE) PACE_TRY(check_link(m, &m->between, "between nodes"));
    if (!(m->oversubscription >= 1) || !isfinite(m->oversubscription))
        return pace_fail(PACE_E_INPUT, "%s: expected an oversubscription of 1 or more, found %g", m->name,
                         m->oversubscription);
    if (!(m->host_memory_bytes >= 0) || !isfinite(m->host_memory_bytes))
        return pace_fail(PACE_E_INPUT, "%s: expected host_memory_bytes of 0 or more", m->name);
    if (!(m->launch_s >= 0 && m->launch_s < 1) || !(m->stream_bytes_per_s >= 0))
        return pace_fail(PACE_E_INPUT, "%s: expected launch_s and stream_bytes_per_s of 0 or more", m->name);
    if (m->sockets > 1 && (m->inside.kind != PACE_LINK_PCIE || !(m->socket_share > 0 && m->socket_share <= 1)))
        return pace_fail(PACE_E_INPUT, "%s: sockets are of devices on PCIe, with a socket_share above 0 and at most 1",
                         m->name);
    PACE_TRY(pace_network_check(m));
    PACE_TRY(pace_host_tree_check(m));
    return check_mesh(m);
}
