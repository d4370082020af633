import { isKind, type Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

/** A block by number and hash (`0x` hex, 32 bytes). */
export interface FeedBlock {
  block: number;
  hash: string;
}

/** The published file that holds the next block of its kind. Its blocks are final. */
export interface BundleStep {
  step: 'bundle';
  kind: Kind;
  /** First and last block of the file: `17000000-17000041`. */
  range: string;
  /** The first block of the file that was not delivered before. */
  from: number;
  download_link: string;
  /** Of the file, hex; the manifest has it signed. */
  sha256: string;
  bytes: number;
  cursor: string;
}

/** A block that no published file of these kinds holds. */
export interface NewStep extends FeedBlock {
  step: 'new';
  parent: string;
  /** The files of the block, by the kinds whose next block it is. */
  files: Partial<Record<Kind, string>>;
  cursor: string;
}

/**
 * The file of a new block, as links have it: its name, and the hash of the block as a query, since after a
 * reorganisation another block has the number.
 */
export function newBlockFile(block: number, hash: string): string {
  return `${block}-${block}.json.gz?hash=${hash}`;
}

/** A reorganisation removed everything above `to`. Newest block first. */
export interface UndoStep extends FeedBlock {
  step: 'undo';
  /** The block that stays; `hash` is null if the feed delivered nothing at or below it. */
  to: { block: number; hash: string | null };
  cursor: string;
}

/** Nothing at or below this block can be undone. */
export interface FinalStep extends FeedBlock {
  step: 'final';
  cursor: string;
}

/** A file that was delivered before is published again, with other bytes. */
export interface RepairedStep {
  step: 'repaired';
  kind: Kind;
  range: string;
  sha256: string;
  /** SHA-256 of the file that it replaces. */
  supersedes: string;
  download_link: string;
  cursor: string;
}

/** The feed cannot go on before this block is there. */
export interface WaitingStep {
  step: 'waiting';
  block: number;
  /** A reason of a hole of coverage, or `not-final`, `not-produced`, `halted`. */
  reason: string;
  /** One sentence for people. */
  detail: string;
  /** The kinds whose next block it is. */
  kinds: Kind[];
  cursor: string;
}

/** Blocks that `skip=holes` left out. */
export interface SkippedStep {
  step: 'skipped';
  kind: Kind;
  range: string;
  reason: string;
  cursor: string;
}

/** One step of a feed, as it is sent. `cursor` stands behind the step. */
export type FeedStep = BundleStep | NewStep | UndoStep | FinalStep | RepairedStep | WaitingStep | SkippedStep;

/** Characters of a step at most: one with a link for each kind, and its cursor, has about a thousand. */
const MAX_STEP = 65_536;

/**
 * Parses one line of a feed, or the data of one event. Checks its form; unknown fields are left in it, and fields that
 * are missing or malformed are refused. `where` begins the sentence of an error. Throws FEED_INVALID.
 */
export function parseFeedStep(line: string, where: string): FeedStep {
  if (line.length > MAX_STEP) {
    throw feedInvalid(`${where} has ${line.length} characters; a step has at most ${MAX_STEP}.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw feedInvalid(`${where} is not JSON: it was cut off or changed.`);
  }
  const step = (typeof value === 'object' ? value : null) as Record<string, unknown> | null;
  const name = step?.step;
  if (step === null || typeof name !== 'string' || !Object.hasOwn(FIELDS, name)) {
    const got = JSON.stringify(name ?? null).slice(0, 40);
    throw feedInvalid(`${where} is not a known step: ${got}; expected ${Object.keys(FIELDS).join(', ')}.`);
  }
  const fields: Readonly<Record<string, Check>> = FIELDS[name as FeedStep['step']];
  for (const [field, check] of Object.entries(fields)) {
    if (check(step[field])) continue;
    const got = field in step ? 'is malformed' : 'is missing';
    throw feedInvalid(`${where} is not a valid "${name}" step: its field ${field} ${got}.`, { field });
  }
  return step as unknown as FeedStep;
}

/** The error for a feed that is malformed; `message` is a whole sentence. */
function feedInvalid(message: string, data: Record<string, unknown> = {}): PackhouseError {
  return new PackhouseError({
    code: 'FEED_INVALID',
    message,
    hint: 'Continue from the last cursor; if it stays so, ask the operator of the gateway.',
    data,
  });
}

type Check = (value: unknown) => boolean;

const isBlock: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText: Check = (value) => typeof value === 'string' && value !== '';
const toForm =
  (form: RegExp): Check =>
  (value) =>
    typeof value === 'string' && form.test(value);
const isHash = toForm(/^0x[0-9a-f]{64}$/);
const isSha256 = toForm(/^[0-9a-f]{64}$/);
const isCursor = toForm(/^[A-Za-z0-9_-]{1,1024}$/);
const isOneKind: Check = (value) => typeof value === 'string' && isKind(value);
const isRange: Check = (value) => {
  const [, from, to] = /^(0|[1-9]\d{0,15})-(0|[1-9]\d{0,15})$/.exec(String(value)) ?? [];
  return typeof value === 'string' && from !== undefined && Number(from) <= Number(to);
};
const isFiles: Check = (value) => {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return entries.length > 0 && entries.every(([kind, link]) => isOneKind(kind) && isText(link));
};
const isKinds: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(isOneKind);
/** Block -1 is before the first one. */
const isTarget: Check = (value) => {
  const { block, hash } = (value ?? {}) as Partial<UndoStep['to']>;
  return (block === -1 || isBlock(block)) && (hash === null || isHash(hash));
};

const FIELDS: { readonly [Name in FeedStep['step']]: Readonly<Record<string, Check>> } = {
  bundle: {
    kind: isOneKind,
    range: isRange,
    from: isBlock,
    download_link: isText,
    sha256: isSha256,
    bytes: isBlock,
    cursor: isCursor,
  },
  new: { block: isBlock, hash: isHash, parent: isHash, files: isFiles, cursor: isCursor },
  undo: { block: isBlock, hash: isHash, to: isTarget, cursor: isCursor },
  final: { block: isBlock, hash: isHash, cursor: isCursor },
  repaired: {
    kind: isOneKind,
    range: isRange,
    sha256: isSha256,
    supersedes: isSha256,
    download_link: isText,
    cursor: isCursor,
  },
  waiting: { block: isBlock, reason: isText, detail: isText, kinds: isKinds, cursor: isCursor },
  skipped: { kind: isOneKind, range: isRange, reason: isText, cursor: isCursor },
};
