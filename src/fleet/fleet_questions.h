/*
 * What a fleet is asked: which resource is made faster, alone and in pairs, which software changes, which assumptions
 * are doubted. Made of the catalogue for a machine, and of what the command line adds.
 */
#pragma once

#include "base/words.h"
#include "fleet/job_doubt.h"

/* Classes of jobs that answers are kept for: the architectures, and PS/Worker jobs as AllReduce-Local where they fit.
 */
enum { PACE_CLASS_PROJECTED = PACE_JOB_ARCHITECTURES, PACE_FLEET_CLASSES };

typedef enum { PACE_ASKED_HARDWARE, PACE_ASKED_PAIR, PACE_ASKED_SOFTWARE, PACE_ASKED_KINDS } pace_asked_kind;

typedef struct {
    pace_asked_kind kind;
    int resource[2]; /* pace_job_resource; -1 = none */
    double rate[2];
    char text[96];    /* "network 100 Gb/s" */
    const char *name; /* of software; NULL */
    pace_job_change change;
    pace_job_faster faster; /* of hardware: the resources again, two that differ */
    double samples;         /* factor on the samples of a step */
    double spread;          /* of the logarithm of the change's factors; 0 for rates, which are given exactly */
    double price;           /* of one cNode's upgrade, in any currency; NAN = not known */
    const char *confidence; /* of the catalogue row behind the question */
    /* Questions that are one for a class, which lacks the links that they differ in, are answered once: by the first,
     * which leads a list. */
    bool first[PACE_FLEET_CLASSES];
    size_t next[PACE_FLEET_CLASSES]; /* the next of the list; SIZE_MAX = none */
} pace_fleet_question;

typedef struct {
    PACE_VEC(pace_fleet_question) items;
    PACE_VEC(pace_job_setting)
    assumptions; /* other settings to draw the conclusions under; the first is the given one */
    PACE_VEC(const pace_job_lever *) levers; /* of the assumptions from the second on; borrowed */
    pace_job_change fastest_network;
} pace_fleet_questions;

/** Makes the questions of the catalogue for a machine; the catalogue of the setting must outlive them. `sweeps`
 * replaces the values for one resource ("network=200Gb/s,400Gb/s"); `prices` sets the price per cNode
 * ("network=100Gb/s:3000"). Errors: PACE_E_USAGE. */
pace_status pace_fleet_questions_make(pace_fleet_questions *out, const pace_job_setting *setting,
                                      const pace_words *sweeps, const pace_words *prices) PACE_MUST_CHECK;
void pace_fleet_questions_free(pace_fleet_questions *questions);
