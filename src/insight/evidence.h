/* What a trace lacks, so that nothing confident is said from what it holds. */
#pragma once

#include "insight/rank.h"

typedef enum {
    PACE_EVIDENCE_WHOLE,
    PACE_EVIDENCE_NO_KERNELS,  /* a device's launches or exchanges are recorded, not its work; or the file ends first */
    PACE_EVIDENCE_FEW_KERNELS, /* a tenth of the launches or more has no device work */
    PACE_EVIDENCE_GRAPHS,      /* pauses inside launches of graphs: their kernels may be missing */
    PACE_EVIDENCE_GROUPS,      /* who exchanges with whom is not said: waiting cannot be told from exchanging */
    PACE_EVIDENCE_UNEXPLAINED, /* half of the critical path, or nine tenths of a host's trace, have no recorded cause */
    PACE_EVIDENCES
} pace_evidence_gap;

extern const char *const pace_evidence_names[PACE_EVIDENCES];

typedef struct {
    pace_evidence_gap lacks;
    size_t launches, without_work; /* launch calls; those without device work */
    size_t shared_calls;           /* calls whose work may be another process's: of one number */
    int64_t graph_pause_ns;        /* in [start, end): pauses between kernels of one graph launch */
    bool broken_off;               /* the file breaks off before the work of the devices that it names */
    /* Where the host is the device: what the trace names that runs on another; borrowed, NULL = nothing. */
    const char *on_device;
    int64_t queued_ns; /* the same, of waits unexplained: the device idles although work is queued on it */
} pace_evidence;

/** What is lacking, as a clause without its full stop; of `whole` ("step", "trace"), which takes `length_ns`. */
void pace_evidence_say(char *out, size_t size, const pace_evidence *evidence, int64_t length_ns, const char *whole);

/** Of a rank, and its graphs in [start, end). A predicted step lacks nothing. PACE_EVIDENCE_UNEXPLAINED and
 * PACE_EVIDENCE_GROUPS are for who knows the path to say. */
pace_status pace_evidence_find(pace_evidence *out, const pace_kernel_classes *classes, const pace_rank *rank,
                               int64_t start_ns, int64_t end_ns) PACE_MUST_CHECK;
