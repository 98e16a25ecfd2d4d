/* The JSON pull parser: window, tokens, grammar. */
#include "base/json_reader.h"
#include "base/json_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK = PACE_JSON_BEHIND, WINDOW_BYTES = 1 << 17, NO_BYTE = -1 };

#define TOKEN_MAX ((size_t)256 << 20)

/* ---- life ---- */

pace_status pace_json_open(pace_json **out, pace_input *input) {
    pace_json *json = pace_alloc(1, sizeof *json);
    if (!json) return PACE_E_MEMORY;
    json->capacity = pace_input_room(input, WINDOW_BYTES);
    if (!PACE_MAKE(json->window, json->capacity + BLOCK)) {
        pace_json_free(json);
        return PACE_E_MEMORY;
    }
    json->input = input;
    json->classify = pace_json_classifier_here()->classify;
    json->at = json->end = json->token = json->window;
    json->text = json->window;
    json->last = PACE_JSON_NULL; /* none yet; any that is not terminal */
    *out = json;
    return PACE_OK;
}

void pace_json_free(pace_json *json) {
    if (!json) return;
    PACE_VEC_FREE(&json->decoded);
    PACE_FREE(json->window, json);
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
    case 'u':
        return pace_json_is_hex(at[2]) && pace_json_is_hex(at[3]) && pace_json_is_hex(at[4]) && pace_json_is_hex(at[5]);
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
    json->whole = 0;
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
    return pace_json_scalar(json, kind, json->token + strlen(word));
}

static pace_json_token read_odd_number(pace_json *json, const char *word) {
    pace_json_token token = read_word(json, word, PACE_JSON_NUMBER);
    json->oddities += token == PACE_JSON_NUMBER;
    return token;
}

static pace_json_token read_number(pace_json *json) {
    json->token = json->at;
    pace_json_number number;
    while (number = pace_json_scan_number(json->token), PACE_UNLIKELY(number.stop >= json->end)) {
        if (refill(json)) continue;
        bool whole = number.good && json->depth == 0 && json->input_status == PACE_OK;
        if (!whole) return cut_off(json, "the end of a number");
        number.stop = json->end; /* the document is this number; the refill has moved it */
        break;
    }
    if (PACE_LIKELY(number.good)) return pace_json_take_number(json, number);
    if (*number.stop == 'I' && number.stop == json->token + 1) return read_odd_number(json, "-Infinity");
    return fault(json, number.stop, PACE_E_INPUT, "a number");
}

static pace_json_token open_container(pace_json *json, pace_json_token kind, char closer, pace_json_due due) {
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
    if (PACE_LIKELY(byte == (unsigned char)closer)) return pace_json_close(json);
    return unexpected(json, byte, closer == '}' ? "',' or '}'" : "',' or ']'");
}

/* A byte-order mark is let pass, as an oddity. */
static void skip_mark(pace_json *json) {
    if (!has_word(json, "\xef\xbb\xbf")) return;
    json->at += 3;
    json->oddities++;
}

pace_json_token pace_json_next(pace_json *json) {
    if (PACE_UNLIKELY(pace_json_is_terminal(json->last))) return json->last;
    if (PACE_UNLIKELY(json->at == json->end && json->base == 0 && json->at == json->window)) skip_mark(json);
    int byte = peek(json);
    switch (json->due) {
    case DUE_COMMA: return after_value(json, byte);
    case DUE_COLON:
        if (PACE_UNLIKELY(byte != ':')) return unexpected(json, byte, "':'");
        json->at++;
        return read_value(json, peek(json));
    case DUE_FIRST_KEY: return byte == '}' ? pace_json_close(json) : read_key(json, byte);
    case DUE_FIRST_ITEM: return byte == ']' ? pace_json_close(json) : read_value(json, byte);
    case DUE_VALUE: break;
    }
    return read_value(json, byte);
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
    pace_json_close(json);
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
    if (pace_json_is_terminal(json->last)) return json->last;
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
    return pace_json_is_terminal(last) ? last : first;
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

pace_json_value pace_json_value_of(const pace_json *json) {
    pace_json_value_kind kind = PACE_JSON_VALUE_OTHER;
    if (json->last == PACE_JSON_NUMBER) kind = PACE_JSON_VALUE_NUMBER;
    if (json->last == PACE_JSON_STRING) kind = json->escaped ? PACE_JSON_VALUE_ESCAPED : PACE_JSON_VALUE_STRING;
    return (pace_json_value){json->text, (uint32_t)json->length, json->whole, json->fraction, (uint8_t)kind, 0};
}

bool pace_json_is(const pace_json *json, const char *word) { return pace_span_is(json->text, json->length, word); }

bool pace_json_escaped(const pace_json *json) { return json->escaped; }

uint64_t pace_json_offset(const pace_json *json) { return json->base + (uint64_t)(json->token - json->window); }

uint64_t pace_json_bytes(const pace_json *json) { return json->base + (uint64_t)(json->end - json->window); }

unsigned pace_json_depth(const pace_json *json) { return json->token_depth; }

uint64_t pace_json_oddities(const pace_json *json) { return json->oddities; }

pace_status pace_json_status(const pace_json *json) { return json->status; }
