import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { type ErrorCode, isPackhouseError } from '@packhouse/runtime';
import { type ExtractFailure, type ExtractParts, extract } from './extract.js';
import { subtractRanges, unionRanges } from './ranges.js';
import { type StageParts, stage } from './stage.js';

export type IngestParts = ExtractParts & StageParts;

/** Faults of a node as a whole: the job is tried again; no single block is to blame. */
const NODE_FAULTS: readonly ErrorCode[] = [
  'NODE_UNREACHABLE',
  'NODE_TIMEOUT',
  'NODE_RATE_LIMITED',
  'NODE_HTTP_ERROR',
  'NODE_NOT_JSON_RPC',
  'NODE_UNAUTHORIZED',
  'NODE_METHOD_MISSING',
];

/**
 * One ingest job: first what is missing of the window is extracted, then it is staged, then blocks that failed are
 * quarantined. Safe to repeat at any point. Throws what makes a later try sensible.
 */
export async function ingest(
  parts: IngestParts,
  window: BlockRange & { kinds: readonly Kind[] },
  signal: AbortSignal,
): Promise<{ staged: number; failed: number }> {
  const { database, network } = parts;
  const missing = await missingWithin(database, network, window);
  if (missing === null) return { staged: 0, failed: 0 };
  const { runs, failures, wireBytes } = await extract(parts, missing.range, missing.kinds, signal);
  parts.context.metrics
    .counter('packhouse_ingested_bytes_total', 'Bytes of node answers, as they came over the wire', [
      'network',
    ])
    .inc({ network }, wireBytes);
  const quarantined = new Set((await database.quarantine.list(network)).map((row) => row.number));
  let staged = 0;
  for (const run of runs) {
    await stage(parts, run, signal);
    staged += run.blocks.length;
    for (const block of run.blocks) {
      if (quarantined.has(block.number)) await database.quarantine.remove(network, block.number);
    }
  }
  parts.context.metrics
    .counter('packhouse_staged_blocks_total', 'Blocks proved and staged', ['network'])
    .inc({ network }, staged);
  let nodeFault: ExtractFailure | undefined;
  for (const failure of failures) {
    if (isNodeFault(failure.error)) nodeFault ??= failure;
    else await quarantine(parts, failure, missing.kinds);
  }
  if (nodeFault !== undefined) throw nodeFault.error;
  return { staged, failed: failures.length };
}

function isNodeFault(error: Error): boolean {
  return isPackhouseError(error) && NODE_FAULTS.includes(error.code);
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

/** The hull of what is neither staged nor published of the window, and the kinds that miss something there. */
async function missingWithin(
  database: Database,
  network: string,
  window: BlockRange & { kinds: readonly Kind[] },
): Promise<{ range: BlockRange; kinds: Kind[] } | null> {
  const kinds: Kind[] = [];
  const holes: BlockRange[] = [];
  for (const kind of KINDS.filter((each) => window.kinds.includes(each))) {
    const { staged, published } = await database.coverage(network, kind, window);
    const missing = subtractRanges(
      [{ start: window.start, end: window.end }],
      unionRanges([...staged, ...published]),
    );
    if (missing.length > 0) kinds.push(kind);
    holes.push(...missing);
  }
  const merged = unionRanges(holes);
  const [first, last] = [merged[0], merged.at(-1)];
  return first === undefined || last === undefined
    ? null
    : { range: { start: first.start, end: last.end }, kinds };
}
