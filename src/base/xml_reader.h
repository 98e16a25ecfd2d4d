/*
 * The elements of a small XML document, one after the other: names and attributes. Text, comments, declarations and
 * document types are passed over; entities stay as they are. The whole document is in memory.
 */
#pragma once

#include "base/memory.h"

enum { PACE_XML_ATTRIBUTES = 32, PACE_XML_DEPTH = 64 };

typedef enum { PACE_XML_END, PACE_XML_OPEN, PACE_XML_CLOSE } pace_xml_kind;

typedef struct {
    const char *name;
    char *text; /* changed while it is read: names and values end with NUL */
    size_t length, at, line;
    const char *path[PACE_XML_DEPTH]; /* elements that are open */
    size_t depth;
    bool empty; /* the element just opened closes at once */
    /* of the element just opened: */
    const char *element, *keys[PACE_XML_ATTRIBUTES], *values[PACE_XML_ATTRIBUTES];
    size_t attribute_count;
} pace_xml;

/** Of `length` bytes that end with a NUL behind, borrowed and changed; `name` is for messages. */
void pace_xml_init(pace_xml *xml, const char *name, char *text, size_t length);

/** The next element that opens or closes. PACE_E_INPUT with name:line for what is no XML. */
pace_status pace_xml_next(pace_xml_kind *out, pace_xml *xml) PACE_MUST_CHECK;

/** An attribute of the element just opened, or NULL. */
const char *pace_xml_get(const pace_xml *xml, const char *key);
