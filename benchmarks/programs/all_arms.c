/* A switch whose arms are all taken, by neighbours too. */
unsigned op[32];
double x, r;

void all_arms(void) {
    double y = x;
    for (int k = 0; k < 32; k++) {
        switch (op[k] & 15) {
        case 0: y = y * 1.5 - 1; break;
        case 1: y = y / 3 + k; break;
        case 2: y = y * y - y; break;
        case 3: y = 1 / (y * y + 1); break;
        case 4: y = y < 0 ? -y : y - 2; break;
        case 5: y = (y + k) / (y * y + 2); break;
        case 6: y = y * 0.125 + y / 7; break;
        case 7: y = y - (int)y; break;
        case 8: y = y * 3 - k; break;
        case 9: y = y / 11; break;
        case 10: y = 2 - y; break;
        case 11: y = y * y * y / 100; break;
        case 12: y = y + 0.5; break;
        case 13: y = y > 1e6 ? 0 : y * 2; break;
        case 14: y = k / (y * y + 3); break;
        default: y = -y; break;
        }
        if (y > 1e9 || y < -1e9) y = k;
    }
    r = y;
}
