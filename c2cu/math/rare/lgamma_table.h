/* The zeros of lgamma from -2 to -28, each as the nearest double and the rest, and polynomials for arguments from -2 to
   -3: of (|gamma(x)| - 1) (x - n) / (x - zero), n the whole number beside that zero, by the distance of x from the
   middle of an eighth; 14 coefficients each, zeros where one has fewer. */
#ifndef C2CU_RARE_LGAMMA_TABLE_H
#define C2CU_RARE_LGAMMA_TABLE_H
static const double c2cu_lgamma_zeros[104] = {
    -0x1.3a7fc9600f86cp1, -0x1.55f64f98af8dp-55, -0x1.5fb410a1bd901p1, 0x1.a19a96d2e6f85p-54, -0x1.9260dbc9e59afp1,
    -0x1.f717cd335a7b3p-53, -0x1.fa471547c2fe5p1, -0x1.70d4561291237p-56, -0x1.0284e78599581p2,
    0x1.e78c1e9e43cfep-53, -0x1.3f7577a6eeafdp2, 0x1.5de5eab7f12cfp-53, -0x1.4086a57f0b6d9p2, -0x1.95262b72ca9cap-55,
    -0x1.7fe92f591f40dp2, -0x1.7dd4ed62cbd32p-52, -0x1.8016b25897c8dp2, 0x1.27e0f49a4ba72p-54, -0x1.bffcbf76b86fp2,
    0x1.853b29347b806p-57, -0x1.c0033fdedfe1fp2, 0x1.20bb7d2324678p-52, -0x1.ffff97f8159cfp2, -0x1.e54f415a91586p-55,
    -0x1.000034028b3f9p3, -0x1.f60cb3cec1cedp-52, -0x1.1ffffa3884bdp3, -0x1.ff90c9d2ae925p-53, -0x1.200005c7768fbp3,
    -0x1.b5b610ffb70d4p-54, -0x1.3fffff6c0d7cp3, 0x1.197cea8c42d7dp-51, -0x1.40000093f2777p3, -0x1.927b45d95e154p-52,
    -0x1.5ffffff28cdd4p3, 0x1.c9924a65aa486p-53, -0x1.6000000d7322ap3, -0x1.8aecb2d37ff52p-51, -0x1.7ffffffee1127p3,
    -0x1.ce1f7906b30f5p-54, -0x1.800000011eed9p3, 0x1.19d5307e1fb5ep-53, -0x1.9fffffffe9edcp3, 0x1.84f40342d001cp-51,
    -0x1.a000000016124p3, -0x1.84e03341ee8ddp-51, -0x1.bffffffffe6c7p3, 0x1.d2a30f3dae0fbp-51, -0x1.c000000001939p3,
    -0x1.d2a2f4a73af63p-51, -0x1.dfffffffffe52p3, 0x1.fcf9ccfd8867ep-51, -0x1.e0000000001aep3, -0x1.fcf9ccde8721p-51,
    -0x1.fffffffffffe5p3, -0x1.80c18cc43ea26p-53, -0x1.000000000000dp4, -0x1.cfe7ce6768509p-50, -0x1.0ffffffffffffp4,
    -0x1.ab4e23f3d49f1p-51, -0x1.1000000000001p4, 0x1.ab4e23f3d4bbcp-51, -0x1.2p4, 0x1.6827863b97d9ap-53, -0x1.2p4,
    -0x1.6827863b97d95p-53, -0x1.3p4, 0x1.2f49b46814157p-57, -0x1.3p4, -0x1.2f49b46814157p-57, -0x1.4p4,
    0x1.e542ba4020225p-62, -0x1.4p4, -0x1.e542ba4020225p-62, -0x1.5p4, 0x1.71b8ef6dcf572p-66, -0x1.5p4,
    -0x1.71b8ef6dcf572p-66, -0x1.6p4, 0x1.0ce396db7f853p-70, -0x1.6p4, -0x1.0ce396db7f853p-70, -0x1.7p4,
    0x1.761b41316381ap-75, -0x1.7p4, -0x1.761b41316381ap-75, -0x1.8p4, 0x1.f2cf01972f578p-80, -0x1.8p4,
    -0x1.f2cf01972f578p-80, -0x1.9p4, 0x1.3f3ccdd165fa9p-84, -0x1.9p4, -0x1.3f3ccdd165fa9p-84, -0x1.ap4,
    0x1.88e85fc6a4e5ap-89, -0x1.ap4, -0x1.88e85fc6a4e5ap-89, -0x1.bp4, 0x1.d1ab1c2dccea3p-94, -0x1.bp4,
    -0x1.d1ab1c2dccea3p-94, -0x1.cp4, 0x1.0a18a2635085dp-98
};

static const double c2cu_lgamma_eighths[112] = {
    -0x1.0b71c5c54d42fp0, -0x1.8e743b80be6ebp-1, -0x1.ec84140851911p-4, -0x1.c6f93b44708fdp-1, -0x1.03cd87cdc0ac6p-4,
    -0x1.d5d35db9c25dcp-1, 0x1.362342f019fa9p-5, -0x1.de4bf88c17bd6p-1, 0x1.374c2630e5489p-3, -0x1.f07fd438da6ap-1,
    0x1.1d832322425d6p-2, 0.0, 0.0, 0.0,
    -0x1.e5261121afacfp-1, -0x1.94b9fbc0a9d55p-1, 0x1.ce4f07ef5eccep-3, -0x1.02a5ad35619d9p0, 0x1.2dd3622cf82c8p-1,
    -0x1.4d8332eba090ap0, 0x1.1c0c94b1b2b6p0, -0x1.c9a70d138c74ep0, 0x1.d7d9cf1d4c196p0, -0x1.48fdfa66b55d6p1,
    0x1.7b3a8fba5c7fcp1, -0x1.f0ddbd84f1f3bp1, 0.0, 0.0,
    -0x1.afa51aa0bac3p-1, -0x1.cd2c93460812bp-1, 0x1.61ae94504f9acp-1, -0x1.924b09228a86ep0, 0x1.d49b12bcf6175p0,
    -0x1.844c5da98698ap1, 0x1.081e9afa3f693p2, -0x1.8e7bbd5b53a4p2, 0x1.1c5c8559799d9p3, -0x1.a1b2383cb2d4dp3,
    0x1.2e20d7099c585p4, -0x1.c4eb6691b4ca9p4, 0x1.4b50d08fec2ffp5, 0.0,
    -0x1.6e9d4379fff29p-1, -0x1.2a82bd590c376p0, 0x1.88020f828b81p0, -0x1.9913cf8206bd7p1, 0x1.55eb2094b3a1ap2,
    -0x1.3855dba12624ap3, 0x1.12c132716e94cp4, -0x1.ea94dfa5c0a6dp4, 0x1.b35b0d5ff42c6p5, -0x1.833f3ad8a89b9p6,
    0x1.57dd74128077bp7, -0x1.3188d9b1b288cp8, 0x1.1bfbba6e8a622p9, -0x1.fef853266b89bp9,
    -0x1.e88084613f5d8p-3, 0x1.cd557caff7d2fp0, 0x1.c0cda42b69b67p1, 0x1.a14172eb3f108p2, 0x1.78365ccacf49ap3,
    0x1.50a53a3ce6c73p4, 0x1.2bd6ffdd8f606p5, 0x1.0ac555273d003p6, 0x1.da633f60acf86p6, 0x1.a5bd9bc42eeaap7,
    0x1.7699a624d07b9p8, 0x1.4c767b0bd5dfep9, 0x1.354913513582dp10, 0x1.1d2c57ee72b31p11,
    -0x1.ad7494a95ba2ap-2, 0x1.28d60383da3a6p0, 0x1.db6513ada89bep0, 0x1.710b88c7d4601p1, 0x1.114044b1944d2p2,
    0x1.92be643d626e3p2, 0x1.25b6b2c7af447p3, 0x1.ac5806c8fb432p3, 0x1.379f81f6416afp4, 0x1.c5618b4fdb96p4,
    0x1.49a1685795627p5, 0x1.ece6fab6958c3p5, 0x1.6ae7e475689e9p6, 0.0,
    -0x1.148363c9e6dffp-1, 0x1.9b50fa76d3b7dp-1, 0x1.1474ad5c36709p0, 0x1.761ecb90c8c5cp0, 0x1.d279bff588826p0,
    0x1.272e801fd9b54p1, 0x1.6abaabaab3421p1, 0x1.c28a95868bbabp1, 0x1.1484f6487284cp2, 0x1.55769f7f3da71p2,
    0x1.ab3bdca6e501p2, 0x1.09079843ba0cdp3, 0.0, 0.0,
    -0x1.408daccfc8d1fp-1, 0x1.2e1711b9800d8p-1, 0x1.551472843929ap-1, 0x1.a5e9a26c7f31cp-1, 0x1.b95354332eb6ep-1,
    0x1.f9e1385ea8808p-1, 0x1.04b1365a9adfcp0, 0x1.22b54ef213798p0, 0x1.2c52c25206bf5p0, 0x1.4aa3d798aace4p0,
    0x1.5c3f278b504e3p0, 0x1.7e08292cc347bp0, 0.0, 0.0
};
#endif
