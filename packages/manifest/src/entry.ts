import type { Kind, Proof } from '@packhouse/chain';

/** What an entry says of one published bundle; the fields in the order of the canonical text. */
export interface ManifestEntry {
  network: string;
  chainId: number;
  kind: Kind;
  /** 0, 1, 2, … without a gap within network and kind. */
  sequence: number;
  /** First block. */
  start: number;
  /** Last block. */
  end: number;
  /** Of the file, hex. */
  sha256: string;
  /** Of the gzip file. */
  bytes: number;
  /** Of the JSON inside. */
  rawBytes: number;
  /** Hash of block `start`, `0x` hex. */
  firstHash: string;
  firstParentHash: string;
  /** Hash of block `end`. */
  lastHash: string;
  /** The proofs that all blocks passed. */
  proofs: readonly Proof[];
  /** What the nodes that gave the blocks call themselves, in order of their texts; empty: not known. */
  clients: readonly string[];
  /** The program that packed it, `name/version`. */
  producer: string;
  /** 1, or one more than that of the bundle it took the place of. */
  version: number;
  /** SHA-256 of the file it took the place of, hex. */
  supersedes: string | null;
  /** ISO 8601 in UTC with milliseconds. */
  publishedAt: string;
  /** Hash of the entry before, hex; 64 zeros in the first. */
  previous: string;
  /** First 16 hex digits of the SHA-256 of the public key. */
  keyId: string;
}

/** An entry with what proves it. */
export interface SealedEntry extends ManifestEntry {
  /** SHA-256 of the canonical text, hex. */
  hash: string;
  /** Ed25519 over the canonical text, base64. */
  signature: string;
}

/** The name and version of the entries' form. */
export const MANIFEST_FORMAT = 'packhouse-manifest-1';

/** What stands in `previous` of the first entry. */
export const NO_ENTRY = '0'.repeat(64);
