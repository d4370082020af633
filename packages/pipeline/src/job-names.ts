import { type BlockRange, isKind, KINDS, type Kind } from '@packhouse/chain';

/** Blocks that are ingested together, in the same kinds. */
export interface IngestWindow extends BlockRange {
  kinds: readonly Kind[];
}

/** The deterministic id of an ingest job: `<network>.<start>.<end>.<kind mask>`. */
export function ingestJobId(network: string, window: IngestWindow): string {
  const mask = window.kinds.reduce((bits, kind) => bits | (1 << KINDS.indexOf(kind)), 0);
  return `${network}.${window.firstBlock}.${window.lastBlock}.${mask}`;
}

/** Reads an id back; null if it is another network's or no ingest id. */
export function parseIngestJobId(network: string, id: string): IngestWindow | null {
  const parts = id.split('.');
  if (parts.length !== 4 || parts[0] !== network) return null;
  const [firstBlock, lastBlock, mask] = parts.slice(1).map(Number) as [number, number, number];
  if (![firstBlock, lastBlock, mask].every(Number.isSafeInteger)) return null;
  return { firstBlock, lastBlock, kinds: KINDS.filter((_, bit) => (mask & (1 << bit)) !== 0) };
}

/** The deterministic id of a pack job. */
export function packJobId(network: string, kind: Kind, start: number): string {
  return `${network}.${kind}.${start}`;
}

/** The kind of a pack job; null if the id is another network's or no id of a pack job. */
export function parsePackJobId(network: string, id: string): Kind | null {
  const [ofNetwork, kind, ...rest] = id.split('.');
  return ofNetwork === network && kind !== undefined && rest.length === 1 && isKind(kind) ? kind : null;
}

/** The name of the lock whose holder follows the head of a network and plans for it. */
export function leaderLock(network: string): string {
  return `lead:${network}`;
}
