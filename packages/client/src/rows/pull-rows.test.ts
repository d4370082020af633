import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Match } from '@packhouse/rows';
import { toSchema } from '@packhouse/rows';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gatewayAddress } from '../fetch/gateway-address.js';
import { createHttp } from '../fetch/http.js';
import { openMirror, planMirror } from '../mirror/mirror.js';
import { parseBound } from '../mirror/range.js';
import { stateFolder } from '../sinks/folder-sink.js';
import { openSink, type SinkTarget } from '../sinks/open-sink.js';
import type { Sink } from '../sinks/sink.js';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { findReplaced, pullRows } from './pull-rows.js';

let gateway: TestGateway;
let folder: PullFolder;
/** Closed at the end only: a process that is killed closes nothing. */
const sinks: Sink[] = [];
beforeEach(async () => {
  gateway = await startTestGateway();
  for (let start = 0; start < 100; start += 10) publish(start);
  folder = await makePullFolder();
});
afterEach(async () => {
  for (const sink of sinks.splice(0)) await sink.close();
  await gateway.close();
  await folder.remove();
});

/** Ten blocks of three logs each. */
function publish(start: number): void {
  gateway.publish(start, start + 9, {}, toLogs(start));
}

function toLogs(start: number): string {
  const blocks = Array.from({ length: 10 }, (_, i) =>
    [0, 1, 2].map((index) => ({
      removed: false,
      logIndex: `0x${index}`,
      transactionIndex: '0x0',
      data: '0x',
      transactionHash: `0x${'3'.repeat(64)}`,
      blockHash: `0x${'4'.repeat(64)}`,
      blockNumber: `0x${(start + i).toString(16)}`,
      address: `0x${String(index).repeat(40)}`,
      topics: [],
    })),
  );
  return JSON.stringify(blocks);
}

interface Asked {
  from?: string;
  to?: string;
  match?: Match;
  partition?: number;
  keep?: boolean;
  partial?: boolean;
  /** Rows of a commit, and bytes. */
  commitRows?: number;
  commitBytes?: number;
  /** Called before each commit; an error ends the pull as a kill would. */
  beforeCommit?(sink: Sink): void | Promise<void>;
}

async function pull(target: SinkTarget, asked: Asked = {}): Promise<Sink> {
  const { url, apiKey, kind } = gateway;
  const { match = {}, partition, keep = false, partial, commitRows = 70 } = asked;
  const bytes = asked.commitBytes === undefined ? {} : { commitBytes: asked.commitBytes };
  const http = createHttp({ apiKey, onWait: () => undefined, sleep: async () => undefined });
  const address = gatewayAddress(url, apiKey);
  const signal = new AbortController().signal;
  const mirror = await openMirror({ folder: folder.at('work'), kind, address, http, signal });
  try {
    const schema = toSchema(kind);
    const origin = { base: address.base, kind, schema: schema.name, match };
    const opened = await openSink(target, { schema, origin, network: 'ethereum' });
    sinks.push(opened);
    const sink: Sink = {
      ...opened,
      state: opened.state,
      commitRows,
      async commit(blocks) {
        await asked.beforeCommit?.(opened);
        await opened.commit(blocks);
      },
    };
    await findReplaced(mirror, opened);
    const plan = await planMirror(mirror, {
      from: asked.from === undefined ? undefined : parseBound(asked.from, 'from'),
      to: asked.to === undefined ? undefined : parseBound(asked.to, 'to'),
      partial,
      has: sink.state.done,
      passing: !keep,
    });
    for await (const _ of pullRows({ mirror, plan, sink, match, keep, partition, ...bytes }));
    await opened.close();
    return sink;
  } finally {
    await mirror.close();
    await http.close();
  }
}

const csv = (partition?: number): SinkTarget => ({ format: 'csv', folder: folder.at('out'), partition });
const files = async (): Promise<string[]> =>
  (await readdir(folder.at('out'), { recursive: true })).filter((name) => name.endsWith('.csv')).sort();
const beside = (...names: string[]): string => folder.at('_out.packhouse', ...names);

/** Block and index of every row in the folder, in the order of files and lines. */
async function rows(): Promise<string[]> {
  const texts = await Promise.all((await files()).map((name) => readFile(folder.at('out', name), 'utf8')));
  return texts.flatMap((text) => {
    const [, ...lines] = text.trimEnd().split('\n');
    return lines.map((line) => {
      const cells = line.split(',');
      return `${cells[0]?.padStart(3, '0')}:${cells[5]}`;
    });
  });
}
const expected = (start: number, end: number): string[] =>
  Array.from({ length: (end - start + 1) * 3 }, (_, i) => {
    return `${String(start + Math.floor(i / 3)).padStart(3, '0')}:${i % 3}`;
  });

it('puts every row of the range into files of whole bundles, and removes the bundles', async () => {
  const sink = await pull(csv(), { from: '5', to: '84' });
  expect(await files()).toEqual([
    'logs-0000000005-0000000029.csv',
    'logs-0000000030-0000000059.csv',
    'logs-0000000060-0000000084.csv',
  ]);
  expect((await rows()).sort()).toEqual(expected(5, 84));
  expect(sink.state).toMatchObject({ rows: 240, done: [{ firstBlock: 5, lastBlock: 84 }] });
  expect(await readdir(folder.at('work', 'logs'))).toEqual([]);
});

it('asks once when all is there, and a wider range adds what is missing', async () => {
  await pull(csv(), { from: '20', to: '55' });
  gateway.requests.length = 0;
  await pull(csv(), { from: '20', to: '55' });
  expect(gateway.requests).toEqual(['/ethereum/v1/bundle-api/manifest/head']);
  await pull(csv(), { from: '10', to: '69', keep: true });
  expect((await rows()).sort()).toEqual(expected(10, 69));
  // Bundles whose rows were there are not asked for again.
  const asked = gateway.requests.filter((path) => path.includes('/files/logs/'));
  expect(asked.map((path) => /(\d+)-/.exec(path)?.[1]).sort()).toEqual(['10', '50', '60']);
  expect((await readdir(folder.at('work', 'logs'))).length).toBe(3);
});

it('killed before, between and after the steps of any commit: no row twice, none missing', async () => {
  const killed = new Error('killed');
  for (const left of [0, 1, 2]) {
    let commits = left;
    const end = pull(csv(), {
      beforeCommit: () => {
        if (commits-- === 0) throw killed;
      },
    });
    await expect(end).rejects.toBe(killed);
  }
  const bundles = (): Promise<string[]> => readdir(folder.at('work', 'logs'));
  expect((await bundles()).length).toBeGreaterThan(0);
  // A bundle whose rows were committed, and that was not removed any more.
  await writeFile(folder.at('work', 'logs', '0-9.json.gz'), 'read');
  // A file that got its name, and was not recorded.
  await writeFile(folder.at('out', 'logs-0000000090-0000000099.csv'), 'half');
  const state = JSON.parse(await readFile(beside('_packhouse-rows.json'), 'utf8')) as object;
  const naming = { firstBlock: 90, lastBlock: 99 };
  await writeFile(beside('_packhouse-rows.json'), JSON.stringify({ ...state, naming }));
  await pull(csv());
  expect((await rows()).sort()).toEqual(expected(0, 99));
  expect(await readdir(beside())).toEqual(['_packhouse-rows.json']);
  expect(await bundles()).toEqual([]);
});

it('cuts files where partitions begin', async () => {
  await pull(csv(25), { partition: 25, from: '10', to: '59' });
  expect(await files()).toEqual(
    ['0/logs-0000000010-0000000024', '25/logs-0000000025-0000000049', '50/logs-0000000050-0000000059'].map(
      (name) => `network=ethereum/kind=logs/from=${name}.csv`,
    ),
  );
  expect((await rows()).sort()).toEqual(expected(10, 59));
  await expect(pull(csv(50), { partition: 50 })).rejects.toMatchObject({ code: 'TARGET_MISMATCH' });
});

it('only rows of a match, and a block without any is done too', async () => {
  const sink = await pull(csv(), { match: { addresses: [`0x${'1'.repeat(40)}`] } });
  expect((await rows()).sort()).toEqual(expected(0, 99).filter((row) => row.endsWith(':1')));
  expect(sink.state.done).toEqual([{ firstBlock: 0, lastBlock: 99 }]);
  await expect(pull(csv())).rejects.toMatchObject({
    code: 'TARGET_MISMATCH',
    message: expect.stringContaining('has rows of match {"addresses":["0x1111'),
  });
});

it('commits after so many bytes of files too, though hardly a row is wanted', async () => {
  const commits: number[] = [];
  const beforeCommit = async (): Promise<void> => {
    commits.push((await readdir(folder.at('work', 'logs'))).length);
  };
  const match = { addresses: [`0x${'7'.repeat(40)}`] };
  const sink = await pull(csv(), { match, beforeCommit, commitBytes: 1 });
  expect(commits).toHaveLength(10);
  expect(sink.state).toMatchObject({ rows: 0, done: [{ firstBlock: 0, lastBlock: 99 }] });
});

it('without any row there is one file, with the names of the columns', async () => {
  await pull(csv(), { match: { addresses: [`0x${'7'.repeat(40)}`] } });
  expect(await files()).toEqual(['logs-0000000000-0000000099.csv']);
  expect(await readFile(folder.at('out', 'logs-0000000000-0000000099.csv'), 'utf8')).toMatch(
    /^block_number,.*,extra\n$/,
  );
});

it('a folder with rows of another format is refused, and nothing is added to it', async () => {
  await pull(csv(), { to: '19' });
  const before = await readdir(folder.at('out'));
  const jsonl = pull({ format: 'jsonl', folder: folder.at('out') });
  await expect(jsonl).rejects.toMatchObject({
    code: 'TARGET_MISMATCH',
    message: expect.stringContaining('has rows as csv; this pull writes jsonl'),
  });
  expect(await readdir(folder.at('out'))).toEqual(before);
});

it('leaves out what is not published, and adds it once it is', async () => {
  publish(110);
  await expect(pull(csv())).rejects.toMatchObject({ code: 'RANGE_INCOMPLETE' });
  const sink = await pull(csv(), { partial: true });
  expect(sink.state.done).toEqual([
    { firstBlock: 0, lastBlock: 99 },
    { firstBlock: 110, lastBlock: 119 },
  ]);
  publish(100);
  await pull(csv());
  expect((await rows()).sort()).toEqual(expected(0, 119));
});

it('leaves out a faulty file, and has its rows after it is right', async () => {
  const right = gateway.files.get('30-39') as Buffer;
  gateway.files.set('30-39', Buffer.from('nonsense'));
  const sink = await pull(csv());
  expect(sink.state.done).toEqual([
    { firstBlock: 0, lastBlock: 29 },
    { firstBlock: 40, lastBlock: 99 },
  ]);
  gateway.files.set('30-39', right);
  await pull(csv());
  expect((await rows()).sort()).toEqual(expected(0, 99));
});

it('a folder whose state is gone is refused, and nothing in it is removed', async () => {
  await pull(csv(), { to: '19' });
  await rm(beside(), { recursive: true });
  await expect(pull(csv())).rejects.toMatchObject({
    code: 'TARGET_MISMATCH',
    message: expect.stringContaining(`has logs-0000000000-0000000019.csv, and there is no ${beside()}`),
  });
  expect(await files()).toEqual(['logs-0000000000-0000000019.csv']);
});

it('makes a file again that is gone, and refuses one that was changed', async () => {
  await pull(csv(), { to: '59' });
  const [first, second] = await files();
  await rm(folder.at('out', second as string));
  gateway.requests.length = 0;
  const sink = await pull(csv(), { to: '59' });
  expect(sink.state).toMatchObject({ rows: 180, done: [{ firstBlock: 0, lastBlock: 59 }] });
  expect((await rows()).sort()).toEqual(expected(0, 59));
  expect(gateway.requests.filter((each) => each.includes('/files/logs/'))).toHaveLength(3);
  await appendFile(folder.at('out', first as string), 'more');
  await expect(pull(csv(), { to: '59' })).rejects.toMatchObject({
    code: 'TARGET_MISMATCH',
    message: expect.stringMatching(/logs-0000000000-0000000029\.csv was changed: it has \d+ bytes, and was/),
  });
});

it('a pull around another one, or within it, leaves its files and those of others alone', async () => {
  const nested = { format: 'csv' as const, folder: folder.at('out', 'within') };
  await pull(nested, { from: '20', to: '49' });
  const of = async (at: string): Promise<string[]> =>
    (await readdir(folder.at(at))).filter((name) => name.endsWith('.csv'));
  const inner = await of('out/within');
  expect(inner).toHaveLength(1);
  await pull(csv(), { to: '29' });
  await writeFile(folder.at('out', 'logs-5-9.csv'), 'of somebody');
  await writeFile(folder.at('out', 'logs-500-900.csv.part'), 'of somebody');
  await pull(csv(), { to: '59' });
  await pull(nested, { from: '20', to: '59' });
  expect(await of('out/within')).toEqual([...inner, 'logs-0000000050-0000000059.csv']);
  expect(await of('out')).toHaveLength(3);
  expect(await readdir(folder.at('out'))).toContain('logs-500-900.csv.part');
  // Never written over either.
  await writeFile(folder.at('out', 'logs-0000000060-0000000069.csv'), 'of somebody');
  await expect(pull(csv(), { to: '69' })).rejects.toMatchObject({
    code: 'TARGET_MISMATCH',
    message: expect.stringContaining('logs-0000000060-0000000069.csv, which is not of this pull'),
  });
  expect(await readFile(folder.at('out', 'logs-0000000060-0000000069.csv'), 'utf8')).toBe('of somebody');
});

it('keeps its state within a folder that nothing can be written beside', () => {
  expect(stateFolder(folder.at('out'))).toBe(beside());
  expect(stateFolder('/')).toBe('/_packhouse');
  expect(stateFolder('/dev')).toBe('/dev/_packhouse');
});

it('knows which of its rows are of a bundle that was published again since', async () => {
  expect((await pull(csv(), { to: '49' })).state.replaced).toEqual([]);
  const publishAgain = (start: number): void => {
    const { sha256 } = gateway.entries[start / 10] as (typeof gateway.entries)[number];
    gateway.publish(start, start + 9, { version: 2, supersedes: sha256 }, toLogs(start));
  };
  publishAgain(20);
  publishAgain(70);
  const stale = [{ firstBlock: 20, lastBlock: 29 }];
  // Nothing is missing: it says so each time.
  expect((await pull(csv(), { to: '49' })).state.replaced).toEqual(stale);
  expect((await pull(csv(), { to: '49' })).state.replaced).toEqual(stale);
  // The rows of 70-79 are of the second version.
  expect((await pull(csv())).state.replaced).toEqual(stale);
  expect((await pull(csv())).state.replaced).toEqual(stale);
  expect((await rows()).sort()).toEqual(expected(0, 99));
});

it('writes to a stream in the order of the chain', async () => {
  let text = '';
  const write = async (more: string): Promise<void> => {
    text += more;
  };
  await pull({ format: 'jsonl', write }, { from: '95' });
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map((line) => `0${line.block_number}:${line.log_index}`)).toEqual(expected(95, 99));
  expect(lines[0]).toMatchObject({ topic0: null, data: '0x', removed: false, extra: null });
});
