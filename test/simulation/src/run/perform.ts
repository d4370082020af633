import type { Action } from '../schedule/action.js';
import { NETWORK } from './settings.js';
import type { World } from './world.js';

/** Does what a step says. What takes long goes on in the background and is given back in `pending`. */
export async function perform(
  world: World,
  action: Action,
  at: number,
  pending: Set<Promise<unknown>>,
): Promise<void> {
  const { chain, nodes, postgres, queueFaults, fleet, triggers, tally, random } = world;
  const later = (work: Promise<unknown>): void => {
    const settled = work.catch((error: Error) => world.options.say?.(`  (${action.do}: ${error.message})`));
    pending.add(settled);
    void settled.finally(() => pending.delete(settled));
  };
  switch (action.do) {
    case 'grow':
      chain.grow(action.blocks);
      return nodes.follow();
    case 'finalize':
      chain.finalize(action.lag);
      return nodes.follow();
    case 'reorganise': {
      const depth = Math.ceil(action.share * chain.loose());
      if (chain.reorganise(depth, action.extra) > 0) tally.add('node: reorganisation');
      return nodes.follow();
    }
    case 'addBackfill':
    case 'setBackfill':
      return later(setWanted(world, action));
    case 'nodeStorm':
      return nodes.storm(action.node, action.fault, action.probability, action.seed);
    case 'nodeTrouble':
      return nodes.trouble(action.node, action.fault, action.times);
    case 'nodeLie':
      return nodes.lie(action.node, action.lie);
    case 'nodeLag':
      return nodes.lag(action.blocks);
    case 'nodeFreeze':
      tally.add('node: frozen on an old head');
      return nodes.freeze();
    case 'nodeChainId':
      return nodes.chainId(action.node);
    case 'nodeRestart':
      return nodes.restart(action.node);
    case 'nodesCalm':
      return nodes.calm();
    case 'pgCut':
      return triggers.arm({
        port: 'postgres',
        process: fleet.toName(action.who),
        nth: action.nth,
        effect: { kind: 'cut', when: action.when },
      });
    case 'pgError':
      return triggers.arm({
        port: 'postgres',
        process: fleet.toName(action.who),
        nth: action.nth,
        effect: { kind: 'error', code: action.code },
      });
    case 'pgTerminate':
      return later(
        postgres
          .terminate(action.share, random.unit)
          .then((n) => tally.add('postgres: backend terminated', n)),
      );
    case 'pgRestart':
      return later(postgres.restart(action.how).then(() => tally.add(`postgres: restart, ${action.how}`)));
    case 'pgLocks':
      return later(postgres.holdLocks(action.ms).then(() => tally.add('postgres: writers locked out')));
    case 'pgDeadlock':
      tally.add('postgres: deadlock provoked');
      return later(postgres.deadlock());
    case 'storeTrouble':
      return triggers.arm({
        port: 'store',
        process: null,
        method: action.method,
        nth: action.nth,
        effect: { kind: 'store', fault: action.fault },
      });
    case 'queueWipe':
      return later(queueFaults.wipe().then(() => tally.add('queue: wiped')));
    case 'queueDrop':
      return later(queueFaults.drop().then(() => tally.add('queue: tables dropped')));
    case 'queueDelete':
      return later(
        queueFaults.delete(action.share, random.unit).then((n) => tally.add('queue: job deleted', n)),
      );
    case 'queueLoseLocks':
      return later(queueFaults.loseLocks().then((n) => tally.add('queue: lock taken away', n)));
    case 'queueTwice':
      return later(queueFaults.twice(at).then((n) => tally.add('queue: job twice', n)));
    case 'kill':
      if (fleet.kill(fleet.toName(action.who))) tally.add('process: SIGKILL');
      return;
    case 'killAt':
      return triggers.arm({
        port: action.port,
        process: fleet.toName(action.who),
        nth: action.nth,
        effect: { kind: 'kill', when: action.when },
      });
    case 'pause':
      tally.add('process: SIGSTOP for a while');
      return fleet.pause(fleet.toName(action.who), action.ms);
    case 'terminate':
      return later(fleet.terminate(fleet.toName(action.who)).then(() => tally.add('process: SIGTERM')));
    case 'rolling':
      tally.add('process: rolling restart');
      return later(fleet.roll({ ingester: action.ingesters, packer: action.packers }));
  }
}

async function setWanted(
  { database, chain }: World,
  action: Extract<Action, { do: 'addBackfill' | 'setBackfill' }>,
): Promise<void> {
  if (action.do === 'addBackfill') {
    const at = (share: number): number => chain.first + Math.floor(share * (chain.head() - chain.first));
    await database.network(NETWORK).backfills.add({
      kinds: action.kinds,
      from: at(action.from),
      to: at(action.to),
      priority: action.priority,
    });
    return;
  }
  const backfills = (await database.network(NETWORK).backfills.list()).filter(
    (range) => range.state !== 'cancelled',
  );
  const chosen = backfills[action.pick % Math.max(1, backfills.length)];
  if (chosen !== undefined) await database.backfills.change(chosen.id, { state: action.state });
}
