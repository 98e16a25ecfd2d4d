/* What failures and checkpoints cost a long training: Young (1974), Daly (2006). */
#pragma once

/* All in seconds. */
typedef struct {
    double between_failures_s; /* of one device, on average */
    double save_s;             /* training stands while a checkpoint is written */
    double restart_s;          /* from a failure until training goes on from the last checkpoint */
} pace_failures;

typedef struct {
    double between_failures_s; /* of any device */
    double interval_s;         /* of training between two checkpoints: the best */
    double share;              /* of the time is progress that is kept */
} pace_goodput;

/** Failures of `devices` come at random, at the same rate. Daly's estimate of the best interval (his equation 37), and
 * of the time that it leads to (20). */
pace_goodput pace_goodput_of(const pace_failures *failures, double devices);

/** The share that another interval leads to. */
double pace_goodput_share(const pace_failures *failures, double devices, double interval_s);
