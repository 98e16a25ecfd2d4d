#include "exchangers.h"

#include "base/memory.h"
#include "base/shared_object.h"

#include <string.h>

/* In the order of the option's words, of which "segments" is carried out elsewhere (segmented.h). */
static const struct {
    const char *file, *package;
    const char *options; /* that only some approaches have, between blanks */
    const char
        *reduction; /* of its all-reduces, as catalog/approaches.yaml has it; "" = its library chooses, NULL = none */
} known[] = {
    {"paceline-train-mpi.so", "libopenmpi-dev", "", "ring"},
    {"paceline-train-mpi.so", "libopenmpi-dev", " fusion ", ""},
    {"paceline-train-mpi.so", "libopenmpi-dev", "", NULL},
    {"paceline-train-collective.so", "libopenmpi-dev", " fusion ", ""},
    {"paceline-train-collective.so", "libopenmpi-dev", " fusion ", NULL},
    {"paceline-train-grpc.so", "libgrpc-dev", " asynchronous servers port ", NULL},
    {"paceline-train-grpc.so", "libgrpc-dev", " asynchronous servers port ", NULL},
    {"paceline-train-ucx.so", "libucx-dev", " asynchronous servers port ", NULL},
};

enum { KNOWN = PACE_COUNT(known) };

const char *pace_exchange_name(size_t i) { return pace_option_word(NULL, "validate", "approach", i); }

static pace_status find(size_t *at, const char *approach) {
    PACE_TRY(pace_option_word_find(at, "train", "approach", approach));
    return *at < KNOWN ? PACE_OK : pace_fail(PACE_E_USAGE, "approach: %s exchanges no whole gradients", approach);
}

const char *pace_exchange_reduction(const char *approach) {
    size_t at;
    return find(&at, approach) == PACE_OK ? known[at].reduction : NULL;
}

static bool lists(const char *options, const char *option) {
    char word[64];
    pace_snprintf(word, sizeof word, " %s ", option);
    return strstr(options, word);
}

pace_status pace_exchange_check(const char *approach, const pace_question *question) {
    static const char *const some[] = {"asynchronous", "servers", "port", "fusion"};
    size_t at;
    PACE_TRY(find(&at, approach));
    for (size_t i = 0; i < PACE_COUNT(some); i++) {
        if (!pace_question_has(question, some[i]) || lists(known[at].options, some[i])) continue;
        char all[256] = "";
        for (size_t k = 0; k < KNOWN; k++)
            if (lists(known[k].options, some[i]))
                pace_snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? ", " : "",
                              pace_exchange_name(k));
        return pace_fail(PACE_E_USAGE, "%s: has no effect on %s: expected " PACE_FIELD "approach of %s", some[i],
                         approach, all);
    }
    return PACE_OK;
}

static pace_status result_status(pace_exchanger_result result, const char *approach, const char *message) {
    static const pace_status statuses[] = {[PACE_EXCHANGER_MISSING] = PACE_E_MISSING,
                                           [PACE_EXCHANGER_USAGE] = PACE_E_USAGE,
                                           [PACE_EXCHANGER_FAILED] = PACE_E_IO};
    (void)approach; /* the message says it */
    return result == PACE_EXCHANGER_OK ? PACE_OK : pace_fail(statuses[result], "%s", message);
}

static pace_status load_kind(const pace_exchanger **out, const char *approach, const char *folder) {
    char path[2048], reason[256];
    size_t at;
    PACE_TRY(find(&at, approach));
    pace_exchanger_fn entry = NULL;
    if (!pace_shared_object_find(path, sizeof path, folder, known[at].file))
        return pace_fail(PACE_E_MISSING, "approach %s: build Paceline where there is the Debian package %s%s", approach,
                         known[at].package, pace_shared_object_elsewhere());
    *(void **)&entry = pace_shared_object_symbol(path, "pace_train_exchanger", reason, sizeof reason);
    if (!entry)
        return pace_fail(PACE_E_MISSING, "approach %s: %s (the Debian package %s)", approach, reason,
                         known[at].package);
    for (size_t i = 0; entry(i); i++)
        if (strcmp(entry(i)->name, approach) == 0 && entry(i)->version == PACE_EXCHANGER_VERSION) {
            *out = entry(i);
            return PACE_OK;
        }
    return pace_fail(PACE_E_MISSING, "approach %s: it is not in %.300s", approach, path);
}

pace_status pace_exchange_begin(pace_exchange *out, const char *approach, const pace_exchanger_setup *setup,
                                const char *folder) {
    char message[PACE_EXCHANGER_MESSAGE] = "";
    pace_exchange e = *out;
    PACE_TRY(load_kind(&e.kind, approach, folder));
    pace_exchanger_result result = e.kind->open(&e.state, setup, message);
    if (result == PACE_EXCHANGER_OK) *out = e;
    return result_status(result, approach, message);
}

pace_status pace_exchange_ready(pace_exchange *e, size_t tensor) {
    char message[PACE_EXCHANGER_MESSAGE] = "";
    return e->kind ? result_status(e->kind->ready(e->state, tensor, message), e->kind->name, message) : PACE_OK;
}

pace_status pace_exchange_finish(pace_exchange *e) {
    char message[PACE_EXCHANGER_MESSAGE] = "";
    return e->kind ? result_status(e->kind->finish(e->state, message), e->kind->name, message) : PACE_OK;
}

bool pace_exchange_updates(const pace_exchange *e) { return e->kind && e->kind->does_update; }

pace_exchanger_counts pace_exchange_counts(const pace_exchange *e) {
    pace_exchanger_counts counts = {0};
    if (e->kind) e->kind->count(e->state, &counts);
    return counts;
}

void pace_exchange_close(pace_exchange *e) {
    if (e->kind) e->kind->close(e->state);
    pace_free(e->tensors);
    *e = (pace_exchange){0};
}
