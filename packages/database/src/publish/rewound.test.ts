import { createVerifier, toPublicKey } from '@packhouse/manifest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeBundle } from '../testing/make-run.js';
import { type OpenDatabase, openSignedDatabase, SEALING, SIGNER } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openSignedDatabase();
});
afterAll(() => open.close());

/** Sets the log back to `last`, as a promoted standby that lacks the newest transactions does. */
async function setBack(last: number): Promise<void> {
  await open.sql('ALTER TABLE packhouse.manifest DISABLE TRIGGER manifest_is_append_only');
  await open.sql('DELETE FROM packhouse.bundle WHERE kind = 3 AND first_block > $1', [last * 10]);
  await open.sql('DELETE FROM packhouse.manifest WHERE kind = 3 AND sequence > $1', [last]);
  await open.sql('ALTER TABLE packhouse.manifest ENABLE TRIGGER manifest_is_append_only');
}

const publish = (process: ReturnType<OpenDatabase['another']>, at: number): Promise<void> =>
  process.network('main').bundles.publish(makeBundle('logs', at * 10, at * 10 + 9), SEALING);

it('a process that remembers a lost end of the log says so once, and appends behind what is there', async () => {
  const [packer, other] = [open.another(), open.another()];
  for (let at = 0; at < 6; at += 1) await publish(packer, at);
  await setBack(2);
  await expect(publish(packer, 6)).rejects.toMatchObject({
    code: 'MANIFEST_REWOUND',
    message: expect.stringMatching(
      /^The manifest of logs of main was set back: it ends at entry 2, .* entry 5 /,
    ),
  });
  // Nothing of it is there, not even half.
  expect(await open.main.bundles.covering('logs', 60)).toBeNull();
  await publish(packer, 6);
  await publish(packer, 7);

  // The log is as long again when the next process that remembers a lost end comes.
  await publish(other, 8);
  await publish(other, 9);
  await setBack(4);
  for (const at of [10, 11, 12]) await publish(open.another(), at);
  await expect(publish(other, 13)).rejects.toMatchObject({ code: 'MANIFEST_REWOUND' });
  await publish(other, 13);

  const entries = await open.main.manifest.entries('logs', -1, 100);
  const verifier = createVerifier(new Map([[SIGNER.keyId, toPublicKey(SIGNER.publicKey)]]));
  for (const entry of entries) verifier.push(entry);
  expect(entries.map(({ from }) => from)).toEqual([0, 10, 20, 60, 70, 100, 110, 120, 130]);
});

it('a repair appends behind what is there', async () => {
  const packer = open.another();
  await publish(packer, 20);
  const tip = await open.main.manifest.tip('logs');
  await setBack((tip?.sequence as number) - 1);
  const old = makeBundle('logs', 0, 9);
  await packer
    .network('main')
    .bundles.supersede(
      { ...old, objectKey: old.objectKey.replace('.json.gz', '.v2.json.gz'), sha256: 'cd'.repeat(32) },
      { replaces: old.sha256, reason: 'test', sealing: SEALING },
    );
  const [last] = await open.main.manifest.entries('logs', (tip?.sequence as number) - 1, 1);
  expect(last).toMatchObject({
    from: 0,
    version: 2,
    previous: expect.not.stringMatching(tip?.hash as string),
  });
});
