/* The discrete cosine transform of 8 x 8 samples, as textbooks write it. */
#include <math.h>
float sample[8][8], coefficient[8][8];

void dct_textbook(void) {
    for (int u = 0; u < 8; u++)
        for (int v = 0; v < 8; v++) {
            double sum = 0;
            for (int x = 0; x < 8; x++)
                for (int y = 0; y < 8; y++)
                    sum += sample[x][y] * cos((2 * x + 1) * u * M_PI / 16) * cos((2 * y + 1) * v * M_PI / 16);
            coefficient[u][v] = 0.25 * (u ? 1 : M_SQRT1_2) * (v ? 1 : M_SQRT1_2) * sum;
        }
}
