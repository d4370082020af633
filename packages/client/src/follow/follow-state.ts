import type { Kind } from '@packhouse/chain';
import type { FollowOrigin } from '../client/follow.js';
import { createLinks, type LinkState } from '../feed/links.js';
import { mismatch } from '../sinks/sink.js';

const FORMAT = 'packhouse-follow-1';

/** What a table that follows remembers of itself. */
export interface FollowState {
  format: typeof FORMAT;
  kind: Kind;
  /** Name of the schema. */
  schema: string;
  /** Null before the first step. */
  origin: FollowOrigin | null;
  /** `load`: without constraints and indexes. */
  mode: 'load' | 'rows';
  /** The first block that it has. */
  first: number | null;
  cursor: string | null;
  links: LinkState;
  rows: number;
}

/** The state of a new table. */
export function newFollowState(kind: Kind, schema: string): FollowState {
  const links = createLinks().state();
  return {
    format: FORMAT,
    kind,
    schema,
    origin: null,
    mode: 'load',
    first: null,
    cursor: null,
    links,
    rows: 0,
  };
}

/** Reads the state of a table. Throws TARGET_MISMATCH if it is of other rows, or of another version. */
export function readFollowState(target: string, text: string, kind: Kind, schema: string): FollowState {
  const state = parse(text);
  if (state?.format !== FORMAT) {
    throw mismatch(target, 'was filled by a pull that did not follow, or by another version');
  }
  for (const [name, has, wanted] of [
    ['kind', state.kind, kind],
    ['schema', state.schema, schema],
  ] as const) {
    if (has !== wanted) throw mismatch(target, `has rows of the ${name} ${has}; this follower has ${wanted}`);
  }
  return state;
}

/** Throws TARGET_MISMATCH unless the tables of one follower stand at the same step. */
export function checkTogether(states: ReadonlyMap<string, FollowState>): void {
  const [first, ...others] = states;
  if (first === undefined) return;
  for (const [table, { cursor, mode }] of others) {
    if (cursor === first[1].cursor && mode === first[1].mode) continue;
    throw mismatch(
      `The table ${table}`,
      `does not stand where the table ${first[0]} stands: one of them was dropped, or is of another follower`,
    );
  }
}

/** Throws TARGET_MISMATCH if the steps are of other rows than those of a table. */
export function checkOrigin(target: string, state: FollowState, origin: FollowOrigin): void {
  if (state.origin === null) return;
  for (const name of ['base', 'kinds', 'match'] as const) {
    const [has, wanted] = [state.origin, origin].map((each) => JSON.stringify(each[name]));
    if (has !== wanted) throw mismatch(target, `has rows of ${name} ${has}; this follower has ${wanted}`);
  }
}

function parse(text: string): FollowState | null {
  try {
    return JSON.parse(text) as FollowState;
  } catch {
    return null;
  }
}
