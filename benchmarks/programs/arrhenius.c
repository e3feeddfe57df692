#include <math.h>
#define SPECIES 8
#define REACTIONS 16
double temperature, mole[SPECIES]; double rate[SPECIES];

static const struct { double factor, power, energy; int in[2], out[2]; } reaction[REACTIONS] = {
    {3.5e4, -0.41, 69450, {0, 1}, {2, 3}}, {5.1e1, 2.67, 26317, {2, 4}, {0, 3}}, {2.2e5, 1.51, 14351, {3, 4}, {0, 5}},
    {3.0e3, 2.02, 56066, {2, 5}, {3, 3}},  {4.6e6, -1.4, 436726, {4, 1}, {0, 0}}, {6.2e3, -0.5, 0, {2, 2}, {1, 1}},
    {4.7e6, -1.0, 0, {2, 0}, {3, 3}},      {2.2e10, -2.0, 0, {0, 3}, {5, 5}},    {1.5e6, 0.6, 0, {0, 1}, {6, 6}},
    {1.7e7, 0.0, 3443, {6, 0}, {4, 1}},    {7.1e7, 0.0, 1234, {6, 0}, {3, 3}},   {3.3e7, 0.0, 0, {6, 2}, {1, 3}},
    {2.9e7, 0.0, -2079, {6, 3}, {5, 1}},   {4.2e8, 0.0, 50133, {6, 6}, {7, 1}},  {2.4e7, 0.0, 16610, {7, 0}, {5, 3}},
    {4.8e7, 0.0, 33262, {7, 0}, {6, 4}},
};

void arrhenius(void) {
    for (int s = 0; s < SPECIES; s++) rate[s] = 0;
    for (int k = 0; k < REACTIONS; k++) {
        double speed = reaction[k].factor * pow(temperature, reaction[k].power)
            * exp(-reaction[k].energy / (8.314462618 * temperature));
        double turned = speed * mole[reaction[k].in[0]] * mole[reaction[k].in[1]];
        for (int n = 0; n < 2; n++) rate[reaction[k].in[n]] -= turned, rate[reaction[k].out[n]] += turned;
    }
}
