/*
 * Sleeping and waking of collective/waiting.h as a model for Spin. A store waits in its processor's buffer until it is
 * flushed, at any time; loads pass it. The publisher stores and looks for sleepers without a fence; the sleeper says
 * that it sleeps, has everybody's buffer flushed (membarrier) or, with FENCE, leaves that to the publisher, looks once
 * more and sleeps unless the bell has rung. The time-out of the sleep is left out: nobody may need it.
 */
#ifndef NOTES
#define NOTES 3
#endif

byte shown = 0;  /* in memory */
byte buffer = 0; /* the publisher's: 0 = nothing */
bit sleeping = 0;
byte bell = 0;
bit finished = 0;

#define FLUSH                            \
    atomic {                             \
        if                               \
        :: buffer -> shown = buffer; buffer = 0 \
        :: else                          \
        fi                               \
    }

active proctype flusher() {
    do
    :: atomic { buffer -> shown = buffer; buffer = 0 }
    :: finished -> break
    od
}

active proctype publisher() {
    byte posted = 0;
    do
    :: posted == NOTES -> break
    :: else ->
        posted++;
        atomic { buffer == 0 || posted > buffer -> buffer = posted };
#ifdef FENCE
        FLUSH;
#endif
        if
        :: sleeping -> bell++ /* and the futex wakes who sleeps */
        :: else
        fi
    od
}

active proctype sleeper() {
    byte wanted = 0;
    byte heard;
    do
    :: wanted == NOTES -> break
    :: else ->
        wanted++;
        do
        :: shown >= wanted -> break
        :: else ->
            heard = bell;
            sleeping = 1;
#if !defined(FENCE) && !defined(NO_BARRIER)
            FLUSH;
#endif
            if
            :: shown >= wanted
            :: else -> bell != heard /* asleep */
            fi;
            sleeping = 0
        od
    od;
    finished = 1
}
