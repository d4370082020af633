import type { Operation } from '@packhouse/operations';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { collect } from '../terminal/command.js';
import type { CliIo } from '../terminal/io.js';

/**
 * A field of an operation's input on the command line: `<id>` (an argument) or `--plan <name>` (an option), and its
 * description, by default that of the operation. Whether it is required, repeatable or has a default is as in the
 * operation's schema.
 */
type Field = readonly [flags: string, about?: string, how?: Reading];

interface Reading {
  /** What is read if the option is not given, unless the operation has a default. */
  usual?: string;
  /** The word for null or an empty list, if another than that of the command. */
  none?: string;
  /** The value of the field; `flag` names it in messages. */
  read?(given: string & string[], flag: string, io: CliIo): unknown;
}

export type Fields<I extends z.ZodObject = z.ZodObject> = { readonly [K in keyof z.input<I>]?: Field };

/** The input of an operation, as far as it is given. */
export type Given<I extends z.ZodObject> = { [K in keyof z.input<I>]?: z.input<I>[K] | undefined };

interface Added {
  name: string;
  /** Its name in messages: `--plan`, `The id`. */
  flag: string;
  isOption: boolean;
  /** What the command line has; undefined: nothing. */
  get(): unknown;
}

/** Fields that a command has. */
interface AddedFields<I extends z.ZodObject> {
  /** Their names in messages. */
  flags: Readonly<Record<string, string>>;
  /** Whether one of the options is given. */
  hasOption(): boolean;
  /** What is given, as the operation takes it; `none` is the word for null or an empty list. Throws what readers throw. */
  read(io: CliIo, none?: string): Promise<z.input<I>>;
}

/** Adds fields of an operation's input to a command. */
export function addFields<I extends z.ZodObject>(
  command: Command,
  { input }: Pick<Operation<I>, 'input'>,
  fields: Fields<I>,
): AddedFields<I> {
  const all = Object.entries<Field | undefined>(fields).flatMap(([name, field]) => {
    if (field === undefined) return [];
    const [flags, about, how = {}] = field;
    const schema = input.shape[name] as z.ZodType;
    const { description = '' } = schema;
    const text = about ?? `${description.charAt(0).toUpperCase()}${description.slice(1)}`;
    const add = flags.startsWith('--') ? addOption : addArgument;
    return [{ ...add(command, flags, text, schema, how.usual), name, how, schema }];
  });
  return {
    flags: Object.fromEntries(all.map(({ name, flag }) => [name, flag])),
    hasOption: () => all.some(({ isOption, get }) => isOption && get() !== undefined),
    async read(io, none) {
      const values: Record<string, unknown> = {};
      for (const { name, flag, get, how, schema } of all) {
        const given = get();
        const word = how.none ?? none;
        if (given === undefined) continue;
        if (Array.isArray(given) && given.join() === word) values[name] = [];
        else if (given === word && schema.safeParse(null).success) values[name] = null;
        else values[name] = how.read === undefined ? given : await how.read(given as never, flag, io);
      }
      return values as z.input<I>;
    },
  };
}

function addArgument(command: Command, flags: string, about: string): Omit<Added, 'name'> {
  const at = command.registeredArguments.length;
  command.argument(flags, about);
  const flag = `The ${command.registeredArguments[at]?.name()}`;
  return { flag, isOption: false, get: () => command.processedArgs[at] };
}

function addOption(
  command: Command,
  flags: string,
  about: string,
  schema: z.ZodType,
  usual?: string,
): Omit<Added, 'name'> {
  const option = new Option(flags, about);
  const { success, data } = schema.safeParse(undefined);
  if (option.required && !success && usual === undefined) option.makeOptionMandatory();
  if (option.required && !option.variadic && schema.safeParse([]).success) option.argParser(collect);
  // Some descriptions say more about their default.
  if (usual !== undefined) option.default(usual);
  else if (['string', 'number'].includes(typeof data) && !about.includes('(default'))
    option.default(String(data));
  command.addOption(option);
  return { flag: option.long ?? flags, isOption: true, get: () => command.opts()[option.attributeName()] };
}
