import { splitArray } from '@packhouse/json';
import pLimit from 'p-limit';
import type { Problem } from '../http/problem.js';
import { askWhole, expectLogs, failure, UpstreamRpcError } from '../rpc/ask-node.js';
import type { LogFilter } from '../rpc/log-filter.js';
import { matchesFilter } from '../rpc/match-logs.js';
import type { CallContext } from '../rpc/method.js';
import { evmLogs, getLogsInRange, type RangeLimit } from '../rpc/split-logs.js';
import { CONCURRENCY, filterLost } from './chain-changes.js';
import { type LogsState, type ReportedBlock, unpackLogs } from './filter-state.js';

/** The logs of one block by its hash. Throws UpstreamRpcError if the upstream does not have the block. */
export async function getBlockLogs(
  caller: CallContext,
  match: LogFilter,
  { number, hash }: { number: number; hash: string },
): Promise<string[]> {
  const params = JSON.stringify([{ ...match, blockHash: hash }]);
  const lacks = caller.network.newestLogs?.getLack(caller, match, hash);
  const check = matchesFilter({ ...match, blockHash: hash });
  const answer = await askWhole(caller, { method: 'eth_getLogs', params, block: number, check, lacks });
  if (answer.kind === 'error') throw new UpstreamRpcError(answer.error);
  expectLogs(answer.body);
  return splitArray(answer.body.bytes);
}

/** The reported logs of removed blocks, with `removed: true`. Throws the problem `filter-lost` if nobody has them. */
export async function getRemovedLogs(
  caller: CallContext,
  state: LogsState,
  removed: readonly ReportedBlock[],
): Promise<string[]> {
  const logs = await getReportedLogs(caller, state, removed, removed);
  return logs.map((text) => JSON.stringify({ ...(JSON.parse(text) as object), removed: true }));
}

/**
 * The answer that may not have been delivered. `removed`: blocks that were removed since, newest first. Throws the
 * problem `filter-lost` if nobody has it any more.
 */
export async function getUndeliveredLogs(
  caller: CallContext,
  state: LogsState,
  removed: readonly ReportedBlock[],
  learnt: RangeLimit,
): Promise<string[]> {
  if (state.undelivered === undefined) return [];
  const { from, removed: before } = state.undelivered;
  const blocks = state.reported.filter(({ number }) => number >= from);
  const [first] = blocks as [ReportedBlock];
  const removedLogs = await getRemovedLogs(caller, state, before);
  // What is older than the blocks that were checked is final.
  const last = first.number - 1;
  const range = { from: Math.max(from, state.from ?? 0), to: Math.min(last, state.to ?? last) };
  const older =
    range.from > range.to ? null : await getLogsInRange(caller, evmLogs(caller, state.match), range, learnt);
  if (older?.sure === false) throw logsUnavailable(range.to);
  return [
    ...removedLogs,
    ...(older?.logs() ?? []),
    ...(await getReportedLogs(caller, state, blocks, removed)),
  ];
}

/** The reported logs of blocks: from what the filter keeps, or from an upstream that has as many of the block. */
async function getReportedLogs(
  caller: CallContext,
  { match }: LogsState,
  blocks: readonly ReportedBlock[],
  removed: readonly ReportedBlock[],
): Promise<string[]> {
  const turn = pLimit(CONCURRENCY);
  const missing: number[] = [];
  const logs = await Promise.all(
    blocks.map(async (block) => {
      if (block.packed !== undefined) return unpackLogs(block.packed);
      if (block.count === undefined) return [];
      const found = await turn(() => getBlockLogs(caller, match, block).catch(noneWhereSaid));
      if (found.length === block.count) return found;
      if (!removed.some(({ hash }) => hash === block.hash)) throw logsUnavailable(block.number);
      missing.push(block.number);
      return [];
    }),
  );
  if (missing.length === 0) return logs.flat();
  const [oldest, newest] = [Math.min(...missing), Math.max(...missing)];
  const why = `and the reported logs of blocks ${oldest} to ${newest} are more than this filter keeps, and no node has them any more`;
  throw filterLost(caller, removed, why);
}

function logsUnavailable(block: number): Problem {
  return failure({ reason: 'unavailable', detail: `no node has the logs of block ${block} now` });
}

function noneWhereSaid(error: unknown): string[] {
  if (error instanceof UpstreamRpcError) return [];
  throw error;
}
