/* A communicator: the ranks, those of this host and what they share, and the settings. */
#pragma once

#include "board.h"
#include "kernels.h"
#include "settings.h"

#include "base/memory.h"

/* Memory of pace_buffer_alloc(): a part of the segment for each process of the host. */
typedef struct {
    pace_segment segment;
    size_t bytes; /* of one process, whole pages */
    uint32_t id;
} pace_owned;

struct pace_comm {
    MPI_Comm over;    /* the caller's */
    MPI_Comm own;     /* for messages between hosts; MPI_COMM_NULL where there is one host */
    MPI_Comm local;   /* the processes of this host; `over` where there is one host */
    MPI_Comm leaders; /* the first process of every host, on those; else MPI_COMM_NULL */
    int rank, ranks;
    int hosts;
    int me, near;       /* this process among so many of its host */
    bool crowded;       /* these have fewer processors */
    int *local_of;      /* rank -> its number on this host, or -1 */
    int *rank_of;       /* number on this host -> rank */
    int *first_of_host; /* rank -> the leader's place among leaders */
    pace_settings settings;
    pace_status broken; /* an exchange failed; nothing can follow */
    pace_segment segment;
    pace_waiter waiter;
    pace_boards boards;
    uint64_t history;   /* of all calls: the same on all ranks, or they call differently */
    size_t small_bytes; /* an allreduce of so many goes through one note, nothing to decide; 0 = none does */
    size_t room;        /* bytes of a note used at a time */
    PACE_VEC(pace_owned) owned;
    uint32_t owned_made;
    bool can_copy;                     /* process_vm_readv works */
    bool copy_pays;                    /* and takes less than two copies over a board */
    size_t parcel_bytes;               /* a message to another host goes in pieces of so many (parcels.h) */
    struct pace_view_note *view_notes; /* of each process, about the call that is under way */
    char *scratch;
    size_t scratch_bytes;
    struct pace_executor *executor; /* NULL: no way of this communicator is a program */
    pace_device device;             /* size 0: none */
    struct pace_pointers *pointers;
    struct pace_comm_trace *trace; /* NULL: nobody asked */
    pace_comm_counters counters;
};

/** At least so much memory to work in, aligned to a line; NULL with the message set. Borrowed until the next call. */
void *pace_comm_scratch(pace_comm *comm, size_t bytes) PACE_MUST_CHECK;
