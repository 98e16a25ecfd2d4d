#include "base/normal.h"

double pace_normal_reach(double tail) {
    double low = 0, high = 40;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (pace_normal_above(middle) > tail) low = middle;
        else high = middle;
    }
    return low;
}
