/*
 * A machine: nodes of devices, what joins the devices of a node, and what joins the nodes. From catalog/machines.yaml,
 * a YAML file of the same form, or a short form.
 */
#pragma once

#include "machine/catalog.h"

enum { PACE_MESH_MOST = 16 };

/* What messages travel over. */
typedef enum {
    PACE_LINK_NONE,
    PACE_LINK_NVLINK,
    PACE_LINK_XGMI,
    PACE_LINK_PCIE,
    PACE_LINK_INFINIBAND,
    PACE_LINK_ROCE,
    PACE_LINK_EFA,
    PACE_LINK_TCP,
    PACE_LINK_ARIES,
    PACE_LINK_ICI, /* joins a slice of TPUs, whatever hosts they are on */
    PACE_LINK_NEURONLINK,
    PACE_LINK_KINDS
} pace_link_kind;

extern const char *const pace_link_kind_names[PACE_LINK_KINDS];

/** The kind of a word; PACE_LINK_NONE when it is none. */
pace_link_kind pace_link_kind_find(const char *word);

typedef struct {
    pace_link_kind kind;
    double bytes_per_s; /* peak, one direction: of one device inside a node, of one NIC between nodes */
    double efficiency;  /* share of the peak that a large exchange reaches, 0 < e <= 1 */
    double latency_s;   /* of one message from device memory to device memory */
    bool share_assumed; /* nobody measured that share */
    bool staged;        /* bytes pass through the host's memory, at a share of the rate that is assumed too */
} pace_link;

/* How switches join nodes. docs/exchange.md has what each means. */
typedef enum {
    PACE_NETWORK_SWITCH,    /* one switch that never blocks */
    PACE_NETWORK_FAT_TREE,  /* leaf switches of whole nodes below a spine, in pods below a core */
    PACE_NETWORK_RAILS,     /* the k-th NICs of a group of nodes on a switch of their own, below a spine */
    PACE_NETWORK_DRAGONFLY, /* routers all joined in a group, groups all joined (Kim et al., ISCA 2008) */
    PACE_NETWORK_TORUS,     /* every node joined with its neighbours in one to three dimensions */
    PACE_NETWORK_KINDS
} pace_network_kind;

extern const char *const pace_network_kind_names[PACE_NETWORK_KINDS];

typedef struct {
    pace_network_kind kind;
    int shape[3];            /* fat tree: nodes of a leaf, leaves of a pod (0 = no pods); rails: nodes of a group;
                                dragonfly: nodes of a router, routers of a group; torus: extents, 0 = no dimension */
    double oversubscription; /* of the links above leaves, above rail switches, between groups; >= 1 */
    double hop_s;            /* of every switch that a message passes beyond the first */
} pace_network;

enum { PACE_TREE_MOST = 64, PACE_NOWHERE = -1 };

/* What devices and NICs of a node hang on beside their links to each other: PCIe switches below sockets. */
typedef struct {
    int count;                          /* switches and sockets; 0 = not described */
    signed char above[PACE_TREE_MOST];  /* the one above; PACE_NOWHERE of a socket */
    double bytes_per_s[PACE_TREE_MOST]; /* to the one above; of a socket: to every other socket; one direction */
    signed char device_at[PACE_MESH_MOST], nic_at[PACE_MESH_MOST]; /* below which */
    double nic_bytes_per_s;                                        /* of a NIC's slot; a device's is pcie_bytes_per_s */
} pace_host_tree;

typedef struct pace_machine {
    char name[64];       /* "dgx-h100*2" */
    char asked[528];     /* what says it again: "a100*4 nvlink=300GB/s", "FILE.yaml*2" (pace_machine_parse()) */
    char called[64];     /* by which name of tables and logs it was asked for; "" = by its own */
    char device[640];    /* name in catalog/devices.yaml; "FILE.yaml:NAME" where the machine's own file describes it */
    bool joined;         /* devices and how they are joined were said, so that nodes= says how many nodes */
    double cycles_per_s; /* of all multiprocessors of a device together; 0 = unknown */
    int devices;         /* of a node */
    int nodes;
    int nics;                  /* of a node; 0 = nothing joins nodes */
    int generation;            /* NVIDIA's compute capability times ten (70 = V100); 0 = another vendor */
    pace_link inside, between; /* kind PACE_LINK_NONE: not joined */
    bool switched;             /* inside: every device reaches every other at its full rate */
    bool multicast;            /* the switch inside adds and multiplies (NVLS) */
    int axes;                  /* of the torus that joins the devices of a node; 0 = none does */
    double hop_inside;         /* times what the library counts for a hop inside a node; 0 = 1 */
    bool plain_between;        /* what carries messages between nodes allows NCCL plain buffers alone */
    int sockets;               /* over which PCIe devices of a node are spread evenly; 0 = one */
    double socket_share;       /* of their rate that is left where a group spans sockets */
    double oversubscription;   /* of the network between nodes, >= 1 */
    double stream_bytes_per_s; /* most that one TCP connection carries; 0 = no such limit */
    double jitter_inside; /* share of the workers' jitter that those of one node have among themselves; 0 = the usual */
    double server_bytes_per_s; /* what one gRPC parameter server takes in, or gives out; 0 = as the approach says */
    double host_memory_bytes;  /* of a node's host; 0 = unknown */
    double launch_s;           /* of an exchange that moves nothing: call, launch, end */
    int mesh_devices;          /* 0, or the devices that bricks describes */
    unsigned char bricks[PACE_MESH_MOST][PACE_MESH_MOST]; /* links per pair of devices */
    double brick_bytes_per_s;                             /* of one such link, peak, one direction */
    double pcie_bytes_per_s; /* of one device's host link, for pairs without a brick; 0 = unknown */
    pace_host_tree host;
    pace_network network;
    char source[256], confidence[8];
} pace_machine;

typedef struct {
    PACE_VEC(pace_machine) machines;
    bool borrows; /* machines are those that the catalogue keeps */
} pace_machine_catalog;

/** All machines of catalog/machines.yaml. */
pace_status pace_machine_catalog_load(pace_machine_catalog *out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_machine_catalog_free(pace_machine_catalog *catalog);

/** A machine by what --on says:
 *    "dgx-h100", "dgx-h100*8"   of the catalogue, as many nodes
 *    "FILE.yaml", "FILE.yaml*4" the one machine of a file
 *    "a100*4 nvlink=300GB/s"    devices (of the catalogue, or of a file without a machine) of one node and how they are
 *                               joined: nvlink=, xgmi=, pcie=, roce=, ici= or neuronlink= (one device, one
 *                               direction); latency=3us;
 *                               launch=10us;
 *                               host-memory=1TB of a node; for several nodes nodes=2 net=25GB/s (or 200Gb/s; one NIC)
 *                               nics=8 net-latency=5us net-kind=roce net-stream=10Gb/s (one TCP connection). pcie= may
 *                               say sockets=2, and
 *                               peer=no or peer=yes where the driver differs from the device's entry
 *    "dgx-h100*64 nvlink=2x"    any of these with changes: other rates keep the latency, the share of the peak and the
 *                               topology of links of their kind, those of another kind keep nothing; "2x" is a factor
 *    "dgx-h100*64 net=fat-tree:2:1"   fat-tree[:LEAF[xPOD]], rails[:NODES],
 *                               dragonfly:NODESxROUTERS, torus:XxYxZ, switch; behind it the oversubscription
 *    "FILE.xml", "FILE.xml*8"   a node as NCCL dumps it (NCCL_TOPO_DUMP_FILE; machine/topology_xml.h)
 * Nothing is assumed of what joins devices or nodes. Errors: PACE_E_USAGE, PACE_E_MISSING for an unknown name,
 * PACE_E_INPUT with the place in a file. */
pace_status pace_machine_parse(pace_machine *out, pace_catalog *catalog, const char *text) PACE_MUST_CHECK;

/** Whether such a text, right or wrong, is about a machine: several devices, or a name or a file of one. */
bool pace_machine_is_meant(pace_catalog *catalog, const char *text);

/** A machine by how a table or a log names its system, "h100_sxm" or "2x p3dn.24xlarge: ..." (of
 * catalog/system_names.yaml). PACE_E_MISSING when no name is found, or, with more than one node, when the name does not
 * say what joins nodes. */
pace_status pace_machine_named(pace_machine *out, pace_catalog *catalog, const char *name, int nodes) PACE_MUST_CHECK;

/** A machine by what --on says (pace_machine_parse()) or, where that names nothing, by how tables and logs name it:
 * "p4d.24xlarge", "p4d.24xlarge*4 net=fat-tree". Then `called` is that name. Errors are those of
 * pace_machine_parse(). */
pace_status pace_machine_asked(pace_machine *out, pace_catalog *catalog, const char *text) PACE_MUST_CHECK;

/** The same machine with so many nodes, as its name and `asked` then say. */
void pace_machine_take_nodes(pace_machine *machine, int nodes);

/** Nodes of other numbers of devices: the first of those described, or so many that nothing says how they are wired. */
void pace_machine_set_devices(pace_machine *machine, int devices);

/** Rates are positive, counts make sense, and every device can reach every other. PACE_E_INPUT names the fault. */
pace_status pace_machine_check(const pace_machine *machine) PACE_MUST_CHECK;

/** Bytes per second that large exchanges reach: of one device inside a node, of all NICs of a node together. */
double pace_machine_inside_rate(const pace_machine *machine);

/** A slice of a torus is cut for its job: it has no more devices than `ranks`, of 2 and more. */
void pace_machine_cut_slice(pace_machine *machine, double ranks);
/** The share of a device's peak that is left to a group of so many neighbours of a node: less over several sockets. */
double pace_machine_socket_share(const pace_machine *machine, int ranks_per_node);
double pace_machine_node_rate(const pace_machine *machine);

/** Bytes per second that a device's slot gives it when `share` of all devices use theirs, 0 to 1: those below one PCIe
 * switch share its way up. */
double pace_machine_slot_rate(const pace_machine *machine, int device, double share);

/** Whether its devices are joined pairwise, every pair. */
bool pace_machine_mesh_is_full(const pace_machine *machine);

/** Reads "fat-tree:4:2:1" and the like; ports of switches that are not told are those of catalog/networks.yaml.
 * PACE_E_USAGE. */
pace_status pace_network_parse(pace_network *out, pace_catalog *catalog, const pace_machine *machine,
                               const char *text) PACE_MUST_CHECK;
/** Whether the shape fits the nodes, and the host tree its devices. PACE_E_INPUT. */
pace_status pace_network_check(const pace_machine *machine) PACE_MUST_CHECK;
pace_status pace_host_tree_check(const pace_machine *machine) PACE_MUST_CHECK;

/** A rate ("300GB/s", "200Gb/s", "12e9") in bytes per second, and a time ("5us") in seconds. False when it is none. */
bool pace_parse_rate(double *out, const char *text);
bool pace_parse_time(double *out, const char *text);
/** Seconds of "60s", "10m" (minutes), "12h", "30d" or "5y". */
bool pace_parse_span(double *out_s, const char *text);
/** Whether a link may be so fast: outside, a unit was forgotten or a prefix mistyped. */
bool pace_rate_is_meant(double bytes_per_s);
/* What a figure is of, and so which units it may have. */
typedef enum {
    PACE_IN_BYTES,
    PACE_IN_BYTES_PER_S,
    PACE_IN_FLOP_PER_S,
    PACE_IN_HZ,
    PACE_IN_S,
    PACE_IN_NONE
} pace_dimension;
/** A figure with a unit of its dimension ("2TB/s", "40GiB", "4us", "1.2GHz", "20TFLOP/s"; "Gb/s" are bits). False when
 * it has another unit, or none. */
bool pace_parse_figure(double *out, const char *text, pace_dimension dimension);
/** Such a figure as an example. */
const char *pace_figure_example(pace_dimension dimension);

/** A figure of a YAML file: a number in SI units, or one with its unit ("80GB", "3.35 TB/s"). PACE_E_INPUT with line
 * and column. */
pace_status pace_figure_read(double *out, const pace_yaml *yaml, const pace_yaml_node *node,
                             pace_dimension dimension) PACE_MUST_CHECK;

/** A size ("8", "64K", "1GiB", "25MB"): K, M, G are 2^10, 2^20, 2^30 as in nccl-tests; kB, MB, GB are decimal. */
bool pace_parse_bytes(double *out, const char *text);
/** An amount ("1.56T", "357MB", "16GiB") of a unit, "B", "FLOP" or "" (none), which may be left out; prefixes are
 * decimal but for KiB, MiB, GiB. False when it has another. */
bool pace_parse_amount(double *out, const char *text, const char *unit);
