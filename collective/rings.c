#include "rings.h"

#include "base/memory.h"

enum { LINE = 64, MOST_SLOT = 32 << 10, LEAST_SLOT = 4 << 10 };
static const size_t most_bytes = (size_t)64 << 20;

/* How many messages were written and taken, each on a line of its own; then the slots. */
typedef struct {
    _Alignas(LINE) _Atomic uint64_t written;
    _Alignas(LINE) _Atomic uint64_t taken;
    char slots[];
} ring;

static size_t ring_bytes(size_t slot_bytes) { return sizeof(ring) + PACE_PAIR_SLOTS * slot_bytes; }

size_t pace_pair_rings_bytes(int count, size_t slot_bytes) {
    return (size_t)count * (size_t)count * PACE_PAIR_CHANNELS * ring_bytes(slot_bytes);
}

size_t pace_pair_slot_bytes(int count) {
    size_t slot = MOST_SLOT;
    while (slot > LEAST_SLOT && pace_pair_rings_bytes(count, slot) > most_bytes) slot /= 2;
    return slot;
}

pace_status pace_pair_rings_open(pace_pair_rings *out, void *memory, int me, int count, size_t slot_bytes,
                                 pace_waiter *waiter) {
    size_t numbers = (size_t)count * PACE_PAIR_CHANNELS;
    pace_pair_rings made = {memory, slot_bytes, ring_bytes(slot_bytes), me, count, NULL, NULL, waiter};
    made.sent = pace_alloc(2 * numbers, sizeof *made.sent);
    if (!made.sent) return PACE_E_MEMORY;
    made.taken = made.sent + numbers;
    *out = made;
    return PACE_OK;
}

void pace_pair_rings_close(pace_pair_rings *rings) {
    pace_free(rings->sent);
    rings->sent = NULL;
}

static ring *ring_of(const pace_pair_rings *r, int from, int to, int channel) {
    size_t number = ((size_t)from * (size_t)r->count + (size_t)to) * PACE_PAIR_CHANNELS + (size_t)channel;
    return (ring *)(void *)(r->base + number * r->ring_bytes);
}

static size_t index_of(int other, int channel) { return (size_t)other * PACE_PAIR_CHANNELS + (size_t)channel; }

char *pace_pair_room(const pace_pair_rings *r, int to, int channel) {
    ring *of = ring_of(r, r->me, to, channel);
    uint64_t next = r->sent[index_of(to, channel)];
    if (next >= PACE_PAIR_SLOTS && atomic_load_explicit(&of->taken, memory_order_acquire) <= next - PACE_PAIR_SLOTS)
        return NULL;
    return of->slots + (next % PACE_PAIR_SLOTS) * r->slot_bytes;
}

void pace_pair_send(pace_pair_rings *r, int to, int channel) {
    ring *of = ring_of(r, r->me, to, channel);
    atomic_store_explicit(&of->written, ++r->sent[index_of(to, channel)], memory_order_release);
    if (r->waiter->fence) atomic_thread_fence(memory_order_seq_cst);
    else atomic_signal_fence(memory_order_seq_cst);
    pace_wake(r->waiter, to);
}

const char *pace_pair_message(const pace_pair_rings *r, int from, int channel) {
    ring *of = ring_of(r, from, r->me, channel);
    uint64_t next = r->taken[index_of(from, channel)];
    if (atomic_load_explicit(&of->written, memory_order_acquire) <= next) return NULL;
    return of->slots + (next % PACE_PAIR_SLOTS) * r->slot_bytes;
}

void pace_pair_done(pace_pair_rings *r, int from, int channel) {
    ring *of = ring_of(r, from, r->me, channel);
    atomic_store_explicit(&of->taken, ++r->taken[index_of(from, channel)], memory_order_release);
    if (r->waiter->fence) atomic_thread_fence(memory_order_seq_cst);
    else atomic_signal_fence(memory_order_seq_cst);
    pace_wake(r->waiter, from);
}
