/* A question about an exchange: what is asked of which machine, its answer by size, and what would help. */
#pragma once

#include "ask/engine_options.h"
#include "ask/predict/exchange_words.h"
#include "exchange/calibration.h"

typedef struct {
    const pace_exchange_options *options;
    pace_exchange exchange;
    pace_exchange_fit own; /* the curves of the fit that name no algorithm, protocol or channels */
    pace_exchange_fit fit;
    const char *system; /* of the fit: whose curves answer; NULL = no fit */
    pace_exchange_question question;
    pace_sizes sizes;
} pace_exchange_asked;

/** The words of --library: `line` is NCCL's version line, NULL = the newest. PACE_E_USAGE lists what there is. */
extern const char *const pace_exchange_libraries[3];
pace_status pace_read_library(pace_exchange_library *out, const char **line, const char *text) PACE_MUST_CHECK;

/** Free `out`, which begins as zeros, after a failure too. Errors: PACE_E_USAGE, PACE_E_MISSING for an unknown machine,
 * and those of files. `options` are borrowed. */
pace_status pace_exchange_ask(pace_exchange_asked *out, const pace_exchange_options *options) PACE_MUST_CHECK;
void pace_exchange_asked_free(pace_exchange_asked *asked);

/** The ranks that take part: of a node, and on how many nodes. */
int pace_exchange_asked_per_node(const pace_exchange_asked *asked);
int pace_exchange_asked_nodes(const pace_exchange_asked *asked);

/** Of a size: by the fit where one is given and tells, else in closed form; the rung says which. */
pace_status pace_exchange_asked_answer(pace_exchange_answer *out, const pace_exchange_asked *asked,
                                       double bytes) PACE_MUST_CHECK;

enum { PACE_WHY_UNFITTED = 200 };

/** Why the fit does not tell a size; "" where it does, or there is none. */
void pace_exchange_asked_unfitted(char why[PACE_WHY_UNFITTED], const pace_exchange_asked *asked, double bytes);

/* What the library would take by itself where an algorithm or a protocol is named. */
typedef struct {
    size_t alike;                     /* sizes of which it takes the same way */
    double bytes;                     /* where its own time differs most from the named way's */
    double ratio;                     /* its own time there / the named way's */
    const char *algorithm, *protocol; /* its own way there; borrowed from tables */
} pace_exchange_own_choice;

/** Of all sizes of a question that names an algorithm or a protocol. */
pace_status pace_exchange_asked_own_choice(pace_exchange_own_choice *out,
                                           const pace_exchange_asked *asked) PACE_MUST_CHECK;

/* A change of the machine, and the shares of the time that it saves. */
typedef struct {
    const char *change;
    double of_smallest, of_largest;
} pace_exchange_saving;

enum { PACE_EXCHANGE_CHANGES = 3 };

/** Of the changes that the machine can have. */
pace_status pace_exchange_savings(pace_exchange_saving out[PACE_EXCHANGE_CHANGES], size_t *count,
                                  const pace_exchange_asked *asked) PACE_MUST_CHECK;

/** The curves that answer: those of the library's own choice, where the system has some; else all. */
const pace_exchange_fit *pace_exchange_asked_curves(const pace_exchange_asked *asked);
