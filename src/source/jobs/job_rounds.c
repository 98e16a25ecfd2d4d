#include "source/jobs/job_rounds.h"
#include "base/decimal.h"
#include "base/parallel.h"
#include "base/whole_file.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS_PER_WORKER = 4, FEWEST_SHARED = 32, SHOWN_ROW_BYTES = 200 };

size_t pace_job_workers(void) { return pace_workers(); }

/* ---- refused rows ---- */

static pace_status open_rejects(pace_job_rounds *rounds) {
    if (!rounds->options->rejects_path) return PACE_OK;
    PACE_TRY(pace_beside_open(&rounds->rejects_beside, rounds->options->rejects_path));
    rounds->lists_rejects = true;
    PACE_TRY(pace_sink_open(&rounds->rejects, pace_write_stream, rounds->rejects_beside.file));
    pace_sink_text(&rounds->rejects, "file,line,reason,row\n");
    return PACE_OK;
}

static void write_cell(pace_sink *sink, const char *text, size_t length) {
    pace_sink_text(sink, "\"");
    if (pace_is_formula(text, length)) pace_sink_text(sink, "'");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') pace_sink_text(sink, "\"");
        pace_sink_bytes(sink, text + i, 1);
    }
    pace_sink_text(sink, "\"");
}

static pace_status add_reject(pace_texts *rejects, const char *file, const pace_job_reject *fault) {
    char text[1024];
    pace_snprintf(text, sizeof text, "%s:%llu: %s", file, (unsigned long long)fault->line, fault->why);
    return pace_texts_add(rejects, text);
}

pace_status pace_job_rounds_reject(pace_job_rounds *rounds, const pace_job_reject *fault) {
    pace_job_reading *reading = rounds->reading;
    reading->rejected++;
    if (reading->rejects.count < PACE_JOB_SHOWN_REJECTS) PACE_TRY(add_reject(&reading->rejects, rounds->name, fault));
    if (!rounds->lists_rejects) return PACE_OK;
    write_cell(&rounds->rejects, rounds->name, strlen(rounds->name));
    pace_sink_format(&rounds->rejects, ",%llu,", (unsigned long long)fault->line);
    write_cell(&rounds->rejects, fault->why, strlen(fault->why));
    pace_sink_text(&rounds->rejects, ",");
    write_cell(&rounds->rejects, fault->text, fault->length < SHOWN_ROW_BYTES ? fault->length : SHOWN_ROW_BYTES);
    pace_sink_text(&rounds->rejects, "\n");
    return PACE_OK;
}

/* ---- a round ---- */

static pace_status know_ids(pace_job_rounds *rounds) {
    PACE_TRY(pace_job_ids_init(&rounds->ids, 0));
    for (size_t i = 0; i < rounds->options->known_count; i++) {
        bool seen;
        size_t repeats;
        PACE_TRY(pace_job_ids_add(&seen, &repeats, &rounds->ids, &rounds->options->known_ids[i], 1));
    }
    return PACE_OK;
}

/* Threads wait for each other at the end of a round, and longer where others use the machine: few get long rounds. */
static size_t blocks_of_round(void) {
    size_t count = BLOCKS_PER_WORKER * pace_job_workers();
    return pace_job_workers() > 1 && count < FEWEST_SHARED ? FEWEST_SHARED : count;
}

pace_status pace_job_rounds_open(pace_job_rounds *rounds) {
    rounds->block_count = blocks_of_round();
    if (!PACE_MAKE(rounds->blocks, rounds->block_count) || !PACE_MAKE(rounds->repeats, rounds->block_count))
        return PACE_E_MEMORY;
    PACE_TRY(pace_job_limits_load(&rounds->limits, rounds->options->catalog));
    PACE_TRY(know_ids(rounds));
    return open_rejects(rounds);
}

/* A run that fails without a refused row leaves no list. */
static pace_status close_rejects(pace_job_rounds *rounds, bool failed) {
    if (!rounds->lists_rejects) return PACE_OK;
    pace_status status = rounds->rejects.buffer ? pace_sink_close(&rounds->rejects) : PACE_E_MEMORY;
    if (status == PACE_E_IO) pace_fail_in(status, rounds->options->rejects_path);
    bool unwanted = failed && rounds->reading->rejected == 0;
    pace_status closed = pace_beside_close(&rounds->rejects_beside, unwanted ? PACE_E_INPUT : status);
    return unwanted ? status : closed;
}

pace_status pace_job_rounds_close(pace_job_rounds *rounds, bool failed) {
    for (size_t i = 0; rounds->blocks && i < rounds->block_count; i++) pace_job_block_free(&rounds->blocks[i]);
    for (size_t i = 0; rounds->repeats && i < rounds->block_count; i++) PACE_VEC_FREE(&rounds->repeats[i].seen);
    PACE_FREE(rounds->blocks, rounds->repeats);
    pace_job_ids_free(&rounds->ids);
    return close_rejects(rounds, failed);
}

static pace_status reject_repeat(pace_job_rounds *rounds, const pace_jobs *jobs, size_t job) {
    const char *id = pace_jobs_id(jobs, job);
    pace_job_reject fault = {.line = rounds->line + jobs->lines[job], .text = id, .length = strlen(id)};
    snprintf(fault.why, sizeof fault.why, "job \"%.60s\" was there before (--repeats lets it)", id);
    rounds->reading->repeated++;
    return pace_job_rounds_reject(rounds, &fault);
}

/* Refused rows and repeated ids are listed together, by line. */
static pace_status list_rejects(pace_job_rounds *rounds, pace_job_block *block, const bool *repeated) {
    size_t job = repeated ? 0 : block->jobs.count;
    for (size_t i = 0; i <= block->rejects.count; i++) {
        uint64_t until = i < block->rejects.count ? block->rejects.items[i].line : UINT64_MAX;
        for (; job < block->jobs.count && block->jobs.lines[job] < until; job++)
            if (repeated && repeated[job]) PACE_TRY(reject_repeat(rounds, &block->jobs, job));
        if (i == block->rejects.count) break;
        block->rejects.items[i].line += rounds->line;
        PACE_TRY(pace_job_rounds_reject(rounds, &block->rejects.items[i]));
    }
    return PACE_OK;
}

/* Looks for a block's ids in one part of those seen before. */
static pace_status find_repeats(pace_job_repeats *repeats, pace_job_rounds *rounds, const pace_job_block *block,
                                size_t part) {
    repeats->count[part] = 0;
    return pace_job_ids_add_part(repeats->seen.items, &repeats->count[part], &rounds->ids, part, block->id_keys.items,
                                 block->jobs.count);
}

/* Nobody else looks at a part before the first block has passed it. */
static pace_status expect_ids(pace_job_rounds *rounds, const pace_job_block *first) {
    double count = (double)first->jobs.count * rounds->expected_blocks;
    rounds->expected_blocks = 0;
    return count > 0 ? pace_job_ids_expect(&rounds->ids, (size_t)count) : PACE_OK;
}

/* One thread is in each part. */
static pace_status find_all_repeats(pace_job_repeats *repeats, pace_job_rounds *rounds, const pace_job_block *block,
                                    size_t number, pace_status filled) {
    pace_status status = filled;
    if (rounds->options->repeats) return status;
    if (status == PACE_OK)
        status = pace_grow(&repeats->seen.items, &repeats->seen.capacity, block->jobs.count, sizeof(bool));
    if (status == PACE_OK && number == 0 && rounds->expected_blocks > 0) status = expect_ids(rounds, block);
    for (size_t part = 0; part < PACE_JOB_ID_PARTS; part++) {
        pace_turns_wait(&rounds->id_turns[part], number);
        if (status == PACE_OK) status = find_repeats(repeats, rounds, block, part);
        pace_turns_pass(&rounds->id_turns[part]);
    }
    return status;
}

static bool has_repeats(const pace_job_rounds *rounds, const pace_job_repeats *repeats) {
    size_t count = 0;
    for (size_t p = 0; p < PACE_JOB_ID_PARTS && !rounds->options->repeats; p++) count += repeats->count[p];
    return count > 0;
}

static pace_status settle(pace_job_rounds *rounds, pace_job_block *block, const pace_job_repeats *repeats) {
    const bool *repeated = has_repeats(rounds, repeats) ? repeats->seen.items : NULL;
    rounds->reading->rows += block->jobs.count + block->rejects.count;
    PACE_TRY(list_rejects(rounds, block, repeated));
    if (repeated) pace_jobs_drop(&block->jobs, repeated);
    for (size_t i = 0; i < block->jobs.count; i++) block->jobs.lines[i] += rounds->line;
    rounds->line += block->lines;
    rounds->reading->jobs += block->jobs.count;
    return PACE_OK;
}

typedef struct {
    pace_job_rounds *rounds;
    pace_job_fill_fn fill;
    pace_job_meanwhile_fn meanwhile;
    void *context;
} running;

/* A thread fills the same block again and again, which stays in its caches. Behind one that fails no block is settled
 * or given. */
static pace_status run_block(const running *run, size_t worker, size_t number) {
    pace_job_rounds *rounds = run->rounds;
    pace_job_block *block = &rounds->blocks[run->fill ? worker : number];
    pace_job_repeats *repeats = &rounds->repeats[worker];
    const pace_jobs *jobs = &block->jobs;
    pace_status status = run->fill ? run->fill(run->context, block, number) : PACE_OK;
    status = find_all_repeats(repeats, rounds, block, number, status);
    pace_turns_wait(&rounds->turns, number);
    if (status == PACE_OK && !rounds->broken) status = settle(rounds, block, repeats);
    bool broken = rounds->broken = rounds->broken || status != PACE_OK;
    pace_turns_pass(&rounds->turns);
    return !broken && jobs->count > 0 ? rounds->take(rounds->context, worker, rounds->file, jobs) : status;
}

static pace_status run_one(void *context, size_t worker, size_t i) {
    const running *run = context;
    if (i > 0) return run_block(run, worker, i - 1);
    return run->meanwhile ? run->meanwhile(run->context) : PACE_OK;
}

pace_status pace_job_rounds_run(pace_job_rounds *rounds, pace_job_fill_fn fill, pace_job_meanwhile_fn meanwhile,
                                void *context) {
    running run = {rounds, fill, meanwhile, context};
    for (size_t part = 0; part < PACE_JOB_ID_PARTS; part++) pace_turns_init(&rounds->id_turns[part]);
    pace_turns_init(&rounds->turns);
    pace_status status = pace_for_each(rounds->used + 1, run_one, &run);
    for (size_t part = 0; part < PACE_JOB_ID_PARTS; part++) pace_turns_free(&rounds->id_turns[part]);
    pace_turns_free(&rounds->turns);
    return status;
}
