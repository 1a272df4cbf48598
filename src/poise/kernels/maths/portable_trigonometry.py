"""Trigonometric functions and their inverses that return the same bits on every machine.

IEEE arithmetic rounds sums, products, quotients and square roots alike everywhere. The sines of two mathematical
libraries differ in the last bit, and that bit decides where two postures are equally good. These functions use only the
four operations above, so a GPU returns the same bits as a CPU, as long as its compiler fuses no product with a sum.

The argument is first reduced by k = round(x / (π/2)) quarter turns, with π/2 split into three parts of which the first
two are so short that k times them is exact [Cody & Waite 1980]. The remainder |r| ≤ π/4 enters polynomials in z = r²:

    sin r = r + r z S(z)        cos r = 1 - z/2 + z² C(z)        atan u = u - u z A(z)

The arc tangent of t = |y| / |x| or its reciprocal, at most 1, is that of u = (t - c) / (1 + c t) and of c = 0, ½ or 1,
so that |u| ≤ ¼. All coefficients interpolate at the Chebyshev nodes, with relative errors of 2e-17, 1e-18 and 1e-18.
"""

import math

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion
from poise.kernels.maths.vector import Vector, cross, dot, length

QUARTERS_PER_RADIAN = 0.6366197723675814
"""2 / π."""
QUARTER, QUARTER_REST, QUARTER_LAST = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
"""π/2 in parts of 33, 33 and 53 bits."""
TURNS_BUNDLE = 1048576.0
"""2^20: larger numbers of quarter turns are subtracted in multiples of this, whose product with 33 bits is exact."""
INTEGER_SHIFT = 6755399441055744.0
"""1.5 · 2^52: adding and then subtracting it rounds a number to the nearest integer."""
LARGEST_ARGUMENT = 1e12
"""Angles above this are taken as 0: a float there has a spacing above 0.1 mrad [rad]."""
HALF_PI, HALF_PI_REST = 1.5707963267948966, 6.123233995736766e-17
"""π/2 as a float, and its rounding error."""
PI, PI_REST = 3.141592653589793, 1.2246467991473532e-16
"""π as a float, and its rounding error."""
ARC_HALF, ARC_HALF_REST = 0.4636476090008061, 2.2698777452961687e-17
"""atan ½ as a float, and its rounding error."""
ARC_ONE, ARC_ONE_REST = 0.7853981633974483, 3.061616997868383e-17
"""atan 1 as a float, and its rounding error."""


@kernel
def sine_cosine(x: float) -> tuple[float, float]:
    """Sine and cosine of `x` [rad], each to about one unit in the last place up to a million radians.

    The error is below 3e-16 up to 10⁹ and below 1e-14 up to `LARGEST_ARGUMENT`; above that `x` is taken as 0.
    """
    if abs(x) > LARGEST_ARGUMENT:
        x = 0.0
    turns = (x * QUARTERS_PER_RADIAN + INTEGER_SHIFT) - INTEGER_SHIFT
    rest = x - turns * QUARTER
    if abs(turns) >= TURNS_BUNDLE:
        many = ((turns / TURNS_BUNDLE + INTEGER_SHIFT) - INTEGER_SHIFT) * TURNS_BUNDLE
        rest = (x - many * QUARTER) - (turns - many) * QUARTER
    # Only the subtractions from here on round, and the remainder of each is kept.
    subtracted = turns * QUARTER_REST
    remainder = rest - subtracted
    subtracted = turns * QUARTER_LAST - ((rest - remainder) - subtracted)
    r = remainder - subtracted
    tail = (remainder - r) - subtracted
    z = r * r
    w = z * z
    cube, half = z * r, 0.5 * z
    s = (0.008333333333330936 + z * -0.00019841269836740532) + w * (
        (2.7557316093198404e-06 + z * -2.5051129896450185e-08) + w * 1.5917988979397435e-10
    )
    c = (0.041666666666666664 + z * -0.0013888888888887389) + w * (
        (2.48015872987544e-05 + z * -2.755731726587808e-07) + w * (2.087614504941318e-09 + z * -1.138254464534925e-11)
    )
    along = r - ((z * (0.5 * tail - cube * s) - tail) - cube * -0.16666666666666666)
    near = 1.0 - half
    across = near + (((1.0 - near) - half) + (w * c - r * tail))
    # Chosen without branches, since a processor cannot predict the quadrant of an angle.
    quarter = int(turns)
    sine = across if quarter & 1 else along
    cosine = along if quarter & 1 else across
    return -sine if quarter & 2 else sine, -cosine if (quarter + 1) & 2 else cosine


@kernel
def sine(x: float) -> float:
    """Sine of `x` [rad]."""
    return sine_cosine(x)[0]


@kernel
def cosine(x: float) -> float:
    """Cosine of `x` [rad]."""
    return sine_cosine(x)[1]


@kernel
def arc_tangent(y: float, x: float) -> float:
    """Angle of the point (x, y) [rad], in [-π, π], to about one unit in the last place; 0 for the origin."""
    steep = abs(y) > abs(x)
    long, short = max(abs(x), abs(y)), min(abs(x), abs(y))
    if long == 0.0:
        return 0.0
    half, one = 4.0 * short >= long, 4.0 * short >= 3.0 * long
    base = ARC_ONE if one else (ARC_HALF if half else 0.0)
    rest = ARC_ONE_REST if one else (ARC_HALF_REST if half else 0.0)
    above = short - long if one else (2.0 * short - long if half else short)
    below = short + long if one else (2.0 * long + short if half else long)
    u = above / below
    z = u * u
    w = z * z
    # Even and odd powers apart, since a processor computes two short sums in parallel.
    even = (0.3333333333333333 + w * 0.14285714285255424) + w * w * (
        (0.09090902845293593 + w * 0.06658665150031588) + w * w * 0.04102427523945399
    )
    odd = (-0.19999999999998924 + w * -0.11111111035553127) + w * w * (-0.07692016782001627 + w * -0.05752759875560473)
    angle = base - ((u * (z * (even + z * odd)) - rest) - u)
    whole = HALF_PI if steep else (PI if x < 0.0 else 0.0)
    whole_rest = HALF_PI_REST if steep else (PI_REST if x < 0.0 else 0.0)
    back = steep != (x < 0.0)
    return math.copysign(whole + ((-angle if back else angle) + whole_rest), y)


@kernel
def arc_cosine(x: float) -> float:
    """Angle in [0, π] whose cosine is `x` [rad], for x in [-1, 1]."""
    return arc_tangent(math.sqrt((1.0 - x) * (1.0 + x)), x)


@kernel
def arc_sine(x: float) -> float:
    """Angle in [-π/2, π/2] whose sine is `x` [rad], for x in [-1, 1]."""
    return arc_tangent(x, math.sqrt((1.0 - x) * (1.0 + x)))


@kernel
def turn_about(axis: Vector, angle: float) -> Quaternion:
    """Rotation by `angle` [rad] about the unit vector `axis`."""
    s, c = sine_cosine(0.5 * angle)
    return Quaternion(c, s * axis.x, s * axis.y, s * axis.z)


@kernel
def rotation_vector(q: Quaternion) -> Vector:
    """log(q): the rotation vector of length at most π, accurate at 0 and at π."""
    s = math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z)
    w = abs(q.w)
    k = 2.0 / w if s < 1e-9 else 2.0 * arc_tangent(s, w) / s
    if q.w < 0.0:
        k = -k
    return Vector(k * q.x, k * q.y, k * q.z)


@kernel
def angle_apart(a: Vector, b: Vector) -> float:
    """Angle between two vectors [rad], accurate at 0 and at π."""
    return arc_tangent(length(cross(a, b)), dot(a, b))


@kernel
def golden_ratio(dimensions: int) -> float:
    """The generalised golden ratio g of a number of dimensions, g^(dimensions + 1) = 1 + g [Roberts 2018]."""
    g = 2.0
    for _ in range(60):
        power = 1.0
        for _ in range(dimensions):
            power *= g
        # Newton's step; the function is convex and g begins above its root.
        g -= (power * g - 1.0 - g) / ((dimensions + 1.0) * power - 1.0)
    return g
