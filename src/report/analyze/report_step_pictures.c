/* Pictures of many steps and ranks: each step by resource, and each rank's own time in each step. */
#include "insight/steps/rank_steps.h"
#include "report/analyze/analyze_parts.h"

enum { FEWEST_STEPS = 3, MOST_BARS = 400, MOST_ROWS = 256 };

pace_status pace_put_step_bars(pace_node *root, const pace_rank *rank) {
    size_t count = rank->marks.items.count;
    if (count < FEWEST_STEPS || count > MOST_BARS || rank->tiles.count == 0) return PACE_OK;
    const char **labels = pace_alloc(count, sizeof *labels);
    int64_t *cells = pace_alloc(count * PACE_RESOURCES, sizeof *cells);
    const char *words[PACE_RESOURCES];
    pace_status status = labels && cells ? PACE_OK : PACE_E_MEMORY;
    for (int r = 0; r < PACE_RESOURCES; r++) words[r] = pace_resource_words((pace_resource)r);
    for (size_t k = 0; status == PACE_OK && k < count; k++) {
        labels[k] = pace_names_text(&rank->step.names, rank->marks.items.items[k].label);
        pace_step_by_resource(cells + k * PACE_RESOURCES, rank, k);
    }
    if (status == PACE_OK)
        pace_node_bars(root, "Each step by resource", labels, count, words, pace_resource_colors, PACE_RESOURCES,
                       cells);
    PACE_FREE((void *)labels, cells);
    return status;
}

static pace_status put_heat(pace_node *root, const pace_rank_steps *steps, const pace_analysis *analysis) {
    size_t rows = steps->rank_count < MOST_ROWS ? steps->rank_count : MOST_ROWS;
    char(*names)[PACE_RANK_NAME] = pace_alloc(rows, sizeof *names);
    const char **texts = pace_alloc(rows, sizeof *texts);
    pace_status status = names && texts ? PACE_OK : PACE_E_MEMORY;
    for (size_t r = 0; status == PACE_OK && r < rows; r++)
        texts[r] = pace_rank_name(names[r], analysis->ranks.items[r]);
    if (status == PACE_OK) {
        pace_node_heat(root, "Time of each rank in each step, without waiting for others", texts, rows, steps->labels,
                       steps->step_count, steps->own_ns);
        if (rows < steps->rank_count)
            pace_node_note(root, "The picture holds the first %zu of %zu ranks.", rows, steps->rank_count);
    }
    PACE_FREE(names, (void *)texts);
    return status;
}

pace_status pace_put_rank_heat(pace_node *root, const pace_analysis *analysis, const pace_rank *rank) {
    if (analysis->ranks.count < 2 || rank->marks.items.count == 0 || rank->marks.items.count > MOST_BARS)
        return PACE_OK;
    pace_rank_steps steps;
    PACE_TRY(pace_rank_steps_of(&steps, analysis, rank));
    pace_status status = put_heat(root, &steps, analysis);
    pace_rank_steps_free(&steps);
    return status;
}
