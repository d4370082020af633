import { hash } from 'node:crypto';
import { countBlocks, KINDS, type Kind } from '@packhouse/chain';
import type { MethodAnswers } from '@packhouse/node-rpc';
import { toFetchRequest } from '../ingest/extract.js';
import { createFragmentWriter, isPiece, type ProvedRecord } from '../ingest/fragment-writer.js';
import { proveBlock } from '../ingest/prove-block.js';
import type { ProveDeps } from '../ingest/prove-record.js';
import type { IngestWindow } from '../job-names.js';

interface Pick {
  number: number;
  kinds: readonly Kind[];
}

/** A block of the sample as it was fetched and proved. */
export interface SampledBlock extends Pick {
  upstream: string;
  answered: readonly MethodAnswers[];
  /** Bytes of canonical text, of the missing kinds. */
  raw: ReadonlyMap<Kind, number>;
  record: ProvedRecord;
}

/**
 * Chooses `count` of the blocks, ascending: one of each of as many equal strata of all missing blocks in their order,
 * at a place in it that a hash of `seed` and the stratum's number decides. The same every time, and without a period
 * that one of the chain could fall in with. All of them if there are no more.
 */
export function choosePlaces(pieces: readonly IngestWindow[], count: number, seed: string): Pick[] {
  const blocks = countBlocks(pieces);
  const strata = Math.min(count, blocks);
  const picks: Pick[] = [];
  let at = 0;
  let before = 0;
  for (let i = 0; i < strata; i++) {
    const first = Math.floor((i * blocks) / strata);
    const size = Math.floor(((i + 1) * blocks) / strata) - first;
    const dice = hash('sha256', `${seed}/${i}`, 'buffer').readUIntBE(0, 6) / 2 ** 48;
    const place = first + Math.floor(dice * size);
    for (;;) {
      const piece = pieces[at] as IngestWindow;
      const length = piece.lastBlock - piece.firstBlock + 1;
      if (place < before + length) {
        picks.push({ number: piece.firstBlock + place - before, kinds: piece.kinds });
        break;
      }
      before += length;
      at += 1;
    }
  }
  return picks;
}

/** Blocks that are fetched at a time. */
const AT_ONCE = 16;

/**
 * Fetches and proves blocks as an ingester does, from the upstreams that it would choose. Throws the error of the first
 * that cannot be fetched or proved.
 */
export async function fetchSample(
  parts: ProveDeps,
  picks: readonly Pick[],
  signal: AbortSignal,
): Promise<SampledBlock[]> {
  const sample = new Array<SampledBlock>(picks.length);
  const waiting = picks.entries();
  let failure: Error | null = null;
  const work = async (): Promise<void> => {
    for (const [at, pick] of waiting) {
      try {
        sample[at] = await fetchOne(parts, pick, signal);
      } catch (error) {
        failure ??= error as Error;
      }
      if (failure !== null) return;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (failure !== null) throw failure;
  return sample;
}

async function fetchOne(parts: ProveDeps, pick: Pick, signal: AbortSignal): Promise<SampledBlock> {
  const wish = toFetchRequest(pick.kinds);
  const fetched = await parts.source.fetchBlock(pick.number, wish, { signal });
  const record = await proveBlock(parts, fetched, wish, signal);
  if ('error' in record) throw record.error;
  const raw = new Map(pick.kinds.map((kind) => [kind, rawBytes(record, kind)]));
  return { ...pick, upstream: fetched.upstream, answered: fetched.answered, raw, record };
}

/** Canonical texts are ASCII: one character, one byte. */
function rawBytes({ texts, traces }: ProvedRecord, kind: Kind): number {
  if (kind === 'blocks') return texts.blockHead.length + texts.transactions.length + texts.blockTail.length;
  if (kind === 'traces') {
    if (traces === undefined) return 0;
    return isPiece(traces) ? traces.rawLength : traces.length;
  }
  return texts[kind]?.length ?? 0;
}

/** Deflated bytes of one byte of canonical text by kind, written as fragments as if the blocks were consecutive. */
export async function deflatedShares(sample: readonly SampledBlock[]): Promise<Map<Kind, number>> {
  const kinds = KINDS.filter((kind) => sample.some((block) => block.raw.has(kind)));
  const writer = createFragmentWriter(kinds);
  for (const [number, { record }] of sample.entries()) {
    await writer.push({ ...record, block: { ...record.block, number } });
  }
  const shares = new Map<Kind, number>();
  for (const { kind, fragments } of await writer.close()) {
    const raw = fragments.reduce((sum, { rawLength }) => sum + rawLength, 0);
    const deflated = fragments.reduce((sum, { byteLength }) => sum + byteLength, 0);
    shares.set(kind, raw === 0 ? 0 : deflated / raw);
  }
  return shares;
}
