/*
 * NCCL's own cost model: the time it expects of every algorithm and protocol, by which it chooses; and RCCL's, which is
 * a fork of it. Constants are catalog/nccl.yaml; docs/exchange.md has the equations.
 */
#pragma once

#include "exchange/algorithms.h"
#include "exchange/nccl_sends.h"
#include "machine/machine.h"

typedef enum {
    PACE_NCCL_TREE,
    PACE_NCCL_RING,
    PACE_NCCL_NVLS,
    PACE_NCCL_NVLSTREE,
    PACE_NCCL_PAT,
    PACE_NCCL_DIRECT, /* RCCL's, within a node: every device reads from all others at once (MSCCL) */
    PACE_NCCL_ALGORITHMS
} pace_nccl_algorithm;

typedef enum { PACE_NCCL_LL, PACE_NCCL_LL128, PACE_NCCL_SIMPLE, PACE_NCCL_PROTOCOLS } pace_nccl_protocol;

extern const char *const pace_nccl_algorithm_names[PACE_NCCL_ALGORITHMS];
/** The algorithm of a word, in NCCL's spelling or in that of its plug-ins; -1 for another word. */
int pace_nccl_algorithm_find(const char *word, size_t length);
extern const char *const pace_nccl_protocol_names[PACE_NCCL_PROTOCOLS];

enum { PACE_NCCL_TIERS = 3, PACE_NCCL_SPEEDS = 16, PACE_NCCL_CORRECTIONS = 24 };

/* What moves data, as far as reached times go: lines with flags, lines of 128 bytes, plain buffers, the same over PCIe,
 * sums made by the switch, grouped sends, all devices at once; over several nodes plain buffers, both kinds of lines,
 * trees above switches, and RCCL's ways. */
typedef enum {
    PACE_REACHED_LL,
    PACE_REACHED_LL128,
    PACE_REACHED_SIMPLE,
    PACE_REACHED_PCIE,
    PACE_REACHED_SWITCH,
    PACE_REACHED_SENDS,
    PACE_REACHED_DIRECT,
    PACE_REACHED_ACROSS,
    PACE_REACHED_ACROSS_LL,
    PACE_REACHED_ACROSS_LL128,
    PACE_REACHED_ACROSS_SWITCH,
    PACE_REACHED_ACROSS_XGMI,
    PACE_REACHED_KINDS
} pace_nccl_reached_kind;

/* What starts the exchanges that were measured: it decides how long the host takes. */
typedef enum {
    PACE_STACK_CURRENT,     /* NCCL from 2.19 on, a process or a thread for every device */
    PACE_STACK_UNSAID,      /* not said: current on devices of its time, else as likely an older one */
    PACE_STACK_OLDER,       /* NCCL before 2.19 */
    PACE_STACK_ONE_PROCESS, /* one thread starts all devices of a node, one after the other */
    PACE_STACK_FRAMEWORK,   /* through a framework's process groups */
    PACE_STACK_BELIEF,      /* no host and no losses: what NCCL itself expects */
    PACE_STACKS
} pace_nccl_stack;

/* Time of the host: of every exchange, of every device that one thread starts, of every send it starts, and of all
 * channels of a device once a collective uses them. */
typedef struct {
    double call_s, device_s, send_s, channels_s, spread;
} pace_nccl_host;

/* What is reached of what NCCL believes (nccl_reached.c). */
typedef struct {
    double launch, hop; /* times the machine's launch_s; times every latency */
    double wait[PACE_REACHED_KINDS], least[PACE_REACHED_KINDS], fill[PACE_REACHED_KINDS], bytes[PACE_REACHED_KINDS];
    double own_part, own_copy, full_channels_bytes;
    double foreign; /* spread of what is reached on devices of which none was fitted */
    pace_nccl_host host[PACE_STACKS];
} pace_nccl_reached;

/* The constants of one version line for one generation of devices. */
typedef struct {
    char line[8];
    uint64_t fingerprint; /* of all that follows */
    bool algorithms[PACE_NCCL_ALGORITHMS], protocols[PACE_NCCL_PROTOCOLS];
    double base_s[PACE_NCCL_ALGORITHMS][PACE_NCCL_PROTOCOLS];
    double nvlink_s[PACE_NCCL_ALGORITHMS][PACE_NCCL_PROTOCOLS];
    double pci_s[PACE_NCCL_ALGORITHMS][PACE_NCCL_PROTOCOLS];
    double net_s[PACE_NCCL_ALGORITHMS][PACE_NCCL_PROTOCOLS];
    double ring_ll_share, ring_ll128_share, tree_share, tree_ll_share, tree_ll128_share[2], pat_share, pat_hops,
        pat_rank_s;                    /* hops of a network that pass in the time of one; what each rank adds */
    double tree_cap[2], ring_cap_sm80; /* bytes/s; infinite where the line has none */
    double intra_ll_factor, plateau, plateau_old, net_overhead_s;
    double nic_latency; /* 1: a NIC's own latency counts, and nodes of one rank pay a tree's */
    double correction[PACE_NCCL_PROTOCOLS][PACE_NCCL_CORRECTIONS];
    int corrections;
    double ll_max[PACE_NCCL_TIERS], ring_ll128[PACE_NCCL_TIERS], tree_ll128[PACE_NCCL_TIERS], tree[PACE_NCCL_TIERS],
        nvls_tree[PACE_NCCL_TIERS];            /* bytes/s; infinite where the line has none */
    double nvls_efficiency, nvls_tree_devices; /* the latter: the most devices of a node that an NVLS tree joins */
    double link_share, net_share, speeds[PACE_NCCL_SPEEDS];
    int speed_count;
    double least_filled; /* share of the links that the speeds must use, else rings are as fast as the links */
    pace_nccl_sends sends;
    pace_nccl_reached reached;
} pace_nccl;

/** Whose library exchanges on a machine: NCCL on NVIDIA's devices, RCCL on AMD's, NULL on others. */
const char *pace_nccl_library_of(const pace_machine *machine);

/** PACE_E_INPUT where a version of NCCL is older than the machine's devices; versions that are no "2.MINOR" pass. */
pace_status pace_nccl_check_age(pace_catalog *catalog, const pace_machine *machine, const char *version);

/** The constants of a version ("2.30", "2.16") for a generation: of the newest line that is not newer; of RCCL for
 * "rccl". PACE_E_MISSING for what is neither. */
pace_status pace_nccl_load(pace_nccl *out, pace_catalog *catalog, const char *line, int generation) PACE_MUST_CHECK;

/* What every algorithm and protocol would take for a collective of a group of ranks. */
typedef struct {
    pace_collective collective;
    int ranks, nodes, channels;
    double plateau;
    bool over_pcie;                        /* devices of a node are joined by PCIe */
    bool over_xgmi;                        /* by AMD's bricks */
    double launch_s;                       /* of the machine */
    double own_part;                       /* what a rank's own copy costs, against one step */
    double slowness[PACE_NCCL_ALGORITHMS]; /* how much slower than believed the links carry bytes, at least 1;
                                              * of trees of two devices at least 0.5 */
    double latency_s[PACE_NCCL_ALGORITHMS][PACE_NCCL_PROTOCOLS];
    double late_s[PACE_NCCL_ALGORITHMS][PACE_NCCL_PROTOCOLS]; /* waited besides, which the library does not know of */
    double bytes_per_s[PACE_NCCL_ALGORITHMS][PACE_NCCL_PROTOCOLS]; /* 0 = not possible */
    pace_nccl_message_channels message;                            /* of single messages */
} pace_nccl_curves;

/** `inside_rate` is what one device sends to the others of its node at peak (0: one rank a node), `node_rate` what all
 * NICs of a node send at peak. */
void pace_nccl_prepare(pace_nccl_curves *out, const pace_nccl *nccl, const pace_machine *machine,
                       pace_collective collective, int ranks_per_node, int nodes, double inside_rate, double node_rate);

/** Gives ways whose rate channels limit the rate over the best channels that the links carry: slower links may have
 * more of them. */
void pace_nccl_free_channels(pace_nccl_curves *curves, const pace_nccl *nccl, const pace_machine *machine,
                             int ranks_per_node, double inside_rate, double node_rate);

/** Seconds for one algorithm and protocol; infinite where it is not possible. */
double pace_nccl_time(const pace_nccl *nccl, const pace_nccl_curves *curves, int algorithm, int protocol, double bytes);

/** The part of that time that no byte is moved in. */
double pace_nccl_latency(const pace_nccl_curves *curves, int algorithm, int protocol, double bytes);

/** The time that is reached, of a stack: `waiting_share` receives the part of it that waits. docs/exchange.md, "What is
 * reached". Infinite where the algorithm and protocol are not possible. */
double pace_nccl_reached_time(double *waiting_share, const pace_nccl *nccl, const pace_nccl_curves *curves,
                              int algorithm, int protocol, double bytes, pace_nccl_stack stack);

/** What a hop to the next device of a node, and one to the next node, adds to the latency of a way. */
void pace_nccl_hops(double *near_s, double *far_s, const pace_nccl *nccl, const pace_machine *machine,
                    int ranks_per_node, int nodes, int algorithm, int protocol);

/** The least of those allowed (-1 = any), and which it is. Infinite where none is possible. */
double pace_nccl_choose(int *algorithm, int *protocol, const pace_nccl *nccl, const pace_nccl_curves *curves,
                        double bytes, int only_algorithm, int only_protocol);

/* What of NCCL may be chosen (-1 = any), and what starts it. */
typedef struct {
    int algorithm, protocol;
    pace_nccl_stack stack;
} pace_nccl_asked;

/* A group of ranks: the constants of the version that chooses and its curves, and those that price what it chose. */
typedef struct {
    const pace_nccl *chooser, *prices; /* borrowed */
    pace_nccl_curves chosen_by, priced_by;
    pace_nccl_curves freest; /* priced, over the best channels; of the nodes that are asked about only */
} pace_nccl_group;

/** The reached time of what NCCL chooses for a size, of those allowed. Infinite where nothing is possible. */
double pace_nccl_own_time(double *waiting_share, int *algorithm, int *protocol, const pace_nccl_group *group,
                          double bytes, const pace_nccl_asked *of);

/** The least reached time of those allowed, whatever way and channels NCCL would choose, and which way it is. Infinite
 * where nothing is possible. */
double pace_nccl_fastest(int *algorithm, int *protocol, const pace_nccl_group *group, double bytes,
                         const pace_nccl_asked *of);

/* Times between two marks, held never to be more than that of a larger size (nccl_steady.c). */
typedef struct {
    double least_s, most_s; /* at the marks */
} pace_nccl_interval;

/** The marks around a size, and the lower one's number: 0 from 0 bytes on, 1 from one byte on, 4 more a doubling. */
int pace_nccl_mark(double *mark, double *next, double bytes);

void pace_nccl_interval_find(pace_nccl_interval *out, const pace_nccl_group *group, double mark, double next,
                             const pace_nccl_asked *of);

/** The same of the fastest way. */
void pace_nccl_interval_fastest(pace_nccl_interval *out, const pace_nccl_group *group, double mark, double next,
                                const pace_nccl_asked *of);

/** The time on the line between both marks. */
double pace_nccl_between_marks(const pace_nccl_interval *interval, double mark, double next, double bytes);
