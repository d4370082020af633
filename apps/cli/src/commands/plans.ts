import { listPlans, type PublicPlan, setPlan } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { counted, formatCount } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { parseInteger } from '../terminal/parse.js';
import { withPlace } from '../terminal/place.js';

interface Options {
  server?: string;
  json?: boolean;
  dataDir?: string;
}

interface SetOptions extends Options {
  perSecond?: string;
  perDay?: string;
  perMonth?: string;
  maxBlock?: string;
  method?: string[];
  new?: boolean;
}

const MAX_PER_SECOND = 1_000_000_000;
const MAX_UNITS = 1_000_000_000_000_000;
const METHOD = /^([A-Za-z][A-Za-z0-9_]{0,63})=(none|\d+)$/;
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** `packhouse plans list|show|set`. */
export function addPlansCommand(program: Command, io: CliIo): void {
  const plans = program
    .command('plans')
    .description('list and change the limits of API keys')
    .addHelpText('after', '\nExample:\n  $ packhouse plans set free --per-month 2000000');

  withPlace(plans.command('list'))
    .description('list the plans; a call costs one unit or more')
    .addHelpText('after', '\nExample:\n  $ packhouse plans list')
    .action(async (options: Options) => {
      const rows = await operate(io, options, listPlans, {});
      if (options.json) for (const row of rows) await print(io, row);
      else await print(io, planTable(rows));
    });

  withPlace(plans.command('show'))
    .description('show one plan')
    .argument('<name>', 'its name')
    .addHelpText('after', '\nExample:\n  $ packhouse plans show free')
    .action(async (name: string, options: Options) => {
      const rows = await operate(io, options, listPlans, {});
      const row = rows.find((each) => each.name === name);
      if (row === undefined) throw unknown(name, rows);
      if (options.json) await print(io, row);
      else for (const line of planLines(row)) await print(io, line);
    });

  withPlace(plans.command('set'))
    .description('change limits of a plan: every gateway has them within a second')
    .argument('<name>', 'its name: lower-case letters, digits and dashes')
    .option('--per-second <units>', 'units a second')
    .option('--per-day <units>', 'units a day (UTC), or none for no limit')
    .option('--per-month <units>', 'units a calendar month (UTC), or none')
    .option('--max-block <number>', 'the last block of bundles and files, or none for all')
    .option(
      '--method <name=calls...>',
      'calls a second of a method or route, e.g. eth_getLogs=5; =none ends it',
    )
    .option('--new', 'make the plan if there is none: 25 units a second where nothing is said')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse plans set free --per-day 50000 --method eth_getLogs=5 eth_call=20\n  $ packhouse plans set gold --new --per-second 2000 --per-month none',
    )
    .action(async (name: string, options: SetOptions) => {
      if (!NAME.test(name)) {
        throw new PackhouseError({
          code: 'USAGE',
          message: `A plan has a name of 1 to 32 lower-case letters, digits and dashes, got "${name.slice(0, 64)}".`,
        });
      }
      const change = changeOf(options);
      const methods = (options.method ?? []).flatMap((text) => text.split(',')).map(methodLimit);
      if (Object.keys(change).length === 0 && methods.length === 0 && options.new !== true) {
        throw new PackhouseError({
          code: 'USAGE',
          message: 'Nothing is to be changed.',
          hint: 'Give --per-second, --per-day, --per-month, --max-block or --method.',
        });
      }
      const plan = await operate(io, options, setPlan, {
        ...{ name, ...change, make: options.new === true },
        ...(methods.length === 0 ? {} : { callsPerSecond: Object.fromEntries(methods) }),
      });
      if (options.json) await print(io, plan);
      else {
        for (const line of planLines(plan)) await print(io, line);
        await print(io, 'Every gateway has these limits within a second.');
      }
    });
}

function changeOf(options: SetOptions): Partial<Omit<PublicPlan, 'name' | 'keys' | 'callsPerSecond'>> {
  const { perSecond, perDay, perMonth, maxBlock } = options;
  return {
    ...(perSecond === undefined
      ? {}
      : { unitsPerSecond: parseInteger(perSecond, '--per-second', 1, MAX_PER_SECOND) }),
    ...(perDay === undefined ? {} : { unitsPerDay: limitOf(perDay, '--per-day', 1) }),
    ...(perMonth === undefined ? {} : { unitsPerMonth: limitOf(perMonth, '--per-month', 1) }),
    ...(maxBlock === undefined ? {} : { maxBlock: limitOf(maxBlock, '--max-block', 0) }),
  };
}

function limitOf(text: string, option: string, min: number): number | null {
  if (text === 'none') return null;
  return parseInteger(text.replace(/(?<=\d)[_,](?=\d{3})/g, ''), option, min, MAX_UNITS);
}

function methodLimit(text: string): [method: string, calls: number | null] {
  const [, method, calls] = METHOD.exec(text.trim()) ?? [];
  if (method !== undefined && calls !== undefined) {
    return [method, calls === 'none' ? null : parseInteger(calls, '--method', 1, MAX_PER_SECOND)];
  }
  throw new PackhouseError({
    code: 'USAGE',
    message: `--method cannot be ${JSON.stringify(text.trim().slice(0, 100))}.`,
    hint: 'It takes the form of eth_getLogs=5, or eth_getLogs=none.',
  });
}

function unknown(name: string, plans: readonly PublicPlan[]): PackhouseError {
  return new PackhouseError({
    code: 'PLAN_UNKNOWN',
    message: `There is no plan "${name.slice(0, 64)}".`,
    hint: `Plans are ${plans.map((plan) => plan.name).join(', ')}; \`packhouse plans set <name> --new\` makes one.`,
  });
}

function planTable(rows: readonly PublicPlan[]): string {
  return table([
    ['PLAN', 'A SECOND', 'A DAY', 'A MONTH', 'TO BLOCK', 'CALLS A SECOND', 'KEYS'],
    ...rows.map((plan) => [
      plan.name,
      formatCount(plan.unitsPerSecond),
      limitText(plan.unitsPerDay),
      limitText(plan.unitsPerMonth),
      limitText(plan.maxBlock, 'all'),
      methodsText(plan),
      formatCount(plan.keys),
    ]),
  ]);
}

function planLines(plan: PublicPlan): string[] {
  return [
    `Plan ${plan.name}, ${counted(plan.keys, 'key')}`,
    `  units a second:  ${formatCount(plan.unitsPerSecond)}`,
    `  units a day:     ${limitText(plan.unitsPerDay)}`,
    `  units a month:   ${limitText(plan.unitsPerMonth)}`,
    `  calls a second:  ${methodsText(plan)}`,
    `  up to block:     ${limitText(plan.maxBlock, 'all')}`,
  ];
}

function limitText(limit: number | null, none = 'no limit'): string {
  return limit === null ? none : formatCount(limit);
}

function methodsText({ callsPerSecond }: PublicPlan): string {
  const limits = Object.entries(callsPerSecond).map(([method, calls]) => `${method}=${formatCount(calls)}`);
  return limits.length === 0 ? '-' : limits.join(' ');
}
