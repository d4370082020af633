import { listPlans, type PublicPlan, setPlan } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../../terminal/command.js';
import { counted, formatCount } from '../../terminal/format.js';
import { type CliIo, print, printRows, table } from '../../terminal/io.js';
import { orNull, usageError } from '../../terminal/parse.js';

interface SetOptions extends Place {
  perSecond?: string;
  perDay?: string;
  perMonth?: string;
  maxBlock?: string;
  maxLogRange?: string;
  method?: string[];
  new?: boolean;
}

const METHOD = /^([A-Za-z][A-Za-z0-9_]{0,63})=(none|\d+)$/;

/** `packhouse plans list|show|set`. */
export function addPlansCommand(program: Command, io: CliIo): void {
  const plans = addCommand(
    program,
    'plans',
    'List and change plans, the limits of API keys',
    'set free --per-month 2000000',
  );

  addPlacedCommand(plans, 'list', 'List plans; a call costs one unit or more').action(
    async (options: Place) => {
      await printRows(io, options, await operate(io, options, listPlans, {}), { show: planTable });
    },
  );

  addPlacedCommand(plans, 'show', 'Show a plan', 'free')
    .argument('<name>', 'Name of the plan')
    .action(async (name: string, options: Place) => {
      const rows = await operate(io, options, listPlans, {});
      const row = rows.find((each) => each.name === name);
      if (row === undefined) throw unknown(name, rows);
      await print(io, options.json ? row : planLines(row).join('\n'));
    });

  addPlacedCommand(
    plans,
    'set',
    'Change limits of a plan; they apply within a second',
    'free --per-day 50000 --method eth_getLogs=5 eth_call=20',
    'gold --new --per-second 2000 --per-month none',
  )
    .argument('<name>', 'Name: lower-case letters, digits and dashes')
    .option('--per-second <units>', 'Units per second')
    .option('--per-day <units>', 'Units per day (UTC), or none')
    .option('--per-month <units>', 'Units per calendar month (UTC), or none')
    .option('--max-block <number>', 'Last block of bundles and files, or none')
    .option('--max-log-range <blocks>', 'Most blocks of one eth_getLogs, or none')
    .option('--method <name=calls...>', 'Calls per second of a method or route, e.g. eth_getLogs=5, or none')
    .option('--new', 'Create the plan if it does not exist; the default is 25 units per second')
    .action(
      async (
        name: string,
        { perSecond, perDay, perMonth, maxBlock, maxLogRange, ...options }: SetOptions,
      ) => {
        const methods = (options.method ?? []).flatMap((text) => text.split(',')).map(methodLimit);
        const input = {
          name,
          unitsPerSecond: perSecond,
          unitsPerDay: orNull(perDay, String),
          unitsPerMonth: orNull(perMonth, String),
          maxBlock: orNull(maxBlock, String),
          maxLogRange: orNull(maxLogRange, String),
          make: options.new || undefined,
          callsPerSecond: methods.length === 0 ? undefined : Object.fromEntries(methods),
        };
        if (Object.values(input).filter((value) => value !== undefined).length === 1) {
          throw usageError(
            'No change is given.',
            'Give --per-second, --per-day, --per-month, --max-block, --max-log-range or --method.',
          );
        }
        const plan = await operate(io, options, setPlan, input);
        const lines = [...planLines(plan), 'These limits apply at every gateway within a second.'];
        await print(io, options.json ? plan : lines.join('\n'));
      },
    );
}

function methodLimit(text: string): [method: string, calls: string | null] {
  const [, method, calls] = METHOD.exec(text.trim()) ?? [];
  if (method !== undefined && calls !== undefined) return [method, calls === 'none' ? null : calls];
  throw usageError(
    `--method cannot be ${JSON.stringify(text.trim().slice(0, 100))}.`,
    'For example eth_getLogs=5, or eth_getLogs=none.',
  );
}

function unknown(name: string, plans: readonly PublicPlan[]): PackhouseError {
  return new PackhouseError({
    code: 'PLAN_UNKNOWN',
    message: `There is no plan "${name.slice(0, 64)}".`,
    hint: `Plans are ${plans.map((plan) => plan.name).join(', ')}; \`packhouse plans set <name> --new\` creates one.`,
  });
}

function planTable(rows: readonly PublicPlan[]): string {
  return table([
    ['PLAN', 'PER SECOND', 'PER DAY', 'PER MONTH', 'LAST BLOCK', 'LOG RANGE', 'CALLS PER SECOND', 'KEYS'],
    ...rows.map((plan) => [
      plan.name,
      formatCount(plan.unitsPerSecond),
      limitText(plan.unitsPerDay),
      limitText(plan.unitsPerMonth),
      limitText(plan.maxBlock, 'all'),
      limitText(plan.maxLogRange),
      methodsText(plan),
      formatCount(plan.keys),
    ]),
  ]);
}

function planLines(plan: PublicPlan): string[] {
  return [
    `Plan ${plan.name}, ${counted(plan.keys, 'key')}`,
    `  units per second:  ${formatCount(plan.unitsPerSecond)}`,
    `  units per day:     ${limitText(plan.unitsPerDay)}`,
    `  units per month:   ${limitText(plan.unitsPerMonth)}`,
    `  calls per second:  ${methodsText(plan)}`,
    `  last block:        ${limitText(plan.maxBlock, 'all')}`,
    `  blocks of logs:    ${limitText(plan.maxLogRange)}`,
  ];
}

function limitText(limit: number | null, none = 'no limit'): string {
  return limit === null ? none : formatCount(limit);
}

function methodsText({ callsPerSecond }: PublicPlan): string {
  const limits = Object.entries(callsPerSecond).map(([method, calls]) => `${method}=${formatCount(calls)}`);
  return limits.length === 0 ? '-' : limits.join(' ');
}
