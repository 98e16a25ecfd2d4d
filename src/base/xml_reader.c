#include "base/xml_reader.h"

#include <string.h>

void pace_xml_init(pace_xml *xml, const char *name, char *text, size_t length) {
    *xml = (pace_xml){.name = name, .text = text, .length = length, .line = 1};
}

static pace_status broken(const pace_xml *xml, const char *expected) {
    return pace_fail(PACE_E_INPUT, "%s:%zu: expected %s", xml->name, xml->line, expected);
}

static char here(const pace_xml *xml) { return xml->at < xml->length ? xml->text[xml->at] : '\0'; }

static void step(pace_xml *xml) {
    if (here(xml) == '\n') xml->line++;
    if (xml->at < xml->length) xml->at++;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static void skip_space(pace_xml *xml) {
    while (is_space(here(xml))) step(xml);
}

/* False when the text ends before. */
static bool skip_past(pace_xml *xml, const char *end) {
    size_t length = strlen(end);
    for (; xml->at + length <= xml->length; step(xml))
        if (memcmp(xml->text + xml->at, end, length) == 0) {
            xml->at += length;
            return true;
        }
    return false;
}

static bool is_name(char c) { return c && !is_space(c) && !strchr("<>/=\"'?!", c); }

/* Where a name begins; its end is left to be cut. */
static const char *name_at(pace_xml *xml) {
    const char *name = xml->text + xml->at;
    while (is_name(here(xml))) step(xml);
    return xml->text + xml->at == name ? NULL : name;
}

/* Cuts the text here, and says what stood there. */
static char cut(pace_xml *xml) {
    char c = here(xml);
    if (xml->at < xml->length) xml->text[xml->at] = '\0';
    return c;
}

/* key="value" behind the key; `next` is what stood behind it. */
static pace_status read_value(pace_xml *xml, const char *key, char next) {
    if (xml->attribute_count == PACE_XML_ATTRIBUTES) return broken(xml, "fewer attributes");
    if (is_space(next)) {
        step(xml);
        skip_space(xml);
        next = here(xml);
    }
    if (next != '=') return broken(xml, "a \"=\" behind an attribute");
    if (xml->at < xml->length) xml->at++;
    skip_space(xml);
    char quote = here(xml);
    if (quote != '"' && quote != '\'') return broken(xml, "a value in quotes");
    step(xml);
    const char *value = xml->text + xml->at;
    while (xml->at < xml->length && here(xml) != quote) step(xml);
    if (xml->at == xml->length) return broken(xml, "the end of a value");
    cut(xml);
    xml->at++;
    xml->keys[xml->attribute_count] = key;
    xml->values[xml->attribute_count++] = value;
    return PACE_OK;
}

/* The end of an element's name, or of its attributes: what stands there, maybe already cut away. */
static pace_status read_attributes(pace_xml *xml, char next) {
    for (;;) {
        if (is_space(next)) {
            if (!here(xml)) step(xml);
            skip_space(xml);
            next = here(xml);
        }
        if (next == '>' || next == '/') {
            xml->empty = next == '/';
            if (xml->at < xml->length) xml->at++;
            if (xml->empty && here(xml) != '>') return broken(xml, "\">\" behind \"/\"");
            if (xml->empty) xml->at++;
            return PACE_OK;
        }
        const char *key = name_at(xml);
        if (!key) return broken(xml, "an attribute or \">\"");
        PACE_TRY(read_value(xml, key, cut(xml)));
        next = here(xml);
    }
}

static pace_status open_element(pace_xml *xml) {
    xml->element = name_at(xml);
    xml->attribute_count = 0;
    if (!xml->element) return broken(xml, "the name of an element");
    if (xml->depth == PACE_XML_DEPTH) return broken(xml, "fewer elements within each other");
    xml->path[xml->depth++] = xml->element;
    return read_attributes(xml, cut(xml));
}

static pace_status close_element(pace_xml *xml) {
    const char *name = name_at(xml);
    size_t length = name ? (size_t)(xml->text + xml->at - name) : 0;
    skip_space(xml);
    if (here(xml) != '>') return broken(xml, "\">\"");
    xml->at++;
    if (!xml->depth || strlen(xml->path[xml->depth - 1]) != length || memcmp(xml->path[xml->depth - 1], name, length))
        return broken(xml, "the end of the element that was opened last");
    xml->depth--;
    return PACE_OK;
}

pace_status pace_xml_next(pace_xml_kind *out, pace_xml *xml) {
    if (xml->empty) {
        xml->empty = false;
        xml->depth--;
        *out = PACE_XML_CLOSE;
        return PACE_OK;
    }
    for (;;) {
        while (xml->at < xml->length && here(xml) != '<') step(xml);
        if (xml->at == xml->length) {
            if (xml->depth) return broken(xml, "the end of its elements");
            *out = PACE_XML_END;
            return PACE_OK;
        }
        xml->at++;
        char first = here(xml);
        if (first == '!' || first == '?') {
            bool comment = xml->at + 3 <= xml->length && memcmp(xml->text + xml->at, "!--", 3) == 0;
            if (!skip_past(xml, comment ? "-->" : ">")) return broken(xml, "the end of a comment or declaration");
            continue;
        }
        if (first == '/') xml->at++;
        *out = first == '/' ? PACE_XML_CLOSE : PACE_XML_OPEN;
        return first == '/' ? close_element(xml) : open_element(xml);
    }
}

const char *pace_xml_get(const pace_xml *xml, const char *key) {
    for (size_t i = 0; i < xml->attribute_count; i++)
        if (strcmp(xml->keys[i], key) == 0) return xml->values[i];
    return NULL;
}
