import { Problem } from '../http/problem.js';
import { askWhole } from './ask-whole.js';
import type { RpcVisit } from './method.js';
import type { LogFilter } from './params/log-filter.js';
import { elementsOf } from './raw-json.js';

/** An inclusive range of block numbers. */
export interface LogRange {
  from: number;
  to: number;
  /** The last block as the client named it: the node may have gone on since `to` was looked up. */
  toTag?: string | undefined;
}

/** Widest ranges that the nodes of a network were seen to take; forgotten after a while, since nodes change. */
export interface LearntRanges {
  /** Blocks that a request may span now; Infinity while nothing is known. */
  widest(): number;
  /** A node refused `blocks`; it names its limit, or half as many are tried. */
  refused(blocks: number, named: number | null): void;
}

const FORGET_MS = 600_000;
/** Requests that one call may be split into. */
const MAX_PIECES = 512;
const CONCURRENCY = 4;

/** Makes it; nothing is known yet. */
export function createLearntRanges(now: () => number): LearntRanges {
  let known = { blocks: Number.POSITIVE_INFINITY, at: 0 };
  return {
    widest: () => (now() - known.at < FORGET_MS ? known.blocks : Number.POSITIVE_INFINITY),
    refused(blocks, named) {
      const next = named !== null && named < blocks ? named : Math.max(1, Math.floor(blocks / 2));
      known = { blocks: next, at: now() };
    },
  };
}

/** Whether a node's error says that a range is too wide or its logs too many; `blocks` where it names its limit. */
export function refusedRange(code: number, message: string): { blocks: number | null; logs: boolean } | null {
  const text = message.toLowerCase();
  const results =
    /(more than|exceeds?|max(imum)?|limit\w*)\D{0,40}[\d,]+\s*(results|logs)|response size|too many (logs|results)|query (timeout|returned)/.test(
      text,
    );
  const range = /(block )?range|blocks? (distance|limit)|too wide|too large a|up to a [\d,]+ block/.test(
    text,
  );
  if (!results && !range) return null;
  if (code === -32602 && !/limit|max|exceed|wide|large|more than|up to/.test(text)) return null;
  if (results) return { blocks: null, logs: true };
  const named = /([\d,]{2,})\s*(?:k\b)?/.exec(text)?.[1];
  const blocks = named === undefined ? null : Number(named.replaceAll(',', ''));
  return { blocks: blocks !== null && blocks > 0 ? blocks : null, logs: false };
}

/**
 * The logs of a range as JSON texts in order, split where the nodes refuse. Throws the problem `too-many-logs` with a
 * suggestedRange that will be answered, and what the nodes say to a single block.
 */
export async function logsOfRange(
  visit: RpcVisit,
  filter: LogFilter,
  range: LogRange,
  learnt: LearntRanges,
): Promise<string[]> {
  const { maxLogs } = visit.at.site.network.rpc;
  const pieces = cut(range, learnt.widest());
  if (pieces.length > MAX_PIECES) {
    throw tooMany(`the range spans ${range.to - range.from + 1} blocks`, {
      from: range.from,
      to: (pieces[MAX_PIECES - 1] as LogRange).to,
    });
  }
  const parts = new Array<string[] | undefined>(pieces.length);
  let next = 0;
  let count = 0;
  let stopped = false;
  const work = async (): Promise<void> => {
    for (let mine = next++; mine < pieces.length && !stopped; mine = next++) {
      const logs = await logsOfPiece(visit, filter, pieces[mine] as LogRange, learnt, 0);
      parts[mine] = logs;
      count += logs.length;
      // What is still on its way may come before the place where it becomes too much.
      if (count > maxLogs) stopped = true;
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, pieces.length) }, work));
  const logs: string[] = [];
  for (const part of parts) {
    if (part === undefined) break;
    for (const log of part) logs.push(log);
    if (logs.length > maxLogs) throw tooManyLogs(logs, range, maxLogs);
  }
  if (!stopped) return logs;
  // More than fit were had, but not in one piece from the start: the part that is complete is what can be answered.
  const complete = parts.indexOf(undefined);
  throw tooMany(`more than ${maxLogs} logs`, {
    from: range.from,
    to: complete <= 0 ? range.from : (pieces[complete - 1] as LogRange).to,
  });
}

/** Ranges of at most `blocks`, in order; one more than MAX_PIECES at most. */
function cut(range: LogRange, blocks: number): LogRange[] {
  const pieces: LogRange[] = [];
  for (let from = range.from; from <= range.to && pieces.length <= MAX_PIECES; ) {
    const to = Math.min(range.to, from + blocks - 1);
    pieces.push(to === range.to ? { from, to, toTag: range.toTag } : { from, to });
    from = to + 1;
  }
  return pieces;
}

const MAX_DEPTH = 24;

async function logsOfPiece(
  visit: RpcVisit,
  filter: LogFilter,
  piece: LogRange,
  learnt: LearntRanges,
  depth: number,
): Promise<string[]> {
  const { from, to, toTag } = piece;
  const { fromBlock, toBlock, ...rest } = filter;
  const asked = { ...rest, fromBlock: hex(from), toBlock: toTag ?? hex(to) };
  const answer = await askWhole(visit, { method: 'eth_getLogs', params: JSON.stringify([asked]), block: to });
  if (answer.kind === 'result') return elementsOf(answer.text, Number.MAX_SAFE_INTEGER - 1);
  const refused = refusedRange(answer.code, answer.message);
  if (refused === null || from === to || depth === MAX_DEPTH) throw new NodeSaid(answer.error);
  // Too many logs depend on where one looks, a range's width does not.
  if (!refused.logs) learnt.refused(to - from + 1, refused.blocks);
  const widest = refused.logs ? Number.POSITIVE_INFINITY : learnt.widest();
  const halves = widest < to - from + 1 ? cut(piece, widest) : cut(piece, Math.ceil((to - from + 1) / 2));
  if (halves.length > MAX_PIECES) {
    throw tooMany(`the range spans ${to - from + 1} blocks`, {
      from,
      to: (halves[MAX_PIECES - 1] as LogRange).to,
    });
  }
  const logs: string[] = [];
  for (const half of halves) {
    for (const log of await logsOfPiece(visit, filter, half, learnt, depth + 1)) logs.push(log);
    if (logs.length > visit.at.site.network.rpc.maxLogs) break;
  }
  return logs;
}

/** A node's own error, to be handed on as it is. */
export class NodeSaid extends Error {
  readonly error: Buffer;

  constructor(error: Buffer) {
    super('a node answered with an error');
    this.error = error;
  }
}

/** The range up to the block before the one in which it became too much. */
function tooManyLogs(logs: readonly string[], range: LogRange, maxLogs: number): Problem {
  const { blockNumber } = JSON.parse(logs[maxLogs] as string) as { blockNumber?: string };
  const last = Number(blockNumber ?? hex(range.from)) - 1;
  return tooMany(`more than ${maxLogs} logs`, last < range.from ? null : { from: range.from, to: last });
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
