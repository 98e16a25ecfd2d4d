#include "base/normal.h"

#include "base/estimate.h"

double pace_normal_reach(double tail) {
    double low = 0, high = 40;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (pace_normal_above(middle) > tail) low = middle;
        else high = middle;
    }
    return low;
}

double pace_student_reach(double freedom) {
    double z = PACE_NORMAL_90, cube = z * z * z;
    return z + (cube + z) / (4 * freedom) + (5 * cube * z * z + 16 * cube + 3 * z) / (96 * freedom * freedom);
}
