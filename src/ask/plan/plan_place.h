/* A machine offered for a plan, or a part of it: its space, what fits, and the fastest with `predict`'s times. */
#pragma once

#include "ask/plan/launcher_read.h"
#include "ask/predict/step_ask.h"
#include "base/texts.h"
#include "plan/goodput.h"
#include "plan/plan_search.h"
#include "plan/plan_sensitivity.h"
#include "plan/step_picture.h"

/* A configuration that fits, and its time as `predict` gives it. */
typedef struct {
    pace_plan_candidate candidate;
    pace_estimate time_s;
    double need_bytes;
    double host_bytes;                     /* of a node's host, where it offloads */
    bool close;                            /* memory is known to a quarter: it may need more than the device has */
    double chance;                         /* that the first choice is faster than this one; 0.5 of the first */
    double fastest;                        /* the chance that it is the fastest of all choices of its place */
    double otherwise[PACE_PLAN_OTHERWISE]; /* its time over that, if something takes longer */
    double idle;                           /* devices that it leaves without work */
    double samples_per_s, days, price;     /* days, price: of all tokens, failures included; NAN = not asked */
    double progress_per_s; /* samples a second that count: less what failures, stragglers and a large batch cost */
    double energy_kwh;     /* of all tokens, at the devices' rated power; NAN = not asked, or not known */
} pace_plan_choice;

enum { PACE_PLAN_NODES_MOST = 64 };

/* A single change with which something fits where nothing does. */
typedef struct {
    char field[64], value[32]; /* a setting that is left out; "tp=2 and recompute" where only two help */
    int nodes;                 /* 0, or so many nodes of the same machine */
    pace_config config;        /* the fastest then, in closed form */
} pace_plan_loosened;

/* One machine that is offered, or a part of it: so many of its nodes. */
typedef struct {
    pace_machine machine;
    const pace_predict_fits *fits; /* borrowed */
    pace_step_asked step;
    pace_plan_space space;
    pace_config yours; /* the configuration of the user's file, where there is one */
    pace_plan_found found;
    PACE_VEC(pace_plan_choice) choices; /* fastest first */
    PACE_VEC(pace_plan_loosened) loosened;
    double layers;        /* that a pipeline may cut */
    int usual_modules;    /* what selective recomputation runs again where the search does not choose */
    double device_price;  /* of an hour; NAN = not said */
    double device_w;      /* rated power; 0 = not known */
    pace_goodput goodput; /* share 1 where nothing was said of failures */
    double learning;      /* samples to the same loss over those of small batches; 1 unless given */
    bool on_front;        /* no other place is both faster and cheaper */
    size_t otherwise_first[PACE_PLAN_OTHERWISE]; /* which choice is the fastest then, */
    double otherwise_lost[PACE_PLAN_OTHERWISE];  /* and the share that the first loses to it */
    size_t timed;      /* of the first choices that are worth timing; 0 = the first is sure enough, or alone */
    double timed_gain; /* the share of a step that running the fastest of these is expected to save */
} pace_plan_place;

/* One field of the user's own configuration changed, or (field "") all at once: the fastest that fits. */
typedef struct {
    const char *field;
    char from[32], to[32];
    pace_plan_choice choice;
} pace_plan_change;

/* The fastest of a machine, or of a setting, that was not asked for. */
typedef struct {
    pace_plan_choice choice;
    char machine[64];
    double devices; /* 0 = nothing */
} pace_plan_beside;

/* One machine of several that train together: its share of every step. */
typedef struct {
    const pace_plan_place *place;
    double samples;
    pace_plan_choice choice;
} pace_plan_share;

typedef struct {
    PACE_VEC(pace_plan_share) shares; /* none = not asked, or they cannot */
    double step_s;                    /* of the slowest, and the exchange */
    double exchange_s;                /* gradients summed between machines */
    double even_s;                    /* the step if every device had as many samples; INFINITY = cannot be */
    double days, price;               /* of all tokens; NAN = not asked */
} pace_plan_together;

typedef struct {
    const char *name; /* of the model, as asked, or as the file has it; borrowed */
    const pace_plan_options *options;
    pace_plan_options with_file; /* the options, and what the user's file fixes */
    pace_launcher_settings file;
    PACE_VEC(const char *) set; /* of with_file */
    double file_parameters;     /* of the file's model, where the question's has others; 0 = it has not */
    pace_plan_choice yours;     /* the file's configuration; its time is 0 where it cannot be */
    char yours_refused[240];    /* why it cannot be; "" = it needs more memory (need_bytes), or does not divide */
    PACE_VEC(pace_plan_change) changes; /* fastest first; only such as are faster, or fit where it does not */
    pace_device_catalog devices;
    pace_predict_fits fits;
    pace_warnings warnings;
    PACE_VEC(pace_plan_place *) places; /* as asked, parts of a machine from the smallest */
    double tokens, within_days, budget; /* NAN = not said */
    double most_devices;                /* of the machines that are offered */
    pace_failures failures;             /* 0 = not said */
    double critical_batch;              /* tokens, or samples of models without sequences; NAN = not said */
    double jitter;                      /* of devices' steps, as a share; NAN = not said */
    bool batch_assumed, batch_chosen;   /* chosen: by the critical batch */
    bool stopped;                       /* before all was searched and answered */
    const char *launcher; /* what the fastest is told to; borrowed; NULL = nothing fits, or no launcher is for it */
    pace_texts launch;
    pace_texts taken_out;   /* of a file of yours: what its lines would set and these do not */
    pace_analysis *picture; /* the schedule of the fastest; NULL = it has no pipeline, or none can be drawn */
    double stretch;         /* how many times as long as its turns alone that is drawn */
    pace_plan_together together;
    pace_plan_beside other;  /* the fastest in the other precision, where two were searched */
    pace_plan_beside framed; /* the fastest of another framework, where nobody named one */
    const char *framework;   /* that one; borrowed from the catalogue */
    pace_plan_beside enough; /* done in time, where nothing that is offered is */
    pace_plan_beside nearly; /* where nothing is: the fastest of all that were tried */
    bool order_changed;      /* the closed form put another configuration first on some machine */
} pace_plan_asked;

/** Reads what is asked for of all machines. PACE_E_USAGE for words that mean nothing or contradict each other. */
pace_status pace_plan_terms_read(pace_plan_asked *a) PACE_MUST_CHECK;

/** Opens p->machine, which is set: model, space, goodput; answers nothing yet. */
pace_status pace_plan_place_open(pace_plan_place *p, pace_plan_asked *a, const char *name) PACE_MUST_CHECK;
/** Searches an open place: p->found. */
pace_status pace_plan_place_search(pace_plan_place *p, const pace_plan_asked *a) PACE_MUST_CHECK;
/** Searches, and answers the fastest: p->choices. */
pace_status pace_plan_place_answer(pace_plan_place *p, pace_plan_asked *a) PACE_MUST_CHECK;
/** The fastest of a place for a step of so many samples, which need not be the step's: INFINITY where nothing fits. Not
 * `timed`: its closed form's time alone. */
pace_status pace_plan_place_share(pace_plan_choice *out, const pace_plan_asked *a, pace_plan_place *p, double samples,
                                  bool timed) PACE_MUST_CHECK;
void pace_plan_place_close(pace_plan_place *p);

/** The fastest that fits with some fields pinned to `config`, on all devices. Where nothing does, `out` has but the
 * need_bytes of what needs least, 0 where nothing was built; `refused` of `size` bytes says why the first was not. */
pace_status pace_plan_place_best(pace_plan_choice *out, char *refused, size_t size, const pace_plan_asked *a,
                                 pace_plan_place *p, const pace_config *config,
                                 const bool pinned[PACE_PLAN_FIELDS]) PACE_MUST_CHECK;

/** Whether a place's best choice trains all tokens within the days and for the budget that were said, with `sure` also
 * at the upper end of the step's interval. */
bool pace_plan_is_done(const pace_plan_asked *asked, const pace_plan_place *place, bool sure);
/** The place whose best choice trains fastest, or with `cheapest` at the least price: of those that are done within
 * days and budget, where there are none of those that are done in time, else of all; NULL if nothing fits anywhere. */
const pace_plan_place *pace_plan_best(const pace_plan_asked *asked, bool cheapest);
/** The smallest place that is done (pace_plan_is_done()); NULL = none. */
const pace_plan_place *pace_plan_smallest(const pace_plan_asked *asked, bool sure);
/** The place that the question is about: where days are asked for the smallest that is done; where a budget is and
 * nothing is done for it the cheapest; else the fastest. */
const pace_plan_place *pace_plan_chosen(const pace_plan_asked *asked);
