/* expf: results that overflow or are zero. */
#include "expf_any.h"

float c2cu_rare_expf(float x) {
    return c2cu_expf_any(x);
}
