import { toQuantity } from '@packhouse/chain';
import { splitArray } from '@packhouse/json';
import { judgeRefusedRange, type RefusedRange, type ResultBody } from '@packhouse/node-rpc';
import { Problem } from '../http/problem.js';
import { askWhole, expectLogs, failure, getPieces, getSize, UpstreamRpcError } from './ask-node.js';
import type { LogFilter } from './log-filter.js';
import { countText, matchesFilter } from './match-logs.js';
import type { CallContext } from './method.js';

/** An inclusive range of block numbers. */
export interface LogRange {
  from: number;
  to: number;
  /** The last block as the client named it: the head may have moved since `to` was looked up. */
  toText?: string | undefined;
}

/** How the logs of a part are asked for, and how bounds and logs are written. */
interface LogSource {
  /** `alone`: it is one of several parts. */
  ask(part: LogRange, alone: boolean): ReturnType<typeof askWhole>;
  bounds: readonly [from: string, to: string];
  /** The member of a log with its block. */
  member: string;
}

/** A part of the range: waiting, sent, or answered. */
interface Piece extends LogRange {
  sent: boolean;
  /** A node named its last block. */
  named?: boolean;
  logs?: NodeLogs;
}

/** Why a piece has to be smaller; `error`: of the node. */
interface Refusal {
  refused: RefusedRange;
  error?: Buffer;
}

/** Logs as an upstream sent them; parsed only if needed. */
interface NodeLogs {
  count(): number;
  readonly body: ResultBody;
  readonly bytes: number;
  texts(): readonly string[];
}

/** Most questions of one call, whatever the upstreams answer: 64 with those that it begins with, if they are repeated. */
const MAX_QUESTIONS = 62;
/** The last of them are for the beginning, until it is answered: each that is refused halves it. It is the `suggestedRange`. */
const FOR_BEGINNING = 24;
const CONCURRENCY = 4;
/** Least bytes of a log: its two hashes, its address and its field names alone are more. */
const MIN_LOG_BYTES = 256;

/**
 * Returns the logs of a range as JSON texts in order; the range is split if the upstreams refuse it. `sure` is false if
 * an upstream may not have had all blocks of the range. Throws the problem `too-many-logs` with a suggestedRange that
 * was just answered, and UpstreamRpcError with the upstreams' error for a single block.
 */
export async function getLogsInRange(
  caller: CallContext,
  source: LogSource,
  range: LogRange,
  learnt: RangeLimit,
): Promise<{ logs(): readonly string[]; body(): ResultBody; sure: boolean }> {
  const { maxLogs, maxAnswerBytes } = caller.network.config.rpc;
  const pieces: Piece[] = [{ ...range, sent: false }];
  /** Refusals that name no reason count for this call alone. */
  const own = createRangeLimit(() => 0);
  const limits = { maxBlocks: () => Math.min(learnt.maxBlocks(), own.maxBlocks()), learnt, own };
  let left = MAX_QUESTIONS;
  let bytes = 0;
  let sure = true;
  let refusal: Refusal | undefined;

  const isTooMuch = (): boolean => {
    if (bytes > maxAnswerBytes) return true;
    // Few bytes cannot be many logs, and scanning megabytes again costs as much as sending them.
    if (bytes <= maxLogs * MIN_LOG_BYTES) return false;
    return pieces.reduce((sum, { logs }) => sum + (logs?.count() ?? 0), 0) > maxLogs;
  };
  /** Whether there will be no answer to all: then only the beginning is still needed, for the suggestion. */
  const isBeginningAll = (): boolean => {
    if (isTooMuch()) return true;
    const isBegun = pieces[0]?.logs !== undefined;
    // Nothing shows yet that a smaller range is answered.
    if (refusal?.refused.unsure && !isBegun) return true;
    const open = pieces.reduce((sum, { from, to, sent }) => (sent ? sum : sum + to - from + 1), 0);
    return open > limits.maxBlocks() * (isBegun ? left : left - FOR_BEGINNING);
  };
  const take = (): Piece | undefined => {
    if (left === 0) return undefined;
    const piece = isBeginningAll() ? pieces[0] : pieces.find(({ sent }) => !sent);
    if (piece === undefined || piece.sent) return undefined;
    const widest = limits.maxBlocks();
    if (piece.to - piece.from + 1 > widest) cut(pieces, piece, piece.from + widest - 1);
    piece.sent = true;
    left -= 1;
    return piece;
  };
  const ask = async (piece: Piece): Promise<void> => {
    const answer = await getPieceLogs(caller, source, piece, pieces.length > 1);
    if ('refused' in answer) {
      refusal = answer;
      shrink(pieces, piece, answer.refused, limits);
      return;
    }
    piece.logs = answer.logs;
    bytes += answer.logs.bytes;
    sure &&= answer.sure;
  };
  await inParallel(take, ask);

  const missing = pieces.findIndex(({ logs }) => logs === undefined);
  const complete = missing === -1 ? pieces : pieces.slice(0, missing);
  if (missing === -1 && pieces.length === 1 && !isTooMuch()) {
    const { texts, body } = (pieces[0] as Piece).logs as NodeLogs;
    return { logs: texts, body: () => body, sure };
  }
  if (complete.length === 0 && refusal?.error !== undefined) throw new UpstreamRpcError(refusal.error);
  const logs = complete.flatMap((piece) => (piece.logs as NodeLogs).texts());
  const fits = countFitting(logs, maxLogs, maxAnswerBytes);
  if (fits < logs.length) {
    const last = toBlock(logs[fits] as string, source) - 1;
    const suggested = last < range.from ? null : { from: range.from, to: last };
    const what = fits === maxLogs ? `more than ${maxLogs} logs` : 'too many bytes of logs';
    throw tooMany(what, suggested, source);
  }
  if (missing === -1) {
    const body = (): ResultBody => ({ bytes: Buffer.from(`[${logs.join(',')}]`), rest: null });
    return { logs: () => logs, body, sure };
  }
  const last = complete.at(-1);
  const why = isTooMuch() ? 'too many logs' : `the logs of ${range.to - range.from + 1} blocks`;
  throw tooMany(why, last === undefined ? null : { from: range.from, to: last.to }, source);
}

/** Works on the pieces that `take` returns, a few at a time, until it returns none or one fails. */
function inParallel<T>(take: () => T | undefined, work: (one: T) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let active = 0;
    let failed = false;
    const fail = (error: unknown): void => {
      failed = true;
      reject(error as Error);
    };
    const next = (): void => {
      for (let one: T | undefined; active < CONCURRENCY && !failed; ) {
        one = take();
        if (one === undefined) break;
        active += 1;
        work(one).then(() => {
          active -= 1;
          next();
        }, fail);
      }
      if (active === 0) resolve();
    };
    next();
  });
}

/** Cuts a piece after the block `last`; the rest waits. */
function cut(pieces: Piece[], piece: Piece, last: number): void {
  const { to, toText } = piece;
  // Clients write a number beyond the head for "all"; the upstream just said that this is too wide.
  const rest = { from: last + 1, to, toText: toText?.startsWith('0x') ? undefined : toText, sent: false };
  pieces.splice(pieces.indexOf(piece) + 1, 0, rest);
  piece.to = last;
  piece.toText = undefined;
}

/** Shortens a refused piece, so that its beginning is asked for again. */
function shrink(
  pieces: Piece[],
  piece: Piece,
  refused: RefusedRange,
  { learnt, maxBlocks, own }: { learnt: RangeLimit; maxBlocks(): number; own: RangeLimit },
): void {
  const { from, to } = piece;
  if (from === to) {
    // A single block by its numbers; the client's name for the end may cover more on the upstream.
    piece.toText = undefined;
    piece.sent = false;
    return;
  }
  const blocks = to - from + 1;
  // A limit on the number of logs depends on the blocks; a limit on the width of a range does not.
  if (!refused.logs) (refused.unsure ? own : learnt).reduce(blocks, refused.blocks);
  const half = from + Math.ceil(blocks / 2) - 1;
  const widest = refused.logs ? half : Math.min(from + maxBlocks() - 1, to - 1);
  const { until } = refused;
  // Some nodes name a range that is hardly smaller, which they refuse again.
  const isNamed = until !== null && until >= from && until < to && !piece.named;
  piece.named ||= isNamed;
  cut(pieces, piece, isNamed ? until : widest);
  piece.sent = false;
}

/** The logs of EVM networks, as a filter selects them. */
export function evmLogs(caller: CallContext, filter: LogFilter): LogSource {
  const { fromBlock, toBlock, ...rest } = filter;
  return {
    bounds: ['fromBlock', 'toBlock'],
    member: 'blockNumber',
    ask({ from, to, toText }, alone) {
      const last = toText === undefined ? to : toText.startsWith('0x') ? Number(toText) : null;
      return askWhole(caller, {
        method: 'eth_getLogs',
        params: JSON.stringify([{ ...rest, fromBlock: toQuantity(from), toBlock: toText ?? toQuantity(to) }]),
        block: to,
        from,
        crossCheck: 'logs',
        alone,
        check: matchesFilter(filter, { from, to: last }),
        lacks: caller.network.newestLogs?.getLack(caller, filter, { from, to }),
      });
    },
  };
}

async function getPieceLogs(
  caller: CallContext,
  source: LogSource,
  piece: Piece,
  alone: boolean,
): Promise<{ logs: NodeLogs; sure: boolean } | Refusal> {
  const { from, to, toText } = piece;
  const isSmallest = from === to && toText === undefined;
  let answer: Awaited<ReturnType<typeof askWhole>>;
  try {
    answer = await source.ask(piece, alone);
  } catch (error) {
    const tooLarge = error instanceof Problem && error.reason === 'answer-too-large';
    if (!tooLarge || isSmallest) throw error;
    return { refused: { logs: true, blocks: null, until: null } };
  }
  if (answer.kind === 'result') {
    const { upstream, body } = answer;
    expectLogs(body);
    const head = caller.network.forwarder.status().find(({ name }) => name === upstream)?.head ?? null;
    const texts = (): readonly string[] => splitArray(body.bytes);
    let counted: number | undefined;
    const count = (): number => {
      // Logs have an index on every node; an answer without one is parsed to be counted.
      counted ??= countText(getPieces(body), '"logIndex"') || texts().length;
      return counted;
    };
    return { logs: { count, body, bytes: getSize(body), texts }, sure: head !== null && head >= to };
  }
  const refused = judgeRefusedRange(answer);
  if (refused === null || isSmallest) throw new UpstreamRpcError(answer.error);
  return { refused, error: answer.error };
}

/** Number of logs that fit into the answer. */
function countFitting(logs: readonly string[], maxLogs: number, maxBytes: number): number {
  let bytes = 0;
  for (const [at, log] of logs.entries()) {
    bytes += log.length;
    if (at === maxLogs || bytes > maxBytes) return at;
  }
  return logs.length;
}

function toBlock(log: string, { member }: LogSource): number {
  const value = (JSON.parse(log) as Record<string, unknown>)[member];
  const number = typeof value === 'string' ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw failure({ reason: 'nonsense', detail: 'a node sent a log without a block' });
}

function tooMany(what: string, suggested: LogRange | null, { bounds }: LogSource): Problem {
  const detail = `The answer would hold too much: ${what};`;
  if (suggested === null) {
    return new Problem('too-many-logs', { detail: `${detail} ask for fewer addresses or topics.` });
  }
  const [from, to] = [toQuantity(suggested.from), toQuantity(suggested.to)];
  return new Problem('too-many-logs', {
    detail: `${detail} ask for blocks ${from} to ${to} first.`,
    members: { suggestedRange: { [bounds[0]]: from, [bounds[1]]: to } },
  });
}

/** The widest known range that the upstreams of a network take; forgotten after a while, since upstreams change. */
export interface RangeLimit {
  /** Blocks that a request may span now; Infinity while nothing is known. */
  maxBlocks(): number;
  /**
   * Notes that an upstream refused `blocks`. The new width is the limit it named; or half of `blocks` if it names none, if
   * that is the refused width itself, or if it refused what a limit already allows: each refusal brings the width nearer.
   */
  reduce(blocks: number, named: number | null): void;
}

const EXPIRY_MS = 600_000;

/** Creates an unknown width. `elapsed` returns milliseconds. */
export function createRangeLimit(elapsed: () => number): RangeLimit {
  let known = { blocks: Number.POSITIVE_INFINITY, at: 0 };
  const widest = (): number => (elapsed() - known.at < EXPIRY_MS ? known.blocks : Number.POSITIVE_INFINITY);
  return {
    maxBlocks: widest,
    reduce(blocks, named) {
      const half = Math.max(1, Math.floor(blocks / 2));
      // Some nodes count the distance of the bounds, which is one less.
      const isNew = blocks > widest() || widest() === Number.POSITIVE_INFINITY;
      const isLimit = named !== null && (named <= half || (isNew && named < blocks - 1));
      const next = isLimit ? named : half;
      // A refusal that arrives after a narrower limit was learnt tells nothing new.
      known = { blocks: Math.min(next, widest()), at: elapsed() };
    },
  };
}
