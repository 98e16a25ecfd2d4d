#include "fleet/population.h"

#include "base/parallel.h"
#include "base/random.h"
#include "machine/catalog.h"

#include <math.h>
#include <string.h>

/* ---- reading ---- */

typedef struct {
    const pace_yaml *yaml;
    const pace_job_catalog *catalog;
    pace_job_setting setting;
} reader;

static pace_status read_point(pace_drawn *out, const reader *r, const pace_yaml_node *point, size_t i) {
    if (pace_yaml_count(point) != 2) return pace_yaml_fail(r->yaml, point, "expected [share, value]");
    PACE_TRY(pace_yaml_number(&out->at[i], r->yaml, pace_yaml_item(point, 0)));
    PACE_TRY(pace_yaml_number(&out->value[i], r->yaml, pace_yaml_item(point, 1)));
    if (i > 0 && i < PACE_QUANTILES && !(out->at[i] > out->at[i - 1] && out->value[i] >= out->value[i - 1]))
        return pace_yaml_fail(r->yaml, point, "expected ascending shares and values");
    if (out->is_log && !(out->value[i] > 0)) return pace_yaml_fail(r->yaml, point, "expected a value above 0");
    return PACE_OK;
}

static pace_status read_drawn(pace_drawn *out, const reader *r, const pace_yaml_node *parent, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(parent, key), *points = pace_yaml_get(node, "quantiles");
    const pace_yaml_node *follows = pace_yaml_get(node, "follows_size");
    const char *is_log = pace_yaml_text_of(node, "log");
    size_t count = pace_yaml_count(points);
    if (!pace_yaml_is_list(points) || count < 2 || count > PACE_QUANTILES)
        return pace_yaml_fail(r->yaml, parent, "expected \"%s\" with 2 to %d quantiles", key, (int)PACE_QUANTILES);
    *out = (pace_drawn){.count = count, .is_log = is_log && strcmp(is_log, "true") == 0};
    for (size_t i = 0; i < count; i++) PACE_TRY(read_point(out, r, pace_yaml_item(points, i), i));
    if (out->at[0] != 0 || out->at[count - 1] != 1)
        return pace_yaml_fail(r->yaml, points, "expected quantiles from 0 to 1");
    for (size_t i = 0; out->is_log && i < count; i++) out->value[i] = log(out->value[i]);
    return follows ? pace_yaml_number(&out->follows_size, r->yaml, follows) : PACE_OK;
}

/* Seconds of one FLOP and one byte: the job model of a job with one of each. */
static pace_status find_units(pace_population_class *class, const reader *r) {
    pace_jobs jobs = {0};
    double one[PACE_JOB_COLUMNS];
    pace_job_values_clear(one);
    for (int i = 0; i < PACE_JOB_REQUIRED; i++) one[i] = 1;
    pace_job_parts *parts = pace_alloc(1, sizeof *parts);
    pace_status status = parts
                             ? pace_jobs_add(&jobs, (pace_job_text){0}, (pace_job_text){0}, class->architecture, one, 0)
                             : PACE_E_MEMORY;
    if (status == PACE_OK) {
        pace_job_parts_of(parts, &jobs, 0, 1, &r->setting);
        pace_job_components(class->per_unit_s, parts, 0);
    }
    pace_free(parts);
    pace_jobs_free(&jobs);
    return status;
}

static pace_status read_class(pace_population_class *out, const reader *r, const pace_yaml_node *node) {
    const char *name = pace_yaml_text_of(node, "architecture");
    const pace_yaml_node *share = pace_yaml_get(pace_yaml_get(node, "share"), "value");
    if (!name || !pace_job_architecture_find(&out->architecture, name, strlen(name)))
        return pace_yaml_fail(r->yaml, node, "expected an architecture");
    if (!share) return pace_yaml_fail(r->yaml, node, "expected a share with a value");
    PACE_TRY(pace_yaml_number(&out->until, r->yaml, share));
    PACE_TRY(read_drawn(&out->cnodes, r, node, "cnodes"));
    PACE_TRY(read_drawn(&out->weights_share, r, node, "weights_share"));
    PACE_TRY(read_drawn(&out->input_share, r, node, "input_share"));
    PACE_TRY(read_drawn(&out->weight_bytes, r, node, "weight_bytes"));
    PACE_TRY(read_drawn(&out->embedding_share, r, node, "embedding_share"));
    return find_units(out, r);
}

static pace_status read_population(pace_population *out, reader *r) {
    const pace_yaml_node *root = pace_yaml_root(r->yaml), *classes = pace_yaml_get(root, "classes");
    const pace_job_setting_words words = {.on = pace_yaml_text_of(root, "on"), .contention = "none"};
    size_t count = pace_yaml_count(classes);
    PACE_TRY(pace_job_setting_parse(&r->setting, r->catalog, &words));
    if (!pace_yaml_is_list(classes) || count == 0 || count > PACE_JOB_ARCHITECTURES)
        return pace_yaml_fail(r->yaml, root, "expected a list \"classes\"");
    *out = (pace_population){.count = count};
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        PACE_TRY(read_class(&out->classes[i], r, pace_yaml_item(classes, i)));
        sum = out->classes[i].until += sum;
    }
    if (fabs(sum - 1) > 1e-9) return pace_yaml_fail(r->yaml, classes, "expected shares that add up to 1");
    PACE_TRY(read_drawn(&out->memory_bound_share, r, root, "memory_bound_share"));
    PACE_TRY(read_drawn(&out->step_s, r, root, "step_s"));
    PACE_TRY(read_drawn(&out->batch_size, r, root, "batch_size"));
    return read_drawn(&out->hours, r, root, "hours");
}

pace_status pace_population_load(pace_population *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    pace_job_catalog jobs;
    pace_population population;
    PACE_TRY(pace_job_catalog_load(&jobs, catalog));
    pace_status status = pace_catalog_document(&yaml, catalog, "job_population.yaml");
    if (status == PACE_OK) {
        reader r = {.yaml = yaml, .catalog = &jobs};
        status = read_population(&population, &r);
    }
    pace_job_catalog_free(&jobs);
    if (status == PACE_OK) *out = population;
    return status;
}

/* ---- drawing ---- */

static double at_rank(const pace_drawn *drawn, double rank) {
    size_t i = 1;
    while (i + 1 < drawn->count && rank >= drawn->at[i]) i++;
    double along = (rank - drawn->at[i - 1]) / (drawn->at[i] - drawn->at[i - 1]);
    double value = drawn->value[i - 1] + along * (drawn->value[i] - drawn->value[i - 1]);
    return drawn->is_log ? exp(value) : value;
}

/* Always draws two numbers of the stream, so that every job uses the same count. */
static double draw(const pace_drawn *drawn, uint64_t *stream, double size_rank) {
    double rank = pace_random_uniform(stream), chance = pace_random_uniform(stream);
    return at_rank(drawn, chance < drawn->follows_size ? size_rank : rank);
}

static const pace_population_class *class_of(const pace_population *population, double rank) {
    size_t i = 0;
    while (i + 1 < population->count && rank >= population->classes[i].until) i++;
    return &population->classes[i];
}

/* Amounts are whole numbers, at least 1 where the share of the time is not zero. */
static double amount(double seconds, double per_unit_s) { return per_unit_s > 0 ? ceil(seconds / per_unit_s) : 0; }

void pace_population_job(double values[PACE_JOB_COLUMNS], pace_job_architecture *architecture,
                         const pace_population *population, uint64_t seed, uint64_t i) {
    uint64_t stream = pace_random_stream(seed, i);
    const pace_population_class *class = class_of(population, pace_random_uniform(&stream));
    double size = pace_random_uniform(&stream);
    double input = draw(&class->input_share, &stream, size);
    double weights = draw(&class->weights_share, &stream, size) * (1 - input);
    double memory = draw(&population->memory_bound_share, &stream, size) * (1 - input - weights);
    double step_s = draw(&population->step_s, &stream, size);
    double bytes = draw(&class->weight_bytes, &stream, size);
    double embedding = draw(&class->embedding_share, &stream, size);
    pace_job_values_clear(values);
    *architecture = class->architecture;
    values[PACE_JOB_CNODES] = fmax(1, round(at_rank(&class->cnodes, size)));
    values[PACE_JOB_BATCH_SIZE] = round(draw(&population->batch_size, &stream, size));
    values[PACE_JOB_INPUT_BYTES] = amount(input * step_s, class->per_unit_s[PACE_COMPONENT_INPUT]);
    values[PACE_JOB_FLOP] = amount((1 - input - weights - memory) * step_s, class->per_unit_s[PACE_COMPONENT_COMPUTE]);
    values[PACE_JOB_MEMORY_ACCESS_BYTES] = amount(memory * step_s, class->per_unit_s[PACE_COMPONENT_MEMORY]);
    values[PACE_JOB_WEIGHT_TRAFFIC_BYTES] = amount(weights * step_s, class->per_unit_s[PACE_COMPONENT_WEIGHTS]);
    values[PACE_JOB_DENSE_WEIGHT_BYTES] = ceil(bytes * (1 - embedding));
    values[PACE_JOB_EMBEDDING_WEIGHT_BYTES] = ceil(bytes * embedding);
    values[PACE_JOB_GPU_HOURS] = ceil(100 * draw(&population->hours, &stream, size) * values[PACE_JOB_CNODES]) / 100;
}

/* ---- writing ---- */

enum { JOBS_PER_BLOCK = 8192, LONGEST_LINE = 256, BLOCKS = 16 };

typedef struct {
    const pace_population *population;
    uint64_t seed, first, count; /* jobs of this round */
    char *text[BLOCKS];
    size_t length[BLOCKS];
} writer;

static char *put_whole(char *at, double value) {
    char digits[24];
    int count = 0;
    uint64_t left = (uint64_t)value;
    do digits[count++] = (char)('0' + left % 10);
    while (left /= 10);
    while (count > 0) *at++ = digits[--count];
    return at;
}

static char *put_job(char *at, const writer *w, uint64_t i) {
    double values[PACE_JOB_COLUMNS];
    pace_job_architecture architecture;
    pace_population_job(values, &architecture, w->population, w->seed, i);
    memcpy(at, "synthetic-", 10);
    at = put_whole(at + 10, (double)i);
    *at++ = ',';
    const char *name = pace_job_architecture_names[architecture];
    memcpy(at, name, strlen(name));
    at += strlen(name);
    for (int column = 0; column < PACE_JOB_REQUIRED; column++) {
        *at++ = ',';
        at = put_whole(at, values[column]);
    }
    double hundredths = round(100 * values[PACE_JOB_GPU_HOURS]);
    *at++ = ',';
    at = put_whole(at, floor(hundredths / 100));
    *at++ = '.';
    *at++ = (char)('0' + (int)fmod(hundredths / 10, 10));
    *at++ = (char)('0' + (int)fmod(hundredths, 10));
    *at++ = '\n';
    return at;
}

static pace_status write_block(void *context, size_t worker, size_t block) {
    writer *w = context;
    (void)worker;
    uint64_t first = w->first + block * JOBS_PER_BLOCK, end = first + JOBS_PER_BLOCK;
    if (end > w->first + w->count) end = w->first + w->count;
    char *at = w->text[block];
    for (uint64_t i = first; i < end; i++) at = put_job(at, w, i);
    w->length[block] = (size_t)(at - w->text[block]);
    return PACE_OK;
}

static void put_header(pace_sink *sink, uint64_t seed, uint64_t count) {
    pace_sink_format(
        sink,
        "# synthetic: %llu made-up jobs, seed %llu, with marginals published of Alibaba's PAI; no row is a job "
        "that ran\n",
        (unsigned long long)count, (unsigned long long)seed);
    pace_sink_text(sink, "job,architecture");
    for (int column = 0; column < PACE_JOB_REQUIRED; column++) {
        pace_sink_text(sink, ",");
        pace_sink_text(sink, pace_job_column_names[column]);
    }
    pace_sink_text(sink, ",gpu_hours\n");
}

static pace_status write_rounds(pace_sink *sink, writer *w, uint64_t count, pace_progress progress) {
    for (w->first = 0; w->first < count; w->first += w->count) {
        w->count = count - w->first < BLOCKS * JOBS_PER_BLOCK ? count - w->first : BLOCKS * JOBS_PER_BLOCK;
        size_t blocks = (size_t)((w->count + JOBS_PER_BLOCK - 1) / JOBS_PER_BLOCK);
        PACE_TRY(pace_for_each(blocks, write_block, w));
        for (size_t i = 0; i < blocks; i++) pace_sink_bytes(sink, w->text[i], w->length[i]);
        pace_progress_tell(progress, "jobs", w->first + w->count, count);
    }
    return PACE_OK;
}

pace_status pace_population_write(pace_sink *sink, const pace_population *population, uint64_t seed, uint64_t count,
                                  pace_progress progress) {
    writer w = {.population = population, .seed = seed};
    pace_status status = PACE_OK;
    put_header(sink, seed, count);
    for (size_t i = 0; status == PACE_OK && i < BLOCKS; i++) {
        w.text[i] = pace_alloc(JOBS_PER_BLOCK, LONGEST_LINE);
        if (!w.text[i]) status = PACE_E_MEMORY;
    }
    if (status == PACE_OK) status = write_rounds(sink, &w, count, progress);
    for (size_t i = 0; i < BLOCKS; i++) pace_free(w.text[i]);
    return status;
}
