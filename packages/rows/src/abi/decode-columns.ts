import { createHash } from 'node:crypto';
import { MAX_DECIMAL } from '../records/forms.js';
import type { Match } from '../records/match.js';
import type { Column, ColumnSpec, ColumnType, RowBatch, Schema } from '../records/schema.js';
import type { AbiValue, Hex } from './abi-types.js';
import { type CompiledEvent, type Decoder, type EventInput, isHashed } from './compile-abi.js';
import { type AbiType, typeText } from './parse-type.js';

/** Adds the decoded arguments of logs to their rows. */
export interface AbiColumns {
  schema(schema: Schema): Schema;
  extend(batch: RowBatch): RowBatch;
  /** Rows so far that no event of the ABI fits: their columns are null. */
  readonly undecoded: number;
}

/** A column with its value in the arguments of a log. */
interface ArgColumn extends ColumnSpec {
  toCell(args: Args): Column[number];
}

type Args = Readonly<Record<string, AbiValue>>;

/** Integers of so many bits are within 38 digits. */
const DECIMAL_BITS = 120;

/**
 * The columns `event` and `arg_<name>` (in snake case) of the events of an ABI, of those only that `match` asks for by their first topic.
 *
 * Arguments of one name and type share a column; those of another type have it behind their name. Integers that may have
 * more than 38 digits have DECIMAL(38,0), null if there are more, and `_text`, exact; each DECIMAL has a `_double` beside it. Arrays and tuples are JSON,
 * with bigints as text. A string that is not UTF-8, or has a NUL, which Postgres has not, is its bytes as 0x text.
 */
export function abiColumns({ events, find }: Decoder, { topics }: Match): AbiColumns {
  const first = topics?.[0] ?? null;
  const asked = events.filter(({ topic0 }) => first === null || (topic0 !== null && first.includes(topic0)));
  const { columns, ofEvent } = toColumns(asked);
  const all: ColumnSpec[] = [
    { name: 'event', type: 'TEXT' },
    ...columns.map(({ name, type }) => ({ name, type })),
  ];
  const shapes = asked.map(({ signature, topic0, inputs }) => [
    signature,
    topic0,
    inputs.map((input) => input.indexed),
  ]);
  const digest = createHash('sha256')
    .update(JSON.stringify([all, shapes]))
    .digest('hex')
    .slice(0, 8);
  let undecoded = 0;
  return {
    get undecoded() {
      return undecoded;
    },
    schema: (schema) => ({
      ...schema,
      name: `${schema.name}+abi-${digest}`,
      columns: [...schema.columns, ...all],
    }),
    extend({ rows, columns: given }) {
      const cells = (): Column => new Array<null>(rows).fill(null);
      const names = cells();
      const added = new Map(columns.map((column) => [column, cells()]));
      for (let row = 0; row < rows; row += 1) {
        const found = find(topicsIn(given, row), given.data?.[row] as string);
        if (found === null) undecoded += 1;
        else names[row] = found.event.name;
        for (const column of found === null ? [] : (ofEvent.get(found.event) ?? [])) {
          (added.get(column) as Column)[row] = column.toCell((found as { args: Args }).args);
        }
      }
      const named = Object.fromEntries([...added].map(([{ name }, values]) => [name, values]));
      return { rows, columns: { ...given, event: names, ...named } };
    },
  };
}

const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3'] as const;

/** The topics of a log in a batch. */
export function topicsIn(columns: RowBatch['columns'], row: number): Hex[] {
  const topics: Hex[] = [];
  for (const name of TOPICS) {
    const topic = columns[name]?.[row];
    if (topic != null) topics.push(topic as Hex);
  }
  return topics;
}

/** The columns of all events, and which of them each has. */
function toColumns(events: readonly CompiledEvent[]): {
  columns: ArgColumn[];
  ofEvent: Map<CompiledEvent, ArgColumn[]>;
} {
  const columns = new Map<string, ArgColumn>();
  const owners = new Map<string, string>();
  const ofEvent = new Map<CompiledEvent, ArgColumn[]>();
  for (const event of events) {
    const own: ArgColumn[] = [];
    ofEvent.set(event, own);
    for (const input of event.inputs) {
      for (const { column, owner } of unusedColumns(input, owners)) {
        owners.set(column.name, owner);
        const shared = columns.get(column.name) ?? column;
        columns.set(column.name, shared);
        own.push(shared);
      }
    }
  }
  return { columns: [...columns.values()], ofEvent };
}

/** The columns of an input under a name that no input of another name or type has. */
function unusedColumns(
  { name, type, indexed }: EventInput,
  owners: ReadonlyMap<string, string>,
): { column: ArgColumn; owner: string }[] {
  const hashed = indexed && isHashed(type);
  const text = hashed ? 'hash' : typeText(type);
  const owner = `${name} ${text}`;
  const named = (column: string): ArgColumn[] =>
    hashed ? [textColumn(column, name)] : columnsOfType(column, name, type);
  const isUnused = (column: string): boolean =>
    named(column).every((each) => (owners.get(each.name) ?? owner) === owner);
  let column = `arg_${plainName(name)}`;
  if (!isUnused(column)) column += `_${plainName(text).slice(0, 12)}`;
  while (!isUnused(column)) column += '_';
  return named(column).map((each) => ({ column: each, owner }));
}

/** `tokenId` as `token_id`: a name that SQL takes with and without quotes, whatever the ABI has; below the 63 of Postgres. */
function plainName(name: string): string {
  const lower = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return lower
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 36);
}

function columnsOfType(name: string, arg: string, type: AbiType): ArgColumn[] {
  const column = (of: ColumnType, read: (value: AbiValue) => Column[number], suffix = ''): ArgColumn => ({
    name: `${name}${suffix}`,
    type: of,
    toCell: (args) => (args[arg] === undefined ? null : read(args[arg])),
  });
  switch (type.kind) {
    case 'uint':
    case 'int': {
      if (type.bits <= (type.kind === 'int' ? 64 : 56)) return [column('BIGINT', smallest)];
      const double = column('DOUBLE', Number, '_double');
      if (type.bits <= DECIMAL_BITS) return [column('DECIMAL(38,0)', (value) => value as bigint), double];
      const fits = (value: bigint): boolean => value <= MAX_DECIMAL && value >= -MAX_DECIMAL;
      return [
        column('DECIMAL(38,0)', (value) => (fits(value as bigint) ? (value as bigint) : null)),
        double,
        column('TEXT', String, '_text'),
      ];
    }
    case 'bool':
      return [column('BOOLEAN', (value) => value as boolean)];
    case 'array':
    case 'tuple':
      return [
        column('JSON', (value) =>
          JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)),
        ),
      ];
    default:
      return [textColumn(name, arg)];
  }
}

function textColumn(name: string, arg: string): ArgColumn {
  return {
    name,
    type: 'TEXT',
    toCell(args) {
      const value = args[arg];
      if (typeof value !== 'string') return null;
      return value.includes('\0') ? `0x${Buffer.from(value).toString('hex')}` : value;
    },
  };
}

/** A number if it is exact, else a bigint. */
function smallest(value: AbiValue): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : (value as bigint);
}
