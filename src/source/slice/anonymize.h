/* Traces without the names of those who wrote them: every text that catalog/public_names.yaml does not know becomes a
 * hash, the same for the same text in every file. */
#pragma once

#include "base/json_writer.h"
#include "machine/kernel_class.h"
#include "source/traces/kineto_event.h"

typedef struct {
    const pace_kernel_classes *classes;
    const pace_yaml_node *whole, *heads, *kernels, *namespaces, *python, *arguments, *values, *members;
    const pace_yaml_node *stages; /* rules of catalog/stages.yaml */
} pace_anonymizer;

/** Borrows from the catalogue and from `classes`. PACE_E_INPUT for a malformed catalogue. */
pace_status pace_anonymizer_open(pace_anonymizer *out, pace_catalog *catalog,
                                 const pace_kernel_classes *classes) PACE_MUST_CHECK;

/** Writes an event, given as the file has it, without names. */
void pace_anonymize_event(pace_sink *sink, const pace_anonymizer *anonymizer, const pace_kineto_event *event,
                          const char *bytes, size_t length);

/** Writes a member beside the events that may stay, without names. */
void pace_anonymize_member(pace_sink *sink, const pace_anonymizer *anonymizer, const char *key, const char *bytes,
                           size_t length);

/** Whether a member beside the events may stay: it is known, or holds neither text, list nor object. */
bool pace_anonymizer_keeps_member(const pace_anonymizer *anonymizer, const char *key, const char *value);
