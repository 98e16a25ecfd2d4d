#include "forecast/gradient_parts.h"
#include "insight/matrix.h"

static double stage_s(const pace_matrix *matrix, int stage) {
    int64_t sum = 0;
    for (int r = 0; r < PACE_RESOURCES; r++) sum += matrix->cell_ns[stage][r];
    return (double)sum / 1e9;
}

void pace_gradient_stages(pace_gradient_profile *profile, const pace_rank *rank, const pace_mark *mark) {
    pace_matrix matrix = pace_matrix_of(&rank->tiles, mark->from_ns, mark->to_ns);
    profile->backward_s = stage_s(&matrix, PACE_STAGE_BACKWARD);
    profile->update_s = stage_s(&matrix, PACE_STAGE_UPDATE);
    profile->forward_s = (double)(mark->to_ns - mark->from_ns) / 1e9 - profile->backward_s - profile->update_s;
}

void pace_gradient_backward(int64_t *from_ns, int64_t *to_ns, const pace_rank *rank, const pace_mark *mark) {
    *from_ns = mark->to_ns;
    *to_ns = mark->from_ns;
    PACE_ITEMS (const pace_tile, tile, &rank->tiles) {
        if (tile->stage != PACE_STAGE_BACKWARD || tile->start_ns < mark->from_ns || pace_tile_end(tile) > mark->to_ns)
            continue;
        if (tile->start_ns < *from_ns) *from_ns = tile->start_ns;
        if (pace_tile_end(tile) > *to_ns) *to_ns = pace_tile_end(tile);
    }
}
