/* The text of a trace's events, through one buffer that counts; without a file it only counts. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char *buffer;
    size_t used, capacity;
    uint64_t bytes, events;
    FILE *file;
    size_t compact; /* 1 = no white space */
    bool first;
} text_output;

extern text_output out;

void flush_out(void);

static inline void put(const char *text, size_t length) {
    memcpy(out.buffer + out.used, text, length);
    out.used += length;
}

#define LIT(s) put("" s, sizeof(s) - 1)
/* A literal that ends in a space which the compact form leaves out. */
#define SPACED(s) put("" s, sizeof(s) - 1 - out.compact)
#define KEY(k) SPACED("\"" k "\": ")
#define NEXT(k) (SPACED(", "), KEY(k))
#define LINE(s) (out.compact ? (void)0 : put("\n" s, sizeof("\n" s) - 1))

static inline void put_text(const char *text) { put(text, strlen(text)); }

static inline void put_int(int64_t value) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do *--at = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0) *--at = '-';
    put(at, (size_t)(digits + sizeof digits - at));
}

/* Nanoseconds as microseconds with three decimals. */
static inline void put_us(int64_t ns) {
    put_int(ns / 1000);
    char tail[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
    put(tail, sizeof tail);
}

static inline void begin_event(void) {
    if (out.used + 65536 > out.capacity) flush_out();
    if (!out.first) LIT(",");
    out.first = false;
    out.events++;
    LINE("  ");
    LIT("{");
    LINE("    ");
}

static inline void end_event(void) {
    LINE("  ");
    LIT("}");
}
