//! Montgomery products of many pairs with one call, beside a loop of our own.

use std::os::raw::{c_int, c_long, c_uint, c_void};

extern "C" {
    fn montgomery_bulk_workspace(p: c_long, threads: c_int) -> usize;
    fn montgomery_bulk(
        x: *const c_uint,
        y: *const c_uint,
        m: *const c_uint,
        r: *mut c_uint,
        p: c_long,
        workspace: *mut c_void,
        threads: c_int,
    ) -> c_int;
}

const P: usize = 1000;
const LIMBS: usize = 16;
type Number = [u32; LIMBS]; // least significant limb first

/// x * y / 2^512 mod m, for an odd m and x, y < m.
fn product(x: &Number, y: &Number, m: &Number) -> Number {
    let minus = (0..5).fold(m[0], |inverse, _| {
        inverse.wrapping_mul(2u32.wrapping_sub(m[0].wrapping_mul(inverse)))
    });
    let mut t = [0u64; LIMBS + 2];
    for &factor in y {
        let mut carry = 0;
        for j in 0..LIMBS {
            let s = x[j] as u64 * factor as u64 + t[j] + carry;
            t[j] = s & 0xffff_ffff;
            carry = s >> 32;
        }
        let top = t[LIMBS] + carry;
        t[LIMBS] = top & 0xffff_ffff;
        t[LIMBS + 1] = top >> 32;
        let q = (t[0] as u32).wrapping_mul(minus.wrapping_neg()) as u64;
        carry = (q * m[0] as u64 + t[0]) >> 32;
        for j in 1..LIMBS {
            let s = q * m[j] as u64 + t[j] + carry;
            t[j - 1] = s & 0xffff_ffff;
            carry = s >> 32;
        }
        let top = t[LIMBS] + carry;
        t[LIMBS - 1] = top & 0xffff_ffff;
        t[LIMBS] = t[LIMBS + 1] + (top >> 32);
    }
    let mut r = [0; LIMBS];
    let mut borrow = 0;
    for j in 0..LIMBS {
        let d = t[j].wrapping_sub(m[j] as u64).wrapping_sub(borrow);
        r[j] = d as u32;
        borrow = d >> 63;
    }
    if borrow > t[LIMBS] {
        std::array::from_fn(|j| t[j] as u32)
    } else {
        r
    }
}

/// Numbers whose top bit is not set; `odd`: moduli, whose next bit is, and above all others therefore.
fn numbers(state: &mut u64, odd: bool) -> Vec<Number> {
    let mut limb = || {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 32) as u32
    };
    let mut all: Vec<Number> = (0..P).map(|_| std::array::from_fn(|_| limb())).collect();
    for n in &mut all {
        n[0] |= odd as u32;
        n[LIMBS - 1] = n[LIMBS - 1] >> 2 | (odd as u32) << 30;
    }
    all
}

fn main() {
    let mut state = 1;
    let (x, y, m) = (numbers(&mut state, false), numbers(&mut state, false), numbers(&mut state, true));
    let mut r = vec![[0; LIMBS]; P];
    let threads = 4;
    let mut workspace = vec![0u8; unsafe { montgomery_bulk_workspace(P as c_long, threads) }];
    let error = unsafe {
        montgomery_bulk(
            x.as_ptr().cast(),
            y.as_ptr().cast(),
            m.as_ptr().cast(),
            r.as_mut_ptr().cast(),
            P as c_long,
            workspace.as_mut_ptr().cast(),
            threads,
        )
    };
    assert_eq!(error, 0);
    for k in 0..P {
        assert_eq!(r[k], product(&x[k], &y[k], &m[k]), "pair {k}");
    }
    println!("{P} products of 512 bits: equal");
}
