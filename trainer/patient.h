/*
 * Exchanges between processes that end when somebody does not answer: each call runs on a thread of its own, and is
 * given up after the time-out. MPI itself would wait for ever for a rank that was stopped.
 */
#pragma once

#include "paceline/paceline.h"

typedef struct {
    pace_processes is; /* what the trainer calls: it must stand first */
    const pace_processes *real;
    double timeout_s;
    bool lost; /* a call was given up: its thread is stuck, and the process can only end */
} pace_patient;

/** The processes with patience; `real` is borrowed. */
void pace_patient_open(pace_patient *out, const pace_processes *real, double timeout_s);

/** Why a call of such processes returned a failure: the time-out, else `otherwise`. */
pace_status pace_patient_failed(const pace_processes *processes, const char *otherwise);
