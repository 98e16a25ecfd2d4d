/*
 * Exchanges carried out: collectives for training among the processes of an MPI program, over shared memory inside a
 * host and MPI between hosts. Link with libpaceline_collective. docs/collective.md has the data flow and the settings.
 *
 * Every function that takes a pace_comm and says "collective" is called by all its ranks, in the same order, with the
 * same count, element, reduction and root. One thread at a time uses a communicator; different threads may use
 * different ones where MPI was started with MPI_THREAD_MULTIPLE.
 */
#ifndef PACELINE_COLLECTIVE_H
#define PACELINE_COLLECTIVE_H

#include "paceline/paceline.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PACE_COLLECTIVE_API PACE_API /**< a function of libpaceline_collective */

typedef struct pace_comm pace_comm;

typedef enum {
    PACE_ELEMENT_F16,  /**< IEEE 754 binary16; every sum of two is rounded */
    PACE_ELEMENT_BF16, /**< the upper half of a binary32; every sum of two is rounded to the nearest, ties to even */
    PACE_ELEMENT_F32,
    PACE_ELEMENT_F64,
    PACE_ELEMENT_I32, /**< sums and products wrap */
    PACE_ELEMENT_I64,
    PACE_ELEMENTS
} pace_element;

typedef enum {
    PACE_REDUCTION_SUM,
    PACE_REDUCTION_MIN,
    PACE_REDUCTION_MAX,
    PACE_REDUCTION_PROD,
    PACE_REDUCTION_AVG, /**< the sum over the number of ranks; of integers rounded towards zero */
    PACE_REDUCTIONS
} pace_reduction;

/** Bytes of one element; 0 for no element. */
PACE_COLLECTIVE_API size_t pace_element_bytes(pace_element element);

/** The text of this thread's last failure in this library. Never NULL; borrowed until the next failure. */
PACE_COLLECTIVE_API const char *pace_comm_message(void);

/** Collective over an MPI communicator: `mpi_comm` points to an MPI_Comm, which must live longer than the result; NULL
 * is MPI_COMM_WORLD. MPI must have been started. Settings come from the environment variable PACELINE_COLLECTIVE of
 * rank 0 and from its table of measured choices. Errors, the same on all ranks: PACE_E_USAGE for a setting that cannot
 * be read, PACE_E_INPUT for a broken table, PACE_E_MEMORY, PACE_E_MISSING without shared memory where it was asked
 * for. */
PACE_COLLECTIVE_API pace_status pace_comm_open(pace_comm **out, const void *mpi_comm);

/** Collective. Frees buffers of pace_buffer_alloc() too. NULL is allowed. */
PACE_COLLECTIVE_API void pace_comm_close(pace_comm *comm);

PACE_COLLECTIVE_API int pace_comm_rank(const pace_comm *comm);
PACE_COLLECTIVE_API int pace_comm_size(const pace_comm *comm);

/*
 * The exchanges. `in` may be NULL or equal to `out`: then the result takes the place of the input. Other overlaps are
 * refused. Errors: PACE_E_USAGE for arguments that cannot be; PACE_E_IO when another rank ended or waited in vain past
 * the time-out, or arguments of ranks differ (noticed with the setting "check"); after PACE_E_IO the communicator only
 * answers with that error.
 */

/** Collective. `count` elements of every rank become their reduction, on all ranks. */
PACE_COLLECTIVE_API pace_status pace_comm_allreduce(pace_comm *comm, const void *in, void *out, size_t count,
                                                    pace_element element, pace_reduction reduction);

/** Collective. `in` has `count` elements for every rank, in rank order; a rank gets the reduction of its own. In place
 * the result stands at the start. */
PACE_COLLECTIVE_API pace_status pace_comm_reduce_scatter(pace_comm *comm, const void *in, void *out, size_t count,
                                                         pace_element element, pace_reduction reduction);

/** Collective. `out` gets `count` elements of every rank, in rank order. In place (`in` NULL) a rank's own stand there
 * already. */
PACE_COLLECTIVE_API pace_status pace_comm_all_gather(pace_comm *comm, const void *in, void *out, size_t count,
                                                     pace_element element);

/** Collective. */
PACE_COLLECTIVE_API pace_status pace_comm_broadcast(pace_comm *comm, void *buffer, size_t count, pace_element element,
                                                    int root);

/** Collective. `out` is written on the root only, and may be NULL elsewhere if `in` is not. */
PACE_COLLECTIVE_API pace_status pace_comm_reduce(pace_comm *comm, const void *in, void *out, size_t count,
                                                 pace_element element, pace_reduction reduction, int root);

/** Collective. Nobody returns before all have called it. */
PACE_COLLECTIVE_API pace_status pace_comm_barrier(pace_comm *comm);

/** Collective: memory that every rank of a host can see, which exchanges then read and write without copies. All ranks
 * ask for as many bytes. An exchange takes the short way when the buffers of all ranks lie in such memory. Aligned to a
 * page. Errors: PACE_E_MEMORY, the same on all ranks. */
PACE_COLLECTIVE_API pace_status pace_buffer_alloc(void **out, pace_comm *comm, size_t bytes);

/** Collective. */
PACE_COLLECTIVE_API void pace_buffer_free(pace_comm *comm, void *buffer);

/** What a communicator has done since it was opened. */
typedef struct {
    size_t size; /**< set by the caller: sizeof(pace_comm_counters) */
    uint64_t calls, bytes;
    uint64_t flat, staged, copied, owned, programs, passed_on; /**< calls by the way they went */
    uint64_t spins, yields, sleeps;                            /**< of waiting */
    uint64_t queries, remembered; /**< of addresses: asked of the device, answered by the pointer cache */
} pace_comm_counters;
PACE_COLLECTIVE_API void pace_comm_count(const pace_comm *comm, pace_comm_counters *out);

/*
 * Device memory. A device says which addresses are its own and copies between them and the host's; exchanges then take
 * buffers of either kind, staged through host memory. To ask a driver about an address takes as long as a small
 * exchange: the pointer cache remembers ranges of addresses. Whoever frees device memory, or lets a device take
 * addresses that were the host's, must say so with pace_comm_forget().
 */
typedef struct {
    size_t size; /**< sizeof(pace_device) */
    const char *name;
    void *context;
    /** 1: device memory, and the whole range that `at` lies in; 0: not; below 0: the device failed. */
    int (*find)(void *context, const void *at, const void **base, size_t *bytes);
    int (*to_host)(void *context, void *host, const void *device, size_t bytes);   /**< 0: done when it returns */
    int (*to_device)(void *context, void *device, const void *host, size_t bytes); /**< 0: done when it returns */
} pace_device;

/** Collective: all ranks or none use a device. `device` is copied, its context borrowed; NULL: no device any more.
 * `remember` 0 turns the pointer cache off. */
PACE_API pace_status pace_comm_set_device(pace_comm *comm, const pace_device *device, int remember);

/** Forgets what is known of the range that an address lies in; NULL: of all. */
PACE_API void pace_comm_forget(pace_comm *comm, const void *at);

/** A device to try things with: it takes `bytes` of host memory for its own, and each query and each copy as long as is
 * said. Errors: PACE_E_MEMORY. */
PACE_API pace_status pace_device_pretend(pace_device *out, void **memory, size_t bytes, double query_s, double copy_s);
PACE_API void pace_device_pretend_end(pace_device *device);

/** CUDA's devices through the driver's library (libcuda.so.1), if it is here: PACE_E_MISSING else. Never run on a GPU
 * so far. */
PACE_API pace_status pace_device_cuda(pace_device *out);

/*
 * Tensor fusion: many small vectors, such as the gradients of a network, are exchanged in few large buffers. Vectors
 * have names; ranks may add them in different orders and at different times. What names mean (count, element,
 * reduction) is compared between the ranks when a name is first seen, and remembered.
 */
typedef struct pace_fusion pace_fusion;

/** Collective. Buffers hold up to `threshold_bytes` (at least 64), in runtime-owned memory; larger vectors go alone. */
PACE_API pace_status pace_fusion_open(pace_fusion **out, pace_comm *comm, size_t threshold_bytes);

/** Collective. Vectors that were added and not exchanged are forgotten. NULL is allowed. */
PACE_API void pace_fusion_close(pace_fusion *fusion);

/** Adds a vector that is ready on this rank; it is exchanged in place and borrowed until then. Names have 1 to 63
 * characters. PACE_E_USAGE for a name that is waiting already or meant something else before. */
PACE_API pace_status pace_fusion_add(pace_fusion *fusion, const char *name, void *data, size_t count,
                                     pace_element element, pace_reduction reduction);

/** Collective. Exchanges what is ready on all ranks by now; `left` (may be NULL) gets how many of this rank's wait
 * on. */
PACE_API pace_status pace_fusion_cycle(pace_fusion *fusion, size_t *left);

/** Collective. Exchanges all; PACE_E_USAGE on all ranks, with a name, when a vector was not added on some rank. */
PACE_API pace_status pace_fusion_wait(pace_fusion *fusion);

/** What fusion has done since it was opened: vectors, the exchanges they took, and cycles that had to compare names. */
typedef struct {
    size_t size; /**< set by the caller: sizeof(pace_fusion_counters) */
    uint64_t vectors, exchanges, cycles, comparisons;
} pace_fusion_counters;
PACE_API void pace_fusion_count(const pace_fusion *fusion, pace_fusion_counters *out);

/** How a collective of so many bytes would go, as its name in the settings: "flat". Of "allreduce", "reduce_scatter",
 * … */
PACE_COLLECTIVE_API const char *pace_comm_choice(const pace_comm *comm, const char *collective, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
