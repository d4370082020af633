import { type RefusedRange, type ResultBody, refusedRange } from '@packhouse/node-rpc';
import { Problem } from '../http/problem.js';
import { askWhole, failure, NodeSaid, sizeOf } from './ask-node.js';
import { fitsFilter } from './fits-logs.js';
import type { LogFilter } from './log-filter.js';
import type { CallContext } from './method.js';
import { countOf, elementsOf } from './raw-json.js';

/** An inclusive range of block numbers. */
export interface LogRange {
  from: number;
  to: number;
  /** The last block as the client named it: the head may have moved since `to` was looked up. */
  toText?: string | undefined;
}

/** A part of the range: waiting, in progress, or answered. */
interface Piece extends LogRange {
  asked: boolean;
  logs?: NodeLogs;
}

/** Logs as an upstream sent them; parsed only if needed. */
interface NodeLogs {
  count(): number;
  readonly body: ResultBody;
  readonly bytes: number;
  texts(): readonly string[];
}

/** Most questions that one call is split into. */
const MAX_QUESTIONS = 512;
/** Questions spent on finding a `suggestedRange` for a range that would need more. */
const PROBING_QUESTIONS = 16;
const CONCURRENCY = 4;
/** Least bytes of a log: its two hashes, its address and its field names alone are more. */
const LEAST_LOG_BYTES = 256;

/**
 * Returns the logs of a range as JSON texts in order; the range is split if the upstreams refuse it. `sure` is false if
 * an upstream may not have had all blocks of the range. Throws the problem `too-many-logs` with a suggestedRange that
 * was just answered, and NodeSaid with the upstreams' error for a single block. `passedOn`: see a forwarder's request;
 * `logs` and what is joined are checked in any case.
 */
export async function logsOfRange(
  caller: CallContext,
  filter: LogFilter,
  range: LogRange,
  { learnt, passedOn = false }: { learnt: LearntRanges; passedOn?: boolean },
): Promise<{ logs(): readonly string[]; body(): ResultBody; sure: boolean }> {
  const { maxLogs, maxAnswerBytes } = caller.at.network.rpc;
  const pieces: Piece[] = [{ ...range, asked: false }];
  let left = MAX_QUESTIONS;
  let bytes = 0;
  let sure = true;

  const tooMuch = (): boolean => {
    if (bytes > maxAnswerBytes) return true;
    // Few bytes cannot be many logs, and scanning megabytes again costs as much as sending them.
    if (bytes <= maxLogs * LEAST_LOG_BYTES) return false;
    return pieces.reduce((sum, { logs }) => sum + (logs?.count() ?? 0), 0) > maxLogs;
  };
  const take = (): Piece | undefined => {
    // If it is too much, only the beginning is still needed, for the suggestion.
    const piece = left <= 0 || tooMuch() ? pieces[0] : pieces.find(({ asked }) => !asked);
    if (piece === undefined || piece.asked) return undefined;
    const [blocks, widest] = [piece.to - piece.from + 1, learnt.widest()];
    if (blocks > widest) {
      if (blocks > widest * MAX_QUESTIONS) left = Math.min(left, PROBING_QUESTIONS);
      cut(pieces, piece, piece.from + widest - 1);
    }
    piece.asked = true;
    left -= 1;
    return piece;
  };
  const ask = async (piece: Piece): Promise<void> => {
    const answer = await logsOfPiece(caller, filter, piece, passedOn);
    if ('refused' in answer) {
      shrink(pieces, piece, answer.refused, learnt);
      return;
    }
    piece.logs = answer.logs;
    bytes += answer.logs.bytes;
    sure &&= answer.sure;
  };
  await inParallel(take, ask);

  const missing = pieces.findIndex(({ logs }) => logs === undefined);
  const complete = missing === -1 ? pieces : pieces.slice(0, missing);
  if (missing === -1 && pieces.length === 1 && !tooMuch()) {
    const { texts, body } = (pieces[0] as Piece).logs as NodeLogs;
    return { logs: texts, body: () => body, sure };
  }
  const logs = complete.flatMap((piece) => (piece.logs as NodeLogs).texts());
  const fits = fitting(logs, maxLogs, maxAnswerBytes);
  if (fits < logs.length) {
    const last = blockOf(logs[fits] as string) - 1;
    const suggested = last < range.from ? null : { from: range.from, to: last };
    throw tooMany(fits === maxLogs ? `more than ${maxLogs} logs` : 'too many bytes of logs', suggested);
  }
  if (missing === -1) {
    const body = (): ResultBody => ({ bytes: Buffer.from(`[${logs.join(',')}]`), rest: null });
    return { logs: () => logs, body, sure };
  }
  const why = tooMuch() ? 'too many logs' : `the logs of ${range.to - range.from + 1} blocks`;
  throw tooMany(why, { from: range.from, to: (complete.at(-1) as Piece).to });
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
  const rest = { from: last + 1, to, toText: toText?.startsWith('0x') ? undefined : toText, asked: false };
  pieces.splice(pieces.indexOf(piece) + 1, 0, rest);
  piece.to = last;
  piece.toText = undefined;
}

/** Shortens a refused piece, so that its beginning is asked for again. */
function shrink(pieces: Piece[], piece: Piece, refused: RefusedRange, learnt: LearntRanges): void {
  const { from, to } = piece;
  if (from === to) {
    // A single block by its numbers; the client's name for the end may cover more on the upstream.
    piece.toText = undefined;
    piece.asked = false;
    return;
  }
  const blocks = to - from + 1;
  // A limit on the number of logs depends on the blocks; a limit on the width of a range does not.
  if (!refused.logs) learnt.refused(blocks, refused.blocks);
  const half = from + Math.ceil(blocks / 2) - 1;
  const widest = refused.logs ? half : Math.min(from + learnt.widest() - 1, to - 1);
  const { until } = refused;
  cut(pieces, piece, until !== null && until >= from && until < to ? until : widest);
  piece.asked = false;
}

const OPEN_BRACKET = 0x5b;

async function logsOfPiece(
  caller: CallContext,
  filter: LogFilter,
  { from, to, toText }: Piece,
  passedOn: boolean,
): Promise<{ logs: NodeLogs; sure: boolean } | { refused: RefusedRange }> {
  const { fromBlock, toBlock, ...rest } = filter;
  const asked = { ...rest, fromBlock: hex(from), toBlock: toText ?? hex(to) };
  let answer: Awaited<ReturnType<typeof askWhole>>;
  try {
    const params = JSON.stringify([asked]);
    const last = toText === undefined ? to : toText.startsWith('0x') ? Number(toText) : null;
    const fits = fitsFilter(filter, { from, to: last });
    answer = await askWhole(caller, {
      ...{ method: 'eth_getLogs', params, block: to, from, asks: 'logs', fits },
      passedOn,
    });
  } catch (error) {
    const tooLarge = error instanceof Problem && error.reason === 'answer-too-large';
    if (!tooLarge || (from === to && toText === undefined)) throw error;
    return { refused: { logs: true, blocks: null, until: null } };
  }
  if (answer.kind === 'result') {
    const { upstream, body } = answer;
    const pieces = body.pieces ?? [body.bytes];
    if (pieces[0]?.[0] !== OPEN_BRACKET) {
      throw failure({ reason: 'nonsense', detail: 'a node sent logs that are no list' });
    }
    const head = caller.at.forwarder.status().find(({ name }) => name === upstream)?.head ?? null;
    const texts = (): readonly string[] => {
      if (passedOn && !isJson(answer.text)) {
        throw failure({ reason: 'nonsense', detail: 'a node sent an answer that is not JSON' });
      }
      return elementsOf(answer.text);
    };
    let counted: number | undefined;
    const count = (): number => {
      // Logs have an index on every node; an answer without one is parsed to be counted.
      counted ??= countOf(pieces, '"logIndex"') || texts().length;
      return counted;
    };
    return { logs: { count, body, bytes: sizeOf(body), texts }, sure: head !== null && head >= to };
  }
  const refused = refusedRange(answer.code, answer.message);
  if (refused === null || (from === to && toText === undefined)) throw new NodeSaid(answer.error);
  return { refused };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Number of logs that fit into the answer. */
function fitting(logs: readonly string[], maxLogs: number, maxBytes: number): number {
  let bytes = 0;
  for (const [at, log] of logs.entries()) {
    bytes += log.length;
    if (at === maxLogs || bytes > maxBytes) return at;
  }
  return logs.length;
}

function blockOf(log: string): number {
  const { blockNumber } = JSON.parse(log) as { blockNumber?: unknown };
  const number = typeof blockNumber === 'string' ? Number(blockNumber) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw failure({ reason: 'nonsense', detail: 'a node sent a log without a block' });
}

function tooMany(what: string, suggested: LogRange | null): Problem {
  const hint =
    suggested === null
      ? 'ask for fewer addresses or topics'
      : `ask for blocks ${hex(suggested.from)} to ${hex(suggested.to)} first`;
  return new Problem('too-many-logs', {
    detail: `The answer would hold too much: ${what}; ${hint}.`,
    members:
      suggested === null
        ? {}
        : { suggestedRange: { fromBlock: hex(suggested.from), toBlock: hex(suggested.to) } },
  });
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

/** The widest known range that the upstreams of a network take; forgotten after a while, since upstreams change. */
export interface LearntRanges {
  /** Blocks that a request may span now; Infinity while nothing is known. */
  widest(): number;
  /** Notes that an upstream refused `blocks`; the new width is the limit it named, or half of `blocks`. */
  refused(blocks: number, named: number | null): void;
}

const FORGET_MS = 600_000;

/** Creates an unknown width. `elapsed` returns milliseconds. */
export function createLearntRanges(elapsed: () => number): LearntRanges {
  let known = { blocks: Number.POSITIVE_INFINITY, at: 0 };
  const widest = (): number => (elapsed() - known.at < FORGET_MS ? known.blocks : Number.POSITIVE_INFINITY);
  return {
    widest,
    refused(blocks, named) {
      const next = named !== null && named < blocks ? named : Math.max(1, Math.floor(blocks / 2));
      // A refusal that arrives after a narrower limit was learnt tells nothing new.
      known = { blocks: Math.min(next, widest()), at: elapsed() };
    },
  };
}
