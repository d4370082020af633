import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPackhouseError } from '@packhouse/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiskStore } from './create-disk-store.js';
import { diskError } from './disk-files.js';
import { coded, objectStoreConformance, optionsFor } from './testing/conformance.js';

objectStoreConformance('a folder', {
  verifies: true,
  open: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'packhouse-store-'));
    return {
      store: await createDiskStore({ directory }),
      close: () => rm(directory, { recursive: true }),
    };
  },
});

describe('a store in a folder', () => {
  let directory: string;
  const body = Buffer.from('the body');
  const put = optionsFor(body, { metadata: { range: '0-1' } });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'packhouse-store-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('keeps an object as a plain file under its key', async () => {
    const store = await createDiskStore({ directory });
    await store.put('net/logs/0-1.json.gz', body, put);
    expect(await readFile(join(directory, 'net/logs/0-1.json.gz'))).toEqual(body);
    expect(await readdir(join(directory, '.tmp'))).toEqual([]);
    expect(store.description).toBe(`disk:${directory}`);
  });

  it('makes its folder, and finds what another store put there', async () => {
    const nested = join(directory, 'made/on/the/way');
    await (await createDiskStore({ directory: nested })).put('a/b', body, put);
    expect(await (await createDiskStore({ directory: nested })).head('a/b')).toEqual({
      key: 'a/b',
      modifiedAt: expect.any(Date),
      size: body.length,
      sha256: put.sha256,
      metadata: { range: '0-1' },
    });
  });

  it('deletes what killed processes left, and nothing that may still be written', async () => {
    await createDiskStore({ directory });
    const old = join(directory, '.tmp/old');
    const young = join(directory, '.tmp/young');
    await writeFile(old, 'x');
    await writeFile(young, 'x');
    const now = Date.now();
    await utimes(old, now / 1_000 - 4_000, now / 1_000 - 4_000);
    await createDiskStore({ directory });
    expect(await readdir(join(directory, '.tmp'))).toEqual(['young']);
  });

  it('has the old object with its facts or the new one, whenever its writer is killed', async () => {
    const source = new URL('./create-disk-store.ts', import.meta.url).href;
    const program = `
      import { createHash } from 'node:crypto';
      import { createDiskStore } from ${JSON.stringify(source)};
      const store = await createDiskStore({ directory: process.argv[1] });
      for (let version = Number(process.argv[2]); ; version++) {
        const body = Buffer.alloc(300_000 + version, String(version));
        const sha256 = createHash('sha256').update(body).digest('hex');
        const metadata = { version: String(version) };
        await store.put('net/logs/0-1.json.gz', body, { sha256, contentType: 'text/plain', metadata });
        process.stdout.write(version + '\\n');
      }`;
    const store = await createDiskStore({ directory });
    for (let round = 1; round <= 5; round++) {
      const child = spawn(
        process.execPath,
        ['--import=tsx', '--input-type=module', '-e', program, directory, `${round}000`],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      let lines = 0;
      for await (const chunk of child.stdout) {
        lines += String(chunk).split('\n').length - 1;
        if (lines >= round * 7) break;
      }
      child.kill('SIGKILL');
      await once(child, 'exit');
      const kept = await store.read('net/logs/0-1.json.gz');
      const version = kept.length - 300_000;
      expect(kept.equals(Buffer.alloc(kept.length, String(version)))).toBe(true);
      expect(version).toBeGreaterThanOrEqual(round * 1_000);
      expect(await store.head('net/logs/0-1.json.gz')).toMatchObject({
        sha256: optionsFor(kept).sha256,
        metadata: { version: String(version) },
      });
    }
  });

  it('gives an object that was copied here the sha256 of its bytes', async () => {
    const store = await createDiskStore({ directory });
    await writeFile(join(directory, 'copied'), body);
    expect(await store.head('copied')).toEqual({
      key: 'copied',
      modifiedAt: expect.any(Date),
      size: body.length,
      sha256: put.sha256,
      metadata: {},
    });
    await store.put('key', body, put);
    await writeFile(join(directory, 'key'), body);
    expect(await store.head('key')).toMatchObject({ sha256: put.sha256, metadata: { range: '0-1' } });
    await writeFile(join(directory, 'key'), 'tampered with');
    const tampered = await store.head('key');
    expect(tampered?.sha256).not.toBe(put.sha256);
    expect(tampered?.metadata).toEqual({});
  });

  it('keeps no facts of an object without metadata, and none of one that it replaced', async () => {
    const store = await createDiskStore({ directory });
    await store.put('key', body, put);
    await store.put('key', body, { ...put, metadata: {} });
    await store.put('other', body, { ...put, metadata: {} });
    for (const key of ['key', 'other']) {
      expect(await store.head(key)).toMatchObject({ sha256: put.sha256, size: body.length, metadata: {} });
      expect(existsSync(join(directory, `.meta/${key}.json`))).toBe(false);
    }
  });

  it('lives with facts that cannot be read', async () => {
    const store = await createDiskStore({ directory });
    for (const text of ['', '{}', '[1,null,{"size":"x"}]', 'nonsense']) {
      await store.put('key', body, put);
      await writeFile(join(directory, '.meta/key.json'), text);
      expect(await store.head('key')).toMatchObject({ sha256: put.sha256, metadata: {} });
    }
    await store.put('key', body, put);
    expect(await store.head('key')).toMatchObject({ metadata: { range: '0-1' } });
  });

  it('goes on when its temporary folder was deleted', async () => {
    const store = await createDiskStore({ directory });
    await rm(join(directory, '.tmp'), { recursive: true });
    await store.put('key', body, put);
    expect((await store.read('key')).equals(body)).toBe(true);
  });

  it('says that a file stands where the key needs a folder, and leaves nothing behind', async () => {
    const store = await createDiskStore({ directory });
    await store.put('a', body, put);
    await expect(store.put('a/b', body, put)).rejects.toThrow(coded('OBJECT_STORE_INVALID'));
    expect(await readdir(join(directory, '.tmp'))).toEqual([]);
    await expect(createDiskStore({ directory: join(directory, 'a') })).rejects.toThrow(
      coded('OBJECT_STORE_INVALID'),
    );
  });

  it.skipIf(!existsSync('/dev/full'))(
    'calls a full disk by its name, and says what to do (needs /dev/full)',
    async () => {
      const full = await open('/dev/full', 'w');
      const error: unknown = await full.writeFile('x').catch((cause: unknown) => cause);
      await full.close();
      const said = diskError(error, 'net/logs/0-1.json.gz', 'written to', 'disk:/data');
      expect(said).toEqual(coded('DISK_FULL'));
      expect(String(said)).toContain('net/logs/0-1.json.gz could not be written to disk:/data: ENOSPC.');
      expect(isPackhouseError(said) && said.hint).toMatch(/Free space/);
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'says that a folder cannot be made, and does not hang (needs Linux)',
    async () => {
      await expect(createDiskStore({ directory: '/proc/packhouse/store' })).rejects.toThrow(
        coded('OBJECT_STORE_UNAVAILABLE'),
      );
    },
  );

  it.skipIf(process.getuid?.() === 0)(
    'says that it may not write where it may not (needs another user than root)',
    async () => {
      const closed = join(directory, 'closed');
      await mkdir(closed, { mode: 0o500 });
      await expect(createDiskStore({ directory: closed })).rejects.toThrow(coded('OBJECT_STORE_UNAVAILABLE'));
    },
  );
});
