#include "forecast/rank_batches.h"
#include "source/graphs/graph_from_step.h"

#include <math.h>

pace_status pace_rank_batches_find(pace_batch_size *out, const pace_forecast *forecast, double step_samples) {
    bool agree = true;
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        const pace_forecast_rank *rank = &forecast->ranks.items[i];
        PACE_TRY(pace_batch_size_infer(&out[i], &rank->graph, rank->steps));
        agree &= out[i].passes == out[0].passes;
    }
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        size_t passes = agree ? out[i].passes : 1;
        if (step_samples > 0) out[i] = (pace_batch_size){llround(step_samples / (double)passes), 1, "--samples", 0, 0};
        if (step_samples > 0 && out[i].samples < 1) out[i].samples = 1;
        out[i].passes = passes;
    }
    return PACE_OK;
}

pace_status pace_rank_batches_first(pace_batch_size *out, const pace_forecast *forecast, double step_samples) {
    pace_batch_size *sizes = pace_alloc(forecast->ranks.count + 1, sizeof *sizes);
    if (!sizes) return PACE_E_MEMORY;
    pace_status status = pace_rank_batches_find(sizes, forecast, step_samples);
    if (status == PACE_OK) *out = sizes[0];
    pace_free(sizes);
    return status;
}

pace_status pace_side_samples(int64_t *out, const pace_step_side *side, pace_catalog *catalog) {
    pace_graph graph;
    pace_batch_size size = {0};
    *out = 0;
    if (side->steps == 0 || side->typical.mark == SIZE_MAX) return PACE_OK;
    const pace_mark *mark = &side->rank->marks.items.items[side->typical.mark];
    const pace_rank *trace = pace_rank_trace(side->rank);
    PACE_TRY(pace_graph_from_step(&graph, catalog, &trace->step, mark->start_ns, mark->end_ns));
    pace_status status = pace_batch_size_infer(&size, &graph, 1);
    pace_graph_free(&graph);
    *out = size.samples * (int64_t)size.passes;
    return status;
}
