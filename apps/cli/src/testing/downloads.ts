import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Kind, toQuantity } from '@packhouse/chain';
import {
  createSigner,
  entryLine,
  makeSigningKey,
  NO_ENTRY,
  readSigningKey,
  type SealedEntry,
  type Signer,
} from '@packhouse/manifest';

/** A folder with downloaded files, their manifests and the keys. */
export interface Downloads {
  directory: string;
  signer: Signer;
  /** All entries, by kind. */
  entries: Map<Kind, SealedEntry[]>;
  /** The document of the public keys. */
  keys: string;
  at(...names: string[]): string;
  /** Publishes a file: `<kind>/<start>-<end>.json.gz` in the folder, and an entry at the end of `<kind>.jsonl`. */
  publish(
    kind: Kind,
    start: number,
    end: number,
    fields?: Partial<SealedEntry> & { records?: string[] },
  ): Promise<SealedEntry>;
  /** Writes `<kind>.jsonl` of every kind. */
  writeManifests(): Promise<void>;
  close(): Promise<void>;
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const getHash = (number: number): string => `0x${sha256(`block ${number}`)}`;

/** The record of a block in these tests. */
function toRecord(kind: Kind, number: number): string {
  if (kind !== 'blocks') return `[{"blockNumber":"0x${number.toString(16)}","data":"0x${'ab'.repeat(40)}"}]`;
  const facts = {
    number: toQuantity(number),
    hash: getHash(number),
    parentHash: getHash(number - 1),
  };
  return JSON.stringify({ ...facts, transactions: [] });
}

/**
 * Creates a folder with only the keys in it. With `linesOnly` published files are empty and `writeManifests` has to be
 * called, which is quick for thousands.
 */
export async function makeDownloads({ linesOnly = false } = {}): Promise<Downloads> {
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-downloads-'));
  const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
  const keys = JSON.stringify({
    keys: [{ keyId: signer.keyId, publicKey: signer.publicKey.toString('base64') }],
  });
  const entries = new Map<Kind, SealedEntry[]>();
  const at = (...names: string[]): string => path.join(directory, ...names);
  await writeFile(at('packhouse-manifest-keys.json'), keys);
  const writeManifest = (kind: Kind): Promise<void> =>
    writeFile(at(`${kind}.jsonl`), (entries.get(kind) ?? []).map((each) => `${entryLine(each)}\n`).join(''));
  return {
    directory,
    signer,
    entries,
    keys,
    at,
    async publish(kind, start, end, { records, ...fields } = {}) {
      const log = entries.get(kind) ?? [];
      entries.set(kind, log);
      const numbers = Array.from({ length: end - start + 1 }, (_, i) => start + i);
      const text = `[${(records ?? numbers.map((number) => toRecord(kind, number))).join(',')}]`;
      const file = gzipSync(text);
      const entry = signer.seal({
        network: 'ethereum',
        chainId: 1,
        kind,
        sequence: log.length,
        from: start,
        to: end,
        sha256: sha256(file),
        bytes: file.length,
        rawBytes: text.length,
        firstHash: getHash(start),
        firstParentHash: getHash(start - 1),
        lastHash: getHash(end),
        proofs: ['headerHash'],
        clients: [],
        producer: signer.producer,
        version: 1,
        supersedes: null,
        publishedAt: new Date(1_700_000_000_000).toISOString(),
        previous: log.at(-1)?.hash ?? NO_ENTRY,
        keyId: signer.keyId,
        ...fields,
      });
      log.push(entry);
      await mkdir(at(kind), { recursive: true });
      await writeFile(at(kind, `${start}-${end}.json.gz`), linesOnly ? '' : file);
      if (!linesOnly) await writeManifest(kind);
      return entry;
    },
    async writeManifests() {
      for (const kind of entries.keys()) await writeManifest(kind);
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}
