/*
 * The JSON pull parser. Long because every scanner works on the same window: splitting it would spread the invariants.
 * A token that runs into the window's end is
 * moved to the front, the window refilled, and the token scanned again, so that no scanner has to stop and resume.
 * Behind the window's end stand zero bytes, which end every scan and let vectors load past the last byte.
 */
#include "base/json_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/json_scan.h"
#include "base/memory.h"
#include "base/text.h"

enum { BLOCK = PACE_JSON_BEHIND, WINDOW_BYTES = 1 << 17, NO_BYTE = -1 };

#define TOKEN_MAX ((size_t)256 << 20)

/* What may come next. */
typedef enum {
    DUE_VALUE,      /* a value and nothing else: at the start, behind a colon */
    DUE_FIRST_ITEM, /* behind '[' */
    DUE_FIRST_KEY,  /* behind '{' */
    DUE_COLON,      /* behind a key that no colon follows at once */
    DUE_COMMA,      /* behind a value: a comma, a closing bracket, or at depth 0 the end */
} due_next;

struct pace_json {
    char *at;    /* first byte not consumed */
    char *end;   /* end of the window's bytes */
    char *token; /* first byte that a refill must keep; the last token's start */
    char *pin;   /* first byte that a refill must keep while it is pinned; NULL = `token` is */
    const char *text;
    size_t length;
    due_next due;
    unsigned depth;
    unsigned token_depth;
    pace_json_token last;
    bool escaped;
    bool over; /* the input has nothing more */
    uint64_t oddities;

    pace_json_bits (*classify)(const char *block);
    pace_input *input;
    char *window;
    size_t capacity;
    uint64_t base; /* place of window[0] in the document */
    pace_status input_status;
    pace_status status;
    PACE_VEC(char) decoded;
    char key[PACE_JSON_KEY_MAX]; /* of the member whose value was read last */
    char stack[PACE_JSON_DEPTH]; /* the closing bracket each open container waits for */
};

/* ---- life ---- */

pace_status pace_json_open(pace_json **out, pace_input *input) {
    pace_json *json = pace_alloc(1, sizeof *json);
    if (!json) return PACE_E_MEMORY;
    json->window = pace_alloc(WINDOW_BYTES + BLOCK, 1);
    if (!json->window) {
        pace_json_free(json);
        return PACE_E_MEMORY;
    }
    json->input = input;
    json->classify = pace_json_classifier_here()->classify;
    json->capacity = WINDOW_BYTES;
    json->at = json->end = json->token = json->window;
    json->text = json->window;
    json->last = PACE_JSON_NULL; /* none yet; any that is not terminal */
    *out = json;
    return PACE_OK;
}

void pace_json_free(pace_json *json) {
    if (!json) return;
    PACE_VEC_FREE(&json->decoded);
    pace_free(json->window);
    pace_free(json);
}

/* ---- window ---- */

static bool stop_input(pace_json *json, pace_status status) {
    json->over = true;
    json->input_status = status;
    return false;
}

/* Doubles the window when the token fills it. The pointers must be at the front already. */
static pace_status grow_window(pace_json *json) {
    if (json->capacity >= TOKEN_MAX) {
        return pace_fail(PACE_E_LIMIT,
                         "%s: byte %" PRIu64 ": expected a token of at most %zu bytes, found a longer one",
                         pace_input_name(json->input), pace_json_offset(json), TOKEN_MAX);
    }
    ptrdiff_t at = json->at - json->window, end = json->end - json->window, token = json->token - json->window;
    char *window = pace_resize(json->window, json->capacity * 2 + BLOCK, 1);
    if (!window) return PACE_E_MEMORY;
    json->capacity *= 2;
    json->window = window;
    json->token = window + token;
    if (json->pin) json->pin = window;
    json->at = window + at;
    json->end = window + end;
    return PACE_OK;
}

static void move_to_front(pace_json *json) {
    char *kept = json->pin ? json->pin : json->token;
    size_t shift = (size_t)(kept - json->window);
    if (shift == 0) return;
    memmove(json->window, kept, (size_t)(json->end - kept));
    json->base += shift;
    json->token -= shift;
    if (json->pin) json->pin = json->window;
    json->at -= shift;
    json->end -= shift;
}

/* Keeps the bytes from `token` on and reads more behind them. False when there are no more (`input_status` says
 * why); a failure behind fresh bytes is met again by the next refill, since an input repeats its failure. */
static bool refill(pace_json *json) {
    if (json->over) return false;
    move_to_front(json);
    if (json->end == json->window + json->capacity) {
        pace_status grown = grow_window(json);
        if (grown != PACE_OK) return stop_input(json, grown);
    }
    char *stop = json->window + json->capacity, *before = json->end;
    pace_status status = PACE_OK;
    size_t got = 1;
    while (json->end < stop && status == PACE_OK && got > 0) {
        got = 0;
        status = pace_input_read(json->input, json->end, (size_t)(stop - json->end), &got);
        json->end += got;
    }
    memset(json->end, 0, BLOCK); /* also when nothing came: what was moved left old bytes behind */
    return json->end > before || stop_input(json, status);
}

/* ---- faults ---- */

static void name_byte(char *out, size_t size, int byte) {
    if (byte == NO_BYTE) snprintf(out, size, "the end of the input");
    else if (byte == '\'') snprintf(out, size, "a single quote");
    else if (byte > ' ' && byte < 0x7f) snprintf(out, size, "'%c'", byte);
    else snprintf(out, size, "byte 0x%02x", (unsigned)byte);
}

static pace_json_token finish(pace_json *json, pace_json_token last, pace_status status) {
    json->last = last;
    json->status = status;
    json->length = 0;
    json->escaped = false;
    json->token_depth = json->depth;
    return last;
}

/* The input is over where `expected` should stand: cut off, or failed, in which case its own message stays. */
static pace_json_token cut_off(pace_json *json, const char *expected) {
    json->token = json->at;
    if (json->input_status == PACE_E_INPUT) return finish(json, PACE_JSON_TRUNCATED, PACE_E_INPUT);
    if (json->input_status != PACE_OK) return finish(json, PACE_JSON_ERROR, json->input_status);
    pace_fail(PACE_E_INPUT, "%s: byte %" PRIu64 ": expected %s, found the end of the input",
              pace_input_name(json->input), pace_json_offset(json), expected);
    return finish(json, PACE_JSON_TRUNCATED, PACE_E_INPUT);
}

static pace_json_token fault(pace_json *json, const char *place, pace_status status, const char *expected) {
    char found[32];
    name_byte(found, sizeof found, (unsigned char)*place);
    json->token = json->at = json->window + (place - json->window);
    pace_fail(status, "%s: byte %" PRIu64 ": expected %s, found %s", pace_input_name(json->input),
              pace_json_offset(json), expected, found);
    return finish(json, PACE_JSON_ERROR, status);
}

/* The byte at `at` is not what was expected, or there is none. */
static pace_json_token unexpected(pace_json *json, int byte, const char *expected) {
    if (byte == NO_BYTE) return cut_off(json, expected);
    return fault(json, json->at, PACE_E_INPUT, expected);
}

/* ---- scanning ---- */

/* Moves `at` to the next byte that is no white space and returns it, NO_BYTE at the end. */
static inline int peek(pace_json *json) {
    json->at = pace_json_skip_space(json->at);
    while (PACE_UNLIKELY(json->at == json->end)) {
        json->token = json->at;
        if (!refill(json)) return NO_BYTE;
        json->at = pace_json_skip_space(json->at);
    }
    return (unsigned char)*json->at;
}

static bool is_hex(char byte) { return pace_is_digit(byte) || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f'); }

/* Whether the backslash at `at` begins an escape of RFC 8259. */
static bool is_known_escape(const char *at) {
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return true;
    case 'u': return is_hex(at[2]) && is_hex(at[3]) && is_hex(at[4]) && is_hex(at[5]);
    default: return false;
    }
}

/* Scans the string whose opening quote is at `token`; returns its closing quote, or NULL when the window ends
 * before it. An escape near the end may be incomplete, which counts as the window's end too. */
static inline char *scan_string(pace_json *json) {
    uint64_t odd = 0;
    bool escaped = false;
    char *at = pace_json_find_special(json->token + 1);
    while (PACE_UNLIKELY(*at != '"')) {
        if (*at == '\\') {
            if (json->end - at < (json->over ? 2 : 6)) return NULL;
            escaped = true;
            odd += !is_known_escape(at);
            at += 2;
        } else {
            if (at >= json->end) return NULL;
            odd++;
            at++;
        }
        at = pace_json_find_special(at);
    }
    json->escaped = escaped;
    json->oddities += odd;
    return at;
}

static pace_json_token read_string(pace_json *json, pace_json_token kind) {
    json->token = json->at;
    char *quote;
    while (PACE_UNLIKELY((quote = scan_string(json)) == NULL)) {
        bool was_over = json->over; /* learning that it is over makes a short last escape complete */
        if (!refill(json) && was_over) return cut_off(json, "the end of a string");
    }
    json->text = json->token + 1;
    json->length = (size_t)(quote - json->text);
    json->at = quote + 1;
    json->token_depth = json->depth;
    if (kind == PACE_JSON_STRING) {
        json->due = DUE_COMMA;
    } else if (PACE_LIKELY(*json->at == ':')) { /* as every writer has it: one turn less for its value */
        json->at++;
        json->due = DUE_VALUE;
    } else {
        json->due = DUE_COLON;
    }
    return json->last = kind;
}

/* Scans a number; returns where it stops, with *good false when that byte breaks the grammar. */
static inline char *scan_number(char *at, bool *good) {
    *good = false;
    if (*at == '-') at++;
    if (!pace_is_digit(*at)) return at;
    char *stop = pace_json_skip_digits(at);
    if (*at == '0' && stop > at + 1) return at + 1;
    at = stop;
    if (*at == '.') {
        if (!pace_is_digit(at[1])) return at + 1;
        at = pace_json_skip_digits(at + 2);
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-') at++;
        if (!pace_is_digit(*at)) return at;
        at = pace_json_skip_digits(at);
    }
    *good = true;
    return at;
}

static pace_json_token scalar(pace_json *json, pace_json_token kind, char *stop) {
    json->text = json->token;
    json->length = (size_t)(stop - json->token);
    json->escaped = false;
    json->at = stop;
    json->due = DUE_COMMA;
    json->token_depth = json->depth;
    return json->last = kind;
}

/* Whether `word` stands at `at`; refills as needed to tell. */
static bool has_word(pace_json *json, const char *word) {
    size_t length = strlen(word);
    json->token = json->at;
    while ((size_t)(json->end - json->at) < length && refill(json)) {}
    return (size_t)(json->end - json->at) >= length && memcmp(json->at, word, length) == 0;
}

/* The word that should be here is another, or cut off. */
static pace_json_token bad_word(pace_json *json, const char *word) {
    char *at = json->at;
    while (at < json->end && *word && *at == *word) {
        at++;
        word++;
    }
    if (at < json->end) return fault(json, at, PACE_E_INPUT, "a JSON value");
    return cut_off(json, "a JSON value");
}

static pace_json_token read_word(pace_json *json, const char *word, pace_json_token kind) {
    if (!has_word(json, word)) return bad_word(json, word);
    return scalar(json, kind, json->token + strlen(word));
}

static pace_json_token read_odd_number(pace_json *json, const char *word) {
    pace_json_token token = read_word(json, word, PACE_JSON_NUMBER);
    json->oddities += token == PACE_JSON_NUMBER;
    return token;
}

static pace_json_token read_number(pace_json *json) {
    json->token = json->at;
    bool good;
    char *stop;
    while (stop = scan_number(json->token, &good), PACE_UNLIKELY(stop >= json->end)) {
        if (refill(json)) continue;
        bool whole = good && json->depth == 0 && json->input_status == PACE_OK;
        if (!whole) return cut_off(json, "the end of a number");
        stop = json->end; /* the document is this number; the refill has moved it */
        break;
    }
    if (PACE_LIKELY(good)) return scalar(json, PACE_JSON_NUMBER, stop);
    if (*stop == 'I' && stop == json->token + 1) return read_odd_number(json, "-Infinity");
    return fault(json, stop, PACE_E_INPUT, "a number");
}

static pace_json_token open_container(pace_json *json, pace_json_token kind, char closer, due_next due) {
    json->token = json->at;
    if (PACE_UNLIKELY(json->depth == PACE_JSON_DEPTH))
        return fault(json, json->at, PACE_E_LIMIT, "at most 512 nested brackets");
    json->token_depth = json->depth;
    json->stack[json->depth++] = closer;
    json->due = due;
    json->at++;
    json->length = 0;
    json->escaped = false;
    return json->last = kind;
}

/* Consumes the closing bracket at `at`, which is the innermost container's. */
static pace_json_token close_container(pace_json *json) {
    json->token = json->at++;
    json->depth--;
    json->token_depth = json->depth;
    json->due = DUE_COMMA;
    json->length = 0;
    json->escaped = false;
    return json->last = json->stack[json->depth] == '}' ? PACE_JSON_OBJECT_END : PACE_JSON_ARRAY_END;
}

static pace_json_token read_value(pace_json *json, int byte) {
    switch (byte) {
    case '"': return read_string(json, PACE_JSON_STRING);
    case '{': return open_container(json, PACE_JSON_OBJECT, '}', DUE_FIRST_KEY);
    case '[': return open_container(json, PACE_JSON_ARRAY, ']', DUE_FIRST_ITEM);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return read_number(json);
    case 't': return read_word(json, "true", PACE_JSON_TRUE);
    case 'f': return read_word(json, "false", PACE_JSON_FALSE);
    case 'n': return read_word(json, "null", PACE_JSON_NULL);
    case 'N': return read_odd_number(json, "NaN");
    case 'I': return read_odd_number(json, "Infinity");
    default: return unexpected(json, byte, "a JSON value");
    }
}

static pace_json_token read_key(pace_json *json, int byte) {
    if (PACE_UNLIKELY(byte != '"')) return unexpected(json, byte, "a key in double quotes");
    return read_string(json, PACE_JSON_KEY);
}

/* A broken input behind a complete document is reported all the same: its last bytes may be missing too. */
static pace_json_token end_document(pace_json *json, int byte) {
    if (byte != NO_BYTE) return fault(json, json->at, PACE_E_INPUT, "the end of the document");
    if (json->input_status != PACE_OK) return cut_off(json, "the end of the input");
    json->token = json->at;
    return finish(json, PACE_JSON_END, PACE_OK);
}

static inline pace_json_token after_value(pace_json *json, int byte) {
    if (PACE_UNLIKELY(json->depth == 0)) return end_document(json, byte);
    char closer = json->stack[json->depth - 1];
    if (PACE_LIKELY(byte == ',')) {
        json->at++;
        byte = peek(json);
        return closer == '}' ? read_key(json, byte) : read_value(json, byte);
    }
    if (PACE_LIKELY(byte == (unsigned char)closer)) return close_container(json);
    return unexpected(json, byte, closer == '}' ? "',' or '}'" : "',' or ']'");
}

/* A byte-order mark is let pass, as an oddity. */
static void skip_mark(pace_json *json) {
    if (!has_word(json, "\xef\xbb\xbf")) return;
    json->at += 3;
    json->oddities++;
}

static bool is_terminal(pace_json_token token) { return token <= PACE_JSON_TRUNCATED; }

pace_json_token pace_json_next(pace_json *json) {
    if (PACE_UNLIKELY(is_terminal(json->last))) return json->last;
    if (PACE_UNLIKELY(json->at == json->end && json->base == 0 && json->at == json->window)) skip_mark(json);
    int byte = peek(json);
    switch (json->due) {
    case DUE_COMMA: return after_value(json, byte);
    case DUE_COLON:
        if (PACE_UNLIKELY(byte != ':')) return unexpected(json, byte, "':'");
        json->at++;
        return read_value(json, peek(json));
    case DUE_FIRST_KEY: return byte == '}' ? close_container(json) : read_key(json, byte);
    case DUE_FIRST_ITEM: return byte == ']' ? close_container(json) : read_value(json, byte);
    case DUE_VALUE: break;
    }
    return read_value(json, byte);
}

/* ---- plain arrays ---- */

/* Behind the string or number at `at`, NULL when it is neither, or not in the window to its end: the zeros there stop it. */
static inline char *pass_plain(char *at) {
    if (*at == '"') {
        at = pace_json_find_special(at + 1);
        return *at == '"' ? at + 1 : NULL;
    }
    bool good;
    at = scan_number(at, &good);
    return good ? at : NULL;
}

/* Behind the array at `at`, or NULL. */
static char *pass_array(char *at) {
    enum { MOST_DEPTH = 16 };
    unsigned depth = 0;
    for (;;) {
        if (*at == '[') {
            if (++depth > MOST_DEPTH) return NULL;
            at = pace_json_skip_space(at + 1);
            if (*at != ']') continue;
        } else {
            at = pass_plain(at);
            if (!at) return NULL;
            at = pace_json_skip_space(at);
        }
        while (*at == ']') {
            at++;
            if (--depth == 0) return at;
            at = pace_json_skip_space(at);
        }
        if (*at != ',') return NULL;
        at = pace_json_skip_space(at + 1);
    }
}

const char *pace_json_plain_array(pace_json *json, size_t *length) {
    char *start = json->token, *stop = json->last == PACE_JSON_ARRAY ? pass_array(start) : NULL;
    if (!stop) return NULL;
    *length = (size_t)(stop - start);
    json->at = stop - 1;
    close_container(json);
    return start;
}

/* ---- members ---- */

/* The key and the value at `at`, all in the window and without escapes; false, and nothing consumed, for any other. Of an
 * object or array the opening bracket is left. */
static inline bool read_quick_member(pace_json *json, char *at, const char **key, size_t *key_length) {
    if (*at != '"') return false;
    char *stop = pace_json_find_special(at + 1);
    if (PACE_UNLIKELY(*stop != '"' || stop[1] != ':')) return false;
    *key = at + 1;
    *key_length = (size_t)(stop - at - 1);
    at = pace_json_skip_space(stop + 2);
    if (*at == '"') {
        stop = pace_json_find_special(at + 1);
        if (PACE_UNLIKELY(*stop != '"')) return false;
        json->token = at;
        scalar(json, PACE_JSON_STRING, stop + 1);
        json->text++;
        json->length -= 2;
        return true;
    }
    if (*at == '{' || *at == '[') {
        json->at = at;
        json->due = DUE_VALUE;
        return true;
    }
    bool good;
    stop = scan_number(at, &good);
    if (PACE_UNLIKELY(!good || stop >= json->end)) return false;
    json->token = at;
    scalar(json, PACE_JSON_NUMBER, stop);
    return true;
}

static inline bool try_quick_member(pace_json *json, const char **key, size_t *key_length) {
    char *at = pace_json_skip_space(json->at);
    if (json->due == DUE_COMMA) {
        if (*at != ',' || json->depth == 0 || json->stack[json->depth - 1] != '}') return false;
        at = pace_json_skip_space(at + 1);
    } else if (json->due != DUE_FIRST_KEY) {
        return false;
    }
    return read_quick_member(json, at, key, key_length);
}

/* Whatever the member looks like. The key is copied, since its value may need a new window. */
static pace_json_token read_slow_member(pace_json *json, const char **key, size_t *key_length) {
    pace_json_token token = pace_json_next(json);
    if (token != PACE_JSON_KEY) return token;
    *key_length = json->length < sizeof json->key ? json->length : 0;
    memcpy(json->key, json->text, *key_length);
    *key = json->key;
    return pace_json_next(json);
}

pace_json_token pace_json_member(pace_json *json, const char **key, size_t *key_length) {
    *key = json->key;
    *key_length = 0;
    if (PACE_UNLIKELY(is_terminal(json->last)) || !try_quick_member(json, key, key_length))
        return read_slow_member(json, key, key_length);
    return json->due == DUE_VALUE ? pace_json_next(json) : json->last;
}

/* ---- leaving ---- */

/* Bit i = whether an odd number of bits are set up to and with i. */
static inline uint64_t parity_up_to(uint64_t bits) {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}

/* The bytes that a backslash escapes. *carry: the first byte of this block is escaped, then that of the next. */
static uint64_t escaped_bytes(uint64_t backslashes, bool *carry) {
    uint64_t escaped = *carry ? 1 : 0;
    uint64_t left = backslashes & ~escaped;
    *carry = false;
    while (left) {
        int i = __builtin_ctzll(left);
        if (i == BLOCK - 1) {
            *carry = true;
            break;
        }
        escaped |= UINT64_C(2) << i;
        left &= ~(UINT64_C(3) << i);
    }
    return escaped;
}

typedef struct {
    unsigned until;     /* stop when this depth is reached */
    uint64_t in_string; /* all ones inside a string */
    bool escape;
} leave_state;

/* The brackets outside strings in the block at `at`. */
static inline uint64_t structural(leave_state *state, const pace_json *json, const char *at) {
    pace_json_bits bits = json->classify(at);
    if (PACE_UNLIKELY(bits.backslashes || state->escape)) {
        bits.quotes &= ~escaped_bytes(bits.backslashes, &state->escape);
    }
    uint64_t inside = parity_up_to(bits.quotes) ^ state->in_string;
    state->in_string = UINT64_C(0) - (inside >> 63);
    return bits.brackets & ~inside;
}

/* Follows the bracket at `at`; true when the walk is over (left, or at fault: `last` tells). */
static inline bool follow_bracket(pace_json *json, const leave_state *state) {
    char byte = *json->at;
    if (byte == '{' || byte == '[') {
        if (json->depth == PACE_JSON_DEPTH) {
            fault(json, json->at, PACE_E_LIMIT, "at most 512 nested brackets");
            return true;
        }
        json->stack[json->depth++] = (char)(byte + 2); /* '{' + 2 = '}', '[' + 2 = ']' */
        return false;
    }
    if (byte != json->stack[json->depth - 1]) {
        fault(json, json->at, PACE_E_INPUT, json->stack[json->depth - 1] == '}' ? "'}'" : "']'");
        return true;
    }
    if (--json->depth > state->until) return false;
    json->depth++;
    close_container(json);
    return true;
}

static bool leave_block(pace_json *json, leave_state *state) {
    char *block = json->at;
    uint64_t brackets = structural(state, json, block);
    while (brackets) {
        json->at = block + __builtin_ctzll(brackets);
        if (follow_bracket(json, state)) return true;
        brackets &= brackets - 1;
    }
    json->at = json->end - block < BLOCK ? json->end : block + BLOCK;
    return false;
}

/* Only strings and brackets are looked at: grammar and oddities inside stay unchecked, which is what makes it
 * fast. */
static pace_json_token leave_to(pace_json *json, unsigned depth) {
    leave_state state = {.until = depth};
    for (;;) {
        if (PACE_UNLIKELY(json->end - json->at < BLOCK)) {
            json->token = json->at;
            bool more = refill(json);
            if (!more && json->at == json->end) return cut_off(json, "a closing bracket");
            if (more && json->end - json->at < BLOCK && !json->over) continue;
        }
        if (leave_block(json, &state)) return json->last;
    }
}

pace_json_token pace_json_leave(pace_json *json) {
    if (is_terminal(json->last)) return json->last;
    if (json->depth == 0) {
        pace_fail(PACE_E_INTERNAL, "%s: byte %" PRIu64 ": expected an open bracket to leave, found none",
                  pace_input_name(json->input), pace_json_offset(json));
        return finish(json, PACE_JSON_ERROR, PACE_E_INTERNAL);
    }
    return leave_to(json, json->depth - 1);
}

pace_json_token pace_json_skip(pace_json *json) {
    pace_json_token first = pace_json_next(json);
    if (first != PACE_JSON_OBJECT && first != PACE_JSON_ARRAY) return first;
    pace_json_token last = leave_to(json, json->depth - 1);
    return is_terminal(last) ? last : first;
}

/* ---- pinning ---- */

void pace_json_pin(pace_json *json) { json->pin = json->token; }

const char *pace_json_unpin(pace_json *json, size_t *length) {
    const char *pinned = json->pin;
    *length = (size_t)(json->at - json->pin);
    json->pin = NULL;
    return pinned;
}

/* ---- the last token ---- */

const char *pace_json_text(const pace_json *json, size_t *length) {
    *length = json->length;
    return json->text;
}

bool pace_json_is(const pace_json *json, const char *word) { return pace_span_is(json->text, json->length, word); }

bool pace_json_escaped(const pace_json *json) { return json->escaped; }

uint64_t pace_json_offset(const pace_json *json) { return json->base + (uint64_t)(json->token - json->window); }

uint64_t pace_json_bytes(const pace_json *json) { return json->base + (uint64_t)(json->end - json->window); }

unsigned pace_json_depth(const pace_json *json) { return json->token_depth; }

uint64_t pace_json_oddities(const pace_json *json) { return json->oddities; }

pace_status pace_json_status(const pace_json *json) { return json->status; }

/* ---- decoding ---- */

static unsigned hex_value(char byte) {
    return pace_is_digit(byte) ? (unsigned)(byte - '0') : (unsigned)((byte | 0x20) - 'a' + 10);
}

/* The code unit of the \uXXXX at `at`, or -1 when there is none before `end`. */
static int32_t code_unit(const char *at, const char *end) {
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    int32_t unit = 0;
    for (int i = 2; i < 6; i++) {
        if (!is_hex(at[i])) return -1;
        unit = unit * 16 + (int32_t)hex_value(at[i]);
    }
    return unit;
}

static char *put_utf8(char *out, uint32_t code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

static bool is_high(int32_t unit) { return unit >= 0xd800 && unit <= 0xdbff; }
static bool is_low(int32_t unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

/* Decodes the \uXXXX at *at, which is one, and moves *at behind it. */
static char *decode_unicode(char *out, const char **at, const char *end) {
    int32_t unit = code_unit(*at, end), second = code_unit(*at + 6, end);
    if (unit == 0) { /* a NUL would end the text for every reader of C strings */
        memcpy(out, *at, 6);
        *at += 6;
        return out + 6;
    }
    if (is_high(unit) && is_low(second)) {
        *at += 12;
        return put_utf8(out, 0x10000u + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(second - 0xdc00));
    }
    *at += 6;
    return put_utf8(out, is_high(unit) || is_low(unit) ? 0xfffdu : (uint32_t)unit);
}

/* The byte that the letter of a short escape stands for, 0 when there is no such escape. */
static char short_escape(char letter) {
    switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/* Decodes the escape at *at, which is followed by at least one byte. */
static char *decode_escape(char *out, const char **at, const char *end) {
    if (code_unit(*at, end) >= 0) return decode_unicode(out, at, end);
    char byte = short_escape((*at)[1]);
    if (byte) {
        *out++ = byte;
    } else {
        *out++ = (*at)[0];
        *out++ = (*at)[1];
    }
    *at += 2;
    return out;
}

const char *pace_json_decoded(pace_json *json, size_t *length) {
    *length = 0;
    /* no escape decodes to more bytes than it is written with */
    if (pace_grow(&json->decoded.items, &json->decoded.capacity, json->length + 1, 1) != PACE_OK) return NULL;
    const char *at = json->text, *end = at + json->length;
    char *out = json->decoded.items;
    while (at < end) {
        const char *stop = json->escaped ? memchr(at, '\\', (size_t)(end - at)) : NULL;
        if (!stop) stop = end;
        memcpy(out, at, (size_t)(stop - at));
        out += stop - at;
        at = stop;
        if (at < end) out = decode_escape(out, &at, end);
    }
    *out = '\0';
    *length = (size_t)(out - json->decoded.items);
    return json->decoded.items;
}

/* ---- numbers ---- */

/* A decimal literal taken apart; `digits` and `fraction` are runs of digits, the exponent is clamped. */
typedef struct {
    bool negative;
    const char *digits, *fraction;
    size_t digit_count, fraction_count;
    int64_t exponent;
} decimal;

enum { EXPONENT_MAX = 100000000 };

static const char *run_end(const char *at, const char *end) {
    while (at < end && pace_is_digit(*at)) at++;
    return at;
}

static const char *split_exponent(decimal *out, const char *at, const char *end) {
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *stop = run_end(at, end);
    if (stop == at) return NULL;
    for (; at < stop; at++) {
        if (out->exponent < EXPONENT_MAX) out->exponent = out->exponent * 10 + (*at - '0');
    }
    if (negative) out->exponent = -out->exponent;
    return stop;
}

static bool split_decimal(decimal *out, const char *at, size_t length) {
    const char *end = at + length;
    *out = (decimal){.negative = length > 0 && *at == '-'};
    if (out->negative) at++;
    out->digits = at;
    at = out->fraction = run_end(at, end);
    out->digit_count = (size_t)(at - out->digits);
    if (out->digit_count == 0) return false;
    if (at < end && *at == '.') {
        out->fraction = ++at;
        at = run_end(at, end);
        out->fraction_count = (size_t)(at - out->fraction);
        if (out->fraction_count == 0) return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) at = split_exponent(out, at + 1, end);
    return at == end;
}

static unsigned digit_at(const decimal *number, size_t i) {
    if (i < number->digit_count) return (unsigned)(number->digits[i] - '0');
    i -= number->digit_count;
    return i < number->fraction_count ? (unsigned)(number->fraction[i] - '0') : 0;
}

static bool with_sign(int64_t *out, uint64_t magnitude, bool negative) {
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    *out = negative ? (int64_t)(UINT64_C(0) - magnitude) : (int64_t)magnitude;
    return true;
}

/* number × 10^scale as an integer, what is behind the point rounded half away from zero; *exact tells whether
 * there was nothing to round. */
static bool to_scaled_int(int64_t *out, const decimal *number, int scale, bool *exact) {
    size_t count = number->digit_count + number->fraction_count;
    int64_t kept = (int64_t)number->digit_count + number->exponent + scale;
    uint64_t value = 0;
    for (int64_t i = 0; i < kept && (value > 0 || (size_t)i < count); i++) {
        unsigned digit = digit_at(number, (size_t)i);
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *exact = true;
    for (size_t i = kept > 0 ? (size_t)kept : 0; i < count && *exact; i++) *exact = digit_at(number, i) == 0;
    if (kept >= 0 && digit_at(number, (size_t)kept) >= 5) value++;
    return with_sign(out, value, number->negative);
}

static bool is_numeric(const pace_json *json) {
    return json->last == PACE_JSON_NUMBER || json->last == PACE_JSON_STRING;
}

/* Digits alone, at most 18 of them, as nearly every whole number is. */
static inline bool quick_int(int64_t *out, const char *at, size_t length) {
    int64_t value = 0;
    if (length == 0 || length > 18) return false;
    for (const char *end = at + length; at < end; at++) {
        if (!pace_is_digit(*at)) return false;
        value = value * 10 + (*at - '0');
    }
    *out = value;
    return true;
}

bool pace_json_int(const pace_json *json, int64_t *out) {
    decimal number;
    int64_t value;
    bool exact;
    if (!is_numeric(json)) return false;
    if (PACE_LIKELY(quick_int(out, json->text, json->length))) return true;
    if (!split_decimal(&number, json->text, json->length)) return false;
    if (!to_scaled_int(&value, &number, 0, &exact) || !exact) return false;
    *out = value;
    return true;
}

/* [-]digits[.digits] of at most 16 digits before the point, as nearly every ts and dur is. The text lies in the
 * window, so that reading eight bytes at its end is allowed. */
static inline bool quick_us_to_ns(int64_t *out, const char *at, size_t length) {
    const char *end = at + length;
    bool negative = length > 0 && *at == '-';
    at += negative;
    const char *start = at;
    uint64_t value = 0;
    while (end - at >= 8 && at - start < 16 && pace_decimal_eight(at, &value)) at += 8;
    for (; at < end && pace_is_digit(*at) && at - start < 17; at++) value = value * 10 + (unsigned)(*at - '0');
    if (at == start || at - start > 16) return false;
    unsigned places = 0;
    bool up = false;
    if (at < end && *at == '.') {
        const char *point = at++;
        for (; at < end && pace_is_digit(*at) && places < 3; at++, places++) value = value * 10 + (unsigned)(*at - '0');
        up = at < end && *at >= '5' && *at <= '9';
        at = run_end(at, end);
        if (at == point + 1) return false;
    }
    if (at != end) return false;
    for (; places < 3; places++) value *= 10;
    return with_sign(out, value + up, negative);
}

bool pace_json_us_to_ns(const pace_json *json, int64_t *out_ns) {
    if (!is_numeric(json)) return false;
    if (PACE_LIKELY(quick_us_to_ns(out_ns, json->text, json->length))) return true;
    decimal number;
    int64_t value;
    bool exact;
    if (!split_decimal(&number, json->text, json->length) || !to_scaled_int(&value, &number, 3, &exact)) return false;
    *out_ns = value;
    return true;
}

static bool quick_double(double *out, const decimal *number) {
    size_t count = number->digit_count + number->fraction_count;
    if (count > 19) return false;
    uint64_t mantissa = 0;
    for (size_t i = 0; i < count; i++) mantissa = mantissa * 10 + digit_at(number, i);
    double value;
    if (!pace_decimal_quick(&value, mantissa, number->exponent - (int64_t)number->fraction_count)) return false;
    *out = number->negative ? -value : value;
    return true;
}

/* NaN and the infinities are no values to calculate with, and neither is a literal too large for a double. */
bool pace_json_double(const pace_json *json, double *out) {
    decimal number;
    if (!is_numeric(json) || !split_decimal(&number, json->text, json->length)) return false;
    return quick_double(out, &number) || pace_decimal_read(out, json->text, json->text + json->length);
}
