#include "insight/collectives.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

void pace_collectives_free(pace_collectives *collectives) {
    PACE_VEC_FREE(&collectives->items);
    PACE_VEC_FREE(&collectives->parts);
}

/* --- matching --------------------------------------------------------------------------------------------------- */

typedef struct {
    PACE_VEC(uint32_t) items; /* work items, PACE_NO_TASK once taken */
    size_t first;             /* all before are taken */
} item_list;

static const pace_work_item *item_at(const pace_rank *rank, uint32_t item) { return &rank->work.items.items[item]; }

static const char *name_of(const pace_rank *rank, uint32_t item) {
    return pace_step_name(&rank->step, item_at(rank, item)->task);
}

static pace_status list_communication(item_list *out, const pace_rank *rank) {
    for (uint32_t i = 0; i < rank->work.items.count; i++)
        if (rank->work.items.items[i].class == PACE_WORK_COMMUNICATION) PACE_TRY(PACE_PUSH(&out->items, i));
    return PACE_OK;
}

/* The next kernel of a name on another rank; ranks mostly agree on the order, so it is found near the cursor. */
static uint32_t take(item_list *list, const pace_rank *rank, const char *name) {
    while (list->first < list->items.count && list->items.items[list->first] == PACE_NO_TASK) list->first++;
    for (size_t i = list->first; i < list->items.count; i++) {
        uint32_t item = list->items.items[i];
        if (item == PACE_NO_TASK || strcmp(name_of(rank, item), name) != 0) continue;
        list->items.items[i] = PACE_NO_TASK;
        return item;
    }
    return PACE_NO_TASK;
}

static pace_status match_all(pace_collectives *out, pace_rank *const *ranks, size_t rank_count, item_list *lists) {
    for (size_t i = 0; i < lists[0].items.count; i++) {
        const char *name = name_of(ranks[0], lists[0].items.items[i]);
        size_t first = out->parts.count;
        PACE_TRY(PACE_PUSH(&out->parts, lists[0].items.items[i]));
        bool whole = true;
        for (size_t r = 1; r < rank_count; r++) {
            uint32_t item = take(&lists[r], ranks[r], name);
            whole = whole && item != PACE_NO_TASK;
            PACE_TRY(PACE_PUSH(&out->parts, item));
        }
        if (!whole) {
            out->parts.count = first;
            out->unmatched++;
            continue;
        }
        PACE_TRY(PACE_PUSH(&out->items, ((pace_collective){.name = name, .first_part = first, .bytes = -1})));
    }
    return PACE_OK;
}

/* --- clocks ------------------------------------------------------------------------------------------------------ */

/* Ranks leave a collective together: the median difference of ends is the clocks' difference. */
static pace_status align(const pace_collectives *c, pace_rank *const *ranks, size_t rank_count) {
    if (c->items.count == 0) return PACE_OK;
    int64_t *differences = pace_alloc(c->items.count, sizeof *differences);
    if (!differences) return PACE_E_MEMORY;
    for (size_t r = 1; r < rank_count; r++) {
        for (size_t i = 0; i < c->items.count; i++) {
            const uint32_t *parts = c->parts.items + c->items.items[i].first_part;
            differences[i] = item_at(ranks[0], parts[0])->end_ns - item_at(ranks[r], parts[r])->end_ns;
        }
        pace_order_ns(differences, c->items.count);
        ranks[r]->shift_ns = differences[c->items.count / 2];
    }
    pace_free(differences);
    return PACE_OK;
}

static int64_t bytes_of(const pace_rank *rank, uint32_t item) {
    uint32_t detail = rank->step.detail[item_at(rank, item)->task];
    if (detail == 0) return -1;
    const pace_exchange_info *info = &rank->step.exchanges.items[detail - 1];
    const char *dtype = pace_names_text(&rank->step.names, info->dtype);
    int64_t size = strcmp(dtype, "Float") == 0 || strcmp(dtype, "Int") == 0       ? 4
                   : strcmp(dtype, "Half") == 0 || strcmp(dtype, "BFloat16") == 0 ? 2
                   : strcmp(dtype, "Double") == 0 || strcmp(dtype, "Long") == 0   ? 8
                                                                                  : 1;
    return info->in_elements > 0 && info->in_elements < INT64_MAX / 8 ? info->in_elements * size : -1;
}

static void split(pace_collectives *c, pace_rank *const *ranks, size_t rank_count) {
    for (size_t i = 0; i < c->items.count; i++) {
        pace_collective *own = &c->items.items[i];
        const uint32_t *parts = c->parts.items + own->first_part;
        own->last_start_ns = own->end_ns = INT64_MIN;
        for (size_t r = 0; r < rank_count; r++) {
            const pace_work_item *item = item_at(ranks[r], parts[r]);
            if (item->start_ns + ranks[r]->shift_ns > own->last_start_ns) {
                own->last_start_ns = item->start_ns + ranks[r]->shift_ns;
                own->last_rank = (uint32_t)r;
            }
            if (item->end_ns + ranks[r]->shift_ns > own->end_ns) own->end_ns = item->end_ns + ranks[r]->shift_ns;
        }
        for (size_t r = 0; r < rank_count; r++) {
            pace_work_item *item = &ranks[r]->work.items.items[parts[r]];
            int64_t until = own->last_start_ns - ranks[r]->shift_ns;
            item->wait_until_ns = until > item->end_ns ? item->end_ns : until;
            own->wait_ns += item->wait_until_ns > item->start_ns ? item->wait_until_ns - item->start_ns : 0;
        }
        own->transfer_ns = own->end_ns - own->last_start_ns;
        own->bytes = bytes_of(ranks[0], parts[0]);
    }
}

pace_status pace_collectives_match(pace_collectives *out, pace_rank *const *ranks, size_t rank_count) {
    pace_collectives c = {0};
    if (rank_count < 2) {
        *out = c;
        return PACE_OK;
    }
    item_list *lists = pace_alloc(rank_count, sizeof *lists);
    pace_status status = lists ? PACE_OK : PACE_E_MEMORY;
    for (size_t r = 0; status == PACE_OK && r < rank_count; r++) status = list_communication(&lists[r], ranks[r]);
    if (status == PACE_OK) status = match_all(&c, ranks, rank_count, lists);
    if (status == PACE_OK) status = align(&c, ranks, rank_count);
    if (status == PACE_OK) split(&c, ranks, rank_count);
    for (size_t r = 0; lists && r < rank_count; r++) PACE_VEC_FREE(&lists[r].items);
    pace_free(lists);
    if (status != PACE_OK) pace_collectives_free(&c);
    else *out = c;
    return status;
}

/* --- why the last rank was late -------------------------------------------------------------------------------- */

void pace_collectives_explain(pace_collectives *c, pace_rank *const *ranks, size_t rank_count) {
    for (size_t i = 0; i < c->items.count; i++) {
        pace_collective *own = &c->items.items[i];
        int64_t since = i ? c->items.items[i - 1].end_ns : INT64_MIN / 4;
        double excess[PACE_RESOURCES] = {0};
        for (size_t r = 0; r < rank_count; r++) {
            int64_t shift = ranks[r]->shift_ns;
            pace_matrix m = pace_matrix_of(&ranks[r]->tiles, since - shift, own->last_start_ns - shift);
            double weight = r == own->last_rank ? 1 : -1.0 / (double)(rank_count - 1);
            for (int s = 0; s < PACE_STAGES; s++)
                for (int k = 0; k < PACE_RESOURCES; k++) excess[k] += weight * (double)m.cell_ns[s][k];
        }
        int most = -1;
        for (int k = 0; k < PACE_RESOURCES; k++)
            if (k != PACE_IDLE_RANK && k != PACE_EXPOSED_COMMUNICATION && excess[k] > 0 &&
                (most < 0 || excess[k] > excess[most]))
                most = k;
        own->cause = most < 0 ? NULL : pace_resource_names[most];
        own->cause_ns = most < 0 ? 0 : (int64_t)excess[most];
    }
}
