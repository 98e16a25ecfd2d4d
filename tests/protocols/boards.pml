/*
 * The boards of collective/board.h as a model for Spin: processes post notes of two words on their own board of SLOTS
 * places and read everybody else's. Before note w is posted, notes up to w - AHEAD of all others have been read; how
 * much earlier they are read is free. No read may see a half-written or overwritten note, and nobody waits for ever.
 *
 * Publishing is a release and reading an acquire: what was written before is seen after, so that steps in any order
 * of the processes are all that can happen.
 */
#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef SLOTS
#define SLOTS 4
#endif
#ifndef AHEAD
#define AHEAD 2
#endif
#ifndef NOTES
#define NOTES 6
#endif

typedef board {
    byte number[SLOTS];
    byte first[SLOTS];  /* the first and the last word of the note's bytes, which hold its number */
    byte last[SLOTS];
}
board boards[PROCESSES];

/* Reads the next note of `from`, whole, where it may be read. */
inline read_next(from) {
    boards[from].number[(seen[from] + 1) % SLOTS] >= seen[from] + 1;
    seen[from]++;
    assert(boards[from].first[seen[from] % SLOTS] == seen[from]);
    assert(boards[from].last[seen[from] % SLOTS] == seen[from]);
}

active [PROCESSES] proctype process() {
    byte seen[PROCESSES];
    byte posted = 0;
    byte other = 0;
    byte place;
    do
    :: posted == NOTES -> break
    :: else ->
        other = 0;
        do /* what must have been read, and as much more as has been posted by oneself */
        :: other == PROCESSES -> break
        :: other < PROCESSES && other == _pid -> other++
        :: other < PROCESSES && other != _pid && seen[other] + AHEAD < posted + 1 -> read_next(other)
        :: other < PROCESSES && other != _pid && seen[other] < posted && seen[other] + AHEAD >= posted + 1 -> read_next(other)
        :: other < PROCESSES && other != _pid && seen[other] + AHEAD >= posted + 1 -> other++
        od;
        place = (posted + 1) % SLOTS;
        boards[_pid].first[place] = posted + 1;
        boards[_pid].last[place] = posted + 1;
        posted++;
        boards[_pid].number[place] = posted
    od
}
