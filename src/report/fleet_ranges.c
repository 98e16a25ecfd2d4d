/* Figures of a fleet with what bounds them. */
#include "report/fleet_parts.h"

#include <math.h>

static double part_of(double part, double whole) { return whole > 0 ? part / whole : NAN; }

pace_fleet_range pace_fleet_factor(const pace_sum *sum, const pace_sum *error, double weight) {
    double value = pace_sum_value(sum), middle = part_of(value, weight);
    double factor = value > 0 ? exp(PACE_NORMAL_90 * pace_sum_value(error) / value) : 1;
    return (pace_fleet_range){middle, middle / factor, middle * factor};
}

pace_fleet_range pace_fleet_share_range(const pace_sum *sum, const pace_sum *error, double weight) {
    double middle = part_of(pace_sum_value(sum), weight);
    double off = PACE_NORMAL_90 * part_of(pace_sum_value(error), weight);
    return (pace_fleet_range){middle, fmax(middle - off, fmin(middle, 0)), fmin(middle + off, fmax(middle, 1))};
}

pace_fleet_range pace_fleet_saved(double before, pace_fleet_range after) {
    return (pace_fleet_range){part_of(before - after.middle, before), part_of(before - after.high, before),
                              part_of(before - after.low, before)};
}

void pace_table_bounds(pace_node *table, pace_fleet_range range) {
    pace_table_real(table, range.low);
    pace_table_real(table, range.high);
}

void pace_table_range(pace_node *table, pace_fleet_range range) {
    pace_table_real(table, range.middle);
    pace_table_bounds(table, range);
}
