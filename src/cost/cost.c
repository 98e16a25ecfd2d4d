#include "cost/cost.h"

#include "cost/formula.h"
#include "cost/quantise.h"
#include "cost/roofline.h"
#include "cost/timed_ops.h"
#include "step/op_edit.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct pace_cost {
    pace_cost_figures figures;
    pace_doubts doubts;
    PACE_VEC(pace_fit_model) fits;
    const pace_cost *lender; /* whose fits answer; NULL = its own */
    atomic_bool *told;       /* whether a fit has answered */
    pace_timed_ops timed;
};

pace_status pace_cost_create(pace_cost **out, pace_catalog *catalog) {
    pace_cost *cost = pace_alloc(1, sizeof *cost);
    if (!cost) return PACE_E_MEMORY;
    pace_status status = PACE_MAKE(cost->told, 1) ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = pace_cost_figures_load(&cost->figures, catalog);
    if (status == PACE_OK) status = pace_doubts_load(&cost->doubts, catalog);
    return PACE_GIVE(out, cost, status, pace_cost_free(cost));
}

void pace_cost_free(pace_cost *cost) {
    if (!cost) return;
    PACE_VEC_FREE_EACH(&cost->fits, pace_fit_free);
    pace_timed_ops_free(&cost->timed);
    pace_cost_figures_free(&cost->figures);
    pace_free(cost->told);
    pace_free(cost);
}

const pace_doubts *pace_cost_doubts(const pace_cost *cost) { return &cost->doubts; }

uint64_t pace_cost_mark(const pace_cost *cost) { return pace_cost_figures_mark(&cost->figures); }

pace_status pace_cost_add_fit(pace_cost *cost, pace_fit_model *fit) {
    if (fit->figures != pace_cost_mark(cost)) {
        pace_fit_free(fit);
        return pace_fail(PACE_E_INPUT, "a fit made with other figures of formulas: fit again");
    }
    pace_status status = PACE_KEEP(&cost->fits, *fit, pace_fit_free(fit));
    *fit = (pace_fit_model){0};
    return status;
}

void pace_cost_borrow_fits(pace_cost *cost, const pace_cost *lender) { cost->lender = lender; }

static const pace_cost *fitted(const pace_cost *cost) { return cost->lender ? cost->lender : cost; }

bool pace_cost_knows_packed(const pace_cost *cost) {
    pace_op packed = {.family = PACE_OP_GEMM};
    memcpy(packed.kind, pace_packed_weights, strlen(pace_packed_weights));
    PACE_ITEMS (const pace_fit_model, fit, &fitted(cost)->fits)
        if (pace_fit_knows_kind(fit, &packed)) return true;
    return false;
}

bool pace_cost_fits_told(const pace_cost *cost) { return atomic_load(fitted(cost)->told); }

/* The peak bandwidth or vector rate of a usual device that sustains as much; a share of it is never above the real one.
 */
static double equivalent(double rate, double most) { return rate < most ? rate : most; }

/* What was measured in this precision, else in one of the same peak, as FP16 and BF16 have it; 0 = nothing was. */
static double measured_rate(const pace_device *device, pace_precision precision) {
    const double *measured = device->achievable_flop_per_s, *peak = device->flop_per_s;
    if ((unsigned)precision >= PACE_PRECISIONS || !(peak[precision] > 0)) return 0;
    if (measured[precision] > 0) return measured[precision];
    for (int p = 0; p < PACE_PRECISIONS; p++)
        if (measured[p] > 0 && peak[p] == peak[precision]) return measured[p];
    return 0;
}

/* Boards with power to spare keep a higher clock than the data sheet's: more was measured than the usual share. */
static double higher_clock(const pace_device *device, pace_precision precision, double rate, double share) {
    double measured = device->generation > 0 ? measured_rate(device, precision) : 0;
    return fmax(rate, measured / fmax(share, pace_usual_compute));
}

/* AMD's matrix units multiply in full single precision, and its libraries use them. */
static double rate_of(const pace_device *device, const pace_op *op, const pace_cost_figure *figure) {
    bool matrix = op->family == PACE_OP_GEMM || op->family == PACE_OP_ATTENTION;
    matrix &= op->precision == PACE_FP32 && device->flop_per_s[PACE_FP32_MATRIX] > 0;
    pace_precision precision = matrix ? PACE_FP32_MATRIX : op->precision;
    double rate = matrix ? device->flop_per_s[precision] : pace_device_rate(device, precision);
    double own = figure->own ? measured_rate(device, precision) : 0;
    if (own > 0) return own / figure->compute;
    if (precision != PACE_FP32 || device->is_cpu) return higher_clock(device, precision, rate, figure->compute);
    return equivalent(pace_device_sustained_flop_per_s(device, PACE_FP32) / pace_usual_compute, rate);
}

/* As products in single precision, and as much slower as their operands take to convert. */
static double emulated_rate(const pace_device *device, const pace_cost_emulated *how) {
    double single = pace_device_sustained_flop_per_s(device, PACE_FP32) / pace_usual_compute;
    return how->share * equivalent(single, device->flop_per_s[PACE_FP32]);
}

/* How much slower products are at the clock that a part of little power keeps up, against `rate`. Convolutional
 * networks are not held back: between their products much streams (ResNet-50 of MLPerf on L4 and A30). */
static double held_back(const pace_device *device, const pace_op *op, double rate) {
    bool product = op->family == PACE_OP_GEMM || op->family == PACE_OP_ATTENTION;
    double peak = pace_device_rate(device, op->precision);
    if (!product || !(device->sustained_hz > 0) || !(peak > 0)) return 1;
    double times = rate / (peak * device->sustained_hz / device->boost_hz);
    return times > 1 ? times : 1;
}

/* The limit of power acts on what goes on: a short kernel alone ends before the clock falls. */
static void hold_back(pace_cost_parts *parts, double times, double reaction_s) {
    parts->held_more = 1;
    if (times == 1) return;
    double whole_s = parts->compute_s * times, share = whole_s / (whole_s + reaction_s);
    double now = 1 + (times - 1) * share;
    parts->compute_s *= now;
    parts->held_more = times / now;
}

/* MIOpen, AMD's library of convolutions, has no TF32. */
pace_precision pace_cost_precision(const pace_device *device, pace_op_family family, pace_precision precision) {
    if (pace_device_widens_half(device, precision)) return PACE_FP32;
    bool without = family == PACE_OP_CONVOLUTION && strcmp(device->vendor, "AMD") == 0;
    without |= !(device->flop_per_s[PACE_TF32] > 0);
    return precision == PACE_TF32 && without ? PACE_FP32 : precision;
}

static pace_op in_precision(const pace_device *device, pace_op op) {
    op.precision = pace_cost_precision(device, op.family, op.precision);
    return op;
}

static pace_op done_as(const pace_device *device, const pace_op *op) {
    return in_precision(device, pace_op_plain_product(op));
}

static const pace_cost_figure *parts_of(pace_cost_parts *parts, const pace_cost *cost, const pace_device *device,
                                        const pace_op *op) {
    pace_formula formula = pace_formula_of(op->family);
    const pace_cost_figure *figure = pace_cost_figures_of(&cost->figures, op, device);
    if (!formula || !figure) return NULL;
    const pace_cost_emulated *emulated = pace_cost_emulated_of(&cost->figures, op, device);
    double memory = equivalent(pace_device_sustained_bytes_per_s(device) / pace_usual_memory,
                               device->memory_bytes_per_s / figure->memory);
    double l2 = device->l2_bytes_per_s > 0 ? device->l2_bytes_per_s : memory * cost->figures.l2_over_memory;
    double depthwise = cost->figures.depthwise_clock_flop[op->element_bytes == 2];
    pace_cost_where where = {.device = device,
                             .figure = figure,
                             .flop_per_s = emulated ? emulated_rate(device, emulated) : rate_of(device, op, figure),
                             .product_share = pace_usual_compute,
                             .memory_bytes_per_s = memory,
                             .l2_bytes_per_s = l2,
                             .depthwise_flop_per_s = depthwise * device->sm_count * device->boost_hz};
    *parts = (pace_cost_parts){0};
    if (!formula(parts, op, &where)) return NULL;
    hold_back(parts, held_back(device, op, where.flop_per_s), cost->figures.power_reaction_s);
    parts->fixed_s += pace_quantise_s(op, &cost->figures.quantise, device);
    return figure;
}

/* Returns the figure the parts are of; NULL when there is no formula for them. Where a convolution may be in TF32 the
 * library has its kernels of single precision still, and chooses the faster. */
static const pace_cost_figure *formula_parts(pace_cost_parts *parts, const pace_cost *cost, const pace_device *device,
                                             const pace_op *asked) {
    pace_precision precision = pace_cost_precision(device, asked->family, asked->precision);
    bool plain = asked->family != PACE_OP_GEMM || asked->pass == PACE_PASS_FORWARD;
    if (plain && precision == asked->precision && precision != PACE_TF32) return parts_of(parts, cost, device, asked);
    pace_op done = done_as(device, asked);
    pace_cost_parts single;
    const pace_cost_figure *figure = parts_of(parts, cost, device, &done);
    if (!figure || done.family != PACE_OP_CONVOLUTION || done.precision != PACE_TF32) return figure;
    done.precision = PACE_FP32;
    const pace_cost_figure *other = parts_of(&single, cost, device, &done);
    if (!other || pace_cost_parts_s(&single) >= pace_cost_parts_s(parts)) return figure;
    *parts = single;
    return other;
}

static bool by_formula(pace_estimate *out, const pace_cost *cost, const pace_device *device, const pace_op *op) {
    pace_cost_parts parts;
    const pace_cost_figure *figure = formula_parts(&parts, cost, device, op);
    if (!figure) return false;
    const pace_cost_emulated *emulated = pace_cost_emulated_of(&cost->figures, op, device);
    double spread = emulated ? hypot(figure->spread, emulated->spread) : figure->spread;
    *out = (pace_estimate){pace_cost_parts_s(&parts), spread, PACE_RUNG_FORMULA, 0};
    return out->median > 0;
}

/* How much longer an operation takes under load, whatever rung says how long it takes alone: only its arithmetic does.
 */
static double stretch(const pace_cost *cost, const pace_device *device, const pace_op *op) {
    double load = pace_cost_figures_load_of(&cost->figures, op, device);
    pace_cost_parts parts;
    bool waits = pace_convolution_depthwise(op, device); /* for values, whatever the clock's power */
    if (waits || (load == 1 && !(device->sustained_hz > 0))) return 1;
    if (!formula_parts(&parts, cost, device, op)) return 1;
    double alone_s = pace_cost_parts_s(&parts);
    parts.compute_s *= load * parts.held_more;
    return pace_cost_parts_s(&parts) / alone_s;
}

bool pace_cost_emulates(const pace_cost *cost, const pace_device *device, const pace_op *op) {
    return pace_cost_emulated_of(&cost->figures, op, device) != NULL;
}

double pace_cost_start_share(const pace_cost *cost, const pace_device *device, const pace_op *op) {
    pace_cost_parts parts;
    return formula_parts(&parts, cost, device, op) ? parts.fixed_s / pace_cost_parts_s(&parts) : 0;
}

/* The roofline is a bound from below. A few operations in a precision that a device has no rate for, and that move
 * nothing, take at least what they would in half precision. */
static bool by_roofline(pace_estimate *out, const pace_cost *cost, const pace_device *device, const pace_op *op) {
    enum { HALF_BYTES = 2 };
    pace_op_amount amount = {op->flop, op->read_bytes + op->write_bytes, op->element_bytes, op->family};
    double bound = pace_roofline_s(device, &amount);
    if (!(bound > 0)) {
        amount.element_bytes = HALF_BYTES;
        bound = pace_roofline_s(device, &amount);
    }
    *out = (pace_estimate){bound / cost->figures.roofline.share, cost->figures.roofline.spread, PACE_RUNG_ROOFLINE, 0};
    return bound > 0;
}

static bool is_block_scaled(const pace_op *op) {
    return op->family == PACE_OP_GEMM && strcmp(op->kind, pace_block_scaled) == 0;
}

/* What a fit is asked of an operation: where none of its rows quantises, scales blocks or is of such a gradient, the
 * product alone; where none says how images lie, the convolution in whatever layout was measured. */
static pace_op asked_of(bool *apart, const pace_fit_model *fit, const pace_device *device, const pace_op *op) {
    bool known = pace_fit_knows_kind(fit, op);
    *apart = pace_quantises(op) && !known;
    pace_op asked = *apart ? pace_quantised_alone(op) : known ? in_precision(device, *op) : done_as(device, op);
    if ((op->family == PACE_OP_CONVOLUTION || is_block_scaled(op)) && !known) asked.kind[0] = '\0';
    return asked;
}

/* The catalogue's figures do not say what products take in a precision that the device has no rate for. */
static bool by_figures(pace_estimate *out, const pace_cost *cost, const pace_device *device, const pace_op *op) {
    if (pace_op_is_matrix(op->family) && !(pace_device_rate(device, op->precision) > 0)) return false;
    return by_formula(out, cost, device, op) || by_roofline(out, cost, device, op);
}

/* What a fit carries on: what the ladder says without it; NAN = nothing. */
static double figures_s(const pace_cost *cost, const pace_device *device, const pace_op *op) {
    pace_estimate known;
    return by_figures(&known, cost, device, op) ? fmax(known.median, pace_cost_least_s(cost, device, op)) : NAN;
}

static bool by_fit(pace_estimate *out, const pace_cost *cost, const pace_device *device, const pace_op *op,
                   const char *source) {
    const pace_cost *by = fitted(cost);
    for (size_t i = by->fits.count; i-- > 0;) {
        bool apart;
        const pace_fit_model *fit = &by->fits.items[i];
        pace_op asked = asked_of(&apart, fit, device, op);
        double formula_s = figures_s(cost, device, &asked);
        if (!pace_fit_time(out, fit, &asked, device, source, formula_s, &cost->doubts)) continue;
        if (apart) out->median += pace_quantise_s(op, &cost->figures.quantise, device);
        atomic_store_explicit(by->told, true, memory_order_relaxed);
        return true;
    }
    return false;
}

const char *pace_cost_beyond(const pace_cost *cost, const pace_device *device, const pace_op *op, const char *source) {
    const pace_cost *by = fitted(cost);
    for (size_t i = by->fits.count; i-- > 0;) {
        bool apart;
        const char *beyond;
        pace_op asked = asked_of(&apart, &by->fits.items[i], device, op);
        if (pace_fit_beyond(&beyond, &by->fits.items[i], &asked, device, source)) return beyond;
    }
    return NULL;
}

double pace_cost_part_spread(const pace_cost *cost, const pace_device *device, pace_rung rung) {
    return device->is_part && rung >= PACE_RUNG_FORMULA ? cost->doubts.figure[PACE_DOUBT_DEVICE_PART] : 0;
}

double pace_cost_least_flop_s(const pace_cost *cost, const pace_device *device, const pace_op *op) {
    return pace_roofline_least_flop_s(device, op, cost->figures.clock_headroom);
}

double pace_cost_least_s(const pace_cost *cost, const pace_device *device, const pace_op *op) {
    return pace_roofline_least_s(device, op, cost->figures.clock_headroom);
}

pace_status pace_cost_op_from(pace_estimate *out_s, const pace_cost *cost, const pace_device *device, const pace_op *op,
                              const char *source) {
    pace_estimate estimate;
    if (!by_fit(&estimate, cost, device, op, source) && !by_figures(&estimate, cost, device, op)) {
        if (pace_op_is_matrix(op->family)) PACE_TRY(pace_device_check_precision(device, op->precision));
        return pace_fail(PACE_E_INPUT, "no time for an operation of family %s on %s: expected flop or bytes and rates",
                         pace_op_family_name(op->family), device->name);
    }
    if (is_block_scaled(op)) estimate.median *= cost->figures.block_scaled;
    double part = pace_cost_part_spread(cost, device, estimate.rung);
    if (part > 0) estimate.spread = hypot(estimate.spread, part);
    estimate.least = pace_cost_least_s(cost, device, op);
    if (estimate.median < estimate.least) estimate.median = estimate.least;
    *out_s = estimate;
    return PACE_OK;
}

pace_status pace_cost_op(pace_estimate *out_s, const pace_cost *cost, const pace_device *device, const pace_op *op) {
    return pace_cost_op_from(out_s, cost, device, op, "");
}

/* What a recording says of the operation, or of the one most like it. A small kernel says how long a device takes to
 * start one, a large one at which rate it works: one says so much less of the other. */
static void take_timed(pace_estimate *out, const pace_cost *cost, const pace_device *device, const pace_op *op) {
    pace_op done = done_as(device, op);
    const pace_timed_ratio *like = pace_timed_ops_nearest(&cost->timed, &done);
    if (!like) return;
    bool same = pace_op_equal(&like->op, &done) && strcmp(cost->timed.device, device->name) == 0;
    double alike = 1 - fabs(like->start_share - pace_cost_start_share(cost, device, op));
    out->median *= same ? like->ratio : pow(like->ratio, alike);
    out->rung = same ? PACE_RUNG_MEASURED : PACE_RUNG_CALIBRATED;
    if (same && !isnan(like->spread)) out->spread = like->spread;
}

pace_status pace_cost_op_under(pace_estimate *out_s, const pace_cost *cost, const pace_device *device,
                               const pace_op *op, pace_load load) {
    PACE_TRY(pace_cost_op(out_s, cost, device, op));
    if (load == PACE_SUSTAINED) out_s->median *= stretch(cost, device, op);
    if (cost->timed.items.count) take_timed(out_s, cost, device, op);
    return PACE_OK;
}

pace_status pace_cost_add_timed(pace_cost *cost, const pace_device *device, const pace_timed_op *calls, size_t count) {
    pace_timed_ops timed;
    size_t kept = 0;
    PACE_TRY(pace_timed_ops_make(&timed, device, calls, count));
    for (size_t i = 0; i < timed.items.count; i++) {
        pace_timed_ratio one = timed.items.items[i];
        pace_estimate ladder;
        if (pace_cost_op_under(&ladder, cost, device, &one.op, PACE_SUSTAINED) != PACE_OK) continue;
        one.ratio /= ladder.median;
        one.start_share = pace_cost_start_share(cost, device, &one.op);
        timed.items.items[kept++] = one;
    }
    timed.items.count = kept;
    pace_timed_ops_free(&cost->timed);
    cost->timed = timed;
    return PACE_OK;
}

/* Formulas of streaming families need no more than bytes. */
pace_estimate pace_cost_guess_op(const pace_cost *cost, const pace_device *device, const pace_op *op) {
    const pace_cost_guess *tensors = &cost->figures.of_tensors, *nothing = &cost->figures.of_nothing;
    double bytes = op ? op->read_bytes + op->write_bytes : 0, rate = device->memory_bytes_per_s;
    pace_estimate known;
    if (!(bytes > 0) || !(rate > 0)) return (pace_estimate){nothing->fixed_s, nothing->spread, PACE_RUNG_ROOFLINE, 0};
    if (pace_formula_of(op->family) == pace_formula_stream && by_formula(&known, cost, device, op))
        return (pace_estimate){known.median, tensors->spread, PACE_RUNG_ROOFLINE, 0};
    return (pace_estimate){tensors->fixed_s + bytes / (tensors->memory * rate), tensors->spread, PACE_RUNG_ROOFLINE, 0};
}
