#include <math.h>
static float min(float a, float b) { return a < b ? a : b; }
void apsp(int n, float D[n][n]) {
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        D[i][j] = min(D[i][j], D[i][k] + D[k][j]);
}
