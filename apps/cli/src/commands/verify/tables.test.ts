import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { lakeEntryLine, NO_ENTRY, type SealedLakeEntry } from '@packhouse/manifest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Downloads, makeDownloads } from '../../testing/downloads.js';
import { jsonLines, run } from '../../testing/run.js';

let here: Downloads;
let log: SealedLakeEntry[];
beforeEach(async () => {
  here = await makeDownloads();
  log = [];
  await mkdir(here.at('logs'));
});
afterEach(() => here.close());

const bytesOf = (text: string): Buffer => Buffer.from(`PAR1 ${text}`);

/** Appends an entry; `<name>` of an added file is in the folder. */
async function append(change: 'add' | 'remove', from: number, to: number, text = `${from}`): Promise<string> {
  const bytes = bytesOf(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const file = `${from}-${to}-${sha256.slice(0, 16)}.parquet`;
  const entry = here.signer.seal({
    network: 'ethereum',
    chainId: 1,
    table: 'logs',
    sequence: log.length,
    snapshot: log.length + 1,
    change,
    file,
    from,
    to,
    sha256,
    bytes: bytes.length,
    rows: 7,
    sources: sha256,
    publishedAt: new Date(1_700_000_000_000).toISOString(),
    previous: log.at(-1)?.hash ?? NO_ENTRY,
    keyId: here.signer.keyId,
  });
  log.push(entry);
  if (change === 'add') await writeFile(here.at('logs', file), bytes);
  await writeFile(here.at('tables.jsonl'), log.map((each) => `${lakeEntryLine(each)}\n`).join(''));
  return file;
}

const verify = (...args: string[]) => run(['verify', '.', ...args], { cwd: here.directory });

describe('packhouse verify, of data files of the lake', () => {
  it('says that a whole table is what was published, beside bundles', async () => {
    await here.publish('blocks', 0, 9);
    await append('add', 0, 9);
    await append('add', 10, 19);
    const { code, out } = await verify('--complete');
    expect(out).toMatch(/^3 valid files \(.*\), no damage, 0 missing; 3 manifest entries verified/);
    expect(out).toContain('table logs of ethereum');
    expect(code).toBe(0);
  });

  it('names files that are damaged, unlisted or taken out of the table, and those that are missing', async () => {
    const damaged = await append('add', 0, 9);
    const replaced = await append('add', 10, 19);
    await append('remove', 10, 19);
    const missing = await append('add', 10, 29);
    await writeFile(here.at('logs', damaged), 'PAR1 other');
    await writeFile(here.at('logs', `30-39-${'0'.repeat(16)}.parquet`), 'PAR1');
    await rm(here.at('logs', missing));
    const { code, out } = await verify('--complete');
    expect(code).toBe(2);
    expect(out.split('\n').slice(0, 4)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^logs/${damaged} differs from the published file: it has 10 bytes with SHA-256 [0-9a-f]{64}, expected`,
        ),
      ),
      `logs/${replaced} is not in the newest snapshot: snapshot 3 took it out of table logs of ethereum.`,
      `logs/30-39-${'0'.repeat(16)}.parquet is not in the manifest: no table has a file of its name.`,
      'Missing: 1 file of table logs of ethereum: 10-29.',
    ]);
  });

  it('refuses a log that was changed, cut or reordered', async () => {
    await append('add', 0, 9);
    await append('add', 10, 19);
    const [first = '', second = ''] = (await readFile(here.at('tables.jsonl'), 'utf8')).split('\n');
    const faults: string[] = [];
    for (const lines of [[first.replace('"rows":7', '"rows":8'), second], [second], [second, first]]) {
      await writeFile(here.at('tables.jsonl'), lines.map((line) => `${line}\n`).join(''));
      const { code, out } = await verify();
      expect(code).toBe(2);
      faults.push(out.split('\n')[0] as string);
    }
    expect(faults).toEqual([
      'Entry 0 of the manifest of table logs of ethereum was changed: it does not have the hash it says.',
      'The manifest of table logs of ethereum has a gap: entry 0 is missing before entry 1.',
      'The manifest of table logs of ethereum has a gap: entry 0 is missing before entry 1.',
    ]);
  });

  it('finds that the log is truncated by a newer entry of it as a signed head', async () => {
    await append('add', 0, 9);
    await append('add', 10, 19);
    await writeFile(here.at('manifest-head.jsonl'), `${lakeEntryLine(log[1] as SealedLakeEntry)}\n`);
    expect((await verify()).out).toContain('complete through the signed head (table logs of ethereum');
    await writeFile(here.at('tables.jsonl'), `${lakeEntryLine(log[0] as SealedLakeEntry)}\n`);
    const { code, out } = await verify();
    expect(code).toBe(2);
    expect(out).toContain(
      'The manifest of table logs of ethereum is truncated: it ends at entry 0, and entry 1 is missing.',
    );
  });

  it('reports each file as JSON', async () => {
    const file = await append('add', 0, 9);
    const [ok, end] = jsonLines(await verify('--json'));
    expect(ok).toEqual({
      event: 'ok',
      file: `logs/${file}`,
      network: 'ethereum',
      table: 'logs',
      sequence: 0,
    });
    expect(end).toMatchObject({ event: 'end', ok: true, files: 1, entries: 1, missing: 0 });
  });
});
