import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import { type ExtractFailure, type ExtractParts, extract } from './extract.js';
import { missingPieces, type Piece } from './missing-pieces.js';
import { isNodeFault, mayBlameBlock } from './node-faults.js';
import { rangesInclude, subtractRanges, unionRanges } from './ranges.js';
import { type StageParts, stage } from './stage.js';

export type IngestParts = ExtractParts & StageParts;

/** From this try of a job on, blocks that a living node cannot give are asked for one by one. */
const PATIENT_ATTEMPTS = 3;
/** Blocks that one try may blame like that; where more fail it is the node. */
const MAX_BLAMED = 4;

interface Failed {
  failure: ExtractFailure;
  kinds: readonly Kind[];
}

/**
 * One ingest job: first what is missing of the window is extracted, then it is staged, then blocks that failed are
 * quarantined. Safe to repeat at any point. Throws what makes a later try sensible; `attempt` counts the tries from 1.
 */
export async function ingest(
  parts: IngestParts,
  window: BlockRange & { kinds: readonly Kind[] },
  signal: AbortSignal,
  attempt = 1,
): Promise<{ staged: number; failed: number }> {
  let staged = 0;
  const failed: Failed[] = [];
  const { pieces, quarantined } = await missingWithin(parts, window);
  for (const { range, kinds } of pieces) {
    const outcome = await ingestPiece(parts, { range, kinds, quarantined }, signal);
    staged += outcome.staged;
    failed.push(...outcome.failures.map((failure) => ({ failure, kinds })));
  }
  const blamed = failed.filter(({ failure }) => !isNodeFault(failure.error));
  let held = failed.filter(({ failure }) => isNodeFault(failure.error));
  // Whatever else was wanted of the window was had, now or before.
  const few = failed.length < window.end - window.start + 1 || window.start === window.end;
  if (held.length > 0 && few && attempt >= PATIENT_ATTEMPTS && (await answers(parts, signal))) {
    const alone = await askAlone(parts, held, quarantined, signal);
    staged += alone.staged;
    blamed.push(...alone.blamed);
    held = alone.held;
  }
  for (const { failure, kinds } of blamed) await quarantine(parts, failure, kinds);
  const [first] = held;
  if (first !== undefined) throw first.failure.error;
  return { staged, failed: blamed.length };
}

/**
 * Asks for blocks one by one, so that a block which brings down whatever it is asked with (a trace that takes too
 * long) is told from its neighbours. `held` is what the node is to blame for after all.
 */
async function askAlone(
  parts: IngestParts,
  failed: readonly Failed[],
  quarantined: readonly BlockRange[],
  signal: AbortSignal,
): Promise<{ staged: number; blamed: Failed[]; held: Failed[] }> {
  const result = { staged: 0, blamed: [] as Failed[], held: [] as Failed[] };
  for (const one of failed) {
    if (!mayBlameBlock(one.failure.error) || result.blamed.length === MAX_BLAMED) {
      result.held.push(one);
      continue;
    }
    const { number } = one.failure;
    const { staged, failures } =
      failed.length === 1
        ? { staged: 0, failures: [one.failure] }
        : await ingestPiece(
            parts,
            { range: { start: number, end: number }, kinds: one.kinds, quarantined },
            signal,
          );
    result.staged += staged;
    for (const failure of failures) {
      const { error } = failure;
      const to = isNodeFault(error) && !mayBlameBlock(error) ? result.held : result.blamed;
      to.push({ failure, kinds: one.kinds });
    }
  }
  return result;
}

/** Extracts and stages a range of which all the kinds are missing. */
async function ingestPiece(
  parts: IngestParts,
  { range, kinds, quarantined }: Piece & { quarantined: readonly BlockRange[] },
  signal: AbortSignal,
): Promise<{ staged: number; failures: ExtractFailure[] }> {
  const { database, network } = parts;
  const { runs, failures, wireBytes } = await extract(parts, range, kinds, signal);
  parts.context.metrics
    .counter('packhouse_ingested_bytes_total', 'Bytes of node answers, as they came over the wire', [
      'network',
    ])
    .inc({ network }, wireBytes);
  let staged = 0;
  for (const run of runs) {
    await stage(parts, run, signal);
    staged += run.blocks.length;
    for (const block of run.blocks) {
      if (rangesInclude(quarantined, block.number)) await database.quarantine.remove(network, block.number);
    }
  }
  parts.context.metrics
    .counter('packhouse_staged_blocks_total', 'Blocks proved and staged', ['network'])
    .inc({ network }, staged);
  return { staged, failures };
}

/** Whether the nodes answer at all: then it is the block that they cannot give. */
async function answers({ source }: IngestParts, signal: AbortSignal): Promise<boolean> {
  try {
    await source.head(signal);
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function quarantine(
  { context, database, network }: IngestParts,
  failure: ExtractFailure,
  kinds: readonly Kind[],
): Promise<void> {
  const row = await database.quarantine.put({
    network,
    number: failure.number,
    kinds,
    cause: isPackhouseError(failure.error) ? failure.error.code : 'INTERNAL',
    message: failure.error.message,
    upstream: failure.upstream,
    payloadDigest: null,
  });
  context.logger.error(
    { network, block: row.number, cause: row.cause, nextTry: row.nextTry, err: failure.error },
    'block quarantined',
  );
  context.metrics
    .counter('packhouse_quarantined_total', 'Blocks put into quarantine', ['network', 'cause'])
    .inc({ network, cause: row.cause });
}

/** What is neither staged nor published of the window, and what of it is quarantined. */
async function missingWithin(
  { database, network }: IngestParts,
  window: BlockRange & { kinds: readonly Kind[] },
): Promise<{ pieces: Piece[]; quarantined: BlockRange[] }> {
  const missing = new Map<Kind, BlockRange[]>();
  const quarantined: BlockRange[] = [];
  for (const kind of KINDS.filter((each) => window.kinds.includes(each))) {
    const covered = await database.coverage(network, kind, window);
    const whole = [{ start: window.start, end: window.end }];
    missing.set(kind, subtractRanges(whole, unionRanges([...covered.staged, ...covered.published])));
    quarantined.push(...covered.quarantined);
  }
  return { pieces: missingPieces(missing), quarantined: unionRanges(quarantined) };
}
