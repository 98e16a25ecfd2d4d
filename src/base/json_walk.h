/*
 * Objects and lists read member by member, by readers that know what they want of each and leave out the rest.
 */
#pragma once

#include "base/json_reader.h"

enum { PACE_JSON_KEY_TEXT = 32 };

/* Reads a member's value whole and returns its last token, or the one that failed. `key` is "" when it is longer than
 * any that is known. */
typedef pace_json_token (*pace_json_member_fn)(void *context, const char *key);

/* Reads an object whole, behind its bracket, and returns the last token, or the one that failed. */
typedef pace_json_token (*pace_json_object_fn)(void *context);

/** The text of the current token, "" when it takes more than PACE_JSON_KEY_TEXT - 1 bytes. */
void pace_json_copy_key(char key[PACE_JSON_KEY_TEXT], const pace_json *json);

/** The first token of the next member's value in the open object, its key copied; OBJECT_END behind the last one, or
 * the token that failed. */
pace_json_token pace_json_next_member(pace_json *json, char key[PACE_JSON_KEY_TEXT]);

/** Behind an object's bracket: reads every member. Returns what ended it: the object's end, or the token that failed.
 */
pace_json_token pace_json_each_member(pace_json *json, pace_json_member_fn read, void *context);

/** Reads a document that is one object, to its end. Returns as above, or its first token where it is none. */
pace_json_token pace_json_document(pace_json *json, pace_json_member_fn read, void *context);

/** Behind a list's bracket: reads every object and leaves out what is none. Returns as above. */
pace_json_token pace_json_each_object(pace_json *json, pace_json_object_fn read, void *context);

/** What a value's first token began is left, if it began something. Returns the value's last token. */
pace_json_token pace_json_pass(pace_json *json, pace_json_token first);
