/* The memory of a run that blocks of less than a megabyte come from. */
#pragma once

/** Lets it grow in pages of 2 MiB, and keeps a little of what is given back. Before anything else is allocated. */
void cli_prepare_heap(void);

/** Settles how a verb's blocks are taken and what is kept of them. */
void cli_suit_heap(const char *verb);
