/* Fused attention: two products forward, five backward, at the matrix rate; the score matrix never leaves the chip. */
#include "cost/formula.h"

bool pace_formula_attention(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where) {
    if (!(op->flop > 0) || !(where->flop_per_s > 0) || !(where->memory_bytes_per_s > 0)) return false;
    parts->fixed_s = where->figure->fixed_s;
    parts->compute_s = op->flop / (where->figure->compute * where->flop_per_s);
    parts->memory_s = (op->read_bytes + op->write_bytes) / (where->figure->memory * where->memory_bytes_per_s);
    return true;
}
