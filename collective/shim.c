/*
 * LD_PRELOAD=libpaceline_mpi.so: takes over MPI_Allreduce, MPI_Reduce, MPI_Reduce_scatter_block, MPI_Bcast,
 * MPI_Allgather and MPI_Barrier of any MPI program in C, and hands on to MPI what it does not improve.
 *
 * All ranks must decide alike whether a call is handed on. They do: what decides is the same on all ranks by the
 * rules of MPI (the communicator, the reduction, the type of what is reduced, the number of bytes), or was agreed on
 * when the communicator was met first. Types may differ between ranks where nothing is reduced, so that there only the
 * number of bytes counts; what has gaps is packed.
 */
#include "call.h"

#include "base/print.h"
#include "mpi_names.h"

#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define TAKEN __attribute__((visibility("default")))

/* --- a pace_comm for each communicator, kept as its attribute ----------------------------------------------------- */

/* What stands where a communicator is left to MPI. */
static char left_to_mpi;

static _Thread_local MPI_Comm last = MPI_COMM_NULL;
static _Thread_local pace_comm *last_comm;
static _Thread_local unsigned last_age;
static _Atomic unsigned age; /* of what threads remember: raised when a communicator is freed */
static _Atomic int key = MPI_KEYVAL_INVALID;

static int forget(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    atomic_fetch_add(&age, 1);
    if (value != &left_to_mpi) pace_comm_close(value);
    return MPI_SUCCESS;
}

/* Once for all communicators in a row that have the same fault: a setting's. */
static void complain(const char *what) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static char said[256];
    char text[sizeof said];
    pace_snprintf(text, sizeof text, "%s", what);
    pthread_mutex_lock(&mutex);
    bool known = strcmp(text, said) == 0;
    memcpy(said, text, sizeof said);
    pthread_mutex_unlock(&mutex);
    if (known) return;
    fprintf(stderr, "libpaceline_mpi: %s; MPI does this communicator's exchanges\n", what);
}

static int is_driver(struct dl_phdr_info *info, size_t size, void *context) {
    static const char *const drivers[] = {"/libcuda.so", "/libamdhip64.so", "/libze_loader.so"};
    (void)size, (void)context;
    for (size_t i = 0; i < PACE_COUNT(drivers); i++)
        if (info->dlpi_name && strstr(info->dlpi_name, drivers[i])) return 1;
    return 0;
}

/* Collective. A program with a device's driver may hand over memory that the host cannot read. */
static bool has_driver(MPI_Comm comm) {
    int mine = dl_iterate_phdr(is_driver, NULL), any = 0;
    PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
    return any;
}

/* Collective, in the first exchange of a communicator that may be taken over. */
static void *meet(MPI_Comm comm) {
    int between = 0, ranks = 0, rank = 0;
    pace_comm *made = NULL;
    PMPI_Comm_test_inter(comm, &between);
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &rank);
    if (between || ranks < 2) return &left_to_mpi;
    if (has_driver(comm)) {
        if (rank == 0) complain("a device's driver is loaded, and its memory is not told from the host's here");
        return &left_to_mpi;
    }
    if (pace_comm_open(&made, &comm) != PACE_OK) {
        if (rank == 0) complain(pace_comm_message());
        return &left_to_mpi;
    }
    if (!made->settings.off) return made;
    pace_comm_close(made);
    return &left_to_mpi;
}

static void make_key(void) {
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&busy)) pace_relax();
    int made = MPI_KEYVAL_INVALID;
    if (key == MPI_KEYVAL_INVALID && PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, NULL) == MPI_SUCCESS)
        key = made;
    atomic_flag_clear(&busy);
}

static pace_comm *find(MPI_Comm comm) {
    int found = 0;
    void *value = NULL;
    if (comm == MPI_COMM_NULL) return NULL;
    if (key == MPI_KEYVAL_INVALID) make_key();
    PMPI_Comm_get_attr(comm, key, &value, &found);
    if (!found) {
        value = meet(comm);
        PMPI_Comm_set_attr(comm, key, value);
    }
    last = comm;
    last_comm = value == &left_to_mpi ? NULL : value;
    last_age = atomic_load(&age);
    return last_comm;
}

/* NULL: MPI does it. */
static inline pace_comm *of(MPI_Comm comm) {
    if (comm == last && last_age == atomic_load_explicit(&age, memory_order_relaxed)) return last_comm;
    return find(comm);
}

/* Whether a collective of so many bytes is left to MPI. One whose communicator failed before is not: others may not
 * have failed yet, and would never come to MPI's. */
static bool handed_on(pace_comm *c, int collective, size_t bytes) {
    bool on = bytes > INT_MAX || pace_settings_way(&c->settings, collective, bytes) == PACE_WAY_MPI;
    c->counters.passed_on += on;
    return on;
}

/* Where calls are checked, the others hear of a call that this rank leaves to MPI, or refuses: they may wait for it. */
static pace_status tell(pace_comm *c, int collective, size_t bytes, int how, int root) {
    const pace_call call = {.collective = collective, .count = bytes, .element = (pace_element)how, .root = root};
    return c && c->settings.check ? pace_call_tell(c, &call) : PACE_OK;
}

/* MPI's error handler decides; the usual one ends the program. */
static int fail(MPI_Comm comm, int class, const char *why) {
    fprintf(stderr, "libpaceline_mpi: %s\n", why);
    PMPI_Comm_call_errhandler(comm, class);
    return class;
}

/* The reason comes before what the others make of it. */
static int refuse(pace_comm *c, MPI_Comm comm, int collective, int class, const char *why) {
    fprintf(stderr, "libpaceline_mpi: %s\n", why);
    (void)!tell(c, collective, 0, PACE_CALL_REFUSED, 0);
    PMPI_Comm_call_errhandler(comm, class);
    return class;
}

static int result(pace_comm *c, MPI_Comm comm, int collective, pace_status status) {
    if (status == PACE_OK) return MPI_SUCCESS;
    if (status == PACE_E_USAGE) return refuse(c, comm, collective, MPI_ERR_BUFFER, pace_comm_message());
    return fail(comm, status == PACE_E_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_OTHER, pace_comm_message());
}

static const void *place(const void *in) { return in == MPI_IN_PLACE ? NULL : in; }

/* Without this NULL would be MPI_IN_PLACE to a pace_comm. */
static bool lacks(const void *in, const void *out, size_t count) {
    return count && (!in || !out || out == MPI_IN_PLACE);
}

static int refuse_buffers(pace_comm *c, MPI_Comm comm, int collective) {
    return refuse(c, comm, collective, MPI_ERR_BUFFER, "no buffer was given, or MPI_IN_PLACE where it has no meaning");
}

/* Bytes of so many elements; false where MPI will say what is wrong. */
static bool bytes_of(size_t *bytes, int count, MPI_Datatype type) {
    int size = 0;
    if (count < 0 || type == MPI_DATATYPE_NULL) return false;
    if (PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0) return false;
    *bytes = (size_t)count * (size_t)size;
    return true;
}

/* Before MPI does it. */
static int leave(pace_comm *c, MPI_Comm comm, int collective, int count, MPI_Datatype type, int root) {
    size_t bytes;
    if (!c || !c->settings.check) return MPI_SUCCESS;
    if (!bytes_of(&bytes, count, type)) bytes = SIZE_MAX;
    return result(c, comm, collective, tell(c, collective, bytes, PACE_CALL_BY_MPI, root));
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

TAKEN int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    pace_element element;
    pace_reduction reduction;
    pace_comm *c = of(comm);
    bool known = count >= 0 && pace_element_of(&element, type) && pace_reduction_of(&reduction, op);
    if (!c || !known || handed_on(c, PACE_ALLREDUCE, (size_t)count * pace_element_bytes(element))) {
        int error = leave(c, comm, PACE_ALLREDUCE, count, type, 0);
        return error != MPI_SUCCESS ? error : PMPI_Allreduce(in, out, count, type, op, comm);
    }
    if (lacks(in, out, (size_t)count)) return refuse_buffers(c, comm, PACE_ALLREDUCE);
    return result(c, comm, PACE_ALLREDUCE, pace_comm_allreduce(c, place(in), out, (size_t)count, element, reduction));
}

TAKEN int MPI_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    pace_element element;
    pace_reduction reduction;
    pace_comm *c = of(comm);
    bool known = count >= 0 && pace_element_of(&element, type) && pace_reduction_of(&reduction, op);
    if (!c || !known || root < 0 || root >= c->ranks ||
        handed_on(c, PACE_REDUCE, (size_t)count * pace_element_bytes(element))) {
        int error = leave(c, comm, PACE_REDUCE, count, type, root);
        return error != MPI_SUCCESS ? error : PMPI_Reduce(in, out, count, type, op, root, comm);
    }
    void *to = c->rank == root ? out : NULL;
    if (lacks(in, c->rank == root ? out : in, (size_t)count)) return refuse_buffers(c, comm, PACE_REDUCE);
    return result(c, comm, PACE_REDUCE, pace_comm_reduce(c, place(in), to, (size_t)count, element, reduction, root));
}

TAKEN int MPI_Reduce_scatter_block(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    pace_element element;
    pace_reduction reduction;
    pace_comm *c = of(comm);
    bool known = count >= 0 && pace_element_of(&element, type) && pace_reduction_of(&reduction, op);
    if (!c || !known ||
        handed_on(c, PACE_REDUCESCATTER, (size_t)count * pace_element_bytes(element) * (size_t)c->ranks)) {
        int error = leave(c, comm, PACE_REDUCESCATTER, count, type, 0);
        return error != MPI_SUCCESS ? error : PMPI_Reduce_scatter_block(in, out, count, type, op, comm);
    }
    if (lacks(in, out, (size_t)count)) return refuse_buffers(c, comm, PACE_REDUCESCATTER);
    return result(c, comm, PACE_REDUCESCATTER,
                  pace_comm_reduce_scatter(c, place(in), out, (size_t)count, element, reduction));
}

/* --- what only moves ---------------------------------------------------------------------------------------------- */

static int pack(MPI_Comm comm, const void *from, int count, MPI_Datatype type, char *to, size_t bytes) {
    int at = 0;
    return PMPI_Pack(from, count, type, to, (int)bytes, &at, comm);
}

static int unpack(MPI_Comm comm, const char *from, size_t bytes, void *to, int count, MPI_Datatype type) {
    int at = 0;
    return PMPI_Unpack(from, (int)bytes, &at, to, count, type, comm);
}

/* What MPI cannot pack or unpack it says itself; the other ranks get their exchange all the same. */
static int broadcast_packed(pace_comm *c, MPI_Comm comm, void *buffer, int count, MPI_Datatype type, int root,
                            size_t bytes) {
    char *room = pace_alloc(bytes, 1);
    if (!room) return refuse(c, comm, PACE_BROADCAST, MPI_ERR_NO_MEM, pace_comm_message());
    int error = c->rank == root ? pack(comm, buffer, count, type, room, bytes) : MPI_SUCCESS;
    int moved = result(c, comm, PACE_BROADCAST, pace_comm_broadcast(c, room, bytes / 2, PACE_ELEMENT_F16, root));
    if (moved == MPI_SUCCESS && c->rank != root) error = unpack(comm, room, bytes, buffer, count, type);
    pace_free(room);
    return error != MPI_SUCCESS ? error : moved;
}

/* Bytes are moved as elements of two; odd numbers of them are left to MPI. */
TAKEN int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    size_t bytes = 0;
    pace_comm *c = of(comm);
    bool even = bytes_of(&bytes, count, type) && bytes % 2 == 0;
    if (!c || !even || root < 0 || root >= c->ranks || handed_on(c, PACE_BROADCAST, bytes)) {
        int error = leave(c, comm, PACE_BROADCAST, count, type, root);
        return error != MPI_SUCCESS ? error : PMPI_Bcast(buffer, count, type, root, comm);
    }
    if (bytes && !pace_is_plain(type)) return broadcast_packed(c, comm, buffer, count, type, root, bytes);
    if (lacks(buffer, buffer, bytes)) return refuse_buffers(c, comm, PACE_BROADCAST);
    return result(c, comm, PACE_BROADCAST, pace_comm_broadcast(c, buffer, bytes / 2, PACE_ELEMENT_F16, root));
}

/* With gaps on either side: packed, gathered, unpacked. */
static int gather_packed(pace_comm *c, MPI_Comm comm, const void *in, int in_count, MPI_Datatype in_type, void *out,
                         int out_count, MPI_Datatype out_type, size_t bytes) {
    char *room = pace_alloc((size_t)c->ranks, bytes), *own = room ? room + (size_t)c->rank * bytes : NULL;
    MPI_Aint low, extent;
    if (!room) return refuse(c, comm, PACE_ALLGATHER, MPI_ERR_NO_MEM, pace_comm_message());
    PMPI_Type_get_extent(out_type, &low, &extent);
    char *mine = (char *)out + (MPI_Aint)c->rank * out_count * extent;
    int error = in == MPI_IN_PLACE ? pack(comm, mine, out_count, out_type, own, bytes)
                                   : pack(comm, in, in_count, in_type, own, bytes);
    int moved = result(c, comm, PACE_ALLGATHER, pace_comm_all_gather(c, NULL, room, bytes / 2, PACE_ELEMENT_F16));
    for (int r = 0; r < c->ranks && error == MPI_SUCCESS && moved == MPI_SUCCESS; r++)
        error = unpack(comm, room + (size_t)r * bytes, bytes, (char *)out + (MPI_Aint)r * out_count * extent, out_count,
                       out_type);
    pace_free(room);
    return error != MPI_SUCCESS ? error : moved;
}

TAKEN int MPI_Allgather(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count,
                        MPI_Datatype out_type, MPI_Comm comm) {
    size_t bytes = 0, given = 0;
    pace_comm *c = of(comm);
    bool even = bytes_of(&bytes, out_count, out_type) && bytes % 2 == 0;
    if (!c || !even || handed_on(c, PACE_ALLGATHER, bytes * (size_t)c->ranks)) {
        int error = leave(c, comm, PACE_ALLGATHER, out_count, out_type, 0);
        return error != MPI_SUCCESS ? error : PMPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm);
    }
    if (in != MPI_IN_PLACE && (!bytes_of(&given, in_count, in_type) || given != bytes))
        return refuse(c, comm, PACE_ALLGATHER, MPI_ERR_TRUNCATE,
                      "MPI_Allgather gives other bytes than it takes of each rank");
    if (bytes && (!pace_is_plain(out_type) || (in != MPI_IN_PLACE && !pace_is_plain(in_type))))
        return gather_packed(c, comm, in, in_count, in_type, out, out_count, out_type, bytes);
    if (lacks(in, out, bytes)) return refuse_buffers(c, comm, PACE_ALLGATHER);
    return result(c, comm, PACE_ALLGATHER, pace_comm_all_gather(c, place(in), out, bytes / 2, PACE_ELEMENT_F16));
}

TAKEN int MPI_Barrier(MPI_Comm comm) {
    pace_comm *c = of(comm);
    if (!c || handed_on(c, PACE_BARRIER, 0)) {
        int error = leave(c, comm, PACE_BARRIER, 0, MPI_BYTE, 0);
        return error != MPI_SUCCESS ? error : PMPI_Barrier(comm);
    }
    return result(c, comm, PACE_BARRIER, pace_comm_barrier(c));
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* MPI_COMM_WORLD is never freed: its attribute is. */
TAKEN int MPI_Finalize(void) {
    if (key != MPI_KEYVAL_INVALID) {
        int found = 0, freed = key;
        void *value;
        PMPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
        if (found) PMPI_Comm_delete_attr(MPI_COMM_WORLD, key);
        PMPI_Comm_free_keyval(&freed);
    }
    return PMPI_Finalize();
}
