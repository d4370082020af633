import { execFileSync } from 'node:child_process';
import { constants, gzipSync, inflateRawSync } from 'node:zlib';
import { openDeflateKernel } from '@packhouse/kernels';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { hexJson, randomBytes } from '../testing/texts.js';

const opened = openDeflateKernel();
const kernel = (text: Uint8Array) => deflateBy(opened, text);

function deflateBy(by: typeof opened, text: Uint8Array): Uint8Array {
  by.take(text);
  return by.deflate();
}
const FINAL = Buffer.from([0x03, 0x00]);

function inflate(body: Uint8Array, length: number): Buffer {
  return inflateRawSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: Math.max(1, length) });
}

/** Deflates, and checks the text that comes back, the end and the promised size; returns the body. */
function roundTrip(text: Uint8Array): Uint8Array {
  const body = kernel(text);
  if (!inflate(body, text.length).equals(text)) throw new Error(`${text.length} bytes come back otherwise`);
  expect(Buffer.from(body.subarray(-4)).toString('hex')).toBe('0000ffff');
  expect(body.length).toBeLessThanOrEqual(text.length + text.length / 4_096 + 15);
  return body;
}

describe('the kernel gives back', () => {
  it('any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 3_000 }), (bytes) => void roundTrip(bytes)));
  });

  it('texts of few different letters, whose matches overlap in every way', () => {
    const letters = fc.constantFrom('"', '0', '1', '"hash":"0x', 'ffffffff', '00000000000000000000');
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 400 }),
        (words) => void roundTrip(Buffer.from(words.join(''))),
      ),
    );
  });

  it('every length up to 600 bytes', () => {
    const text = hexJson(1, 600);
    const noise = randomBytes(2, 600);
    for (let length = 0; length <= 600; length += 1) {
      roundTrip(text.subarray(0, length));
      roundTrip(noise.subarray(0, length));
      roundTrip(Buffer.alloc(length, 'a'));
    }
  });

  it('lengths around the limits of stored blocks, runs of literals and the window', () => {
    for (const limit of [32_768, 65_535, 65_536, 131_070]) {
      const noise = randomBytes(limit, limit + 2);
      for (let length = limit - 2; length <= limit + 2; length += 1) roundTrip(noise.subarray(0, length));
    }
    const value = Buffer.from('"0x5af3107a4000deadbeef"');
    for (const apart of [32_743, 32_744, 32_745, 32_767, 32_768, 32_769]) {
      const noise = randomBytes(apart, apart);
      roundTrip(Buffer.concat([value, noise, value, value]));
    }
  });

  it('texts of many blocks, and those whose halves are coded and stored', () => {
    const text = hexJson(3, 1_500_000);
    const body = roundTrip(text);
    expect(text.length / body.length).toBeGreaterThan(2);
    roundTrip(Buffer.concat([text.subarray(0, 700_000), randomBytes(4, 700_000)]));
    roundTrip(Buffer.concat([randomBytes(5, 700_000), text.subarray(0, 700_000)]));
  });

  it('one letter a million times, every distance of a match, and counts that make the longest codes', () => {
    expect(roundTrip(Buffer.alloc(1_000_000, '0')).length).toBeLessThan(3_000);
    for (let period = 1; period < 300; period += 1) {
      roundTrip(Buffer.alloc(2_000, Buffer.from(Array.from({ length: period }, (_, i) => (i * 37) & 255))));
    }
    // Counts of Fibonacci's row want codes longer than DEFLATE has.
    let [a, b] = [1, 1];
    const letters: Buffer[] = [];
    for (let letter = 0; letter < 25; letter += 1) {
      letters.push(Buffer.alloc(a, 65 + letter));
      [a, b] = [b, a + b];
    }
    const all = Buffer.concat(letters);
    const noise = randomBytes(6, all.length * 4);
    // Shuffled, so that matches do not take them away.
    for (let i = all.length - 1; i > 0; i -= 1) {
      const other = noise.readUInt32LE(i * 4) % (i + 1);
      [all[i], all[other]] = [all[other] as number, all[i] as number];
    }
    roundTrip(all);
  });
});

test('a text does not depend on those before it', () => {
  const text = hexJson(7, 100_000);
  const first = Buffer.from(deflateBy(openDeflateKernel(), text));
  kernel(randomBytes(8, 2_000_000));
  kernel(hexJson(9, 300_000));
  expect(first.equals(kernel(text))).toBe(true);
});

test('noise is stored: at most 15 bytes and a 4096th more', () => {
  for (const length of [10, 70_000, 1_048_576]) roundTrip(randomBytes(length, length));
});

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 1.5);
test(`${SECONDS} seconds of mixed texts come back (FUZZ_SECONDS for more)`, {
  timeout: SECONDS * 1_000 + 60_000,
}, () => {
  const end = performance.now() + SECONDS * 1_000;
  let seed = process.env.FUZZ_SECONDS === undefined ? 1 : Math.floor(Math.random() * 2 ** 31);
  do {
    seed += 1;
    const dice = randomBytes(seed, 8);
    const parts: Uint8Array[] = [];
    for (let part = 0; part <= (dice[0] as number) % 6; part += 1) {
      const size = 2 ** ((dice[part + 1] as number) % 17) + (dice[7] as number);
      const before = parts.at(-1) ?? new Uint8Array(0);
      const kind = (dice[part + 1] as number) >> 5;
      if (kind < 3) parts.push(hexJson(seed + part, size));
      else if (kind < 4) parts.push(randomBytes(seed + part, size));
      else if (kind < 5) parts.push(Buffer.alloc(size, dice[2]));
      else parts.push(before.subarray((dice[3] as number) % (before.length + 1)));
    }
    const text = Buffer.concat(parts);
    try {
      roundTrip(text);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  } while (performance.now() < end);
});

describe('as a gzip file', () => {
  const text = hexJson(10, 400_000);
  const frame = gzipSync(text);
  const file = Buffer.concat([
    frame.subarray(0, 10),
    kernel(text),
    kernel(Buffer.alloc(0)),
    FINAL,
    frame.subarray(-8),
  ]);
  const programs = {
    gzip: ['gzip', ['-dc']],
    python: [
      'python3',
      ['-c', 'import gzip,sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))'],
    ],
  } as const;
  for (const [name, [program, args]] of Object.entries(programs)) {
    it.skipIf(!has(program))(`it is read by ${name} (needs ${program})`, () => {
      expect(execFileSync(program, args, { input: file, maxBuffer: 1e9 }).equals(text)).toBe(true);
    });
  }
});

function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
