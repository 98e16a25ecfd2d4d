#include "fleet/usage_nodes.h"

#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 65536, LONGEST_NAME = 128, MOST_STEPS = 1024 };

/* "n01.cluster:9400" is n01; addresses keep their points. */
static pace_usage_text short_name(pace_usage_text text) {
    bool word = text.length && pace_is_alpha(*text.data);
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == ':' || (word && text.data[i] == '.')) text.length = i;
    return text;
}

static pace_status add_one(pace_usage_nodes *nodes, pace_names *names, pace_usage_text name,
                           const pace_usage_hold *hold) {
    pace_usage_hold one = *hold;
    name = short_name(name);
    if (name.length == 0) return PACE_OK;
    PACE_TRY(pace_names_add(&one.node, names, name.data, name.length));
    nodes->sorted = false;
    return PACE_PUSH(&nodes->holds, one);
}

/* A whole number of a range, and how many digits it is written with. */
static bool read_number(long *out, int *width, const char **at, const char *end) {
    const char *from = *at;
    for (*out = 0; *at < end && pace_is_digit(**at) && *at - from < 9; (*at)++) *out = *out * 10 + (**at - '0');
    *width = (int)(*at - from);
    return *width > 0;
}

/* A name with a range in brackets: "n", "01-03,07", "-ib". */
typedef struct {
    pace_usage_text before, behind;
    size_t left; /* of MOST_NODES */
} bracketed;

static pace_status add_range(pace_usage_nodes *nodes, pace_names *names, bracketed *b, const char **at, const char *end,
                             const pace_usage_hold *hold) {
    long first, last;
    int width, ignored;
    char name[LONGEST_NAME];
    if (!read_number(&first, &width, at, end)) {
        (*at)++;
        return PACE_OK;
    }
    last = first;
    if (*at < end && **at == '-') {
        (*at)++;
        if (!read_number(&last, &ignored, at, end)) last = first;
    }
    for (long n = first; n <= last && b->left > 0; n++, b->left--) {
        int length = pace_snprintf(name, sizeof name, "%.*s%0*ld%.*s", (int)b->before.length, b->before.data, width, n,
                                   (int)b->behind.length, b->behind.data);
        PACE_TRY(add_one(nodes, names, (pace_usage_text){name, (size_t)length}, hold));
    }
    return PACE_OK;
}

/* One element of a list: a name, or one with brackets. */
static pace_status add_element(pace_usage_nodes *nodes, pace_names *names, pace_usage_text text, size_t *left,
                               const pace_usage_hold *hold) {
    const char *open = memchr(text.data, '[', text.length), *end = text.data + text.length;
    const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    if (!close || text.length >= LONGEST_NAME / 2) return add_one(nodes, names, text, hold);
    bracketed b = {{text.data, (size_t)(open - text.data)}, {close + 1, (size_t)(end - close - 1)}, *left};
    pace_status status = PACE_OK;
    for (const char *at = open + 1; status == PACE_OK && at < close;) {
        if (*at == ',') at++;
        else status = add_range(nodes, names, &b, &at, close, hold);
    }
    *left = b.left;
    return status;
}

pace_status pace_usage_nodes_add(pace_usage_nodes *nodes, pace_names *names, pace_usage_text list,
                                 const pace_usage_hold *hold) {
    size_t from = 0, left = MOST_NODES;
    int depth = 0;
    for (size_t i = 0; i <= list.length && left > 0; i++) {
        if (i < list.length) depth += (list.data[i] == '[') - (list.data[i] == ']');
        if (i < list.length && (list.data[i] != ',' || depth > 0)) continue;
        PACE_TRY(add_element(nodes, names, (pace_usage_text){list.data + from, i - from}, &left, hold));
        from = i + 1;
        left -= left > 0;
    }
    return PACE_OK;
}

PACE_ORDER(by_node, pace_usage_hold, PACE_UP(node) PACE_UP(start_s) PACE_UP(job) PACE_UP(end_s))

/* A run that one export shows while it ran, and another one later, held its nodes up to its end. */
static bool is_earlier(const pace_usage_hold *ended, const pace_usage_hold *hold) {
    return hold->node == ended->node && hold->start_s == ended->start_s && hold->job == ended->job &&
           isinf(hold->end_s);
}

static void sort(pace_usage_nodes *nodes) {
    pace_usage_hold *holds = nodes->holds.items;
    if (nodes->holds.count) qsort(holds, nodes->holds.count, sizeof *holds, by_node);
    for (size_t i = 0; i < nodes->holds.count; i++) {
        bool same = i > 0 && holds[i - 1].node == holds[i].node;
        if (i > 0 && is_earlier(&holds[i - 1], &holds[i])) holds[i].end_s = holds[i - 1].end_s;
        holds[i].latest_s = same ? fmax(holds[i - 1].latest_s, holds[i].end_s) : holds[i].end_s;
    }
    nodes->sorted = true;
}

/* The place behind the last hold of a node that started by then. */
static size_t behind_start(const pace_usage_nodes *nodes, pace_name node, double at_s) {
    const pace_usage_hold *holds = nodes->holds.items;
    size_t low = 0;
    PACE_SEARCH(low, nodes->holds.count, i, holds[i].node < node || (holds[i].node == node && holds[i].start_s < at_s));
    return low;
}

int pace_usage_holder(pace_name *job, pace_usage_nodes *nodes, const pace_names *names, pace_name cluster,
                      pace_usage_text node, double at_s) {
    pace_name name;
    int count = 0;
    node = short_name(node);
    if (!nodes->sorted) sort(nodes);
    if (!pace_names_find(&name, names, node.data, node.length)) return 0;
    size_t i = behind_start(nodes, name, at_s), steps = 0;
    for (; i > 0 && nodes->holds.items[i - 1].node == name && nodes->holds.items[i - 1].latest_s >= at_s; i--) {
        const pace_usage_hold *one = &nodes->holds.items[i - 1];
        if (steps++ == MOST_STEPS) return 2;
        if (one->cluster != cluster || one->end_s < at_s || (count > 0 && one->job == *job)) continue;
        *job = one->job;
        if (++count == 2) return 2;
    }
    return count;
}

void pace_usage_nodes_free(pace_usage_nodes *nodes) { PACE_VEC_FREE(&nodes->holds); }
