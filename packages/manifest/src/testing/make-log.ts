import { createHash } from 'node:crypto';
import { type ManifestEntry, NO_ENTRY, type SealedEntry } from '../entry.js';
import { createSigner, makeSigningKey, readSigningKey, type Signer } from '../keys.js';

/** A signer with a new key. */
export function newSigner(): Signer {
  return createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A valid log of `count` entries of ten blocks each. */
export function makeLog(signer: Signer, count: number, fields: Partial<ManifestEntry> = {}): SealedEntry[] {
  const log: SealedEntry[] = [];
  for (let sequence = 0; sequence < count; sequence += 1) {
    const start = sequence * 10;
    log.push(
      signer.seal({
        network: 'ethereum',
        chainId: 1,
        kind: 'logs',
        sequence,
        from: start,
        to: start + 9,
        sha256: sha256(`file ${sequence}`),
        bytes: 1_000 + sequence,
        rawBytes: 9_000,
        firstHash: `0x${sha256(`block ${start}`)}`,
        firstParentHash: `0x${sha256(`block ${start - 1}`)}`,
        lastHash: `0x${sha256(`block ${start + 9}`)}`,
        proofs: ['headerHash', 'parentLink', 'receiptsRoot'],
        clients: ['Geth/v1.13.5', 'reth/v1.1.0'],
        producer: signer.producer,
        version: 1,
        supersedes: null,
        publishedAt: new Date(1_700_000_000_000 + sequence).toISOString(),
        previous: log.at(-1)?.hash ?? NO_ENTRY,
        keyId: signer.keyId,
        ...fields,
      }),
    );
  }
  return log;
}
