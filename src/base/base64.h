/* Bytes as text that may stand anywhere: base64 (RFC 4648). */
#pragma once

#include "base/json_writer.h"

/** Writes `length` bytes as base64, padded with '='. */
void pace_base64_write(pace_sink *sink, const void *bytes, size_t length);
