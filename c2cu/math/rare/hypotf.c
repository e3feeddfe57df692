/* hypotf: what is not finite. */
#include "signals.h"

float c2cu_rare_hypotf(float x, float y) {
    float most = 0x1.fffffep127f;
    _Bool infinite = fabsf(x) > most || fabsf(y) > most;
    return infinite && !c2cu_signalsf(x) && !c2cu_signalsf(y) ? __builtin_inff() : x + y;
}
