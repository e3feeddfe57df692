#define S 8
#define T 32
int obs[T]; float trans[S][S], emit[S][4]; int path[T]; float best;
void viterbi(void) {
    float v[S], n[S]; int back[T][S];
    for (int s = 0; s < S; s++) v[s] = emit[s][obs[0] & 3];
    for (int t = 1; t < T; t++) {
        for (int s = 0; s < S; s++) {
            float m = v[0] + trans[0][s]; int k = 0;
            for (int r = 1; r < S; r++) { float x = v[r] + trans[r][s]; if (x > m) { m = x; k = r; } }
            n[s] = m + emit[s][obs[t] & 3]; back[t][s] = k;
        }
        for (int s = 0; s < S; s++) v[s] = n[s];
    }
    int k = 0;
    for (int s = 1; s < S; s++) if (v[s] > v[k]) k = s;
    best = v[k];
    for (int t = T - 1; t > 0; t--) { path[t] = k; k = back[t][k]; }
    path[0] = k;
}
