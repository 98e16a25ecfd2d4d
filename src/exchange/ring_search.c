#include "exchange/ring_search.h"

#include <string.h>

/* A search that has come to nothing after so many steps is given up, and one ring fewer is tried. */
enum { STEPS = 4000000 };

typedef struct {
    pace_rings rings;
    pace_ring_links left;
    int devices, wanted;
    const unsigned char *first, *last; /* NULL: closed */
    long steps;
} search;

static bool take(search *s, int ring, int place, unsigned used);

static bool next_ring(search *s, int ring) {
    if (ring == s->wanted) return true;
    int begin = s->first ? s->first[ring] : 0;
    s->rings.order[ring][0] = (unsigned char)begin;
    return take(s, ring, 1, 1u << begin);
}

static bool closes(search *s, int ring) {
    const unsigned char *order = s->rings.order[ring];
    int end = order[s->devices - 1];
    if (s->first) return next_ring(s, ring + 1);
    if (!s->left[end][order[0]]) return false;
    s->left[end][order[0]]--;
    bool done = next_ring(s, ring + 1);
    if (!done) s->left[end][order[0]]++;
    return done;
}

/* An open ring comes to its last device only at the end. Rings may be put in any order, so the second devices of closed
 * ones do not go down. */
static bool may_follow(const search *s, int ring, int place, int device, unsigned used) {
    if (used >> device & 1) return false;
    if (s->first) return (device == s->last[ring]) == (place == s->devices - 1);
    return place != 1 || ring == 0 || device >= s->rings.order[ring - 1][1];
}

/* Between devices with many links first: those with few are left for where they are needed. */
static bool take(search *s, int ring, int place, unsigned used) {
    if (place == s->devices) return closes(s, ring);
    unsigned char *order = s->rings.order[ring], *left = s->left[order[place - 1]];
    int most = 0;
    for (int d = 0; d < s->devices; d++)
        if (left[d] > most) most = left[d];
    for (int links = most; links > 0; links--)
        for (int d = 0; d < s->devices; d++) {
            if (left[d] != links || !may_follow(s, ring, place, d, used)) continue;
            if (++s->steps > STEPS) return false;
            order[place] = (unsigned char)d;
            left[d]--;
            if (take(s, ring, place + 1, used | 1u << d)) return true;
            left[d]++;
        }
    return false;
}

static void find(pace_rings *out, search *s, pace_ring_links links, int most) {
    for (s->wanted = most < PACE_RINGS_MOST ? most : PACE_RINGS_MOST; s->wanted > 0; s->wanted--) {
        memcpy(s->left, links, sizeof s->left);
        s->steps = 0;
        if (next_ring(s, 0)) break;
    }
    *out = s->rings;
    out->count = s->wanted;
    out->devices = s->devices;
}

/* No device has more rings than links out of it, or into it. */
static int fewest_links(pace_ring_links links, int devices) {
    int fewest = PACE_RINGS_MOST;
    for (int i = 0; i < devices; i++) {
        int out = 0, in = 0;
        for (int j = 0; j < devices; j++) out += links[i][j], in += links[j][i];
        if (out < fewest) fewest = out;
        if (in < fewest) fewest = in;
    }
    return fewest;
}

void pace_rings_closed(pace_rings *out, pace_ring_links links, int devices, int most) {
    search s = {.devices = devices};
    int fewest = fewest_links(links, devices);
    find(out, &s, links, most < fewest ? most : fewest);
}

void pace_rings_open(pace_rings *out, pace_ring_links links, int devices, const unsigned char *first,
                     const unsigned char *last, int count) {
    search s = {.devices = devices, .first = first, .last = last};
    find(out, &s, links, count);
}
