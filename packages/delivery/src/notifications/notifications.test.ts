import { systemClock } from '@packhouse/runtime';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { isSigned } from '../testing/hook-stage.js';
import { type NotificationStage, openNotificationStage } from '../testing/notification-stage.js';

const WAIT = { timeout: 60_000, interval: 20 };
let on: NotificationStage;
beforeEach(async () => {
  on = await openNotificationStage(inject('postgresUrl'));
});
afterEach(() => on.close());

const raise = (name: string, network = 'main', message = `${name} of ${network}.`) =>
  on.database.network(network).alarms.raise({ name, message });
const clear = (name: string, network = 'main') => on.database.network(network).alarms.clear(name, 'itself');
/** What a webhook was told, a message a line. */
const told = (path = '/') =>
  on
    .messages(path)
    .map(({ data }) =>
      data.conditions
        .map(({ name, state, begun }) => `${name} ${state}${begun > 1 ? ` ${begun}` : ''}`)
        .join(', '),
    );
const untilTold = (lines: string[], path = '/') => expect.poll(() => told(path), WAIT).toEqual(lines);
/** The same of a later message, which would be due in a minute only. */
const untilToldNext = (lines: unknown[], path = '/') =>
  expect
    .poll(async () => {
      await on.due();
      return told(path);
    }, WAIT)
    .toEqual(lines);
/** Waits until the packer has looked twice more than now, so that what it would have sent is sent. */
const untilLooked = async () => {
  const { id } = await on.add({ path: '/look', names: ['NOTHING'] });
  await on.database.channels.askTest(id);
  const tested = async () => (await on.database.channels.find(id))?.testedAt ?? null;
  await expect.poll(tested, WAIT).not.toBeNull();
  await on.database.channels.remove(id, 'test');
};
const hours = (column: string, text: string) =>
  on.sql(`UPDATE packhouse.notification_sent SET ${column} = ${column} - interval '${text}'`);

describe('a channel', () => {
  it('is told of an alarm and of its end, signed, and of nothing twice', async () => {
    const { secret } = await on.add();
    on.packer();
    await raise('STANDSTILL');
    await untilTold(['STANDSTILL open']);
    await untilLooked();
    await clear('STANDSTILL');
    await untilToldNext(['STANDSTILL open', 'STANDSTILL resolved']);
    await on.due();
    await untilLooked();
    expect(told()).toHaveLength(2);
    const sent = on.posted.filter(({ path }) => path === '/');
    for (const one of sent) expect(isSigned(one, secret)).toBe(true);
    expect(on.messages()[0]).toMatchObject({
      type: 'notification',
      data: {
        link: 'https://packhouse.example.com/#/alarms',
        conditions: [
          {
            key: 'alarm main STANDSTILL',
            network: 'main',
            severity: 'critical',
            message: 'STANDSTILL of main.',
            resolvedAt: null,
          },
        ],
      },
    });
  });

  it('is told once of an alarm that comes and goes, until a quarter of an hour is over', async () => {
    await on.add();
    on.packer();
    await raise('STANDSTILL');
    await untilTold(['STANDSTILL open']);
    for (let times = 0; times < 5; times += 1) {
      await clear('STANDSTILL');
      await raise('STANDSTILL');
    }
    await on.due();
    await untilLooked();
    expect(told()).toHaveLength(1);
    await clear('STANDSTILL');
    await hours('begun_at', '16 minutes');
    await untilToldNext(['STANDSTILL open', 'STANDSTILL resolved 5']);
  });

  it('is told of an alarm that was raised and cleared between two looks', async () => {
    await on.add();
    await raise('STANDSTILL');
    await clear('STANDSTILL');
    on.packer();
    await untilTold(['STANDSTILL resolved']);
  });

  it('gets one message of many alarms, the critical first', async () => {
    await on.add();
    await on.add({ kind: 'slack', path: '/slack' });
    for (let nth = 10; nth < 50; nth += 1) await raise(`ALARM_${nth}`);
    await raise('FIELDS_UNKNOWN');
    on.packer();
    await expect.poll(() => on.posted.length, WAIT).toBe(2);
    const [message] = on.messages();
    expect(message?.data.conditions).toHaveLength(41);
    expect(message?.data.conditions.at(-1)?.name).toBe('FIELDS_UNKNOWN');
    const { text } = JSON.parse(on.posted.find(({ path }) => path === '/slack')?.body ?? '');
    expect(text).toMatch(
      /^\*\[Packhouse\] 41 open: ALARM_10, ALARM_11, ALARM_12, …\*\nCRITICAL ALARM_10 of main, since /,
    );
    expect(text).toContain('and 21 more: 1 × CRITICAL ALARM_30 of main');
    expect(text.length).toBeLessThan(4_000);
  });

  it('gets only what its filters let through', async () => {
    await on.add({ path: '/side', networks: ['side'] });
    await on.add({ path: '/critical', severity: 'critical' });
    await on.add({ path: '/named', names: ['FIELDS_UNKNOWN'] });
    await raise('FIELDS_UNKNOWN');
    await raise('STANDSTILL', 'side');
    on.packer();
    await untilTold(['STANDSTILL open'], '/side');
    await untilTold(['STANDSTILL open'], '/critical');
    await untilTold(['FIELDS_UNKNOWN open'], '/named');
  });

  it('that is resumed is told of what is open, and of the end of what it knew, and of nothing that ended meanwhile', async () => {
    const { id } = await on.add();
    on.packer();
    await raise('KNOWN');
    await untilTold(['KNOWN open']);
    await expect.poll(async () => (await on.database.channels.find(id))?.delivered, WAIT).toBe(1);
    await on.database.channels.setState(id, 'paused', 'test');
    await clear('KNOWN');
    await raise('MISSED');
    await clear('MISSED');
    await raise('OPEN');
    await untilLooked();
    expect(told()).toHaveLength(1);
    await on.database.channels.setState(id, 'active', 'test');
    await untilTold(['KNOWN open', 'KNOWN resolved, OPEN open']);
  });

  it('is told at the end of its quiet hours what arose in them, also where the clock was changed; what is critical at once', async () => {
    // In Berlin the night of 2026-10-25 has 25 hours, and 7:00 is 6:00 in UTC.
    const quiet = ['22:00-07:00 Europe/Berlin'];
    await on.add({ quiet });
    on.setNow('2026-10-24T20:00:00Z');
    on.packer();
    await raise('FIELDS_UNKNOWN');
    await raise('NODES_DISAGREE');
    await clear('NODES_DISAGREE');
    await raise('STANDSTILL');
    await untilTold(['STANDSTILL open']);
    for (const still of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T05:59:59Z']) {
      on.setNow(still);
      await on.due();
      await untilLooked();
    }
    expect(told()).toHaveLength(1);
    on.setNow('2026-10-25T06:00:00Z');
    await untilToldNext(['STANDSTILL open', 'FIELDS_UNKNOWN open, NODES_DISAGREE resolved']);
  });
});

describe('a message', () => {
  it('is sent again under its id by another packer if one ends in the middle', async () => {
    await on.add();
    await raise('STANDSTILL');
    let arrived: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    on.setAnswer(() => arrived());
    const packer = on.packer();
    await first;
    await packer.stop();
    on.setAnswer((_, response) => response.end());
    await raise('LATER');
    on.packer();
    await untilTold(['STANDSTILL open', 'STANDSTILL open']);
    expect(new Set(on.posted.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(on.posted.map(({ body }) => body)).size).toBe(1);
    await untilToldNext(['STANDSTILL open', 'STANDSTILL open', 'LATER open']);
  });

  it('that was begun goes to the address that an operator corrects, signed with the old secret too', async () => {
    const { id, secret } = await on.add({ path: '/wrong' });
    on.setAnswer(({ path }, response) => response.writeHead(path === '/right' ? 204 : 404).end());
    on.packer();
    await raise('STANDSTILL');
    await expect.poll(() => on.database.channels.find(id), WAIT).toMatchObject({ failures: 1 });
    const rotated = await on.rotate(id);
    await on.move(id, '/right');
    await untilTold(['STANDSTILL open'], '/right');
    const [wrong, right] = ['/wrong', '/right'].map((path) => on.posted.find((one) => one.path === path));
    expect(right?.body).toBe(wrong?.body);
    for (const each of [secret, rotated]) expect(right && isSigned(right, each)).toBe(true);
    expect(wrong && isSigned(wrong, rotated)).toBe(false);
    await expect
      .poll(() => on.database.channels.find(id), WAIT)
      .toMatchObject({
        failures: 0,
        failingSince: null,
        lastError: null,
        delivered: 1,
      });
  });

  it('keeps hostile texts on their lines, in e-mail and in posts', async () => {
    await on.add({ kind: 'email', recipients: ['ada@example.com'] });
    await on.add({ kind: 'slack', path: '/slack' });
    const hostile = `A\r\nBcc: eve@example.com\r\n\r\n<!channel> \u202egnp.exe \u05e9\u05dc\u05d5\u05dd ${'x'.repeat(10_000)}`;
    await raise('STANDSTILL', 'main', hostile);
    on.packer();
    await expect.poll(() => on.mails.length + on.posted.length, WAIT).toBe(2);
    const [mail] = on.mails;
    expect(mail?.to).toEqual(['ada@example.com']);
    expect(mail?.text.split('\r\n\r\n')[0]).not.toMatch(/^bcc:/im);
    expect(mail?.text).toContain('Subject: [Packhouse] 1 open: STANDSTILL of main');
    const { text } = JSON.parse(on.posted[0]?.body ?? '') as { text: string };
    expect(text).toContain(
      '\n  A Bcc: eve@example.com &lt;!channel&gt; gnp.exe \u05e9\u05dc\u05d5\u05dd xxx',
    );
    expect(text.split('\n')).toHaveLength(5);
    expect(text.length).toBeLessThan(1_000);
  });

  it('to a receiver that hangs or refuses holds up no other; after a quarter of an hour there is an alarm, until it accepts', async () => {
    const { id } = await on.add({ path: '/dead' });
    await on.add({ path: '/well', names: ['STANDSTILL', 'NOTIFICATIONS_FAILING'] });
    on.setAnswer(({ path }, response) => void (path === '/well' && response.end()));
    on.packer({ timeoutMs: 2_000 });
    await raise('STANDSTILL');
    await untilTold(['STANDSTILL open'], '/well');
    const find = () => on.database.channels.find(id);
    await expect.poll(find, WAIT).toMatchObject({ failures: 1, lastError: 'No answer within 2 s.' });
    expect((await find())?.dueAt.getTime()).toBeGreaterThan(systemClock.now());
    on.setAnswer(({ path }, response) =>
      response.writeHead(path === '/dead' ? 500 : 200).end('x'.repeat(100_000)),
    );
    await on.due();
    await expect.poll(find, WAIT).toMatchObject({ lastError: 'The receiver answered 500.' });
    await on.sql(
      `UPDATE packhouse.notification_channel SET failing_since = failing_since - interval '15 minutes' WHERE id = ${id}`,
    );
    const alarms = async () =>
      (await on.database.alarms.list()).map(({ name, network }) => `${network} ${name}`);
    await expect.poll(alarms, WAIT).toContain('side NOTIFICATIONS_FAILING');
    await untilToldNext(
      ['STANDSTILL open', 'NOTIFICATIONS_FAILING open, NOTIFICATIONS_FAILING open'],
      '/well',
    );
    on.setAnswer((_, response) => response.end());
    await on.due();
    await expect.poll(alarms, WAIT).toEqual(['main STANDSTILL']);
    expect(await find()).toMatchObject({ failures: 0, failingSince: null, lastError: null });
  });
});

it('tells of missed deadlines, used budgets, keys that expire and failed schedules, and of their ends', async () => {
  const { database } = on;
  await on.add();
  const deadline = new Date(systemClock.now() - 120_000);
  await database.network('main').backfills.add({ kinds: ['logs'], from: 0, to: 9, priority: 10, deadline });
  const budget = { unit: 'requests', perSecond: null, perMonth: null, weights: {}, reserve: 0.1 } as const;
  const price = { pricePerMillion: null, currency: null };
  await database.budgets.change(
    'alchemy',
    () => ({ provider: 'alchemy', ...budget, ...price, perDay: 100 }),
    'test',
  );
  const day = Math.floor(systemClock.now() / 86_400_000);
  const spent = { day, network: 'main', upstream: 'a', provider: 'alchemy', method: 'eth_call', owner: '-' };
  await database.spending.add([{ ...spent, backfill: null, requests: 85, units: 85, bytes: 1 }]);
  const schedule = {
    name: 'nightly',
    owner: 'default',
    everyMs: null,
    missed: 'once',
    command: ['audit'],
  } as const;
  await database.schedules.add(
    { ...schedule, command: ['audit'], cron: '0 3 * * *', zone: 'UTC', setting: null },
    'test',
  );
  const due = new Date('2026-11-26T03:00:00Z');
  await database.schedules.begin('nightly', due, false);
  await database.schedules.end('nightly', due, {
    outcome: 'failed',
    exitCode: 2,
    message: 'A file is damaged.',
  });
  const expiresAt = new Date(systemClock.now() + 3 * 86_400_000);
  const { row: key } = await database.keys.create({
    application: 'shop',
    network: 'main',
    plan: 'free',
    expiresAt,
  });
  const used = { network: 'main', method: 'eth_call', requests: 1, units: 1, errors: 0, bytes: 1 };
  await database.usage.add([{ ...used, keyId: key.id, day }]);
  on.packer();
  await untilTold([
    'DEADLINE_MISSED open, BUDGET_NEARLY_EXHAUSTED open, KEY_EXPIRES open, SCHEDULE_FAILED open',
  ]);
  expect(on.messages()[0]?.data.conditions.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^Backfill \d+ of main \(owner default\) is not complete; its deadline was /),
    expect.stringMatching(
      /^At least 80 % of the 100 requests per day of provider alchemy are used\. Backfills stop at 90 %, everything at 100 %, until /,
    ),
    expect.stringMatching(/^Key ph_\w{8} of application shop is in use and expires on \d{4}-/),
    'The run of schedule nightly at 2026-11-26T03:00Z failed with exit code 2: A file is damaged.',
  ]);
  const spend = (units: number) =>
    database.spending.add([{ ...spent, backfill: null, requests: units, units, bytes: 1 }]);
  await spend(5);
  await untilToldNext([expect.any(String), 'BUDGET_BACKFILLS_STOPPED open']);
  expect(on.messages()[1]?.data.conditions[0]?.message).toMatch(
    /^Backfills are stopped at 90 % of the 100 requests per day of provider alchemy: the last 10 % are reserved for clients and the head, until /,
  );
  await spend(10);
  await untilToldNext([expect.any(String), expect.any(String), 'BUDGET_EXHAUSTED open']);
  const later = new Date('2026-11-26T04:00:00Z');
  await database.schedules.begin('nightly', later, false);
  await database.schedules.end('nightly', later, { outcome: 'done', exitCode: 0, message: null });
  await on.sql(`UPDATE packhouse.backfill SET state = 'cancelled'`);
  await database.keys.revoke(key.prefix);
  await database.budgets.change('alchemy', () => null, 'test');
  await vi.waitFor(async () => {
    await on.due();
    expect(told().slice(3).join(', ').split(', ').sort()).toEqual([
      'BUDGET_BACKFILLS_STOPPED resolved',
      'BUDGET_EXHAUSTED resolved',
      'BUDGET_NEARLY_EXHAUSTED resolved',
      'DEADLINE_MISSED resolved',
      'KEY_EXPIRES resolved',
      'SCHEDULE_FAILED resolved',
    ]);
  }, WAIT);
});

it('a test is sent at once, also to a paused channel, and says how it ended', async () => {
  const { id } = await on.add({ kind: 'email', recipients: ['ada@example.com'] });
  const dead = await on.add({ kind: 'slack', path: '/gone' });
  on.setAnswer((_, response) => response.writeHead(404).end());
  on.packer();
  await on.database.channels.setState(id, 'paused', 'test');
  await on.database.channels.askTest(id);
  await on.database.channels.askTest(dead.id);
  const outcome = async (of: number) => (await on.database.channels.find(of))?.testOutcome;
  await expect.poll(() => outcome(id), WAIT).toBe('Accepted.');
  await expect.poll(() => outcome(dead.id), WAIT).toBe('The receiver answered 404.');
  expect(on.mails[0]?.text).toContain('Subject: [Packhouse] Test');
});

it('an address is in no row, history or log', async () => {
  await on.add({ kind: 'slack', path: '/services/T0/s3cret' });
  on.setAnswer((_, response) => response.writeHead(403).end('s3cret'));
  on.packer();
  await raise('STANDSTILL');
  await expect.poll(() => on.logged.join(''), WAIT).toContain('The receiver answered 403.');
  const rows = await on.sql(
    `SELECT row_to_json(h)::text || encode(h.address, 'escape') AS text FROM packhouse.notification_channel AS h
     UNION ALL SELECT row_to_json(c)::text FROM packhouse.change AS c`,
  );
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows) + JSON.stringify(await on.database.channels.list())).not.toContain('s3cret');
  expect(on.logged.join('')).not.toContain('s3cret');
});
