/* A finished step as bytes, for another process of the same program. */
#pragma once

#include "step/step.h"

typedef PACE_VEC(char) pace_packed;

/** Appends bytes. */
pace_status pace_pack(pace_packed *out, const void *bytes, size_t length) PACE_MUST_CHECK;

/** Takes the next bytes; false when there are not so many. */
bool pace_unpack(void *out, size_t length, const char **at, const char *end);

pace_status pace_step_pack(pace_packed *out, const pace_step *step) PACE_MUST_CHECK;

/** The inverse; PACE_E_INTERNAL for bytes that break off. */
pace_status pace_step_unpack(pace_step *out, const char **at, const char *end) PACE_MUST_CHECK;
