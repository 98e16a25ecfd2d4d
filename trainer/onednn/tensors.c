#include "net.h"

#include "base/print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNED = 4096 };

/* --- failures ----------------------------------------------------------------------------------------------------- */

void net_fail(net *n, pace_engine_result result, const char *format, ...) {
    va_list arguments;
    if (n->failed) return;
    n->failed = result;
    va_start(arguments, format);
    pace_vsnprintf(n->message, sizeof n->message, format, arguments);
    va_end(arguments);
}

void net_refuse(net *n, const node *of, const char *why) {
    net_fail(n, PACE_ENGINE_REFUSED, "layer %u, \"%.120s\" (%s): %s", of->index, n->of->names[of->index],
             of->layer->word ? of->layer->word : "input", why);
}

bool net_is_fine(net *n, const node *of, dnnl_status_t status, const char *what) {
    if (status == dnnl_out_of_memory) net_fail(n, PACE_ENGINE_MEMORY, "oneDNN: no memory");
    else if (status != dnnl_success)
        net_fail(n, PACE_ENGINE_REFUSED, "layer %u, \"%.120s\" (%s): oneDNN has no %s of this shape (status %d)",
                 of->index, n->of->names[of->index], of->layer->word ? of->layer->word : "input", what, (int)status);
    return status == dnnl_success;
}

void *net_push(net *n, void *items, size_t *count, size_t *room, size_t size) {
    if (*count == *room) {
        size_t more = *room ? 2 * *room : 8;
        void *grown = realloc(items, more * size);
        if (!grown) {
            net_fail(n, PACE_ENGINE_MEMORY, "no memory to plan the network");
            return NULL;
        }
        items = grown;
        *room = more;
    }
    memset((char *)items + *count * size, 0, size);
    ++*count;
    return items;
}

/* --- slots -------------------------------------------------------------------------------------------------------- */

static size_t slot_new(net *n, size_t bytes) {
    slot *slots = net_push(n, n->slots, &n->slot_count, &n->slot_room, sizeof *slots);
    if (!slots) return 0;
    n->slots = slots;
    slots[n->slot_count - 1] = (slot){.bytes = bytes};
    return n->slot_count - 1;
}

/* The smallest free one that is large enough, else the largest, which grows. */
static size_t slot_passing(net *n, size_t bytes) {
    size_t best = n->slot_count;
    for (size_t i = 0; i < n->slot_count; i++) {
        const slot *s = &n->slots[i];
        if (!s->of_gradients || s->users) continue;
        const slot *b = best < n->slot_count ? &n->slots[best] : NULL;
        bool fits = s->bytes >= bytes;
        if (!b || (fits ? b->bytes < bytes || s->bytes < b->bytes : b->bytes < bytes && s->bytes > b->bytes)) best = i;
    }
    if (best == n->slot_count) best = slot_new(n, bytes);
    if (n->failed) return 0;
    if (n->slots[best].bytes < bytes) n->slots[best].bytes = bytes;
    n->slots[best].of_gradients = true;
    n->slots[best].users = 1;
    return best;
}

static tensor *tensor_at(net *n, const dnnl_memory_desc_t *desc, size_t at, size_t offset) {
    tensor **tensors = n->failed ? NULL : net_push(n, n->tensors, &n->tensor_count, &n->tensor_room, sizeof *tensors);
    if (!tensors) return NULL;
    n->tensors = tensors;
    tensor *t = calloc(1, sizeof *t);
    tensors[n->tensor_count - 1] = t;
    if (!t) {
        net_fail(n, PACE_ENGINE_MEMORY, "no memory to plan the network");
        return NULL;
    }
    t->desc = *desc;
    t->slot = at;
    t->offset = offset;
    if (dnnl_memory_create(&t->memory, desc, n->engine, DNNL_MEMORY_NONE) == dnnl_success) return t;
    net_fail(n, PACE_ENGINE_FAILED, "oneDNN made no memory object");
    return NULL;
}

tensor *tensor_new(net *n, const dnnl_memory_desc_t *desc) {
    return tensor_at(n, desc, slot_new(n, dnnl_memory_desc_get_size(desc)), 0);
}

tensor *tensor_in(net *n, const dnnl_memory_desc_t *desc, const tensor *other) {
    return other ? tensor_at(n, desc, other->slot, other->offset) : NULL;
}

tensor *tensor_behind(net *n, const dnnl_memory_desc_t *desc, const tensor *other, size_t floats) {
    return other ? tensor_at(n, desc, other->slot, other->offset + floats * sizeof(float)) : NULL;
}

tensor *tensor_passing(net *n, const dnnl_memory_desc_t *desc) {
    return n->failed ? NULL : tensor_at(n, desc, slot_passing(n, dnnl_memory_desc_get_size(desc)), 0);
}

void tensor_done(net *n, const tensor *t) {
    if (t && n->slots[t->slot].users) n->slots[t->slot].users--;
}

void tensor_also(net *n, const tensor *t) {
    if (t) n->slots[t->slot].users++;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

dnnl_memory_desc_t desc_of(int rank, const size_t *dims, dnnl_format_tag_t tag) {
    dnnl_memory_desc_t desc = {0};
    dnnl_dims_t all = {0};
    for (int i = 0; i < rank; i++) all[i] = (dnnl_dim_t)dims[i];
    dnnl_memory_desc_init_by_tag(&desc, rank, all, dnnl_f32, tag);
    return desc;
}

float *tensor_floats(const net *n, const tensor *t) { return (float *)((char *)n->slots[t->slot].data + t->offset); }

size_t tensor_elements(const tensor *t) { return dnnl_memory_desc_get_size(&t->desc) / sizeof(float); }

double net_bytes(const net *n) {
    double bytes = 0;
    for (size_t i = 0; i < n->slot_count; i++) bytes += (double)n->slots[i].bytes;
    return bytes;
}

bool net_allocate(net *n) {
    for (size_t i = 0; i < n->slot_count && !n->failed; i++) {
        size_t bytes = (n->slots[i].bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
        n->slots[i].data = aligned_alloc(ALIGNED, bytes ? bytes : ALIGNED);
        if (n->slots[i].data) memset(n->slots[i].data, 0, bytes);
        else
            net_fail(n, PACE_ENGINE_MEMORY, "no memory for %.0f bytes of activations, gradients and parameters",
                     net_bytes(n));
    }
    for (size_t i = 0; i < n->tensor_count && !n->failed; i++) {
        tensor *t = n->tensors[i];
        if (dnnl_memory_set_data_handle(t->memory, tensor_floats(n, t)) != dnnl_success)
            net_fail(n, PACE_ENGINE_FAILED, "oneDNN took no memory");
    }
    return !n->failed;
}
