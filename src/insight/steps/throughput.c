#include "insight/steps/throughput.h"

#include "cost/roofline.h"
#include "insight/tables/operators.h"

pace_status pace_throughput_of(pace_throughput *out, const pace_rank *rank, const pace_typical_step *typical) {
    pace_throughput t = {0};
    double step_s = (double)pace_matrix_total(&typical->matrix) * 1e-9, flop = 0, modelled_ns = 0, all_ns = 0;
    *out = t;
    if (typical->steps == 0 || step_s <= 0) return PACE_OK;
    pace_operator_rows rows;
    PACE_TRY(pace_operators_sum_within(&rows, rank, PACE_BY_OPERATOR, typical->from_ns, typical->to_ns));
    for (size_t i = 0; i < rows.count; i++) {
        flop += rows.items[i].flop;
        modelled_ns += rows.items[i].modelled_ns;
        all_ns += (double)rows.items[i].time_ns;
    }
    PACE_VEC_FREE(&rows);
    t.steps_per_s = 1 / step_s;
    t.flop_per_step = flop;
    t.flop_per_s = t.flop_per_step / step_s;
    t.modelled_share = all_ns > 0 ? modelled_ns / all_ns : 0;
    t.element_bytes = pace_main_element_bytes(rank);
    t.peak_flop_per_s = rank->device ? pace_device_peak(rank->device, t.element_bytes) : 0;
    t.utilisation = t.peak_flop_per_s > 0 ? t.flop_per_s / t.peak_flop_per_s : 0;
    *out = t;
    return PACE_OK;
}
