#include "ask/rows/counted_steps.h"

bool pace_counts_each_step(size_t rows, pace_step_gain gain, const void *context) {
    enum { LOOKED_AT = 1000 };
    size_t more = 0, fewer = 0, count = rows < LOOKED_AT ? rows : LOOKED_AT;
    for (size_t few = 0; few < count; few++)
        for (size_t many = 0; many < count; many++) {
            double times = gain(context, few, many);
            more += times > 1.1;
            fewer += times > 0 && times <= 1.1;
        }
    return more > fewer;
}
