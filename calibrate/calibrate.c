/* pace_calibrate(): plan the points, measure those that the table does not have, write the entry, report. */
#include "paceline/calibrate.h"

#include "base/clock.h"
#include "ask/question.h"
#include "base/print.h"
#include "base/signal_stack.h"
#include "base/sort.h"
#include "entry_file.h"
#include "host_facts.h"
#include "model_points.h"
#include "modules.h"
#include "neurons.h"
#include "sweep.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FIGURES = 32, MOST_NOTES = 24, UNKEPT_S = 120 };

typedef struct {
    const char *family, *source;
    size_t points, measured, kept, skipped;
    double flop_per_s, bytes_per_s, seconds;
    PACE_VEC(double) spreads;
} family_count;

typedef struct {
    const pace_calibrate_options *options;
    const char *target;
    pace_backends backends;
    pace_device_facts facts;
    char device[48], software[256], date[32], host[128];
    int threads;
    pace_catalog *catalog;
    pace_device_catalog devices;
    const pace_device *known; /* in the catalogue */
    pace_sweep sweep;
    pace_rows_file rows;
    PACE_VEC(family_count) families;
    pace_calibrated_figure figures[MOST_FIGURES];
    size_t figure_count;
    char *notes[MOST_NOTES];
    size_t note_count;
    char failure[PACE_BACKEND_MESSAGE]; /* of the first point that a backend could not measure */
    size_t failed;
    char stopped[160]; /* what is said of a sweep that was; else "" */
    double started_s;
} calibration;

static pace_status note(calibration *c, const char *format, ...) PACE_PRINTF(2, 3);
static pace_status note(calibration *c, const char *format, ...) {
    va_list arguments;
    if (c->note_count == MOST_NOTES) return PACE_OK;
    va_start(arguments, format);
    c->notes[c->note_count] = pace_format_text(format, arguments);
    va_end(arguments);
    return c->notes[c->note_count] ? (c->note_count++, PACE_OK) : PACE_E_MEMORY;
}

static void close_calibration(calibration *c) {
    for (size_t i = 0; i < c->note_count; i++) pace_free(c->notes[i]);
    for (size_t i = 0; i < c->families.count; i++) PACE_VEC_FREE(&c->families.items[i].spreads);
    PACE_VEC_FREE(&c->families);
    pace_rows_file_close(&c->rows);
    pace_sweep_free(&c->sweep);
    pace_device_catalog_free(&c->devices);
    pace_catalog_free(c->catalog);
    pace_free(c);
}

/* --- who measures what ------------------------------------------------------------------------------------------ */

/* "AMD EPYC 7742" on 2 threads: "amd-epyc-7742-2t". */
static void make_name(calibration *c) {
    size_t used = 0;
    for (const char *at = c->facts.name; *at && used < sizeof c->device - 8; at++) {
        bool good = pace_is_alnum(*at);
        if (good) c->device[used++] = pace_lower(*at);
        else if (used && c->device[used - 1] != '-') c->device[used++] = '-';
    }
    while (used && c->device[used - 1] == '-') used--;
    c->device[used] = '\0';
    if (strcmp(c->target, "cpu") == 0) snprintf(c->device + used, sizeof c->device - used, "-%dt", c->threads);
    if (c->known) snprintf(c->device, sizeof c->device, "%s", c->known->name);
}

static void set_name(calibration *c) {
    if (c->options->name) snprintf(c->device, sizeof c->device, "%s", c->options->name);
    else make_name(c);
}

/* Facts that a backend does not know stay as another told them. */
static pace_status describe(calibration *c) {
    char message[PACE_BACKEND_MESSAGE];
    size_t used = 0;
    for (size_t i = 0; i < c->backends.count; i++) {
        const pace_backend *backend = c->backends.items[i];
        if (backend->set_threads) backend->set_threads(c->threads);
        c->facts.software[0] = '\0';
        if (backend->describe && backend->describe(&c->facts, c->options->device, message) != PACE_PROBE_OK)
            return pace_fail(PACE_E_MISSING, "%s: %s", backend->source, message);
        if (used < sizeof c->software && *c->facts.software)
            used += (size_t)snprintf(c->software + used, sizeof c->software - used, "%s%s", used ? "; " : "",
                                     c->facts.software);
    }
    pace_rows_clean(c->software);
    snprintf(c->host, sizeof c->host, "%s", c->facts.name);
    pace_rows_clean(c->host);
    return PACE_OK;
}

static pace_status open_backends(calibration *c) {
    bool cpu = strcmp(c->target, "cpu") == 0;
    if (!cpu && strcmp(c->target, "cuda") != 0)
        return pace_fail(PACE_E_USAGE, "expected cpu or cuda to measure, or neurons, found \"%.40s\"", c->target);
    c->threads = !cpu ? 1 : c->options->threads > 0 ? c->options->threads : pace_host_cores();
    pace_backends_load(&c->backends, c->target, c->options->module_path);
    if (c->backends.count == 0 && !c->options->list) return pace_fail(PACE_E_MISSING, "%s", c->backends.missing[0]);
    pace_status status = describe(c);
    if (status != PACE_OK && c->options->list) {
        c->facts = (pace_device_facts){0};
        return PACE_OK;
    }
    return status;
}

static pace_status plan_model(calibration *c, const char *model, const pace_sweep_choice *choice) {
    pace_model_points found;
    PACE_TRY(pace_model_points_add(&found, &c->sweep, c->catalog, model, &c->options->set, choice));
    if (found.micro_batch > 0)
        PACE_TRY(note(c,
                      "%s: no batch was given: its kernels are those of a micro-batch of %g "
                      "(--set micro_batch=N says another).",
                      model, found.micro_batch));
    if (found.unlike > 0)
        PACE_TRY(note(c, "%s: %zu of its %zu different kernels are of kinds that are not measured here, as %s.", model,
                      found.unlike, found.kernels, found.example));
    return PACE_OK;
}

static pace_status plan(calibration *c) {
    const pace_calibrate_options *o = c->options;
    double memory = o->memory_bytes > 0 ? o->memory_bytes : c->facts.free_bytes / 2;
    pace_sweep_choice choice = {c->target, o->families, o->models.count > 0 && !o->families, o->effort, memory};
    PACE_TRY(pace_catalog_open(&c->catalog));
    PACE_TRY(pace_device_catalog_load(&c->devices, c->catalog));
    if (strcmp(c->target, "cuda") == 0 && *c->facts.name)
        c->known = pace_device_find(&c->devices, c->facts.name, c->facts.memory_bytes);
    set_name(c);
    PACE_TRY(pace_sweep_load(&c->sweep, c->catalog, &choice));
    for (size_t i = 0; i < o->models.count; i++) PACE_TRY(plan_model(c, o->models.items[i], &choice));
    if (c->sweep.too_large && c->sweep.points.count == 0 && o->memory_bytes > 0)
        return pace_fail(PACE_E_USAGE, "memory: the tensors of each of %zu points take more than %.3g bytes",
                         c->sweep.too_large, memory);
    if (c->sweep.too_large)
        PACE_TRY(note(c, "%zu points are left out: their tensors take more than %.3g GB.", c->sweep.too_large,
                      memory / 1e9));
    c->sweep.limits.timer_s = c->facts.timer_s > 0 ? c->facts.timer_s : 1e-6;
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(c->date, sizeof c->date, "%Y-%m-%d", &parts);
    return PACE_OK;
}

/* Whether a point of the sweep asks for a module that is not here. */
static bool is_wanted(const calibration *c, size_t missing) {
    for (size_t i = 0; i < c->sweep.points.count; i++) {
        const char *by = c->sweep.points.items[i].by;
        if (!by || strcmp(by, c->backends.missing_source[missing]) == 0) return true;
    }
    return false;
}

/* --- measuring -------------------------------------------------------------------------------------------------- */

static pace_status count_of(family_count **out, calibration *c, const char *family, const char *source) {
    for (size_t i = 0; i < c->families.count; i++) {
        family_count *f = &c->families.items[i];
        if (strcmp(f->family, family) == 0 && strcmp(f->source, source) == 0) {
            *out = f;
            return PACE_OK;
        }
    }
    PACE_TRY(PACE_PUSH(&c->families, ((family_count){.family = family, .source = source})));
    *out = &c->families.items[c->families.count - 1];
    return PACE_OK;
}

static pace_status count_row(family_count *count, const pace_measured_row *row) {
    double flop_per_s = pace_point_flop(&row->point) / row->median_s;
    double bytes_per_s = pace_point_moved_bytes(&row->point) / row->median_s;
    if (flop_per_s > count->flop_per_s) count->flop_per_s = flop_per_s;
    if (bytes_per_s > count->bytes_per_s) count->bytes_per_s = bytes_per_s;
    return PACE_PUSH(&count->spreads, row->spread);
}

typedef struct {
    const pace_sweep_point *point;
    const pace_backend *backend;
    void *state;
} probe;

/* The first backend that does the point; `backend` NULL when none does. */
static void find_backend(probe *p, calibration *c) {
    char message[PACE_BACKEND_MESSAGE] = "";
    p->backend = NULL;
    for (size_t i = 0; i < c->backends.count; i++) {
        const pace_backend *backend = c->backends.items[i];
        if (p->point->by && strcmp(p->point->by, backend->source) != 0) continue;
        pace_probe_status status = backend->prepare(&p->state, &p->point->point, c->options->device, message);
        if (status == PACE_PROBE_OK) {
            p->backend = backend;
            return;
        }
        if (status == PACE_PROBE_FAILED && c->failed++ == 0) memcpy(c->failure, message, sizeof c->failure);
    }
}

static pace_status find_row(const pace_measured_row **out, const char **source, const calibration *c,
                            const pace_sweep_point *point) {
    *out = NULL;
    for (size_t i = 0; i < c->backends.count && !*out; i++) {
        *source = c->backends.items[i]->source;
        if (!point->by || strcmp(point->by, *source) == 0)
            *out = pace_rows_file_find(&c->rows, &point->point, *source, c->threads);
    }
    return PACE_OK;
}

static pace_status measure_with(calibration *c, const probe *p) {
    char message[PACE_BACKEND_MESSAGE] = "";
    pace_point_time measurement;
    family_count *count;
    double start = pace_clock_s();
    PACE_TRY(count_of(&count, c, p->point->family, p->backend->source));
    count->points++;
    pace_probe_status status = pace_measure(&measurement, &c->sweep.limits, p->backend->time_runs, p->state, message);
    count->seconds += pace_clock_s() - start;
    if (status != PACE_PROBE_OK) {
        count->skipped++;
        if (c->failed++ == 0) memcpy(c->failure, message, sizeof c->failure);
        return PACE_OK;
    }
    const char *clock = strcmp(c->target, "cuda") == 0 ? "device" : c->threads == 1 ? "thread" : "wall";
    pace_row_origin origin = {c->device, c->host, c->software, c->date, p->backend->source, clock, c->threads};
    PACE_TRY(pace_rows_file_add(&c->rows, &p->point->point, &origin, &measurement));
    count->measured++;
    return count_row(count, &c->rows.rows.items[c->rows.rows.count - 1]);
}

static pace_status skip_point(calibration *c, const pace_sweep_point *point) {
    family_count *count;
    PACE_TRY(count_of(&count, c, point->family, point->by ? point->by : "-"));
    count->points++;
    count->skipped++;
    return PACE_OK;
}

static pace_status do_point(calibration *c, const pace_sweep_point *point) {
    const pace_measured_row *row;
    const char *source;
    PACE_TRY(find_row(&row, &source, c, point));
    if (row) {
        family_count *count;
        PACE_TRY(count_of(&count, c, point->family, source));
        count->points++;
        count->kept++;
        return count_row(count, row);
    }
    probe p = {.point = point};
    find_backend(&p, c);
    if (!p.backend) return skip_point(c, point);
    pace_status status = measure_with(c, &p);
    p.backend->release(p.state);
    return status;
}

static pace_status measure_all(calibration *c) {
    const pace_calibrate_options *o = c->options;
    size_t count = c->sweep.points.count;
    for (size_t i = 0; i < count; i++) {
        if (pace_question_stopped(o->question)) {
            snprintf(c->stopped, sizeof c->stopped, "Stopped after %zu of %zu points%s: %s.", i, count,
                     o->entry_path ? ", without a device entry" : "",
                     o->rows_path ? "the same command goes on from there" : "what follows is of these alone");
            return PACE_OK;
        }
        pace_question_progress(o->question, c->sweep.points.items[i].family, i, count);
        PACE_TRY(do_point(c, &c->sweep.points.items[i]));
    }
    return PACE_OK;
}

/* What one point is expected to take: its batches, and finding how many runs these have. */
static double expected_s(const calibration *c) { return 1.3 * c->sweep.limits.point_s; }

/* Minutes of measuring of which only the report's best rates would be left. */
static pace_status check_kept(const calibration *c) {
    double seconds = expected_s(c) * (double)c->sweep.points.count;
    if (c->options->rows_path || c->options->entry_path || seconds < UNKEPT_S) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "it would measure for about %.0f minutes and keep nothing: expected " PACE_FIELD
                     "output or " PACE_FIELD "entry, or " PACE_FIELD "quick, whose report may be enough",
                     seconds / 60);
}

/* What would be measured: by whom is only known from the sweep, not asked of libraries. */
static pace_status list_all(calibration *c) {
    for (size_t i = 0; i < c->sweep.points.count; i++) {
        const pace_sweep_point *point = &c->sweep.points.items[i];
        family_count *count;
        PACE_TRY(count_of(&count, c, point->family, point->by ? point->by : "-"));
        count->points++;
        count->seconds += expected_s(c);
    }
    return PACE_OK;
}

/* --- the report ------------------------------------------------------------------------------------------------- */

static void add_figure(calibration *c, const char *key, double value) {
    if (value > 0 && c->figure_count < MOST_FIGURES)
        c->figures[c->figure_count++] = (pace_calibrated_figure){key, value};
}

static void add_figures(calibration *c, const pace_device *d) {
    static const struct {
        pace_precision precision;
        const char *peak, *achieved;
    } rates[] = {
        {PACE_FP64, "flop_per_s.fp64", "achievable_flop_per_s.fp64"},
        {PACE_FP32, "flop_per_s.fp32", "achievable_flop_per_s.fp32"},
        {PACE_TF32, "flop_per_s.tf32", "achievable_flop_per_s.tf32"},
        {PACE_FP16, "flop_per_s.fp16", "achievable_flop_per_s.fp16"},
        {PACE_BF16, "flop_per_s.bf16", "achievable_flop_per_s.bf16"},
    };
    for (size_t i = 0; i < PACE_COUNT(rates); i++) {
        add_figure(c, rates[i].peak, d->flop_per_s[rates[i].precision]);
        add_figure(c, rates[i].achieved, d->achievable_flop_per_s[rates[i].precision]);
    }
    add_figure(c, "memory_bytes", d->memory_bytes);
    add_figure(c, "memory_bytes_per_s", d->memory_bytes_per_s);
    add_figure(c, "achievable_bytes_per_s", d->achievable_bytes_per_s);
    add_figure(c, "l2_bytes", d->l2_bytes);
    add_figure(c, "l2_bytes_per_s", d->l2_bytes_per_s);
    add_figure(c, "launch_s", d->launch_s);
    add_figure(c, "launch_lag_s", c->facts.launch_lag_s);
    add_figure(c, "event_lag_s", c->facts.event_lag_s);
    add_figure(c, "pcie_bytes_per_s", d->pcie_bytes_per_s);
    add_figure(c, "pcie_pinned_bytes_per_s", d->pcie_pinned_bytes_per_s);
    add_figure(c, "pcie_pageable_bytes_per_s", d->pcie_pageable_bytes_per_s);
    add_figure(c, "timer_s", c->facts.timer_s);
}

static pace_status write_entry(calibration *c) {
    char how[512];
    pace_measured_device measured;
    pace_measured_device_make(&measured, &c->rows, &c->facts, c->device, c->known);
    add_figures(c, &measured.device);
    if (!c->options->entry_path) return PACE_OK;
    if (*c->stopped) return PACE_OK;
    pace_snprintf(how, sizeof how, "measured by paceline calibrate %s, %s, %s, %d thread%s, %s; median spread %.1f %%",
                  pace_version(), c->date, c->host, c->threads, c->threads == 1 ? "" : "s", c->software,
                  100 * measured.spread);
    return pace_entry_file_write(c->options->entry_path, &measured, how);
}

static pace_status add_notes(calibration *c) {
    for (size_t i = 0; i < c->backends.missing_count; i++)
        if (is_wanted(c, i)) PACE_TRY(note(c, "Not measured here, %s.", c->backends.missing[i]));
    if (c->rows.torn_bytes)
        PACE_TRY(note(c, "The table's last line was cut off (%zu bytes) and is measured anew.", c->rows.torn_bytes));
    if (c->failed) PACE_TRY(note(c, "%zu points could not be measured; the first: %s.", c->failed, c->failure));
    return PACE_OK;
}

static void show_family(pace_calibrated_family *out, family_count *f) {
    size_t count = f->spreads.count;
    if (count) qsort(f->spreads.items, count, sizeof *f->spreads.items, pace_ascending);
    *out = (pace_calibrated_family){
        .family = f->family,
        .source = f->source,
        .points = f->points,
        .measured = f->measured,
        .kept = f->kept,
        .skipped = f->skipped,
        .best_flop_per_s = f->flop_per_s,
        .best_bytes_per_s = f->bytes_per_s,
        .median_spread = count ? f->spreads.items[count / 2] : 0,
        .seconds = f->seconds,
    };
}

static pace_status report(pace_answer **out, calibration *c) {
    pace_calibrated_family *families = pace_alloc(c->families.count + 1, sizeof *families);
    if (!families) return PACE_E_MEMORY;
    for (size_t i = 0; i < c->families.count; i++) show_family(&families[i], &c->families.items[i]);
    pace_calibration shown = {
        .size = sizeof shown,
        .command = c->options->command,
        .command_count = c->options->command_count,
        .device = c->device,
        .processor = c->facts.name,
        .software = c->software,
        .rows_path = c->options->rows_path,
        .entry_path = c->options->entry_path,
        .list = c->options->list,
        .threads = c->threads,
        .seconds = pace_clock_s() - c->started_s,
        .families = families,
        .family_count = c->families.count,
        .figures = c->figures,
        .figure_count = c->figure_count,
        .notes = (const char *const *)c->notes,
        .note_count = c->note_count,
        .stopped = *c->stopped ? c->stopped : NULL,
    };
    pace_status status = pace_calibration_answer(out, &shown);
    pace_free(families);
    return status;
}

/* Whether some point can be measured here, or has been: a table that is there may hold it. */
static bool is_measurable(calibration *c) {
    if (c->options->rows_path && access(c->options->rows_path, F_OK) == 0) return true;
    for (size_t i = 0; i < c->sweep.points.count; i++) {
        probe p = {.point = &c->sweep.points.items[i]};
        find_backend(&p, c);
        if (p.backend) p.backend->release(p.state);
        bool failed = c->failed > 0; /* the sweep will say so */
        c->failed = 0;
        if (p.backend || failed) return true;
    }
    return c->sweep.points.count == 0;
}

/* Fails with the packages of the modules that are missing. */
static pace_status fail_missing(const calibration *c) {
    char text[1024] = "";
    for (size_t i = 0; i < c->backends.missing_count; i++)
        if (is_wanted(c, i))
            pace_snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "; " : "",
                          c->backends.missing[i]);
    return *text ? pace_fail(PACE_E_MISSING, "%s", text) : PACE_OK;
}

static bool measures(const calibration *c, const char *family) {
    for (size_t i = 0; i < c->sweep.points.count; i++)
        if (strcmp(c->sweep.points.items[i].family, family) == 0) return true;
    return false;
}

/* What an entry needs that is neither in the table nor measured now is said before hours of measuring. */
static pace_status check_entry(const calibration *c) {
    static const char *const families[] = {"memory", "gemm"};
    pace_measured_device found;
    if (!c->options->entry_path) return PACE_OK;
    pace_measured_device_make(&found, &c->rows, &c->facts, c->device, c->known);
    for (int products = 0; products < 2; products++)
        if (!measures(c, families[products]) && !pace_measured_has(&found, products))
            return pace_fail(PACE_E_USAGE,
                             "entry: a device entry needs rows of the families gemm and memory: expected " PACE_FIELD
                             "family with %s, or a table (" PACE_FIELD "output) that has them",
                             families[products]);
    return PACE_OK;
}

/* A fit takes rows of one device's name for those of one device. */
static pace_status note_other_threads(calibration *c) {
    size_t others = 0;
    for (size_t i = 0; i < c->rows.rows.count; i++) others += c->rows.rows.items[i].threads != c->threads;
    if (!others) return PACE_OK;
    return note(c,
                "The table also has %zu rows of %s with other numbers of threads than %d, which a fit does not tell "
                "apart: --name keeps them apart.",
                others, c->device, c->threads);
}

static pace_status measure_and_write(calibration *c) {
    bool begins = !c->options->rows_path || access(c->options->rows_path, F_OK) != 0;
    if (!is_measurable(c)) PACE_TRY(fail_missing(c));
    PACE_TRY(check_kept(c));
    if (begins) PACE_TRY(check_entry(c)); /* before there is a table */
    PACE_TRY(pace_rows_file_open(&c->rows, c->options->rows_path, c->device));
    PACE_TRY(check_entry(c));
    PACE_TRY(note_other_threads(c));
    PACE_TRY(measure_all(c));
    return write_entry(c);
}

static pace_status run(pace_answer **out, calibration *c) {
    PACE_TRY(open_backends(c));
    PACE_TRY(plan(c));
    if (c->options->list) PACE_TRY(list_all(c));
    else PACE_TRY(measure_and_write(c));
    PACE_TRY(add_notes(c));
    return report(out, c);
}

static bool good_name(const char *name) {
    for (const char *at = name; *at; at++)
        if (!pace_is_alnum(*at) && !strchr("-_.", *at)) return false;
    return *name && strlen(name) < 48 && pace_is_alnum(*name);
}

/* What the fields of a question say; `command` is filled. */
static pace_status read_question(pace_calibrate_options *out, const pace_question *question) {
    double threads = pace_question_number(question, "threads"), device = pace_question_number(question, "device");
    bool quick = pace_question_has(question, "quick"), full = pace_question_has(question, "full");
    const char *rows = pace_question_text(question, "output"), *entry = pace_question_text(question, "entry");
    if (pace_question_input_count(question) > 1)
        return pace_fail(PACE_E_USAGE, "expected at most one of cpu, cuda and neurons, found %zu",
                         pace_question_input_count(question));
    if (quick && full)
        return pace_fail(PACE_E_USAGE, "quick: expected either " PACE_FIELD "quick or " PACE_FIELD "full, found both");
    const char *name = pace_question_text(question, "name");
    if (name && !good_name(name))
        return pace_fail(PACE_E_USAGE, "--name: expected up to 47 letters, digits, '-', '_' or '.', found \"%.60s\"",
                         name);
    if (threads > 4096 || (threads < 1 && pace_question_has(question, "threads")))
        return pace_fail(PACE_E_USAGE, "threads: expected 1 to 4096, found %g", threads);
    const char *target = pace_question_input(question, 0);
    if (pace_question_has(question, "device") && (!target || strcmp(target, "cuda") != 0))
        return pace_fail(PACE_E_USAGE, "device: it has no effect on %s: expected cuda, whose devices have numbers",
                         target ? target : "cpu");
    if (pace_question_has(question, "set") && !pace_question_has(question, "model"))
        return pace_fail(PACE_E_USAGE,
                         "set: it has no effect on grids: expected " PACE_FIELD "model, whose step it configures");
    if (device > 1024) return pace_fail(PACE_E_USAGE, "device: expected a number from 0 to 1024, found %g", device);
    if (rows && entry && strcmp(rows, entry) == 0)
        return pace_fail(PACE_E_USAGE, "entry: expected another file than that of the rows, found '%.80s'", entry);
    *out = (pace_calibrate_options){.target = target,
                                    .device = (int)device,
                                    .effort = quick  ? PACE_EFFORT_QUICK
                                              : full ? PACE_EFFORT_FULL
                                                     : PACE_EFFORT_DEFAULT,
                                    .families = pace_question_text(question, "family"),
                                    .models = pace_question_words(question, "model"),
                                    .set = pace_question_words(question, "set"),
                                    .rows_path = rows,
                                    .entry_path = entry,
                                    .name = name,
                                    .memory_bytes = pace_question_number(question, "memory"),
                                    .threads = (int)threads,
                                    .list = pace_question_has(question, "list"),
                                    .question = question};
    out->command = pace_question_command(question, &out->command_count);
    return PACE_OK;
}

pace_status pace_calibrate(pace_answer **out, pace_context *context, const pace_question *question) {
    PACE_GIVEN(out);
    PACE_GIVEN(question);
    pace_calibrate_options options;
    (void)context; /* its own catalogue: a calibration is asked once */
    if (strcmp(pace_question_verb(question), "calibrate") != 0)
        return pace_fail(PACE_E_USAGE, "%s: expected a question of calibrate", pace_question_verb(question));
    PACE_TRY(read_question(&options, question));
    if (options.target && strcmp(options.target, "neurons") == 0) return pace_calibrate_neurons(out, &options);
    calibration *c = pace_alloc(1, sizeof *c);
    if (!c) return PACE_E_MEMORY;
    c->options = &options;
    c->target = options.target ? options.target : "cpu";
    c->rows.file = -1;
    c->started_s = pace_clock_s();
    pace_signal_stack stack = pace_signal_stack_open();
    pace_status status = run(out, c);
    close_calibration(c);
    pace_signal_stack_close(&stack);
    return status;
}
