import type { CallSignal } from '@packhouse/runtime';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AdvertisedTip, createAdvertisedTip } from './advertised-tip.js';
import type { SharedTips } from './shared-tips.js';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A store in memory and gateways of one network, on a clock that is set by hand. */
function createWorld() {
  const sleeping = new Set<{ until: number; wake(): void }>();
  const clock = {
    ms: 0,
    elapsed: () => clock.ms,
    sleep: (ms: number, _?: CallSignal): Promise<void> =>
      new Promise((wake) => sleeping.add({ until: clock.ms + ms, wake })),
  };
  let number: { number: number; until: number } | undefined;
  const gateways = new Map<string, number>();
  const counts = { reads: 0 };
  const shared: SharedTips = {
    async raise(_, __, told, holdMs) {
      const before = number !== undefined && number.until > clock.ms ? number.number : -1;
      if (told >= before) number = { number: told, until: clock.ms + holdMs };
      return Math.max(told, before);
    },
    async read() {
      counts.reads += 1;
      const here = [...gateways].flatMap(([id, until]) => (until > clock.ms ? [id] : []));
      const told = number !== undefined && number.until > clock.ms ? { latest: number.number } : {};
      return { ...told, gateways: here };
    },
    async announce(_, id, forMs) {
      gateways.set(id, clock.ms + forMs);
    },
  };
  const pass = async (ms: number): Promise<void> => {
    clock.ms += ms;
    for (const each of [...sleeping]) {
      if (each.until > clock.ms) continue;
      sleeping.delete(each);
      each.wake();
    }
    await settle();
  };
  const gateway = () => {
    let head = 0;
    const told: AdvertisedTip = createAdvertisedTip({ clock, network: 'main 1', shared });
    return {
      told,
      heard: (newest: number): void => {
        head = Math.max(head, newest);
      },
      /** What a client is told that asks for the newest block. */
      async answer(): Promise<number> {
        await told.refresh();
        const newest = Math.max(head, told.known('latest') ?? -1);
        await told.raise('latest', newest);
        return newest;
      },
    };
  };
  return { clock, counts, gateway, gateways, pass };
}

/** A world in which two gateways have joined. */
async function createPair() {
  const world = createWorld();
  const [one, two] = [world.gateway(), world.gateway()];
  await one.answer();
  const joining = two.answer();
  await settle();
  await world.pass(1_250);
  await joining;
  return { ...world, one, two };
}

it('reads the store once for many calls while no other gateway is there', async () => {
  const { counts, gateway, pass } = createWorld();
  const one = gateway();
  one.heard(7);
  await one.answer();
  const before = counts.reads;
  for (let n = 0; n < 100; n++) expect(one.told.refresh()).toBeUndefined();
  expect(counts.reads).toBe(before);
  for (let n = 0; n < 100; n++) {
    await pass(100);
    await one.answer();
  }
  expect(counts.reads - before).toBeLessThan(30);
});

it('does not answer beside one that may believe to be alone, and both read from then on', async () => {
  const { counts, gateway, pass } = createWorld();
  const [one, two] = [gateway(), gateway()];
  one.heard(7);
  two.heard(9);
  expect(await one.answer()).toBe(7);
  let said: number | undefined;
  const asking = two.answer().then((number) => {
    said = number;
  });
  await settle();
  await pass(999);
  expect(await one.answer()).toBe(7);
  expect(said).toBeUndefined();
  await pass(251);
  await asking;
  expect(said).toBe(9);
  expect(await one.answer()).toBe(9);
  const before = counts.reads;
  for (const each of [one, two, one]) expect(await each.answer()).toBe(9);
  expect(counts.reads).toBe(before + 3);
});

it('is not alone any more after it was stopped for longer than it may believe so', async () => {
  const { gateway, pass } = createWorld();
  const one = gateway();
  one.heard(7);
  await one.answer();
  expect(one.told.refresh()).toBeUndefined();
  // Nothing of the first one runs meanwhile.
  const two = gateway();
  two.heard(9);
  const asking = two.answer();
  await settle();
  await pass(1_250);
  expect(await asking).toBe(9);
  expect(await one.answer()).toBe(9);
});

it('waits again once it was away for so long that the others forgot it', async () => {
  const { one, two, pass } = await createPair();
  await pass(31_000);
  for (let n = 0; n < 3; n++) {
    await one.answer();
    await pass(600);
  }
  await one.answer();
  expect(one.told.refresh()).toBeUndefined();
  two.heard(9);
  let said: number | undefined;
  void two.answer().then((number) => {
    said = number;
  });
  await settle();
  expect(said).toBeUndefined();
  await pass(1_250);
  await pass(0);
  expect(said).toBe(9);
  expect(await one.answer()).toBe(9);
});

it('waits again if the store lost it', async () => {
  const { one, gateways, pass } = await createPair();
  gateways.clear();
  one.heard(8);
  const asking = one.answer();
  await settle();
  await pass(1_250);
  expect(await asking).toBe(8);
  expect(gateways.size).toBeGreaterThan(0);
});

it('is alone at once when the other one says that it leaves', async () => {
  const { one, two } = await createPair();
  await two.told.leave();
  await one.answer();
  expect(one.told.refresh()).toBeUndefined();
});

it('tells no number below one that was told before the question, whoever comes, is stopped or ends', async () => {
  const who = fc.nat(2);
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask' as const), who }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('head' as const), who, by: fc.integer({ min: 1, max: 3 }) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 1_400 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('pass' as const),
        ms: fc.integer({ min: 1_400, max: 40_000 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), who }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const { clock, gateway, pass } = createWorld();
      const all = [gateway(), gateway(), gateway()];
      const told: { number: number; at: number }[] = [];
      const wrong: string[] = [];
      let tip = 10;
      const ask = async (nth: number): Promise<void> => {
        // A number counts for 30 s after it was raised, which is done every ten.
        const floor = Math.max(...told.map(({ number, at }) => (clock.ms - at < 19_000 ? number : -1)), -1);
        const began = clock.ms;
        const number = await (all[nth] as (typeof all)[number]).answer();
        if (number < floor && clock.ms - began < 1_000) wrong.push(`${number} after ${floor} at ${clock.ms}`);
        told.push({ number, at: clock.ms });
      };
      for (const each of steps) {
        if (each.kind === 'ask') void ask(each.who);
        else if (each.kind === 'head') {
          tip += each.by;
          all[each.who]?.heard(tip);
        } else if (each.kind === 'restart') all[each.who] = gateway();
        else await pass(each.ms);
        await settle();
      }
      expect(wrong).toEqual([]);
    }),
    { numRuns: 300 },
  );
}, 30_000);
