import { MANIFEST_FORMAT, type ManifestEntry, type SealedEntry } from './entry.js';

/**
 * The canonical text of an entry: JSON without white space, its fields in one fixed order. It is what `hash` is the
 * SHA-256 of and what the signature signs.
 */
export function entryText(entry: ManifestEntry): string {
  return JSON.stringify({
    format: MANIFEST_FORMAT,
    network: entry.network,
    chainId: entry.chainId,
    kind: entry.kind,
    sequence: entry.sequence,
    start: entry.start,
    end: entry.end,
    sha256: entry.sha256,
    bytes: entry.bytes,
    rawBytes: entry.rawBytes,
    firstHash: entry.firstHash,
    firstParentHash: entry.firstParentHash,
    lastHash: entry.lastHash,
    proofs: entry.proofs,
    clients: entry.clients,
    producer: entry.producer,
    version: entry.version,
    supersedes: entry.supersedes,
    publishedAt: entry.publishedAt,
    previous: entry.previous,
    keyId: entry.keyId,
  });
}

/** The line of a sealed entry, without a line break: the canonical text with hash and signature at its end. */
export function entryLine(entry: SealedEntry): string {
  return `${entryText(entry).slice(0, -1)},"hash":"${entry.hash}","signature":"${entry.signature}"}`;
}
