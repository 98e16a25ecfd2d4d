#include "source/usage/usage_words.h"
#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

pace_usage_text pace_usage_trim(pace_usage_text text) {
    while (text.length && pace_is_space(*text.data)) text.data++, text.length--;
    while (text.length && pace_is_space(text.data[text.length - 1])) text.length--;
    return text;
}

bool pace_usage_number(double *out, pace_usage_text text) {
    double value;
    const char *end = text.data + text.length;
    if (text.length == 0 || pace_decimal_read(&value, text.data, end) != end) return false;
    *out = value;
    return true;
}

/* Up to `most` digits at `*at`; false for none. */
static bool digits(int64_t *out, const char **at, const char *end, int most) {
    const char *from = *at;
    for (*out = 0; *at < end && pace_is_digit(**at) && *at - from < most; (*at)++) *out = *out * 10 + (**at - '0');
    return *at > from;
}

static bool sign(const char **at, const char *end, char c) { return *at < end && **at == c && ((*at)++, true); }

/* Days from 1970 of a date of the Gregorian calendar: years are counted from March, so that the leap day is the last of
 * its year; 400 years have 146,097 days. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static bool is_date(int64_t year, int64_t month, int64_t day) {
    static const int longest[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1 || day > longest[month - 1]) return false;
    return month != 2 || day < 29 || is_leap(year);
}

const char *const pace_date_order_names[] = {"", "month-first", "day-first", NULL};

/* Of a date with its year behind: what was said, else what it can only be; dots are of days first. */
static pace_date_order order_of(char between, int64_t first, int64_t second, pace_date_order said) {
    if (between == '.') return PACE_DATES_DAY_FIRST;
    if (said != PACE_DATES_UNSAID) return said;
    if (first == second) return PACE_DATES_DAY_FIRST;
    return second > 12 ? PACE_DATES_MONTH_FIRST : first > 12 ? PACE_DATES_DAY_FIRST : PACE_DATES_UNSAID;
}

static bool read_date(double *out, const char **at, const char *end, pace_date_order said) {
    const char *from = *at;
    int64_t first, second, third;
    if (!digits(&first, at, end, 4) || *at == end || !strchr("-/.", **at)) return false;
    bool year_first = *at - from == 4;
    char between = **at;
    if (!sign(at, end, between) || !digits(&second, at, end, 2) || !sign(at, end, between)) return false;
    from = *at;
    if (!digits(&third, at, end, year_first ? 2 : 4) || (!year_first && *at - from < 4)) return false;
    pace_date_order order = order_of(between, first, second, said);
    if (year_first ? between == '.' : order == PACE_DATES_UNSAID) return false;
    bool month_first = order == PACE_DATES_MONTH_FIRST;
    int64_t year = year_first ? first : third, month = year_first || !month_first ? second : first;
    int64_t day = year_first ? third : month_first ? second : first;
    if (!is_date(year, month, day)) return false;
    *out = (double)days_of(year, month, day) * 86400;
    return true;
}

/* ".25" or nothing. */
static bool read_fraction(double *seconds, const char **at, const char *end) {
    const char *from = *at;
    if (!sign(at, end, '.')) return true;
    while (*at < end && pace_is_digit(**at)) (*at)++;
    double fraction;
    if (*at - from == 1 || pace_decimal_read(&fraction, from, *at) != *at) return false;
    *seconds += fraction;
    return true;
}

/* " PM", or nothing; false for hours that halves of a day do not have. */
static bool read_half(double *seconds, int64_t hours, const char **at, const char *end) {
    const char *from = *at;
    sign(&from, end, ' ');
    bool before = end - from >= 2 && pace_strncasecmp(from, "am", 2) == 0;
    bool after = end - from >= 2 && pace_strncasecmp(from, "pm", 2) == 0;
    if ((!before && !after) || (end - from > 2 && from[2] != ' ')) return true;
    *at = from + 2;
    *seconds += 3600 * ((after ? 12 : 0) - (hours == 12 ? 12 : 0));
    return hours >= 1 && hours <= 12;
}

static bool read_clock(double *out, const char **at, const char *end) {
    int64_t hours, minutes, seconds = 0;
    if (!digits(&hours, at, end, 2) || !sign(at, end, ':') || !digits(&minutes, at, end, 2)) return false;
    if (sign(at, end, ':') && !digits(&seconds, at, end, 2)) return false;
    if (hours > 24 || minutes > 59 || seconds > 60) return false;
    *out = (double)(hours * 3600 + minutes * 60 + seconds);
    return read_fraction(out, at, end) && read_half(out, hours, at, end);
}

/* "Z", "+08:00", "-0730", "+08", a name, or nothing. */
static bool read_zone(double *out, pace_usage_text text, const pace_yaml_node *zones) {
    int64_t hours, minutes = 0;
    const char *at = text.data, *end = at + text.length;
    *out = 0;
    if (text.length == 0 || pace_span_is(at, text.length, "Z") || pace_span_is(at, text.length, "UTC")) return true;
    bool west = *at == '-';
    if (west || *at == '+') {
        at++;
        if (!digits(&hours, &at, end, 2)) return false;
        sign(&at, end, ':');
        if (at < end && !digits(&minutes, &at, end, 2)) return false;
        *out = (west ? -1 : 1) * (double)(hours * 3600 + minutes * 60);
        return at == end && hours < 24 && minutes < 60;
    }
    PACE_YAML_EACH (one, zones)
        if (pace_span_is(at, text.length, pace_yaml_key_of(one)))
            return pace_yaml_text(one) && pace_number_parse(out, pace_yaml_text(one)) && (*out *= 3600, true);
    return false;
}

/* Numbers so large are no seconds, of which these would be 3,000 years, but a thousandth or less of them. */
static const double no_seconds = 1e11;

static bool read_seconds(double *out, pace_usage_text text) {
    if (!pace_usage_number(out, text)) return false;
    while (*out >= no_seconds && isfinite(*out)) *out /= 1000;
    return true;
}

/* One of names of three letters each, which stand together; 0 = none. */
static int name_of_three(const char **at, const char *end, const char *names) {
    for (int i = 0; end - *at >= 3 && names[3 * i]; i++)
        if (pace_strncasecmp(*at, names + 3 * i, 3) == 0) return *at += 3, i + 1;
    return 0;
}

static bool blanks(const char **at, const char *end) {
    const char *from = *at;
    while (*at < end && **at == ' ') (*at)++;
    return *at > from;
}

/* "Thu Jan  1 02:03:04 2026", as C and PBS write it; "Jan 1 02:03 2026", as LSF; date(1) has a zone before the year. */
static bool read_named_moment(double *out, pace_usage_text *rest, pace_usage_text text) {
    const char *at = text.data, *end = at + text.length;
    int64_t day, year;
    double clock;
    if (name_of_three(&at, end, "SunMonTueWedThuFriSat") && !blanks(&at, end)) return false;
    int month = name_of_three(&at, end, "JanFebMarAprMayJunJulAugSepOctNovDec");
    if (!month || !blanks(&at, end) || !digits(&day, &at, end, 2) || !blanks(&at, end)) return false;
    if (!read_clock(&clock, &at, end) || !blanks(&at, end)) return false;
    const char *zone = at;
    while (at < end && pace_is_alpha(*at)) at++;
    *rest = (pace_usage_text){zone, (size_t)(at - zone)};
    if (at > zone && !blanks(&at, end)) return false;
    const char *from = at;
    if (!digits(&year, &at, end, 4) || at - from < 4 || at < end || !is_date(year, month, day)) return false;
    *out = (double)days_of(year, month, day) * 86400 + clock;
    return true;
}

/* A date, a clock, and `*rest`. */
static bool read_moment(double *out, pace_usage_text *rest, pace_usage_text text, pace_date_order dates) {
    const char *at = text.data, *end = at + text.length;
    double date, clock = 0;
    if (read_named_moment(out, rest, text)) return true;
    if (text.length < 8 || !read_date(&date, &at, end, dates)) return false;
    if (at < end && (*at == 'T' || *at == ' ') && at++ && !read_clock(&clock, &at, end)) return false;
    *rest = pace_usage_trim((pace_usage_text){at, (size_t)(end - at)});
    *out = date + clock;
    return true;
}

bool pace_usage_time(double *out, bool *zoned, pace_usage_text text, const pace_usage_times *times) {
    pace_usage_text rest;
    double moment, zone;
    *zoned = true;
    if (!read_moment(&moment, &rest, text, times->dates)) return read_seconds(out, text);
    if (!read_zone(&zone, rest, times->zones)) return false;
    *zoned = rest.length > 0;
    *out = moment - zone;
    return true;
}

pace_date_order pace_usage_date_tells(bool *either, pace_usage_text text) {
    int64_t first, second;
    const char *at = text.data, *end = at + text.length;
    *either = false;
    if (!pace_usage_year_is_last(text)) return PACE_DATES_UNSAID;
    digits(&first, &at, end, 2);
    char between = *at++;
    if (!digits(&second, &at, end, 2) || first == second || !sign(&at, end, between)) return PACE_DATES_UNSAID;
    pace_date_order order = order_of(between, first, second, PACE_DATES_UNSAID);
    *either = order == PACE_DATES_UNSAID;
    return order;
}

bool pace_usage_year_is_last(pace_usage_text text) {
    int64_t first;
    const char *at = text.data, *end = at + text.length;
    return digits(&first, &at, end, 4) && at - text.data < 3 && at < end && (*at == '/' || *at == '-');
}

const char *pace_usage_time_wanted(pace_usage_text text) {
    pace_usage_text rest;
    double moment;
    bool either = !read_moment(&moment, &rest, text, PACE_DATES_UNSAID);
    if (either && (read_moment(&moment, &rest, text, PACE_DATES_DAY_FIRST) ||
                   read_moment(&moment, &rest, text, PACE_DATES_MONTH_FIRST)))
        return "a date of one meaning (--dates month-first or --dates day-first says which)";
    if (!either && rest.length > 0)
        return "a time with its zone in hours, such as +01:00, or with a zone that is known";
    if (!either) return "a date of the order that is said, or that other rows have";
    return "a time such as 2023-03-01T00:18:22";
}

bool pace_usage_zone(double *out, pace_usage_text text) { return text.length && read_zone(out, text, NULL); }

/* "1 day, " and "0 days ", as Python writes them. */
static bool read_days(int64_t *days, const char **at, const char *end) {
    if (!digits(days, at, end, 9) || !sign(at, end, ' ') || !pace_span_starts(*at, (size_t)(end - *at), "day"))
        return false;
    *at += strlen("day");
    sign(at, end, 's');
    sign(at, end, ',');
    return sign(at, end, ' ');
}

/* Seconds of a unit's name, in the singular or plural; 0 = it is none. */
static double unit_of(const char *word, size_t length) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1},    {"sec", 1},   {"second", 1},  {"m", 60},    {"min", 60},   {"minute", 60},
                 {"h", 3600}, {"hr", 3600}, {"hour", 3600}, {"d", 86400}, {"day", 86400}};
    if (length > 2 && (word[length - 1] | 0x20) == 's') length--;
    for (size_t i = 0; i < PACE_COUNT(units); i++)
        if (strlen(units[i].name) == length && pace_strncasecmp(units[i].name, word, length) == 0)
            return units[i].seconds;
    return 0;
}

/* "2h 30m", "90 min", "1 day, 2 hours" and "7200 second(s)", as LSF writes it: the longest unit first, each below
 * `most_s`. */
static bool read_worded_duration(double *out, pace_usage_text text, double most_s) {
    const char *at = text.data, *end = at + text.length;
    *out = 0;
    while (at < end) {
        double count;
        const char *number = at;
        while (at < end && (pace_is_digit(*at) || *at == '.')) at++;
        if (!pace_usage_number(&count, (pace_usage_text){number, (size_t)(at - number)})) return false;
        while (at < end && *at == ' ') at++;
        const char *word = at;
        while (at < end && pace_is_alpha(*at)) at++;
        double unit_s = unit_of(word, (size_t)(at - word));
        if (!(unit_s > 0 && unit_s < most_s)) return false;
        *out += count * unit_s;
        most_s = unit_s;
        if (pace_span_starts(at, (size_t)(end - at), "(s)")) at += strlen("(s)");
        while (at < end && (*at == ' ' || *at == ',')) at++;
    }
    return text.length > 0;
}

/* "P1DT2H30M", of ISO 8601: "M" is a month before the "T", and months have no length. */
static bool read_iso_duration(double *out, pace_usage_text text) {
    const char *at = text.data + 1, *end = text.data + text.length, *time = memchr(text.data, 'T', text.length);
    double days_s = 0, time_s = 0;
    pace_usage_text days = {at, (size_t)((time ? time : end) - at)};
    if (days.length && (days.data[days.length - 1] != 'D' || !read_worded_duration(&days_s, days, INFINITY)))
        return false;
    if (time && !read_worded_duration(&time_s, (pace_usage_text){time + 1, (size_t)(end - time - 1)}, 86400))
        return false;
    *out = days_s + time_s;
    return days.length > 0 || time;
}

static bool read_plain_duration(double *out, pace_usage_text text, double unit_s) {
    if (text.length > 1 && *text.data == 'P') return read_iso_duration(out, text);
    if (read_worded_duration(out, text, INFINITY)) return true;
    if (text.length == 0 || *text.data == '-' || !pace_usage_number(out, text)) return false;
    *out *= unit_s;
    return true;
}

bool pace_usage_duration(double *out, pace_usage_text text, double unit_s) {
    const char *at = text.data, *end = at + text.length;
    int64_t days = 0, part = 0;
    int parts = 0;
    double seconds = 0;
    if (!memchr(at, ':', text.length)) return read_plain_duration(out, text, unit_s);
    const char *dash = memchr(at, '-', text.length), *day = memchr(at, 'd', text.length);
    if (dash && (!digits(&days, &at, end, 9) || !sign(&at, end, '-'))) return false;
    if (day && !read_days(&days, &at, end)) return false;
    while (parts < 3) {
        if (!digits(&part, &at, end, 9)) return false;
        seconds = seconds * 60 + (double)part;
        parts++;
        if (!sign(&at, end, ':')) break;
    }
    if (!read_fraction(&seconds, &at, end) || at != end) return false;
    if (parts == 2 && unit_s == 3600) seconds *= 60;
    *out = (double)days * 86400 + seconds;
    return true;
}

/* "gpu:a100:8(S:0-3)", as older tables have it: the count is behind the last colon. */
static void split_colon(pace_usage_text *key, pace_usage_text *value) {
    const char *bracket = memchr(key->data, '(', key->length);
    size_t length = bracket ? (size_t)(bracket - key->data) : key->length, digits = 0;
    while (digits < length && pace_is_digit(key->data[length - 1 - digits])) digits++;
    if (digits == 0 || digits == length || key->data[length - 1 - digits] != ':') return;
    *value = (pace_usage_text){key->data + length - digits, digits};
    key->length = length - digits - 1;
}

/* The next "key=count" or "key:count" of a list; false at its end. */
static bool next_part(pace_usage_text *key, pace_usage_text *value, pace_usage_text *rest) {
    if (rest->length == 0) return false;
    const char *comma = memchr(rest->data, ',', rest->length);
    size_t length = comma ? (size_t)(comma - rest->data) : rest->length;
    const char *equals = memchr(rest->data, '=', length);
    size_t before = equals ? (size_t)(equals - rest->data) : length;
    *key = (pace_usage_text){rest->data, before};
    *value = (pace_usage_text){rest->data + before + (equals != NULL), length - before - (equals != NULL)};
    if (!equals) split_colon(key, value);
    rest->data += length + (comma != NULL);
    rest->length -= length + (comma != NULL);
    return true;
}

static void add_model(pace_usage_gpus *out, size_t *count, pace_usage_text model, double value) {
    if (*count < PACE_USAGE_KINDS_OF_GPU) out[(*count)++] = (pace_usage_gpus){model, value};
    else out[*count - 1].count += value;
}

bool pace_usage_list(double *total, pace_usage_gpus *out, size_t *count, pace_usage_text text, const char *key) {
    pace_usage_text name, value;
    size_t length = strlen(key);
    double number, sum = 0;
    bool found = false;
    *total = 0;
    *count = 0;
    while (next_part(&name, &value, &text)) {
        if (!pace_span_starts(name.data, name.length, key)) continue;
        bool whole = name.length == length;
        if (!whole && name.data[length] != ':') continue;
        if (!pace_usage_number(&number, value) || !(number >= 0)) return false;
        if (whole) *total = number, found = true;
        else add_model(out, count, (pace_usage_text){name.data + length + 1, name.length - length - 1}, number);
        sum += whole ? 0 : number;
    }
    if (!found) *total = sum;
    if (*total > sum && *count > 0) add_model(out, count, (pace_usage_text){"", 0}, *total - sum);
    *total = fmax(*total, sum);
    return true;
}

/* The slices that a name is of, and where it says so; 0 = none. */
static int find_slices(size_t *place, pace_usage_text model) {
    for (size_t i = 1; i + 4 < model.length; i++) {
        const char *at = model.data + i, *end = model.data + model.length;
        int64_t slices, memory;
        const char *from = at - 1;
        if (*at != 'g' || !digits(&slices, &from, at, 1)) continue;
        at++;
        if (sign(&at, end, '.') && digits(&memory, &at, end, 3) && sign(&at, end, 'g') && sign(&at, end, 'b')) {
            *place = i - 1;
            return (int)slices;
        }
    }
    return 0;
}

int pace_usage_slices(pace_usage_text model) {
    size_t place;
    return find_slices(&place, model);
}

pace_usage_text pace_usage_sliced_model(pace_usage_text model) {
    size_t place;
    if (find_slices(&place, model) && place > 0) model.length = place;
    return model;
}

/* "3-10:2" or "12". */
static bool count_range(double *count, const char **at, const char *end) {
    int64_t first, last, step = 1;
    if (!digits(&first, at, end, 9)) return false;
    last = first;
    if (sign(at, end, '-') && !digits(&last, at, end, 9)) return false;
    if (sign(at, end, ':') && !digits(&step, at, end, 9)) return false;
    if (last < first || step < 1) return false;
    *count += (double)((last - first) / step + 1);
    return true;
}

bool pace_usage_ranges(double *out, pace_usage_text text) {
    const char *at = text.data, *end = at + text.length, *percent = memchr(at, '%', text.length);
    const char *stop = percent ? percent : end;
    double count = 0;
    do
        if (!count_range(&count, &at, stop)) return false;
    while (sign(&at, stop, ','));
    if (at != stop) return false;
    *out = count;
    return true;
}

bool pace_usage_brackets(double *out, pace_usage_text text) {
    const char *open = memchr(text.data, '[', text.length), *end = text.data + text.length;
    *out = 1;
    if (!open) return true;
    const char *close = memchr(open, ']', (size_t)(end - open));
    return close && pace_usage_ranges(out, (pace_usage_text){open + 1, (size_t)(close - open - 1)});
}
