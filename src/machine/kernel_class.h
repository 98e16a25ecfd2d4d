/*
 * What a GPU kernel does, judged by its name alone: for kernels whose operator's shapes a trace does not have, and
 * for telling communication from computation. The rules are catalog/kernels.yaml and catalog/communication.yaml.
 */
#pragma once

#include "machine/catalog.h"

typedef enum { PACE_BOUND_UNKNOWN, PACE_BOUND_COMPUTE, PACE_BOUND_MEMORY } pace_bound;

typedef struct {
    const char *family;  /* "gemm", "convolution", …, "communication", "unknown"; never NULL */
    const char *library; /* of a communication kernel: "nccl", …; else NULL */
    pace_bound bound;
    bool communication;
} pace_kernel_class; /* texts are borrowed from the pace_kernel_classes */

typedef struct pace_kernel_classes pace_kernel_classes;

/** Reads the rule lists. Errors: PACE_E_INPUT with file:line:column for a malformed rule. */
pace_status pace_kernel_classes_load(pace_kernel_classes **out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_kernel_classes_free(pace_kernel_classes *classes);

/** The first rule any of whose patterns occurs in `name`, ignoring case; communication rules come first. A pattern
 * that starts with "<" matches only where a word starts (the character before it is no letter and no digit). */
pace_kernel_class pace_kernel_classify(const pace_kernel_classes *classes, const char *name);

/** The pattern by which a name is classified, without its "<"; NULL = no rule knows the name. Borrowed. */
const char *pace_kernel_class_word(const pace_kernel_classes *classes, const char *name);

/** Whether an operator or a range of the host is of work that runs on devices alone. */
bool pace_names_a_device(const pace_kernel_classes *classes, const char *name);

/** Where the host is the device: what calling an operator takes. */
int64_t pace_host_call_ns(const pace_kernel_classes *classes);
