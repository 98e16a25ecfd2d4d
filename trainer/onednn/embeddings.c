#include "net.h"

void update_table_rows(net *n, parameter *p, float rate) { (void)n, (void)p, (void)rate; }
