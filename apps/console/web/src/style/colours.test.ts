import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Colours are [red, green, blue], linear, from 0 to 1. */
type Rgb = readonly [number, number, number];
type Scheme = 'light' | 'dark';

/** The tokens that are colours, by name, in both schemes. */
const TOKENS = new Map(
  [
    ...readFileSync(new URL('./tokens.css', import.meta.url), 'utf8').matchAll(
      /--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g,
    ),
  ].map(([, name = '', light = '', dark = '']) => [name, { light: toLinear(light), dark: toLinear(dark) }]),
);
const SCHEMES = ['light', 'dark'] as const;

function toLinear(hex: string): Rgb {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return [red, green, blue];
}

const get = (name: string, scheme: Scheme): Rgb => {
  const found = TOKENS.get(name);
  if (found === undefined) throw new Error(`no token ${name}`);
  return found[scheme];
};

/** Contrast as WCAG 2.2 defines it. */
function getContrast(a: Rgb, b: Rgb): number {
  const [low, high] = [a, b]
    .map(([r, g, blue]) => 0.2126 * r + 0.7152 * g + 0.0722 * blue)
    .sort((x, y) => x - y);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

/**
 * How a colour looks without one kind of cones: the matrices of Machado, Oliveira and Fernandes, "A physiologically-based
 * model for simulation of color vision deficiency" (2009), severity 1.
 */
const VISIONS: Readonly<Record<string, readonly Rgb[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const apply = (matrix: readonly Rgb[], [r, g, b]: Rgb): Rgb => {
  const [x = 0, y = 0, z = 0] = matrix.map((row) =>
    Math.min(1, Math.max(0, row[0] * r + row[1] * g + row[2] * b)),
  );
  return [x, y, z];
};

/** Distance in OKLab, times 100: 2 is the least that a person sees side by side. */
function getDistance(a: Rgb, b: Rgb): number {
  const [x, y] = [toOklab(a), toOklab(b)];
  return 100 * Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

function toOklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const TEXTS = ['text', 'faint', 'accent', 'good', 'wait', 'bad'];
const GROUNDS = ['ground', 'panel', 'raised', 'sunken'];
/** Least contrast: of text (WCAG 1.4.3), and of edges of fields and parts of pictures (1.4.11). */
const [MIN_TEXT, MIN_PART] = [4.5, 3];
/** Least distance of two groups of the map, and of two states or series, in each vision. */
const MIN_DISTANCE = 8;

/** The pairs that must be told apart, as `a b`. */
const toPairs = (names: readonly string[]): string[] =>
  names.flatMap((a, at) => names.slice(at + 1).map((b) => `${a} ${b}`));
const MAP = ['published', 'working', 'waiting', 'held', 'broken', 'quiet'].map((name) => `map-${name}`);
const SERIES = [1, 2, 3, 4].map((at) => `series-${at}`);

test.each(SCHEMES)('text is legible on each ground, %s', (scheme) => {
  const pairs = [
    ...TEXTS.flatMap((text) => GROUNDS.map((ground) => [text, ground])),
    ['on-accent', 'accent'],
    ['accent', 'accent-soft'],
    ['text', 'accent-soft'],
    ...['good', 'wait', 'bad'].map((state) => [state, `${state}-soft`]),
  ] as [string, string][];
  const low = pairs.filter(([a, b]) => getContrast(get(a, scheme), get(b, scheme)) < MIN_TEXT);
  expect(low).toEqual([]);
});

test.each(SCHEMES)('edges of fields and what is wrong on the map stand out, %s', (scheme) => {
  const pairs = [
    ['line-strong', 'panel'],
    ['line-strong', 'ground'],
    ['map-broken', 'panel'],
    ['map-working', 'panel'],
    ...SERIES.map((series) => [series, 'panel']),
  ] as [string, string][];
  const low = pairs.filter(([a, b]) => getContrast(get(a, scheme), get(b, scheme)) < MIN_PART);
  expect(low).toEqual([]);
});

test.each(SCHEMES)(
  'colours of the map and of series differ in three kinds of colour blindness, %s',
  (scheme) => {
    const near: string[] = [];
    for (const [vision, matrix] of Object.entries(VISIONS)) {
      for (const pair of [...toPairs(MAP), ...toPairs(SERIES)]) {
        const [a = '', b = ''] = pair.split(' ');
        const distance = getDistance(apply(matrix, get(a, scheme)), apply(matrix, get(b, scheme)));
        if (distance < MIN_DISTANCE) near.push(`${vision}: ${pair}: ${distance.toFixed(1)}`);
      }
    }
    expect(near).toEqual([]);
  },
);

test('what nobody asked for is the quietest colour of the map', () => {
  for (const scheme of SCHEMES) {
    const panel = get('panel', scheme);
    const contrasts = MAP.map((name) => getContrast(get(name, scheme), panel));
    expect(Math.min(...contrasts)).toBe(getContrast(get('map-quiet', scheme), panel));
  }
});
