/* The energy of 64 samples under a Hann window, which is filled when it is first needed. */
#include <math.h>
float x[64], energy;

static float window_[64];
static int ready;

void window(void) {
    float sum = 0;
    if (!ready) {
        for (int i = 0; i < 64; i++) window_[i] = 0.5f - 0.5f * cosf(6.2831853f * i / 64);
        ready = 1;
    }
    for (int i = 0; i < 64; i++) sum += x[i] * window_[i] * (x[i] * window_[i]);
    energy = sum;
}
