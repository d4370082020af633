import { KINDS, type Kind } from '@packhouse/chain';
import type { AbiInput } from '@packhouse/rows';
import {
  type AbiColumns,
  abiColumns,
  type CodedBatch,
  compileAbi,
  toPlainBatch,
  toSchema,
} from '@packhouse/rows';
import { PackhouseError } from '@packhouse/runtime';
import type pg from 'pg';
import { openPostgresTable, type PostgresTable } from '../sinks/postgres-table.js';
import { mismatch } from '../sinks/sink.js';
import { readTableState, STATE_TABLE } from '../sinks/sql-table.js';
import { type FollowState, newFollowState, readFollowState } from './follow-state.js';

/** The tables of a sink. */
export interface TableOptions {
  /** The table of `logs`, as `name` or `schema.name`. */
  table?: string | undefined;
  /** Tables by kind. */
  tables?: Partial<Record<Kind, string>> | undefined;
  /** Adds the columns of its events to `logs`. */
  abi?: AbiInput | undefined;
  /** Addresses, hashes, topics and data are bytes and not text. */
  bytes?: boolean | undefined;
}

/** A table of a kind, with what it remembers. */
export interface FollowTable {
  kind: Kind;
  table: PostgresTable;
  /** As it is in `packhouse_rows`. */
  text: string;
  state: FollowState;
  decoder: AbiColumns | null;
}

/**
 * What makes a row of a kind unique, in the order in which tables are read. Traces have no such columns: theirs is an
 * index of the block's number. Some networks number logs through a transaction only.
 */
const KEYS: Readonly<Record<Kind, readonly string[] | null>> = {
  blocks: ['block_number'],
  transactions: ['block_number', 'transaction_index'],
  receipts: ['block_number', 'transaction_index'],
  logs: ['block_number', 'transaction_index', 'log_index'],
  traces: null,
};

/** The tables that options name, by kind. Throws USAGE if there is none, or one twice. */
export function tableNames({ table, tables = {} }: TableOptions): ReadonlyMap<Kind, string> {
  const all = { ...(table === undefined ? {} : { logs: table }), ...tables };
  const names = new Map(KINDS.flatMap((kind) => (all[kind] === undefined ? [] : [[kind, all[kind]]])));
  if (names.size > 0 && new Set(names.values()).size === names.size && !names.has('' as Kind)) return names;
  throw new PackhouseError({
    code: 'USAGE',
    message: `The sink has ${names.size === 0 ? 'no table' : 'one table for several kinds'}.`,
    hint: "For example table: 'transfers', or tables: { blocks: 'blocks', logs: 'transfers' }.",
  });
}

/** Opens the table of a kind, and makes it if there is none. Throws as `openPostgresTable`, ABI_INVALID. */
export async function openFollowTable(
  client: pg.ClientBase,
  kind: Kind,
  name: string,
  { abi, bytes = false }: TableOptions,
): Promise<FollowTable> {
  const own = toSchema(kind, { bytes });
  const decoder = kind === 'logs' && abi !== undefined ? abiColumns(await compileAbi(abi), {}) : null;
  const schema = decoder?.schema(own) ?? own;
  const table = await openPostgresTable(client, name, schema);
  const fresh = JSON.stringify(newFollowState(kind, schema.name));
  const check = (text: string): FollowState => readFollowState(table.target, text, kind, schema.name);
  return { kind, table, decoder, ...(await readTableState(table, schema, fresh, check)) };
}

/** Puts rows into the open transaction. */
export async function appendRows(
  { table, decoder, state }: FollowTable,
  batches: readonly CodedBatch[],
): Promise<void> {
  for (const batch of batches) {
    state.rows += batch.rows;
    await table.append(decoder === null ? batch : decoder.extend(toPlainBatch(batch)));
  }
}

/** Removes the rows of blocks within the open transaction. */
export async function deleteRows({ table, state }: FollowTable, from: number, to: number): Promise<void> {
  const [counted] = await table.query(
    `WITH gone AS (DELETE FROM ${table.name} WHERE block_number BETWEEN $1 AND $2 RETURNING 1) SELECT count(*)::int FROM gone`,
    [String(from), String(to)],
  );
  state.rows -= counted?.[0] as number;
}

/** Throws TARGET_MISMATCH if the table has rows of another block of this number. */
export async function checkHash({ table }: FollowTable, block: number, hash: string): Promise<void> {
  const found = await table.query(
    `SELECT block_hash::text FROM ${table.name} WHERE block_number = $1 AND block_hash::text NOT IN ($2, $3) LIMIT 1`,
    [String(block), hash, hash.replace('0x', '\\x')],
  );
  if (found.length === 0) return;
  throw mismatch(table.target, `has rows of block ${block} with the hash ${found[0]?.[0]}, expected ${hash}`);
}

/** Makes the key of a table, or its index, within the open transaction; one that somebody made stays. */
export async function makeConstraints({ kind, table }: FollowTable): Promise<void> {
  const key = KEYS[kind];
  const has = await table.query(
    `SELECT 1 FROM pg_index WHERE indrelid = to_regclass($1) AND (indisprimary OR $2 = 'traces' AND indkey[0] = 1)`,
    [table.name, kind],
  );
  if (has.length > 0) return;
  if (key === null) await table.query(`CREATE INDEX ON ${table.name} (block_number)`);
  else await table.query(`ALTER TABLE ${table.name} ADD PRIMARY KEY (${key.join(', ')})`);
}

/** Keeps the state within the open transaction. Throws TARGET_MISMATCH if somebody else changed it. */
export async function saveState(each: FollowTable): Promise<void> {
  const { table, text, state } = each;
  const next = JSON.stringify(state);
  const updated = await table.query(
    `UPDATE ${STATE_TABLE} SET state = $2 WHERE table_name = $1 AND state = $3 RETURNING 1`,
    [table.key, next, text],
  );
  if (updated.length === 0) {
    throw mismatch(
      table.target,
      `was followed by somebody else meanwhile: its row of ${STATE_TABLE} changed`,
    );
  }
  each.text = next;
}
