#define M 64
unsigned char a[M], b[M]; int la, lb; int dist;
void levenshtein(void) {
    int row[M + 1];
    for (int j = 0; j <= lb; j++) row[j] = j;
    for (int i = 1; i <= la; i++) {
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int up = row[j], cost = a[i - 1] != b[j - 1];
            int d = diag + cost;
            if (up + 1 < d) d = up + 1;
            if (row[j - 1] + 1 < d) d = row[j - 1] + 1;
            row[j] = d;
            diag = up;
        }
    }
    dist = row[lb];
}
