#include "model/pipeline_turns.h"

uint32_t pace_pipeline_part(const pace_pipeline *p, uint32_t stage, uint32_t chunk) {
    bool back = pace_schedule_is_v(p->schedule) && chunk > 0;
    return back ? 2 * p->stages - 1 - stage : chunk * p->stages + stage;
}

uint32_t pace_pipeline_stage(const pace_pipeline *p, uint32_t part) {
    bool back = pace_schedule_is_v(p->schedule) && part >= p->stages;
    return back ? 2 * p->stages - 1 - part : part % p->stages;
}
