#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes math_table.txt: arguments and correctly rounded results of shaders/math.rk.

Not run by the build. Needs mpmath:  python3 make_math_table.py > math_table.txt

Every result is computed twice, to 400 bits and to 700 (more for large angles); both must
round to the same number. Special values are not computed but listed below, from the rules
of C (ISO C11 annex F).
"""
import random
import sys

import mpmath
from mpmath import mp, mpf

NPOINT = 150  # per function and type, about: specials included
INF = float("inf")
NAN = float("nan")


class Real:
    """A binary floating-point type."""

    def __init__(self, name, bits, emax):
        self.name = name
        self.bits = bits
        self.emax = emax
        self.emin = 3 - emax  # of the smallest normal number, as frexp has it
        self.tiny = float(mpf(2) ** (self.emin - bits))
        self.huge = float(mpf(2) ** emax * (1 - mpf(2) ** -bits))

    def round(self, x):
        """x, an mpf, rounded to nearest, ties to even; as a double."""
        if x == 0:
            return 0.0
        exponent = max(mpmath.frexp(x)[1], self.emin) - self.bits
        scaled = mpmath.ldexp(x, -exponent)
        nearest = mpmath.nint(scaled)
        rounded = mpmath.ldexp(nearest, exponent)
        if abs(rounded) > self.huge:
            return INF if x > 0 else -INF
        return float(rounded)

    def cast(self, x):
        return self.round(mpf(x))

    def next(self, x, steps):
        """x moved by some numbers of this type."""
        exponent = max(mpmath.frexp(mpf(x))[1], self.emin) - self.bits
        return self.cast(mpf(x) + steps * mpmath.ldexp(mpf(1), exponent))


TYPES = [Real("f32", 24, 128), Real("f64", 53, 1024)]

FUNCTIONS = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpf(2) ** x,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": lambda x: mpmath.log(x) / mpmath.log(10),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "atan2": mpmath.atan2,
    "hypot": mpmath.hypot,
    "pow": lambda x, y: x**y if x > 0 or y == int(y) else None,
}


def specials(name, real):
    """(arguments, result) where the result is a special value or exact."""
    tiny, huge = real.tiny, real.huge
    pi = mp.pi
    odd = [(f, f) for f in (0.0, -0.0)]
    table = {
        "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (huge, INF), (-huge, 0.0)],
        "log": [(1, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-tiny, NAN), (-INF, NAN)],
        "sin": odd + [(INF, NAN), (-INF, NAN), (tiny, tiny), (-tiny, -tiny)],
        "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN), (tiny, 1)],
        "asin": odd + [(1, pi / 2), (-1, -pi / 2), (2, NAN), (-INF, NAN), (tiny, tiny)],
        "acos": [(1, 0.0), (-1, pi), (0.0, pi / 2), (-0.0, pi / 2), (2, NAN), (INF, NAN)],
        "atan": odd + [(INF, pi / 2), (-INF, -pi / 2), (huge, pi / 2), (tiny, tiny)],
        "sinh": odd + [(INF, INF), (-INF, -INF), (huge, INF), (-huge, -INF), (tiny, tiny)],
        "cosh": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, INF), (huge, INF), (tiny, 1)],
        "tanh": odd + [(INF, 1), (-INF, -1), (huge, 1), (-huge, -1), (-tiny, -tiny)],
    }
    table["exp2"] = table["exp"] + [(k, mpf(2) ** k) for k in (1, 10, -1, real.emax - 1)]
    table["log2"] = table["log"] + [(2, 1), (8, 3), (tiny, real.emin - real.bits)]
    table["log10"] = table["log"] + [(10, 1), (1000, 3), (1e10, 10)]
    table["tan"] = table["sin"]
    if name in table:
        return [((x,), y) for x, y in table[name] + [(NAN, NAN)]]
    if name == "hypot":
        return [((3, -4), 5), ((0.0, -0.0), 0.0), ((INF, NAN), INF), ((NAN, -INF), INF),
                ((NAN, 1), NAN), ((1, NAN), NAN), ((-INF, 1), INF), ((huge, huge), INF),
                ((tiny, 0.0), tiny), ((0.0, -huge), huge)]
    if name == "atan2":
        rows = [((0.0, 1), 0.0), ((0.0, 0.0), 0.0), ((0.0, -0.0), pi), ((0.0, -1), pi),
                ((1, 0.0), pi / 2), ((1, -0.0), pi / 2), ((INF, 1), pi / 2),
                ((INF, INF), pi / 4), ((INF, -INF), 3 * pi / 4), ((1, INF), 0.0),
                ((1, -INF), pi), ((tiny, -huge), pi), ((huge, tiny), pi / 2),
                ((1, 1), pi / 4), ((1, -1), 3 * pi / 4)]
        rows += [((-y, x), -r) for (y, x), r in rows]
        return rows + [((NAN, 1), NAN), ((1, NAN), NAN)]
    return pow_specials(tiny, huge)


def pow_specials(tiny, huge):
    rows = []
    for x in (2, -2, 0.5, 0.0, -0.0, INF, -INF, NAN):
        rows += [((x, 0.0), 1), ((x, -0.0), 1)]
    for y in (1, -3.5, INF, -INF, NAN):
        rows.append(((1, y), 1))
    for zero, sign in ((0.0, 1), (-0.0, -1)):
        rows += [((zero, 3), zero), ((zero, -3), sign * INF), ((zero, 2), 0.0),
                 ((zero, -2), INF), ((zero, 0.5), 0.0), ((zero, -0.5), INF),
                 ((zero, INF), 0.0), ((zero, -INF), INF)]
    for y, large in ((INF, INF), (-INF, 0.0)):
        small = 0.0 if large == INF else INF
        rows += [((2, y), large), ((-2, y), large), ((0.5, y), small), ((-0.5, y), small),
                 ((-1, y), 1)]
    rows += [((INF, 3), INF), ((INF, -3), 0.0), ((INF, 0.5), INF), ((INF, -0.5), 0.0),
             ((-INF, 3), -INF), ((-INF, -3), -0.0), ((-INF, 2), INF), ((-INF, -2), 0.0),
             ((-INF, 0.5), INF), ((-INF, -0.5), 0.0), ((-2, 0.5), NAN), ((-2, -1.5), NAN),
             ((NAN, 2), NAN), ((2, NAN), NAN), ((-2, 3), -8), ((-2, 2), 4), ((-2, -1), -0.5),
             ((huge, 2), INF), ((-huge, 3), -INF), ((tiny, 2), 0.0), ((-tiny, 3), -0.0),
             ((tiny, -2), INF), ((2, huge), INF), ((2, -huge), 0.0), ((3, 4), 81)]
    return rows


def points(name, real, rng):
    """Endless ordinary arguments: the range of use, and where it is hard."""
    ln2 = 0.6931471805599453
    top = real.emax * ln2  # logarithm of the largest number
    bottom = (real.emin - real.bits) * ln2
    uniform = lambda a, b: real.cast(rng.uniform(a, b))
    spread = lambda a, b: real.cast(mpf(2) ** rng.uniform(a, b) * rng.choice((1, -1)))
    beside = lambda c: real.next(c, rng.randint(-3, 3))
    near = lambda c: real.cast(c * (1 + rng.choice((1, -1)) * mpf(2) ** -rng.uniform(2, real.bits)))
    wide = lambda: spread(real.emin - real.bits + 1, real.emax - 0.01)
    while True:
        if name in ("exp", "sinh", "cosh"):
            yield (uniform(bottom if name == "exp" else -top, top),)
            yield (uniform(-2, 2),)
            yield (spread(-60, 5),)
            yield (beside(real.cast(rng.choice((bottom, top, 22, 0.5, 1)))),)
        elif name == "exp2":
            yield (uniform(real.emin - real.bits, real.emax),)
            yield (uniform(-2, 2),)
            yield (near(rng.randint(1, 20)),)
        elif name.startswith("log"):
            yield (abs(wide()),)
            yield (near(1),)
            yield (uniform(0.3, 3),)
        elif name in ("sin", "cos", "tan"):
            yield (uniform(-4, 4),)
            yield (spread(-30, 30),)
            yield (wide(),)
            yield (real.cast(rng.randint(1, 10**rng.randint(1, 12)) * mp.pi / 2),)
            yield (near(real.cast(rng.randint(1, 20) * mp.pi / 4)),)
        elif name in ("asin", "acos"):
            yield (uniform(-1, 1),)
            yield (real.next(1, -rng.randint(1, 2**rng.randint(1, 20))),)
            yield (beside(rng.choice((0.5, -0.5))),)
            yield (spread(-40, -0.1),)
        elif name in ("atan", "tanh"):
            yield (uniform(-3, 3),)
            yield (spread(-40, 8),)
            yield (near(rng.choice((0.4375, 0.6875, 1.1875, 2.4375))),)
        elif name in ("atan2", "hypot"):
            yield (wide(), wide())
            yield (uniform(-3, 3), uniform(-3, 3))
            x = wide()
            yield (x, real.cast(x * rng.uniform(0.4, 2.5) / 4))
        else:
            x = abs(wide())
            yield (x, real.cast(rng.uniform(bottom, top) / mpmath.log(x)))
            x = near(1)
            yield (x, real.cast(rng.uniform(bottom, top) / mpmath.log(x)) if x != 1 else 2.0)
            yield (abs(spread(-6, 6)), spread(-8, 6))
            yield (-abs(uniform(0.1, 9)), float(rng.randint(-30, 30)))


def exact(name, real, args):
    """The rounded result; None where it would not test anything new."""
    results = []
    for precision in (400, 700):
        mp.prec = precision + (1100 if name in ("sin", "cos", "tan") else 0)
        value = FUNCTIONS[name](*[mpf(a) for a in args])
        if value is None:
            return None
        results.append(real.round(value))
    if results[0] != results[1]:
        sys.exit(f"{name}{args}: not decided at {mp.prec} bits")
    return results[1]


def text(x):
    x = float(x)
    if x != x:
        return "nan"
    if x in (INF, -INF):
        return "inf" if x > 0 else "-inf"
    sign, digits = ("-", x.hex()[1:]) if x.hex()[0] == "-" else ("", x.hex())
    mantissa, exponent = digits.split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return sign + ("0" if mantissa == "0x0" or x == 0 else mantissa + "p" + exponent)


def main():
    print("# Written by make_math_table.py. A head `FUNCTION TYPE COUNT EXACT`, then COUNT rows")
    print("# of arguments and correctly rounded result; the first EXACT rows are special values.")
    for name in FUNCTIONS:
        for real in TYPES:
            mp.prec = 400
            rng = random.Random(f"{name} {real.name}")
            special = specials(name, real)
            rows = [(args, r if isinstance(r, float) else real.round(mpf(r)))
                    for args, r in special]
            for args in points(name, real, rng):
                if len(rows) >= NPOINT:
                    break
                result = exact(name, real, args)
                if result is not None:
                    rows.append((args, result))
            print(name, real.name, len(rows), len(special))
            for args, result in rows:
                print(*[text(a) for a in (*args, result)])


if __name__ == "__main__":
    main()
