#include "forecast/what_ifs.h"

const pace_what_if *const pace_what_ifs[] = {
    &pace_if_batch,      &pace_if_precision,       &pace_if_fuse,  &pace_if_fuse_tables,    &pace_if_balance_tables,
    &pace_if_scale,      &pace_if_drop_overhead,   &pace_if_graph, &pace_if_loader,         &pace_if_pinned,
    &pace_if_drop_sync,  &pace_if_fuse_update,     &pace_if_links, &pace_if_exchange_bytes, &pace_if_exchange_algorithm,
    &pace_if_bucket_cap, &pace_if_balance_experts,
};
const size_t pace_what_if_count = PACE_COUNT(pace_what_ifs);

_Static_assert(PACE_COUNT(pace_what_ifs) <= PACE_WHAT_IFS_MOST, "there is room for all");

pace_status pace_what_if_ask(pace_scenario *scenario, const pace_what_if *what_if, const char *text) {
    if (what_if->parse) return what_if->parse(scenario, text);
    if (what_if->option.type == PACE_OPTION_FLAG) return pace_scenario_put(scenario, what_if->option.name, 1);
    return pace_scenario_put_name(scenario, what_if->option.name, text, 1);
}

bool pace_what_if_is_asked(const pace_scenario *scenario, const pace_what_if *what_if) {
    return what_if->asked ? what_if->asked(scenario)
                          : pace_scenario_value_at(scenario, what_if->option.name, 0) != NULL;
}

bool pace_what_if_is_idle(const pace_what_if *what_if, const pace_forecast_edits *edits) {
    return what_if->changed && *(const size_t *)(const void *)((const char *)edits + what_if->changed) == 0;
}

bool pace_what_ifs_edit(const pace_scenario *scenario, const pace_what_if *const *what_ifs, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (what_ifs[i]->apply && pace_what_if_is_asked(scenario, what_ifs[i])) return true;
    return false;
}

static pace_status apply(pace_editing *e, const pace_what_if *what_if) {
    size_t changed = 0;
    PACE_TRY(what_if->apply(e, &changed));
    if (what_if->changed) *(size_t *)(void *)((char *)e->edits + what_if->changed) += changed;
    if (changed || !what_if->needs_change) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: %s: %s", what_if->option.name, e->ranks[0].name, what_if->idle);
}

pace_status pace_what_ifs_apply(pace_editing *editing, const pace_what_if *const *what_ifs, size_t count) {
    for (int turn = 0; turn < PACE_TURNS; turn++)
        for (size_t i = 0; i < count; i++) {
            const pace_what_if *one = what_ifs[i];
            if (one->apply && (int)one->turn == turn && pace_what_if_is_asked(editing->scenario, one))
                PACE_TRY(apply(editing, one));
        }
    return PACE_OK;
}
