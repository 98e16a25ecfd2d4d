/* Types of elements by their words. */
#pragma once

/** Bytes of an element of a type by its word ("float", "torch.float16", "ncclFloat16", "fp8_e4m3"); none is 4. 0 = not
 * known. */
double pace_element_word_bytes(const char *dtype);
