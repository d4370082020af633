import type { Operation } from '@packhouse/operations';
import type { Command } from 'commander';
import type { z } from 'zod';
import { addCommand, describeCommand, type Place, withPlace } from '../terminal/command.js';
import { type CliIo, print } from '../terminal/io.js';
import { usageError } from '../terminal/parse.js';
import { type Columns, columnTable } from '../terminal/table.js';
import { operate, readAllRows } from './operate.js';
import { addFields, type Fields, type Given } from './operation-fields.js';

type Text = string | readonly string[];

/** Where a command works. */
interface There extends Place {
  io: CliIo;
  /** Runs another operation there. */
  run<I extends z.ZodObject, O>(operation: Operation<I, O>, input: z.input<I>): Promise<O>;
}

/** A command that runs an operation. */
interface CommandSpec<I extends z.ZodObject> {
  about: string;
  /** What follows its name in examples. */
  examples?: readonly string[];
  fields?: Fields<I>;
  /** Values of fields that the command line does not have. */
  fixed?: Given<I>;
  /** The word for null or an empty list. */
  none?: string;
  /** The input, if it is not what is given. */
  toInput?(given: Given<I>, there: There): Given<I> | Promise<Given<I>>;
  /** The hint if no option is given; without it, none has to be. */
  change?: string;
  /** Whether it runs if only the group is named. */
  isDefault?: boolean;
}

interface OneSpec<I extends z.ZodObject, O, R> extends CommandSpec<I> {
  /** What is printed as JSON and said; default: the result. */
  toRow?(result: O, given: Given<I>, there: There): R | Promise<R>;
  say(row: R, given: Given<I>, there: There): Text | Promise<Text>;
}

interface ListSpec<I extends z.ZodObject, O, R> extends CommandSpec<I> {
  /** The rows that are printed; default: the result, or its `rows`. */
  toRows?(result: O, given: Given<I>): readonly R[];
  /** What is said if there are none. */
  empty?: string | ((given: Given<I>, result: O) => string);
  columns?: Columns<R>;
  /** Rows as text, in place of `columns`. */
  show?(rows: readonly R[], given: Given<I>, result: O, there: There): Text | Promise<Text>;
}

/** The rows of a result. */
type RowOf<O> = O extends readonly (infer R extends object)[]
  ? R
  : O extends { rows: readonly (infer R extends object)[] }
    ? R
    : never;

/** Adds a command of this name to a group. */
type AddToGroup = (group: Command, io: CliIo, name: string) => unknown;

/** A group of commands on one resource, in the order of its help: what adds it to the program. */
export function resource(
  name: string,
  about: string,
  example: string,
  commands: Readonly<Record<string, AddToGroup>>,
): (program: Command, io: CliIo) => void {
  return (program, io) => {
    const group = addCommand(program, name, about, example);
    for (const [each, add] of Object.entries(commands)) add(group, io, each);
  };
}

/** A command that prints one object. */
export function one<I extends z.ZodObject, O extends object, R extends object = O>(
  operation: Operation<I, O>,
  spec: OneSpec<I, O, R>,
): AddToGroup {
  return operated(operation, spec, async (result, given, there) => {
    const row = spec.toRow === undefined ? (result as never) : await spec.toRow(result, given, there);
    if (there.json) await print(there.io, row);
    else await print(there.io, toText(await spec.say(row, given, there)));
  });
}

/** A command that prints rows: all pages, unless it has options for them. */
export function list<I extends z.ZodObject, O extends object, R extends object = RowOf<O>>(
  operation: Operation<I, O>,
  spec: ListSpec<I, O, R>,
): AddToGroup {
  const { columns = {}, empty, show } = spec;
  return operated(operation, spec, async (result, given, there) => {
    const { io } = there;
    const rows: readonly R[] = spec.toRows?.(result, given) ?? getRows(result);
    if (there.json) {
      for (const row of rows) await print(io, row);
      return;
    }
    const none = typeof empty === 'function' ? empty(given, result) : empty;
    if (rows.length === 0 && none !== undefined) await print(io, none);
    else await print(io, toText((await show?.(rows, given, result, there)) ?? columnTable(rows, columns)));
  });
}

/** The rows of a result: `RowOf` has their type. */
function getRows(result: object): readonly never[] {
  return (Array.isArray(result) ? result : (result as { rows?: unknown }).rows) as never[];
}

const toText = (text: Text): string => (typeof text === 'string' ? text : text.join('\n'));

function operated<I extends z.ZodObject, O>(
  operation: Operation<I, O>,
  spec: CommandSpec<I>,
  end: (result: O, given: Given<I>, there: There) => Promise<void>,
): AddToGroup {
  const { about, change, examples = [''], isDefault = false, none } = spec;
  return (group, io, name) => {
    const command = group.command(name, { isDefault });
    const path = `packhouse ${group.name()} ${name}`;
    describeCommand(command, about, ...examples.map((rest) => `${path} ${rest}`.trimEnd()));
    const fields = addFields(command, operation, spec.fields ?? {});
    withPlace(command).action(async () => {
      const place = command.opts<Place>();
      if (change !== undefined && !fields.hasOption()) throw usageError('No change is given.', change);
      const there: There = { ...place, io, run: (other, input) => operate(io, place, other, input) };
      const asked: Given<I> = { ...spec.fixed, ...(await fields.read(io, none)) };
      const given = (await spec.toInput?.(asked, there)) ?? asked;
      const { shape } = operation.input;
      const hasPages = 'after' in shape && 'limit' in shape && !('limit' in given);
      const result = hasPages
        ? ({ rows: await readAllRows(io, place, operation as never, given as never, fields.flags) } as O)
        : await operate(io, place, operation, given as z.input<I>, fields.flags);
      await end(result, given, there);
    });
  };
}
