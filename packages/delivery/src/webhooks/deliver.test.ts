import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { type BareStep, type HookStage, isSigned, openHookStage } from '../testing/hook-stage.js';

const hash = (block: number): string => `0x${block.toString(16).padStart(64, '0')}`;
const made = (block: number): BareStep => ({
  step: 'new',
  block,
  hash: hash(block),
  parent: hash(block - 1),
  files: { logs: `/main/files/logs/${block}-${block}.json.gz` },
});
const WAIT = { timeout: 60_000, interval: 20 };

let on: HookStage;
beforeEach(async () => {
  on = await openHookStage(inject('postgresUrl'));
});
afterEach(() => on.close());

const ids = () => on.received.map(({ headers }) => headers['webhook-id']);
const blocks = (path = '/') => on.received.filter((one) => one.path === path).flatMap((one) => one.blocks);

describe('a webhook', () => {
  it('gets the steps in order, signed, and the cursor moves only when it accepts', async () => {
    const { id, secret } = await on.add();
    on.tell(made(1), made(2));
    on.setAnswer((_, response) => response.writeHead(500).end());
    const { run } = on.process();
    await expect(run(id)).rejects.toMatchObject({ code: 'HOOK_FAILED', retryable: true });
    on.tell(made(3));
    await expect(run(id)).rejects.toThrow('The receiver answered 500.');
    expect(await on.database.hookDeliveries.work(id)).toMatchObject({
      cursor: null,
      failures: 2,
      delivered: 0,
    });
    on.setAnswer((_, response) => response.writeHead(200).end());
    await run(id);
    // A repetition is the same to the byte, and only then comes what is newer.
    expect(on.received.map((one) => one.blocks)).toEqual([[1, 2], [1, 2], [1, 2], [3]]);
    expect(new Set(ids().slice(0, 3)).size).toBe(1);
    expect(new Set(on.received.slice(0, 3).map(({ body }) => body)).size).toBe(1);
    for (const one of on.received) {
      expect(isSigned(one, secret)).toBe(true);
      expect(isSigned({ ...one, body: one.body.replace('main', 'side') }, secret)).toBe(false);
    }
    expect(JSON.parse(on.received[0]?.body ?? '')).toMatchObject({
      type: 'feed.steps',
      data: {
        hook: id,
        network: 'main',
        steps: [
          { ...made(1), cursor: '1' },
          { ...made(2), cursor: '2' },
        ],
      },
    });
    expect(await on.database.hookDeliveries.work(id)).toMatchObject({
      cursor: '3',
      pending: null,
      delivered: 2,
      failures: 0,
      failingSince: null,
      dueAt: null,
    });
    await run(id);
    expect(on.received).toHaveLength(4);
  });

  it('gets the same delivery again from another process if one is killed in the middle, and then the next', async () => {
    const { id } = await on.add();
    on.tell(made(1));
    const killed = on.process();
    on.setAnswer(() => killed.stop.abort(new Error('killed')));
    await expect(killed.run(id)).rejects.toThrow('killed');
    on.setAnswer((_, response) => response.end());
    on.tell(made(2));
    await on.process().run(id);
    expect(on.received.map((one) => one.blocks)).toEqual([[1], [1], [2]]);
    expect(ids()[0]).toBe(ids()[1]);
  });

  it('is quarantined after days without an accepted delivery, with an alarm, until it is resumed', async () => {
    const { id } = await on.add();
    on.tell(made(1));
    on.setAnswer((_, response) => response.writeHead(500).end());
    const { run } = on.process(3);
    for (let nth = 1; nth <= 4; nth++) await expect(run(id)).rejects.toThrow();
    // Later failures wait in the row, for longer and longer.
    await run(id);
    const failing = await on.database.hookDeliveries.work(id);
    expect(failing).toMatchObject({ state: 'active', failures: 5, lastError: 'The receiver answered 500.' });
    expect(failing?.dueAt?.getTime()).toBeGreaterThan(Date.now() + 60_000);
    await on.sql("UPDATE packhouse.hook SET failing_since = clock_timestamp() - interval '71 hours'");
    await run(id);
    expect(await on.database.hooks.find(id)).toMatchObject({ state: 'active' });
    await on.sql("UPDATE packhouse.hook SET failing_since = clock_timestamp() - interval '73 hours'");
    await run(id);
    expect(await on.database.hooks.find(id)).toMatchObject({ state: 'quarantined' });
    const sent = on.received.length;
    await run(id);
    expect(on.received).toHaveLength(sent);

    const packer = await on.packer();
    const open = async () =>
      (await on.database.alarms.list()).map(({ name, message }) => `${name} ${message}`);
    await expect.poll(open, WAIT).toEqual([expect.stringMatching(/^HOOK_QUARANTINED .*get nothing: \d+\./)]);
    on.setAnswer((_, response) => response.end());
    await on.database.hooks.setState(id, 'active', 'test');
    await expect.poll(() => on.received.length, WAIT).toBe(sent + 1);
    expect(blocks().at(-1)).toBe(1);
    await expect.poll(open, WAIT).toEqual([]);
    await packer.stop();
  });

  it('is quarantined at once if it answers 410, or if its feed cannot go on', async () => {
    const { id } = await on.add();
    on.tell(made(1));
    on.setAnswer((_, response) => response.writeHead(410).end());
    await on.process().run(id);
    expect(await on.database.hooks.find(id)).toMatchObject({
      state: 'quarantined',
      lastError: 'The receiver answered 410: it is gone.',
    });
  });

  it.each([
    ['hangs', (_: unknown, __: unknown) => undefined, /^No answer within 0\.3 s\.$/],
    [
      'redirects',
      (_: unknown, response: { writeHead(status: number, headers: object): { end(): void } }) =>
        response.writeHead(302, { location: '/elsewhere' }).end(),
      /^The receiver answered 302; redirects are not followed\.$/,
    ],
  ])('that %s fails with that reason', async (_, answer, reason) => {
    const { id } = await on.add();
    on.tell(made(1));
    on.setAnswer(answer as Parameters<HookStage['setAnswer']>[0]);
    await expect(on.process(3, 300).run(id)).rejects.toMatchObject({ code: 'HOOK_FAILED' });
    expect((await on.database.hooks.find(id))?.lastError).toMatch(reason);
    expect(on.received.map(({ path }) => path)).toEqual(['/']);
  });

  it('at an address that is not allowed gets nothing', async () => {
    const { id } = await on.add('/', { url: 'http://10.0.0.1/' });
    on.tell(made(1));
    await expect(on.process().run(id)).rejects.toThrow('is not public');
    expect(on.received).toEqual([]);
  });

  it('that is removed or paused while it is delivered to gets nothing more', async () => {
    for (const end of ['remove', 'pause'] as const) {
      const { id } = await on.add(`/${end}`);
      on.tell(made(1));
      on.setAnswer(async (_, response) => {
        on.tell(made(2));
        if (end === 'remove') await on.database.hooks.remove(id, 'test');
        else await on.database.hooks.setState(id, 'paused', 'test');
        response.end();
      });
      await on.process().run(id);
      expect(on.received.filter(({ path }) => path === `/${end}`)).toHaveLength(1);
      if (end === 'pause')
        expect(await on.database.hooks.find(id)).toMatchObject({ delivered: 1, state: 'paused' });
    }
  });

  it('is signed with both secrets after a rotation, until the old one ends', async () => {
    const { id, secret } = await on.add();
    const other = await on.add('/other');
    const salt = Buffer.alloc(32, 7);
    await on.database.hooks.rotate(id, { salt, overlapMs: 60_000 }, 'test');
    on.tell(made(1));
    const { run } = on.process();
    await run(id);
    const { toHookSecret } = await import('../outbox/secret.js');
    const renewed = toHookSecret(on.seal, salt);
    const [both] = on.received;
    expect([secret, renewed, other.secret].map((each) => both !== undefined && isSigned(both, each))).toEqual(
      [true, true, false],
    );
    await on.sql('UPDATE packhouse.hook SET old_salt_until = clock_timestamp()');
    on.tell(made(2));
    await run(id);
    const last = on.received.at(-1);
    expect([secret, renewed].map((each) => last !== undefined && isSigned(last, each))).toEqual([
      false,
      true,
    ]);
  });

  it('gets a test when an operator asks for one, also while it is paused', async () => {
    const { id } = await on.add();
    await on.database.hooks.setState(id, 'paused', 'test');
    await on.database.hooks.askTest(id);
    const packer = await on.packer();
    await expect
      .poll(async () => (await on.database.hooks.find(id))?.testOutcome, WAIT)
      .toMatch(/^Accepted in \d+ ms\.$/);
    expect(JSON.parse(on.received[0]?.body ?? '')).toMatchObject({
      type: 'test',
      data: { hook: id, steps: [] },
    });
    await packer.stop();
  });
});

describe('two packers', () => {
  it('deliver to many webhooks in order, and go on when one of them ends', async () => {
    const HOOKS = 40;
    for (let nth = 0; nth < HOOKS; nth++) await on.add(`/${nth}`);
    const paths = Array.from({ length: HOOKS }, (_, nth) => `/${nth}`);
    const first = await on.packer();
    await on.packer();
    on.tell(made(1));
    const have = (block: number) => () => paths.filter((path) => blocks(path).includes(block)).length;
    await expect.poll(have(1), WAIT).toBe(HOOKS);
    on.tell(made(2), made(3));
    await vi.waitFor(() => expect(have(2)()).toBeGreaterThan(0), WAIT);
    await first.stop();
    on.tell(made(4));
    await expect.poll(have(4), WAIT).toBe(HOOKS);
    for (const path of paths) {
      // At least once: a repetition has the id of what it repeats.
      const seen = new Map(
        on.received.filter((one) => one.path === path).map((one) => [one.headers['webhook-id'], one.blocks]),
      );
      expect([...seen.values()].flat()).toEqual([1, 2, 3, 4]);
    }
  });
});
