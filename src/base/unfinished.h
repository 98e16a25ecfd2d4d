/* What a signal that ends the process leaves behind unless a handler removes it: files that are not whole, folders of
 * scratch, a program that was started. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/** Lists the path of a file or of a flat folder, which stays the caller's. Its number; -1: the list is full, and a
 * later run removes what a signal leaves. */
int pace_unfinished_list(const char *path);
void pace_unfinished_strike(int number);

/** The program that this process waits for; 0 = none. */
void pace_unfinished_program(pid_t process);

/** Removes all that is listed, and ends the program. A signal handler may call it. */
void pace_unfinished_remove_all(void);

/** Removes a file, or a folder and the files in it. A signal handler may call it. */
void pace_remove_flat(const char *path);

/** Processes are alive or not on their own host. */
unsigned pace_host_number(void);
bool pace_process_has_ended(unsigned host, long process);
