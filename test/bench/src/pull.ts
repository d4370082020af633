import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type CheckTask, checkFiles, createClient } from '@packhouse/client';
import type { Scope } from '@packhouse/local';
import { getOutput, median, readProcess } from '@packhouse/rig';
import { compileAbi } from '@packhouse/rows';
import { getOrAdd } from '@packhouse/runtime';
import { runChild } from './child.js';
import { findProgram } from './find-program.js';
import type { BenchOptions } from './options.js';
import { type Published, startPublished, startPull } from './published.js';
import type { BenchOutcome } from './result.js';
import { type Sample, samples } from './sample.js';

const KIND = 'traces';
const ROUNDS = 3;
const CHECK_ROUNDS = 3;
const SHARE = 0.95;
const VERIFY_MB = 150;
const DECODE_ROUNDS = 20;
const SAMPLE_MS = 50;
const ABSENT = '0x00000000000000000000000000000000c0ffee00';

/**
 * What a user pulls: a mirror against curl, wget and a loop of the same files from the same gateway, the check of the
 * files in one thread, logs as Parquet, and their decoding.
 */
export async function benchPull({ scope, say, blocks }: BenchOptions): Promise<BenchOutcome[]> {
  const sample = samples().at(-1) as Sample;
  const gateway = await startPublished(scope, sample, blocks, [KIND, 'logs']);
  say(`  ${sample.name}: ${gateway.links.length} files of ${KIND} published`);
  const outcomes = [
    ...(await mirrors(scope, gateway, sample)),
    ...(await checks(gateway, sample)),
    ...(await tables(scope, gateway, sample)),
    await decoding(sample),
  ];
  return outcomes;
}

/** A way to get all files into a folder; its time includes the start of its program. */
interface Way {
  name: string;
  program: string;
  run(folder: string): Promise<void>;
}

async function mirrors(scope: Scope, published: Published, sample: Sample): Promise<BenchOutcome[]> {
  const { apiKey, links, directory } = published;
  const header = `Authorization: Bearer ${apiKey}`;
  const list = path.join(directory, 'links');
  await writeFile(list, links.map((link) => `${link}\n`).join(''));
  await writeFile(`${list}.curl`, links.map((link) => `url = ${link}\n`).join(''));
  const child = async (program: string, args: string[], cwd: string): Promise<void> =>
    void (await runChild(scope, program, args, { cwd }));
  const curl = ['-sS', '--fail', '-H', header];
  const parallel = ['-Z', '--parallel-max', '8', '--no-progress-meter', '--remote-name-all'];
  const ways: Way[] = [
    {
      name: 'curl, 8 at a time',
      program: 'curl',
      run: (cwd) => child('curl', [...curl, ...parallel, '-K', `${list}.curl`], cwd),
    },
    {
      name: 'wget',
      program: 'wget',
      run: (cwd) => child('wget', ['-q', '--header', header, '-i', list], cwd),
    },
    {
      name: 'a loop of curl',
      program: 'curl',
      run: (cwd) =>
        child(
          'sh',
          [
            '-c',
            `while read -r link; do curl -sS --fail -H "$1" -O "$link" || exit 1; done < "$2"`,
            'sh',
            header,
            list,
          ],
          cwd,
        ),
    },
  ];
  const pull: Way = {
    name: 'packhouse pull',
    program: 'node',
    run: async (cwd) =>
      void (await getOutput(startPull(scope, published, ['--kinds', KIND, '--out', '.'], cwd))),
  };
  const missing: BenchOutcome[] = [];
  const present = [pull];
  for (const way of ways) {
    if ((await findProgram(way.program)) !== null) present.push(way);
    else missing.push({ name: `mirror beside ${way.name}`, skipped: `${way.program} is not installed` });
  }
  const seconds = new Map<string, number[]>();
  /** Pulls with nothing left to do: what the start of the program takes. */
  const again: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [at, way] of present.entries()) {
      const folder = path.join(directory, `round-${round}-${at}`);
      await mkdir(folder);
      const startedAt = performance.now();
      await way.run(folder);
      // The first round warms the gateway.
      if (round > 0)
        seconds.set(way.name, [...(seconds.get(way.name) ?? []), (performance.now() - startedAt) / 1_000]);
      const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.json.gz'));
      if (files.length !== links.length)
        throw new Error(`${way.name} brought ${files.length} of ${links.length} files`);
      if (way !== pull || round === 0) continue;
      const againAt = performance.now();
      await pull.run(folder);
      again.push((performance.now() - againAt) / 1_000);
    }
  }
  const bytes = await getSize(links, apiKey);
  const speed = (way: Way): number => bytes / 1e6 / median(seconds.get(way.name) as number[]);
  const note = `${links.length} files of ${sample.name}, ${(bytes / 1e6).toFixed(0)} MB, gateway and client on this machine; median of ${ROUNDS} rounds, starts of the programs included; pull also hashes, checks the signed manifest and syncs each file to the disk`;
  return [
    ...present.slice(1).map((way, at): BenchOutcome => {
      const goal =
        at === 0 ? { target: `at least ${SHARE * 100} %`, met: speed(pull) >= SHARE * speed(way) } : {};
      return {
        name: `mirror, beside ${way.name}`,
        value: speed(pull),
        unit: 'MB/s',
        yardstick: { name: way.name, value: speed(way), unit: 'MB/s' },
        ...goal,
        ...(at === 0 ? { note, data: Object.fromEntries(seconds) } : {}),
      };
    }),
    {
      name: 'pull with nothing left to do',
      value: median(again),
      unit: 's',
      note: `the rest of a pull, without it, brought ${(bytes / 1e6 / (median(seconds.get(pull.name) as number[]) - median(again))).toFixed(0)} MB/s`,
    },
    ...missing,
  ];
}

async function getSize(links: readonly string[], apiKey: string): Promise<number> {
  let bytes = 0;
  for (const link of links) {
    const { headers } = await fetch(link, { method: 'HEAD', headers: { authorization: `Bearer ${apiKey}` } });
    bytes += Number(headers.get('content-length'));
  }
  return bytes;
}

/** `packhouse verify` without its start and its manifest: one thread, quick and deep. */
async function checks({ url, apiKey, directory }: Published, sample: Sample): Promise<BenchOutcome[]> {
  const client = createClient({ url: `${url}/ethereum`, apiKey });
  const tasks: CheckTask[] = [];
  const folder = path.join(directory, 'checked');
  for await (const { path: full, entry } of client.files({ kind: KIND, folder })) {
    tasks.push({ full, shown: full, candidates: [entry], deep: false });
  }
  await client.close();
  const bytes = tasks.reduce((sum, { candidates }) => sum + (candidates[0]?.bytes ?? 0), 0);
  const speed = async (deep: boolean): Promise<number> => {
    const startedAt = performance.now();
    const all = tasks.map((task) => ({ ...task, deep }));
    for await (const { verdict } of checkFiles(all, { threads: 1, signal: new AbortController().signal })) {
      if ('fault' in verdict) throw new Error(verdict.fault);
    }
    return bytes / 1e3 / (performance.now() - startedAt);
  };
  const rounds = { quick: [] as number[], deep: [] as number[] };
  for (let round = 0; round < CHECK_ROUNDS; round += 1) {
    rounds.quick.push(await speed(false));
    rounds.deep.push(await speed(true));
  }
  const note = `${(bytes / 1e6).toFixed(0)} MB of ${sample.name}, from the page cache, start of the thread included; MB of files`;
  return [
    {
      name: 'verify, one thread',
      value: median(rounds.quick),
      unit: 'MB/s',
      target: `at least ${VERIFY_MB} MB/s`,
      met: median(rounds.quick) >= VERIFY_MB,
      note,
      data: rounds,
    },
    { name: 'verify --deep, one thread', value: median(rounds.deep), unit: 'MB/s', note },
  ];
}

/** An address with logs in one block of the sample alone. */
function seldomAddress({ blocks }: Sample): string {
  const found = new Map<string, Set<number>>();
  for (const [block, { receipts }] of blocks.entries()) {
    const logs = ((receipts as unknown as { logs: NodeLog[] }[]) ?? []).flatMap((receipt) => receipt.logs);
    for (const { address } of logs) getOrAdd(found, address, () => new Set()).add(block);
  }
  const [seldom] = [...found].find(([, inBlocks]) => inBlocks.size === 1) ?? [ABSENT];
  return seldom;
}

interface Table {
  rows: number;
  /** Of files, as they were downloaded. */
  bytes: number;
  files: number;
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
}

/** Logs as Parquet: all, those of an address that no file has, and those of one in a block of twelve. */
async function tables(scope: Scope, gateway: Published, sample: Sample): Promise<BenchOutcome[]> {
  const all = await table(scope, gateway, 'all', []);
  const one = await table(scope, gateway, 'one', ['--address', ABSENT]);
  const seldom = ['--address', seldomAddress(sample)];
  const mirror = ['--mirror', path.join(gateway.directory, 'whole-files')];
  const parts = await table(scope, gateway, 'parts', seldom);
  const whole = await table(scope, gateway, 'whole', [...seldom, ...mirror]);
  const used = (each: Table): string =>
    `${each.cpuSeconds.toFixed(1)} s of CPU, ${(each.peakBytes / 1e6).toFixed(0)} MB of memory`;
  return [
    {
      name: 'logs to Parquet',
      value: all.rows / all.seconds,
      unit: 'logs/s',
      note: `${all.rows} logs of ${sample.name} in ${all.seconds.toFixed(1)} s, ${used(all)}, download and start of the program included`,
      data: { ...all },
    },
    {
      name: 'logs of an address that no file has',
      value: one.seconds,
      unit: 's',
      yardstick: { name: 'all logs', value: all.seconds, unit: 's' },
      note: `${one.files} of ${all.files} files downloaded, ${one.rows} rows, ${used(one)}`,
      data: { ...one },
    },
    {
      name: 'bytes of files for the logs of an address in a block of twelve',
      value: parts.bytes / 1e6,
      unit: 'MB',
      yardstick: { name: 'whole files, to a mirror', value: whole.bytes / 1e6, unit: 'MB' },
      note: `${parts.rows} rows of ${parts.files} files: ${used(parts)}; whole files: ${used(whole)}; no file: ${used(one)}`,
      data: { parts: { ...parts }, whole: { ...whole } },
    },
  ];
}

/** Pulls logs as Parquet in a process of its own. */
async function table(scope: Scope, published: Published, name: string, more: string[]): Promise<Table> {
  const to = ['--format', 'parquet', '--out', path.join(published.directory, name)];
  const startedAt = performance.now();
  const program = startPull(scope, published, ['--kinds', 'logs', ...to, ...more]);
  let [cpuSeconds, peakBytes] = [0, 0];
  const sampling = setInterval(() => {
    const own = readProcess(program.pid);
    // An ended process has no memory.
    if (own !== undefined && own.peakBytes > 0) ({ cpuSeconds, peakBytes } = own);
  }, SAMPLE_MS);
  try {
    const lines = (await getOutput(program)).trim().split('\n');
    const end = JSON.parse(lines.at(-1) as string) as { rows: number; downloaded: number; bytes: number };
    const seconds = (performance.now() - startedAt) / 1_000;
    return { rows: end.rows, bytes: end.bytes, files: end.downloaded, seconds, cpuSeconds, peakBytes };
  } finally {
    clearInterval(sampling);
  }
}

interface NodeLog {
  address: string;
  topics: string[];
  data: string;
}

/** Transfers among all logs of the sample's blocks. */
async function decoding({ blocks, name }: Sample): Promise<BenchOutcome> {
  const logs = blocks.flatMap(({ receipts }) =>
    ((receipts as unknown as { logs: NodeLog[] }[]) ?? []).flatMap((receipt) => receipt.logs),
  );
  const decoder = await compileAbi([
    'event Transfer(address indexed from, address indexed to, uint256 value)',
  ]);
  let decoded = 0;
  const startedAt = performance.now();
  for (let round = 0; round < DECODE_ROUNDS; round += 1) {
    for (const { topics, data } of logs) if (decoder.decode(topics, data) !== null) decoded += 1;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    name: 'decoding logs by an ABI',
    value: (logs.length * DECODE_ROUNDS) / seconds,
    unit: 'logs/s',
    note: `${logs.length} logs of ${name}, of which ${decoded / DECODE_ROUNDS} are transfers of the ABI's event`,
    data: { decodedPerSecond: decoded / seconds },
  };
}
