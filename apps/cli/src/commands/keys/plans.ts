import { listPlans, type PublicPlan, setPlan } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import { operate } from '../../installation/operate.js';
import { list, one, resource } from '../../installation/resource.js';
import { addPlacedCommand, type Place } from '../../terminal/command.js';
import { counted, formatCount } from '../../terminal/format.js';
import { print } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';

const METHOD = /^([A-Za-z][A-Za-z0-9_]{0,63})=(none|\d+)$/;

export const addPlansCommand = resource(
  'plans',
  'List and change plans, the limits of API keys',
  'set free --per-month 2000000',
  {
    list: list(listPlans, {
      about: 'List plans; a call costs one unit or more',
      columns: {
        PLAN: (plan) => plan.name,
        'PER SECOND': (plan) => formatCount(plan.unitsPerSecond),
        'PER DAY': (plan) => limitText(plan.unitsPerDay),
        'PER MONTH': (plan) => limitText(plan.unitsPerMonth),
        'LAST BLOCK': (plan) => limitText(plan.maxBlock, 'all'),
        'LOG RANGE': (plan) => limitText(plan.maxLogRange),
        'CALLS PER SECOND': methodsText,
        KEYS: (plan) => formatCount(plan.keys),
      },
    }),
    show: (group, io, name) =>
      addPlacedCommand(group, name, 'Show a plan', 'free')
        .argument('<name>', 'Name of the plan')
        .action(async (plan: string, options: Place) => {
          const rows = await operate(io, options, listPlans, {});
          const row = rows.find((each) => each.name === plan);
          if (row === undefined) throw unknown(plan, rows);
          await print(io, options.json ? row : planLines(row).join('\n'));
        }),
    set: one(setPlan, {
      about: 'Change limits of a plan; they apply within a second',
      examples: [
        'free --per-day 50000 --method eth_getLogs=5 eth_call=20',
        'gold --new --per-second 2000 --per-month none',
      ],
      none: 'none',
      change: 'Give --per-second, --per-day, --per-month, --max-block, --max-log-range or --method.',
      fields: {
        name: ['<name>', 'Name: lower-case letters, digits and dashes'],
        unitsPerSecond: ['--per-second <units>', 'Units per second'],
        unitsPerDay: ['--per-day <units>', 'Units per day (UTC), or none'],
        unitsPerMonth: ['--per-month <units>', 'Units per calendar month (UTC), or none'],
        maxBlock: ['--max-block <number>', 'Last block of bundles and files, or none'],
        maxLogRange: ['--max-log-range <blocks>', 'Most blocks of one eth_getLogs, or none'],
        callsPerSecond: [
          '--method <name=calls...>',
          'Calls per second of a method or route, e.g. eth_getLogs=5, or none',
          { read: parseMethods },
        ],
        make: ['--new', 'Create the plan if it does not exist; the default is 25 units per second'],
      },
      say: (plan) => [...planLines(plan), 'These limits apply at every gateway within a second.'],
    }),
  },
);

function parseMethods(texts: readonly string[]): Record<string, string | null> {
  const limits = texts
    .flatMap((text) => text.split(','))
    .map((text) => {
      const [, method, calls] = METHOD.exec(text.trim()) ?? [];
      if (method !== undefined && calls !== undefined) return [method, calls === 'none' ? null : calls];
      throw usageError(
        `--method cannot be ${JSON.stringify(text.trim().slice(0, 100))}.`,
        'For example eth_getLogs=5, or eth_getLogs=none.',
      );
    });
  return Object.fromEntries(limits);
}

function unknown(name: string, plans: readonly PublicPlan[]): PackhouseError {
  return new PackhouseError({
    code: 'PLAN_UNKNOWN',
    message: `There is no plan "${name.slice(0, 64)}".`,
    hint: `Plans are ${plans.map((plan) => plan.name).join(', ')}; \`packhouse plans set <name> --new\` creates one.`,
  });
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
