#include "ask/rows/exchange_answer.h"
#include "ask/rows/exchange_stack.h"
#include "ask/rows/fit_system.h"
#include "ask/rows/row_kind.h"
#include "exchange/approach_buffer.h"
#include "machine/place.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a row's system or device column names: a machine in our own words, or one as logs name it. */
static pace_status machine_of(pace_machine *out, pace_catalog *catalog, const pace_exchange_row *row) {
    int ranks = row->ranks_per_node * row->nodes;
    if (!*row->system) return pace_fail(PACE_E_INPUT, "no machine: expected a column \"system\" or " PACE_FIELD "on");
    pace_status status = pace_machine_asked(out, catalog, row->system);
    if (status == PACE_E_USAGE && pace_place_has_figures(row->system)) return status; /* figures are not passed over */
    if (status == PACE_OK && out->devices * out->nodes < ranks && out->devices < row->ranks_per_node)
        status = PACE_E_MISSING; /* a device alone */
    if (status != PACE_OK) status = pace_machine_named(out, catalog, row->system, row->nodes);
    if (status != PACE_OK && *row->device) status = pace_machine_named(out, catalog, row->device, row->nodes);
    if (status == PACE_OK && out->nodes == 1) out->nodes = row->nodes; /* else its name says how many */
    return status;
}

/* Whether a name tells the network, as names of machines do and names of devices do not. */
static bool names_machine(pace_catalog *catalog, const char *system) {
    pace_machine m;
    bool asked = pace_machine_asked(&m, catalog, system) == PACE_OK && m.devices * m.nodes > 1;
    return asked || pace_machine_named(&m, catalog, system, 2) == PACE_OK;
}

/* Compares the row's system with --on. A device that --on has too does not say how it is joined: --on does. */
static void compare_with_on(pace_exchange_asker *a, const pace_exchange_row *row) {
    pace_machine own;
    if (a->compared_nodes == row->nodes && strcmp(a->compared, row->system) == 0) return;
    memcpy(a->compared, row->system, sizeof a->compared);
    a->compared_nodes = row->nodes;
    a->compared_known = pace_system_is_machine(row->system, a->catalog, &a->machine);
    bool placed = machine_of(&own, a->catalog, row) == PACE_OK && (row->nodes < 2 || own.nics > 0);
    a->compared_other = placed && !a->compared_known &&
                        (names_machine(a->catalog, row->system) || strcmp(own.device, a->machine.device) != 0);
}

/* A row that names another known machine is asked of that one: --on speaks for rows that name none. */
static bool takes_on(pace_exchange_asker *a, const pace_exchange_row *row) {
    if (!a->has_machine || !*row->system) return a->has_machine;
    compare_with_on(a, row);
    return !a->compared_other;
}

/* More ranks than a node of the row's own machine has fill whole nodes, where no column says how many there are. */
void pace_exchange_row_place(pace_exchange_asker *a, pace_exchange_row *row) {
    pace_machine machine;
    pace_exchange_row alone = *row;
    int ranks = alone.ranks_per_node = row->ranks_per_node * row->nodes;
    alone.nodes = 1;
    if (!row->nodes_guessed || ranks < 2 || !*row->system || takes_on(a, &alone)) return;
    *row = alone;
    if (strcmp(a->spread, row->system) != 0) {
        memcpy(a->spread, row->system, sizeof a->spread);
        bool known =
            pace_machine_asked(&machine, a->catalog, row->system) == PACE_OK ||
            pace_machine_named(&machine, a->catalog, row->system, 2) == PACE_OK; /* one whose network is known */
        a->spread_over = known && machine.devices > 1 ? machine.devices : 0;
    }
    if (a->spread_over == 0 || ranks <= a->spread_over || ranks % a->spread_over) return;
    row->nodes = ranks / a->spread_over;
    row->ranks_per_node = a->spread_over;
}

/* The machine of a row, its own or --on. Systems come in runs, also those that name no machine. */
static pace_status exchange_of(pace_exchange_asker *a, const pace_exchange_row *row) {
    pace_machine machine = a->machine;
    char version[8] = "";
    pace_exchange_library library = row->rccl ? PACE_LIBRARY_NCCL : row->library;
    if (row->rccl) snprintf(version, sizeof version, "rccl");
    else if (!pace_exchange_version_of(version, row->variant)) *version = '\0';
    bool on = takes_on(a, row),
         same = strcmp(version, a->last_version) == 0 && a->last_nodes >= row->nodes && a->last_library == library;
    if (on && a->by_on && a->has_exchange && same) return PACE_OK;
    if (!on && !a->by_on && strcmp(a->last, row->system) == 0 && same) {
        if (*a->refused && a->last_nodes == row->nodes) return pace_fail(PACE_E_MISSING, "%s", a->refused);
        if (a->has_exchange) return PACE_OK;
    }
    memcpy(a->last, row->system, sizeof a->last);
    memcpy(a->last_version, version, sizeof version);
    a->last_nodes = row->nodes;
    a->last_library = library;
    a->by_on = on;
    *a->refused = '\0';
    pace_status status = on ? PACE_OK : machine_of(&machine, a->catalog, row);
    if (on && machine.nodes < row->nodes) machine.nodes = row->nodes; /* --on says of what kind they are */
    if (status == PACE_OK && machine.nodes < row->nodes)
        status =
            pace_fail(PACE_E_INPUT, "%.40s has %d nodes, the row takes %d", row->system, machine.nodes, row->nodes);
    if (status == PACE_OK) status = pace_nccl_check_age(a->catalog, &machine, version);
    if (status == PACE_OK)
        status = pace_exchange_open(&a->exchange, a->catalog, &machine, library, *version ? version : NULL);
    a->has_exchange = status == PACE_OK;
    if (status == PACE_OK) a->last_nodes = machine.nodes;
    else snprintf(a->refused, sizeof a->refused, "%.199s", pace_message_marked());
    return status;
}

/* The same with what starts the row's exchanges. */
static pace_status ready(pace_exchange_asker *a, const pace_exchange_row *row, bool beside_curves) {
    PACE_TRY(exchange_of(a, row));
    a->exchange.stack = beside_curves ? pace_exchange_stack_beside_curves(row->stack) : row->stack;
    return PACE_OK;
}

const pace_exchange *pace_exchange_curve_model(pace_nccl_stack *stack, pace_exchange_asker *asker,
                                               const pace_exchange_curve *curve) {
    pace_exchange_row row = {.ranks_per_node = curve->ranks_per_node, .nodes = curve->nodes};
    memcpy(row.system, curve->system, sizeof row.system);
    memcpy(row.variant, curve->variant, sizeof row.variant);
    *stack = row.stack = pace_exchange_stack_of(curve->system, curve->variant);
    return ready(asker, &row, true) == PACE_OK ? &asker->exchange : NULL;
}

void pace_exchange_asker_free(pace_exchange_asker *asker) { pace_approaches_free(&asker->approaches); }

static pace_status make_approach_ready(pace_exchange_asker *a, const pace_exchange_row *row) {
    const pace_machine *m = &a->exchange.machine;
    pace_approach approach;
    if (strcmp(a->approach, row->approach) == 0 && strcmp(a->ready_on, m->name) == 0 && a->ready_nodes == m->nodes)
        return PACE_OK;
    *a->approach = '\0';
    if (a->approaches.rows.count == 0) PACE_TRY(pace_approaches_load(&a->approaches, a->catalog));
    PACE_TRY(pace_approach_of_cell(&approach, &a->approaches, row->approach));
    PACE_TRY(pace_approach_make_ready(&a->ready, a->catalog, &approach, m));
    memcpy(a->approach, row->approach, sizeof a->approach);
    memcpy(a->ready_on, m->name, sizeof a->ready_on);
    a->ready_nodes = m->nodes;
    return PACE_OK;
}

static const char *library_of(const pace_exchange_row *row) {
    return row->library == PACE_LIBRARY_TEXTBOOK ? "textbook" : "";
}

/* Curves are of libraries, not of what frameworks do around them. */
static pace_status by_approach(pace_estimate *out, pace_exchange_asker *a, const pace_exchange_row *row) {
    pace_approach_parts parts;
    const char *chosen = *row->algorithm ? row->algorithm : *row->protocol ? row->protocol : library_of(row);
    if (*chosen) return pace_fail(PACE_E_INPUT, "%s: an approach chooses by itself", chosen);
    if (row->collective != PACE_ALLREDUCE)
        return pace_fail(PACE_E_INPUT, "approaches reduce gradients: expected allreduce, found %s",
                         pace_collective_rows[row->collective].name);
    PACE_TRY(exchange_of(a, row));
    PACE_TRY(make_approach_ready(a, row));
    if (a->fit->curves.count) snprintf(a->unfitted, sizeof a->unfitted, "its curves are of no approach");
    return pace_approach_exchange_time(out, &parts, &a->used, &a->ready, row->ranks_per_node, row->nodes, row->bytes);
}

static pace_status by_formula(pace_estimate *out, pace_exchange_asker *a, const pace_exchange_row *row) {
    pace_exchange_question q = {row->collective, row->bytes, row->ranks_per_node, row->nodes,
                                PACE_ANY,        PACE_ANY,   row->element_bytes};
    if (*row->other_library)
        return pace_fail(PACE_E_MISSING,
                         "library %s: closed forms are of nccl, rccl and textbook: expected " PACE_FIELD
                         "fit with curves of it",
                         row->other_library);
    PACE_TRY(ready(a, row, false));
    if (*row->algorithm) PACE_TRY(pace_exchange_name_algorithm(&q.algorithm, &a->exchange, row->algorithm));
    if (*row->protocol) PACE_TRY(pace_exchange_name_protocol(&q.protocol, &a->exchange, row->protocol));
    return pace_exchange_time(out, &a->exchange, &q);
}

/* An algorithm or protocol that no curve was measured with is a question for the closed form. */
static bool was_measured(const pace_exchange_asker *a, const char *word) {
    bool found = *word == '\0';
    for (size_t i = 0; i < a->fit->curves.count && !found; i++)
        found = strcasestr(a->fit->curves.items[i].variant, word) != NULL;
    return found;
}

static bool has_curves_of(const pace_exchange_fit *fit, const char *system) {
    return PACE_FIND(fit->curves.items, fit->curves.count, system, system) != NULL;
}

/* The name in the fit of the row's system: its own, or another of the same machine. Of a row that names none it is the
 * fit's only system, where nobody knows that it is another machine. */
static const char *fitted_system(pace_exchange_asker *a, const pace_exchange_row *row, bool modelled) {
    if (has_curves_of(a->fit, row->system)) return row->system;
    if (!modelled) return *row->system ? row->system : NULL;
    if (strcmp(a->fitted, row->system) != 0 || !*row->system) {
        bool unnamed = a->has_machine && strcmp(row->system, a->machine.name) == 0;
        memcpy(a->fitted, row->system, sizeof a->fitted);
        if (pace_fit_system_of(&a->system, a->fit, a->catalog, &a->exchange.machine, unnamed) != PACE_OK)
            a->system = NULL;
    }
    return a->system ? a->system : *row->system ? row->system : NULL;
}

/* What the fit does not tell is answered in closed form, and `unfitted` says so. */
static pace_status unfitted(pace_estimate *out, pace_exchange_asker *a, const pace_exchange_row *row, const char *why) {
    char refused[sizeof a->unfitted];
    snprintf(refused, sizeof refused, "%s", why);
    PACE_TRY(by_formula(out, a, row));
    memcpy(a->unfitted, refused, sizeof refused);
    return PACE_OK;
}

/* A row that names no way is answered by curves of the library's own choice, where its system has some. */
static const pace_exchange_fit *curves_for(const pace_exchange_asker *a, const pace_exchange_row *row,
                                           const char *system) {
    bool named = *row->algorithm || *row->protocol || row->said_channels;
    return named || !system || !has_curves_of(a->own, system) ? a->fit : a->own;
}

static pace_status predict_row(pace_estimate *out, pace_exchange_asker *a, const pace_exchange_row *row) {
    char refused[200];
    if (*row->approach) return by_approach(out, a, row);
    if (a->fit->curves.count == 0) return by_formula(out, a, row);
    const char *const chosen[] = {row->algorithm, row->protocol, library_of(row)};
    for (size_t i = 0; i < PACE_COUNT(chosen); i++) {
        if (was_measured(a, chosen[i])) continue;
        snprintf(refused, sizeof refused, "no curve was measured with %s", chosen[i]);
        return unfitted(out, a, row, refused);
    }
    bool modelled = ready(a, row, true) == PACE_OK;
    const char *system = fitted_system(a, row, modelled);
    pace_fit_question q = {.system = system,
                           .variant = row->variant,
                           .collective = row->collective,
                           .bytes = row->bytes,
                           .ranks_per_node = row->ranks_per_node,
                           .nodes = row->nodes,
                           .element_bytes = row->element_bytes,
                           .stack = pace_exchange_stack_of_curves(a->fit, system, row->stack),
                           .model = modelled ? &a->exchange : NULL,
                           .doubts = &a->doubts,
                           .used = &a->used};
    if (pace_exchange_fit_time(out, curves_for(a, row, system), &q) == PACE_OK) return PACE_OK;
    snprintf(refused, sizeof refused, "%.199s", pace_message_marked());
    if (modelled && unfitted(out, a, row, refused) == PACE_OK) return PACE_OK;
    return pace_fail(PACE_E_MISSING, "%s", refused);
}

/* A row's device, where its system is a machine of another. */
static bool names_other_device(const pace_exchange_asker *a, const pace_exchange_row *row) {
    if (!a->has_exchange || strcmp(row->device, row->system) == 0) return false;
    return pace_row_names_other(row->device, a->exchange.machine.device);
}

/* Whether --on answered a row whose system nobody knows. */
static bool is_set_aside(pace_exchange_asker *a, const pace_exchange_row *row) {
    bool by_own_curve = !*a->unfitted && has_curves_of(a->fit, row->system);
    return takes_on(a, row) && *row->system && !by_own_curve && !a->compared_known;
}

static void add_call(pace_estimate *out, const pace_exchange_asker *a, double call_s) {
    double device_s = out->median;
    if (!(call_s > 0)) return;
    out->median = device_s + call_s;
    out->spread = hypot(device_s * out->spread, call_s * a->doubts.figure[PACE_DOUBT_HOST_CATALOG]) / out->median;
}

pace_status pace_exchange_row_answer(pace_estimate *out, pace_exchange_asker *asker, const pace_exchange_row *row) {
    asker->used = (pace_doubts_used){0};
    *asker->unfitted = '\0';
    if (*row->status || !(row->bytes >= 0) || !(row->ranks_per_node > 0))
        return pace_fail(PACE_E_INPUT, "%s", *row->status ? row->status : "expected a size of 0 or more");
    PACE_TRY(predict_row(out, asker, row));
    add_call(out, asker, row->call_s);
    asker->took_on = is_set_aside(asker, row);
    asker->more_nodes = asker->by_on && asker->machine.nodes > 1 && row->nodes > asker->machine.nodes;
    asker->unused_device = !asker->took_on && names_other_device(asker, row);
    return PACE_OK;
}
