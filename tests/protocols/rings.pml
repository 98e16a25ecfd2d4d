/*
 * A ring of collective/rings.h as a model for Spin: one sender, one receiver, SLOTS places. No message is overwritten
 * before it was taken, none is lost, none comes twice.
 */
#ifndef SLOTS
#define SLOTS 4
#endif
#ifndef KEPT
#define KEPT SLOTS /* messages that may be on the way */
#endif
#ifndef MESSAGES
#define MESSAGES 10
#endif

byte written = 0;
byte taken = 0;
byte first[SLOTS];
byte last[SLOTS];

active proctype sender() {
    byte sent = 0;
    do
    :: sent == MESSAGES -> break
    :: else ->
        sent < KEPT || taken > sent - KEPT;
        first[sent % SLOTS] = sent + 1;
        last[sent % SLOTS] = sent + 1;
        sent++;
        written = sent
    od
}

active proctype receiver() {
    byte next = 0;
    do
    :: next == MESSAGES -> break
    :: else ->
        written > next;
        assert(first[next % SLOTS] == next + 1);
        assert(last[next % SLOTS] == next + 1);
        next++;
        taken = next
    od
}
