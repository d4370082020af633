import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { columnReader, takeRows } from './coded-column.js';
import type { FieldColumn } from './field-column.js';
import { type BlockRows, fieldsOf } from './read-columns.js';
import type { Column, Schema } from './schema.js';

/** Which rows are wanted; absent: all. All texts are lower-case 0x hex. */
export interface Match {
  /**
   * Accounts: the address of a log; sender, recipient or new contract of a transaction, receipt or trace. One of them
   * is enough.
   */
  addresses?: readonly string[] | undefined;
  /** Of logs, by position as in eth_getLogs: one of the texts, or null for any topic or none. */
  topics?: readonly (readonly string[] | null)[] | undefined;
}

/** Members of a record that are accounts, by kind. */
const ACCOUNTS: Readonly<Record<Exclude<Kind, 'blocks'>, readonly string[]>> = {
  transactions: ['from', 'to'],
  receipts: ['from', 'to', 'contractAddress'],
  logs: ['address'],
  traces: [
    'action.from',
    'action.to',
    'action.address',
    'action.refundAddress',
    'action.author',
    'result.address',
  ],
};

/** More texts than this are looked for in rows, not in the text of blocks. */
const SEARCHED = 8;

/** Says which rows of a table are wanted. */
interface Matcher {
  /** What to read: the table, along with members that are compared and that it has no column of. */
  schema: Schema;
  /** False: the text of a block holds none of them. */
  mayHold(text: Buffer): boolean;
  /** The wanted rows of those that were read, with the columns of the table. */
  choose(rows: BlockRows): BlockRows;
}

/** Compiles a match, or null if all rows are wanted. Throws USAGE if the kind has nothing to compare. */
export function createMatcher(schema: Schema, { addresses, topics }: Match): Matcher | null {
  const { kind } = schema;
  const wanted = topics?.some((topic) => topic !== null) === true ? topics : undefined;
  if (addresses === undefined && wanted === undefined) return null;
  if (kind === 'blocks' || (wanted !== undefined && kind !== 'logs')) {
    throw new PackhouseError({
      code: 'USAGE',
      message: `Records of ${kind} have no ${kind === 'blocks' ? 'address' : 'topics'} to choose by.`,
      hint: wanted === undefined ? 'Leave out the addresses.' : 'Pull logs, or leave out the topics.',
    });
  }
  const searched = [addresses, ...(wanted ?? [])].flatMap((texts) =>
    texts == null || texts.length > SEARCHED ? [] : [texts.map((text) => Buffer.from(text, 'latin1'))],
  );
  const also: FieldColumn[] = [];
  const columnOf = (field: string): string => {
    const own = fieldsOf(schema).find((column) => column.field === field && column.form === 'hex');
    if (own === undefined) also.push({ name: `@${field}`, form: 'hex', field, required: false });
    return own?.name ?? `@${field}`;
  };
  const conditions = [
    ...(addresses === undefined ? [] : [{ texts: addresses, columns: ACCOUNTS[kind].map(columnOf) }]),
    ...(wanted ?? []).flatMap((texts, at) =>
      texts === null ? [] : [{ texts, columns: [columnOf(`topics[${at}]`)] }],
    ),
  ].map(({ texts, columns }) => ({ texts: new Set<Column[number]>(texts), columns }));
  return {
    schema: also.length === 0 ? schema : { ...schema, also: [...(schema.also ?? []), ...also] },
    mayHold: (text) => searched.every((texts) => texts.some((one) => text.includes(one))),
    choose(batch) {
      const compiled = conditions.map(({ texts, columns }) => {
        const readers = columns.map((name) => columnReader(batch, name));
        return (row: number) => readers.some((read) => texts.has(read(row)));
      });
      const kept: number[] = [];
      for (let row = 0; row < batch.rows; row += 1) {
        if (compiled.every((holds) => holds(row))) kept.push(row);
      }
      const { columns } = takeRows(batch, kept);
      for (const { name } of also) delete columns[name];
      return { rows: kept.length, columns, blocks: kept.map((row) => batch.blocks[row] as number) };
    },
  };
}
