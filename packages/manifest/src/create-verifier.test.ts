import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVerifier } from './create-verifier.js';
import { entryLine, parseEntry, type SealedEntry } from './entry.js';
import { toPublicKey } from './keys.js';
import { makeLog, newSigner } from './testing/make-log.js';

const signer = newSigner();
const keys = new Map([[signer.keyId, toPublicKey(signer.publicKey)]]);
const log = makeLog(signer, 6);
const lines = log.map(entryLine);

/** Parses and checks lines; returns the error, or null. */
function check(given: readonly string[], trusted = keys, part = false): string | null {
  const verifier = createVerifier(trusted, { part });
  try {
    for (const [i, line] of given.entries()) verifier.push(parseEntry(line, `Line ${i + 1}`));
    return null;
  } catch (error) {
    expect(error).toMatchObject({ code: 'MANIFEST_INVALID', exitCode: 2 });
    return (error as Error).message;
  }
}

const with_ = (at: number, line: string): string[] => lines.map((each, i) => (i === at ? line : each));

describe('a manifest', () => {
  it('is good as it was published, and tells how far it goes', () => {
    expect(check(lines)).toBeNull();
    const verifier = createVerifier(keys);
    for (const entry of log) verifier.push(entry);
    expect(verifier.logs()).toEqual([
      {
        network: 'ethereum',
        kind: 'logs',
        chainId: 1,
        entries: 6,
        hash: log[5]?.hash,
        keyIds: [log[0]?.keyId],
      },
    ]);
  });

  it('may mix logs of several kinds and networks', () => {
    const others = [
      makeLog(signer, 3, { kind: 'blocks' }),
      makeLog(signer, 2, { network: 'holesky', chainId: 17_000 }),
    ].map((each) => each.map(entryLine));
    const mixed = [...lines.slice(0, 3), ...(others[0] ?? []), ...lines.slice(3), ...(others[1] ?? [])];
    expect(check(mixed)).toBeNull();
  });

  describe('of which a part is read', () => {
    const pick = (...at: number[]): string[] => at.map((each) => lines[each] as string);
    const changed = (at: number, from: string, to: string): string =>
      pick(at)[0]?.replace(from, to) as string;

    it('may leave entries out, at either end and between', () => {
      for (const some of [pick(3), pick(0, 2, 5), pick(1, 2, 3), pick(4, 5), lines]) {
        expect(check(some, keys, true)).toBeNull();
      }
      expect(check(pick(0, 2), keys)).toContain('has a gap');
      const verifier = createVerifier(keys, { part: true });
      for (const at of [1, 4]) verifier.push(log[at] as SealedEntry);
      expect(verifier.logs()).toMatchObject([{ entries: 5, hash: log[4]?.hash }]);
    });

    it('has no entry twice, out of order, changed, forged, or chained to another neighbour', () => {
      expect(check(pick(2, 2), keys, true)).toContain('out of order');
      expect(check(pick(4, 2), keys, true)).toContain('out of order');
      expect(check([...pick(0), changed(3, '"bytes":', '"bytes":1')], keys, true)).toContain('was changed');
      const forged = makeLog(newSigner(), 6).map(entryLine);
      expect(check([...pick(0), forged[3] as string], keys, true)).toContain('not among the keys');
      const { hash: _, signature: __, ...facts } = log[3] as SealedEntry;
      const stray = entryLine(signer.seal({ ...facts, previous: 'ab'.repeat(32) }));
      expect(check([...pick(2), stray], keys, true)).toContain('forked at entry 3');
      expect(check([...pick(2, 3), stray], keys, true)).toContain('out of order');
      const otherChain = entryLine(signer.seal({ ...facts, chainId: 7 }));
      expect(check([...pick(1), otherChain], keys, true)).toContain('is of chain 7');
    });
  });

  it('may go on with another key after a rotation', () => {
    const next = newSigner();
    const { hash: _, signature: __, ...facts } = makeLog(next, 7)[6] as SealedEntry;
    const rotated = [...lines, entryLine(next.seal({ ...facts, previous: log[5]?.hash as string }))];
    expect(check(rotated, new Map([...keys, [next.keyId, toPublicKey(next.publicKey)]]))).toBeNull();
    expect(check(rotated)).toContain(next.keyId);
  });

  const changes: { [field in keyof SealedEntry]: unknown } = {
    network: 'holesky',
    chainId: 2,
    kind: 'receipts',
    sequence: 7,
    from: 29,
    to: 40,
    sha256: 'ab'.repeat(32),
    bytes: 1,
    rawBytes: 1,
    firstHash: `0x${'ab'.repeat(32)}`,
    firstParentHash: `0x${'ab'.repeat(32)}`,
    lastHash: `0x${'ab'.repeat(32)}`,
    proofs: ['headerHash'],
    notProved: [{ proof: 'receiptsRoot', because: 'x' }],
    filter: { bytes: 1, sha256: 'ab'.repeat(32) },
    clients: [],
    producer: 'packhouse/9.9.9',
    version: 2,
    supersedes: 'ab'.repeat(32),
    publishedAt: '2020-01-01T00:00:00.000Z',
    previous: 'ab'.repeat(32),
    keyId: 'abcdabcdabcdabcd',
    hash: 'ab'.repeat(32),
    signature: `${'A'.repeat(86)}==`,
  };

  it.each(Object.entries(changes))('does not pass with another %s', (field, value) => {
    const entry = { ...(log[3] as SealedEntry), [field]: value } as SealedEntry;
    expect(check(with_(3, entryLine(entry)))).toMatch(/\.$/);
    // Nor if the forger recomputes the hash, as the signature cannot be forged.
    if (field === 'hash' || field === 'signature') return;
    const { hash: _, signature, ...facts } = entry;
    const forged = { ...newSigner().seal(facts), signature };
    expect(check(with_(3, entryLine(forged)))).toMatch(/\.$/);
  });

  it('does not pass signed by another key under the id of a known one', () => {
    const { hash: _, signature: __, ...facts } = log[5] as SealedEntry;
    const forged = newSigner().seal(facts);
    expect(check(with_(5, entryLine(forged)))).toBe(
      `Entry 5 of the manifest of logs of ethereum is a forgery: its signature is not that of key ${signer.keyId}.`,
    );
  });

  it('does not pass forked, though both ends are signed', () => {
    const fork = makeLog(signer, 6, { producer: 'another' });
    expect(check([...lines.slice(0, 3), ...fork.slice(3).map(entryLine)])).toBe(
      'The manifest of logs of ethereum is forked at entry 3: it follows another entry 2 than the one before it.',
    );
  });

  it('does not pass with entries dropped, swapped, repeated, or from the middle on', () => {
    expect(check(lines.filter((_, i) => i !== 2))).toBe(
      'The manifest of logs of ethereum has a gap: entry 2 is missing before entry 3.',
    );
    expect(check(lines.slice(3))).toBe(
      'The manifest of logs of ethereum has a gap: entries 0 to 2 are missing before entry 3.',
    );
    expect(check([...lines.slice(0, 2), lines[3] as string, lines[2] as string])).toContain('gap');
    expect(check([...lines.slice(0, 3), lines[1] as string])).toBe(
      'The manifest of logs of ethereum is out of order: entry 1 comes after entry 2.',
    );
  });

  it('does not pass with any single character changed, dropped or added', () => {
    const line = lines[2] as string;
    fc.assert(
      fc.property(
        fc.nat(line.length - 1),
        fc.constantFrom('change', 'drop', 'add'),
        fc.stringMatching(/^[ -~]$/),
        (at, how, character) => {
          const rest = line.slice(how === 'add' ? at : at + 1);
          const changed = line.slice(0, at) + (how === 'drop' ? '' : character) + rest;
          if (changed !== line) expect(check(with_(2, changed))).not.toBeNull();
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('does not pass with a line cut off', () => {
    expect(check(with_(5, (lines[5] as string).slice(0, 300)))).toBe(
      'Line 6 is no JSON: it was cut off or changed.',
    );
  });

  it('does not pass with fields in another order, more fields, spaces, or another format', () => {
    const line = lines[0] as string;
    const { network: _, ...rest } = JSON.parse(line) as Record<string, unknown>;
    for (const changed of [
      JSON.stringify({ network: 'ethereum', ...rest }),
      `${line.slice(0, -1)},"more":1}`,
      ` ${line}`,
      line.replace('"chainId":1', '"chainId":1.0'),
    ]) {
      expect(check([changed])).toContain('canonical form');
    }
    expect(check([line.replace('manifest-1', 'manifest-2')])).toContain('"packhouse-manifest-2"');
    expect(check([line.replace('"kind":"logs",', '')])).toBe(
      'Line 1 is no whole entry: its field kind is missing.',
    );
  });

  it('has the hash and the text that its README shows anybody how to compute', () => {
    const line = lines[1] as string;
    const text = line.replace(/,"hash":.*$/, '}');
    expect(createHash('sha256').update(text).digest('hex')).toBe(log[1]?.hash);
  });
});
