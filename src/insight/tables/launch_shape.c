#include "insight/tables/launch_shape.h"

#include "base/decimal.h"

#include <math.h>

enum { WARP = 32 };

/* "[132,1,1]": returns the place behind the line. */
static const char *read_three(double out[3], const char *at) {
    out[0] = out[1] = out[2] = 0;
    for (int i = 0; i < 3 && (*at == '[' || *at == ','); i++) {
        const char *end = pace_number_read(&out[i], at + 1);
        if (!end) break;
        at = end;
    }
    while (*at && *at != '\n') at++;
    return *at ? at + 1 : at;
}

static const char *read_one(double *out, const char *at) {
    const char *end = *at && *at != '\n' ? pace_number_read(out, at) : NULL;
    if (!end) *out = NAN;
    else at = end;
    while (*at && *at != '\n') at++;
    return *at ? at + 1 : at;
}

pace_launch_shape pace_launch_shape_read(const char *text) {
    pace_launch_shape shape;
    text = read_three(shape.grid, text);
    text = read_three(shape.block, text);
    text = read_one(&shape.occupancy, text);
    read_one(&shape.blocks_per_sm, text);
    double threads = shape.block[0] * shape.block[1] * shape.block[2];
    if (!(shape.occupancy > 0) && shape.blocks_per_sm * threads >= WARP) shape.occupancy = NAN;
    shape.occupancy = shape.occupancy >= 0 ? shape.occupancy / 100 : NAN;
    return shape;
}
