#include "ucx_carrier.h"

#include "base/print.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

/* Of a worker, on a server: the tensor's gradient and its weights. */
typedef struct {
    uint64_t at[2]; /* gradient, weights */
    ucp_rkey_h key[2];
} remote;

typedef struct {
    ucp_ep_h end;
    remote *tensors;
    size_t count;
} peer;

struct pace_ucx {
    ucp_context_h context;
    ucp_worker_h worker;
    const pace_train_tensor *tensors;
    size_t count;
    ucp_mem_h *mapped; /* gradient and weights of each tensor */
    peer *peers;
    size_t peer_count;
    char transport[PACE_UCX_TRANSPORT];
};

/* --- its life ----------------------------------------------------------------------------------------------------- */

static ucs_status_t map(ucp_mem_h *out, pace_ucx *u, float *data, size_t elements) {
    ucp_mem_map_params_t what = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                 .address = data,
                                 .length = elements * sizeof *data};
    return elements ? ucp_mem_map(u->context, &what, out) : UCS_OK;
}

static ucs_status_t start(pace_ucx *u) {
    ucp_config_t *config;
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA};
    ucp_worker_params_t one = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                               .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK) return status;
    status = ucp_init(&params, config, &u->context);
    ucp_config_release(config);
    if (status == UCS_OK) status = ucp_worker_create(u->context, &one, &u->worker);
    for (size_t i = 0; status == UCS_OK && i < u->count; i++) {
        status = map(&u->mapped[2 * i], u, u->tensors[i].gradient, u->tensors[i].elements);
        if (status == UCS_OK) status = map(&u->mapped[2 * i + 1], u, u->tensors[i].weights, u->tensors[i].elements);
    }
    return status;
}

pace_ucx *pace_ucx_open(const pace_train_tensor *tensors, size_t count, char *reason) {
    pace_ucx *u = calloc(1, sizeof *u);
    ucp_mem_h *mapped = calloc(2 * count + 1, sizeof *mapped);
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    if (u && mapped) {
        *u = (pace_ucx){.tensors = tensors, .count = tensors ? count : 0, .mapped = mapped};
        status = start(u);
        if (status == UCS_OK) return u;
    }
    pace_snprintf(reason, 128, "%s", ucs_status_string(status));
    free(mapped);
    free(u);
    return NULL;
}

static void forget_peer(peer *p) {
    for (size_t i = 0; i < p->count; i++)
        for (int k = 0; k < 2; k++)
            if (p->tensors[i].key[k]) ucp_rkey_destroy(p->tensors[i].key[k]);
    free(p->tensors);
}

void pace_ucx_close(pace_ucx *u) {
    if (!u) return;
    for (size_t i = 0; i < u->peer_count; i++) forget_peer(&u->peers[i]);
    for (size_t i = 0; i < 2 * u->count; i++)
        if (u->mapped[i]) ucp_mem_unmap(u->context, u->mapped[i]);
    ucp_worker_destroy(u->worker);
    ucp_cleanup(u->context);
    free(u->peers);
    free(u->mapped);
    free(u);
}

const char *pace_ucx_transport(const pace_ucx *u) { return u->transport; }

/* --- getting to know each other ----------------------------------------------------------------------------------- */

/* Bytes that are written or read one after another; `good` is false from the first that did not fit on. */
typedef struct {
    char *at;
    size_t left;
    bool good;
} text;

static void put(text *t, const void *bytes, size_t count) {
    t->good = t->good && count <= t->left;
    if (!t->good) return;
    memcpy(t->at, bytes, count);
    t->at += count, t->left -= count;
}

static const void *take(text *t, size_t count) {
    t->good = t->good && count <= t->left;
    if (!t->good) return NULL;
    const void *at = t->at;
    t->at += count, t->left -= count;
    return at;
}

static void put_block(text *t, const void *bytes, size_t count) {
    uint64_t length = count;
    put(t, &length, sizeof length);
    put(t, bytes, count);
}

static const void *take_block(text *t, size_t *count) {
    uint64_t length = 0;
    const void *head = take(t, sizeof length);
    if (head) memcpy(&length, head, sizeof length);
    *count = (size_t)length;
    return take(t, *count);
}

static void put_memory(text *t, const pace_ucx *u, ucp_mem_h mapped, const void *data) {
    uint64_t at = (uint64_t)(uintptr_t)data;
    void *key = NULL;
    size_t length = 0;
    put(t, &at, sizeof at);
    if (mapped && ucp_rkey_pack(u->context, mapped, &key, &length) != UCS_OK) t->good = false;
    put_block(t, key ? key : "", length);
    if (key) ucp_rkey_buffer_release(key);
}

/* A worker says how it is reached and where its tensors are, a server what UCX chose to get there. */
static long hello(void *context, int other, void *out, size_t most) {
    pace_ucx *u = context;
    ucp_address_t *address;
    size_t length;
    (void)other;
    text t = {out, most, true};
    if (!u->tensors) put(&t, u->transport, sizeof u->transport);
    if (!u->tensors || !t.good) return t.good ? (long)(most - t.left) : -1;
    if (ucp_worker_get_address(u->worker, &address, &length) != UCS_OK) return -1;
    put_block(&t, address, length);
    ucp_worker_release_address(u->worker, address);
    uint64_t count = u->count;
    put(&t, &count, sizeof count);
    for (size_t i = 0; i < u->count; i++) {
        put_memory(&t, u, u->mapped[2 * i], u->tensors[i].gradient);
        put_memory(&t, u, u->mapped[2 * i + 1], u->tensors[i].weights);
    }
    return t.good ? (long)(most - t.left) : -1;
}

static void take_memory(text *t, const peer *p, remote *r, int which) {
    size_t length;
    const void *at = take(t, sizeof r->at[which]);
    const void *key = take_block(t, &length);
    if (!t->good) return;
    memcpy(&r->at[which], at, sizeof r->at[which]);
    if (length && ucp_ep_rkey_unpack(p->end, key, &r->key[which]) != UCS_OK) t->good = false;
}

/* Names of the lanes that move memory, or where there are none of those that carry messages, out of UCX's own
 * description. */
static void add_names(char *out, size_t size, char *described, const char *purpose) {
    char *rest = NULL;
    for (char *line = strtok_r(described, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *lane = strstr(line, "lane["), *name = lane ? strchr(lane, ':') : NULL;
        char word[24] = "";
        if (!name || !strstr(line, purpose)) continue;
        while (*name && strchr(": 0123456789", *name)) name++;
        pace_snprintf(word, sizeof word, "%.*s", (int)strcspn(name, "/ "), name);
        if (strstr(out, word)) continue;
        size_t length = strlen(out);
        pace_snprintf(out + length, size - length, "%s%s", length ? ", " : "", word);
    }
}

static void find_transport(pace_ucx *u, ucp_ep_h end) {
    static const char *const purposes[] = {" rma", " am"};
    for (int k = 0; k < 2 && !u->transport[0]; k++) {
        char *described = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&described, &length);
        if (!stream) return;
        ucp_ep_print_info(end, stream);
        fclose(stream);
        add_names(u->transport, sizeof u->transport, described, purposes[k]);
        free(described);
    }
}

static peer *peer_of(pace_ucx *u, size_t number) {
    if (number < u->peer_count) return &u->peers[number];
    peer *more = realloc(u->peers, (number + 1) * sizeof *more);
    if (!more) return NULL;
    memset(more + u->peer_count, 0, (number + 1 - u->peer_count) * sizeof *more);
    u->peers = more;
    u->peer_count = number + 1;
    return &more[number];
}

static bool meet_worker(pace_ucx *u, int other, text *t) {
    size_t length;
    uint64_t count = 0;
    peer *p = peer_of(u, (size_t)other);
    const void *address = take_block(t, &length), *many = take(t, sizeof count);
    if (!p || !t->good) return false;
    memcpy(&count, many, sizeof count);
    ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
    p->tensors = count <= t->left ? calloc(count + 1, sizeof *p->tensors) : NULL;
    if (!p->tensors || ucp_ep_create(u->worker, &to, &p->end) != UCS_OK) return false;
    p->count = count;
    for (size_t i = 0; i < count && t->good; i++) {
        take_memory(t, p, &p->tensors[i], 0);
        take_memory(t, p, &p->tensors[i], 1);
    }
    find_transport(u, p->end);
    return t->good;
}

static bool meet(void *context, int other, const void *said, size_t bytes) {
    pace_ucx *u = context;
    text t = {(char *)(uintptr_t)said, bytes, true};
    if (!u->tensors) return meet_worker(u, other, &t);
    const void *transport = take(&t, sizeof u->transport);
    if (transport) memcpy(u->transport, transport, sizeof u->transport);
    return t.good;
}

/* --- moving ------------------------------------------------------------------------------------------------------- */

typedef struct {
    ucs_status_ptr_t request;
    ucp_ep_h end;
    bool puts; /* what was put is there after a flush */
} moving;

static char passive; /* the handle of a worker's moves: the server does them */

static void *begin(void *context, int other, size_t tensor, float *data, size_t elements, bool sends) {
    pace_ucx *u = context;
    ucp_request_param_t how = {0};
    if (u->tensors || elements == 0) return &passive;
    if ((size_t)other >= u->peer_count || tensor >= u->peers[other].count) return NULL;
    const peer *p = &u->peers[other];
    const remote *r = &p->tensors[tensor];
    size_t bytes = elements * sizeof *data;
    moving *m = malloc(sizeof *m);
    if (!m || !r->key[sends]) return free(m), NULL;
    *m = (moving){.end = p->end, .puts = sends};
    if (sends) m->request = ucp_put_nbx(p->end, data, bytes, r->at[1], r->key[1], &how);
    else m->request = ucp_get_nbx(p->end, data, bytes, r->at[0], r->key[0], &how);
    return m;
}

/* 1: over. The request is gone then. */
static int request_over(ucs_status_ptr_t request) {
    if (!UCS_PTR_IS_PTR(request)) return UCS_PTR_IS_ERR(request) ? -1 : 1;
    ucs_status_t status = ucp_request_check_status(request);
    if (status == UCS_INPROGRESS) return 0;
    ucp_request_free(request);
    return status == UCS_OK ? 1 : -1;
}

static int poll(void *context, void *move) {
    pace_ucx *u = context;
    moving *m = move;
    if (!move) return ucp_worker_progress(u->worker), 0;
    if (move == &passive) return 1;
    int over = request_over(m->request);
    if (over == 1 && m->puts) {
        ucp_request_param_t how = {0};
        m->puts = false;
        m->request = ucp_ep_flush_nbx(m->end, &how);
        return 0;
    }
    if (over) free(m);
    return over;
}

pace_carrier pace_ucx_carrier_of(pace_ucx *ucx) { return (pace_carrier){ucx, false, hello, meet, begin, poll}; }
