import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from './cli.js';
import { memoryIo, run } from './testing/run.js';

interface Listed {
  /** `''`, `local`, `keys`, `keys create`, … */
  name: string;
  leaf: boolean;
  json: boolean;
  /** Its required arguments and options. */
  needs: string[];
}

function list(command: Command, path: string[] = []): Listed[] {
  const own = {
    name: path.join(' '),
    leaf: command.commands.length === 0,
    json: command.options.some((option) => option.long === '--json'),
    needs: command.options.flatMap((option) => (option.mandatory ? [option.long ?? '', '1'] : [])),
  };
  return [own, ...command.commands.flatMap((child) => list(child, [...path, child.name()]))];
}

const commands = list(await createProgram(memoryIo().io));
const leaves = commands.filter(({ leaf }) => leaf);
const words = (name: string): string[] => (name === '' ? [] : name.split(' '));

describe('every command', () => {
  test('is one of these', () => {
    expect(leaves.map(({ name }) => name)).toEqual([
      'local',
      'status',
      'doctor',
      'backfill quote',
      'backfill add',
      'backfill set',
      'backfill show',
      'backfill list',
      'backfill pause',
      'backfill resume',
      'backfill cancel',
      'alarms list',
      'alarms clear',
      'nodes list',
      'nodes cordon',
      'nodes uncordon',
      'workers list',
      'workers drain',
      'workers resume',
      'lake status',
      'lake pause',
      'lake resume',
      'lake set',
      'lake rebuild',
      'quarantine list',
      'quarantine show',
      'quarantine retry',
      'budget list',
      'budget set',
      'budget remove',
      'usage upstreams',
      'usage owners',
      'hooks add',
      'hooks list',
      'hooks show',
      'hooks test',
      'hooks set',
      'hooks pause',
      'hooks resume',
      'hooks remove',
      'hooks rotate',
      'notifications add',
      'notifications list',
      'notifications set',
      'notifications rotate',
      'notifications test',
      'notifications pause',
      'notifications resume',
      'notifications remove',
      'schedule add',
      'schedule list',
      'schedule run',
      'schedule pause',
      'schedule resume',
      'schedule remove',
      'schedule history',
      'audit',
      'adopt',
      'applications list',
      'applications show',
      'applications add',
      'applications set',
      'applications restrict',
      'applications archive',
      'applications restore',
      'keys create',
      'keys list',
      'keys usage',
      'keys set',
      'keys rotate',
      'keys log',
      'keys requests',
      'keys revoke',
      'operators list',
      'operators add',
      'operators set',
      'operators remove',
      'operators link',
      'operators sign-ins',
      'operators token',
      'operators drop-tokens',
      'plans list',
      'plans show',
      'plans set',
      'manifest keys',
      'manifest rotate',
      'pull',
      'feed',
      'verify',
      'migrate',
      'install',
      'completion',
      'man',
      'gateway',
      'ingester',
      'packer',
      'console',
    ]);
  });

  test.each(commands)('`packhouse $name --help` shows an example and exits 0', async ({ name }) => {
    const { code, out, err } = await run([...words(name), '--help']);
    expect(out).toMatch(/^Usage: packhouse/);
    expect(out).toMatch(/\nExamples?:\n {2}\$ .*packhouse /);
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  test.each(leaves)('`packhouse $name` takes --json', ({ json }) => {
    expect(json).toBe(true);
  });

  test.each(leaves)(
    '`packhouse $name` refuses an option that it does not have in one line',
    async ({ name, needs }) => {
      const { code, out, err } = await run([...words(name), ...needs, '--frobnicate']);
      expect(err).toMatch(/^packhouse: unknown option '--frobnicate'\. See --help\. \[USAGE\]\n$/);
      expect({ code, out }).toEqual({ code: 64, out: '' });
    },
  );
});

describe('a command line that does not fit is refused in one line with exit code 64', () => {
  test.each([
    [['pack'], /unknown command 'pack'.* \(Did you mean packer\?\) \[USAGE\]\n$/],
    [['keys', 'make'], /unknown command 'make'.*\[USAGE\]\n$/],
    [['local', '--onec'], /unknown option '--onec' \(Did you mean --once\?\) \[USAGE\]\n$/],
    [['keys', 'create'], /required option '--application <name>' not specified\. See --help\. \[USAGE\]\n$/],
    [['backfill', 'pause'], /missing required argument 'id'\. See --help\. \[USAGE\]\n$/],
    [['local', '--port'], /option '--port <port>' argument missing\. See --help\. \[USAGE\]\n$/],
    [['status', 'now'], /too many arguments for 'status'.*\[USAGE\]\n$/],
  ])('%j', async (args, line) => {
    const { code, out, err } = await run(args as string[]);
    expect(err).toMatch(line as RegExp);
    expect(err).toMatch(/^packhouse: [^\n]*\n$/);
    expect({ code, out }).toEqual({ code: 64, out: '' });
  });

  test('nothing at all shows the help', async () => {
    const { code, err } = await run([]);
    expect(err).toMatch(/^Usage: packhouse/);
    expect(code).toBe(64);
  });
});
