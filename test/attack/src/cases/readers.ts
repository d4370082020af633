import { startGateway } from '@packhouse/rig';
import { measureBeside, memory, victims } from '../ground/beside.js';
import { type AttackCase, getProbes } from '../ground/case.js';
import { counted, type Finding } from '../ground/finding.js';
import {
  openGround,
  publishChain,
  replayedChain,
  scriptedNetworks,
  serviceEnvironment,
} from '../ground/ground.js';
import type { Misbehaviour } from '../programs/misbehave.js';
import { getStatuses } from '../programs/misbehaviour-report.js';

const READERS = 200;
const BATCHES = 20;
const CALLS = 1_000;

/** Clients that ask for much and read nothing of it: files, large blocks, batches. */
export const attackReaders: AttackCase = async (options) => {
  const { scope, seconds } = options;
  const ground = await openGround(scope, options.postgresUrl);
  const chain = await replayedChain(scope, 96, {
    network: { bundles: { maxBytes: 16_000_000 }, proofs: { senders: 'off' } },
  });
  options.say('  publishing');
  const published = { ...chain, network: { ...chain.network, id: 'chain' } };
  await publishChain(scope, ground, published);
  const [largest] = (await ground.database.network('chain').bundles.list('traces', 0, 100)).sort(
    (one, other) => other.byteLength - one.byteLength,
  );
  if (largest === undefined) throw new Error('nothing was published');
  const networks = [...(await scriptedNetworks(scope)), published.network];
  const gateway = await startGateway(await serviceEnvironment(ground, networks), scope);
  const key = ground.keys.unlimited;
  const block = (id: number | string, number: string): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"eth_getBlockByNumber","params":["0x${number}",true]}`;
  const large = `${gateway.url}/large/v1/${key}`;
  const variants: [string, Misbehaviour][] = [
    [
      `${READERS} downloads of ${(largest.byteLength / 1e6).toFixed(1)} MB`,
      {
        kind: 'hold',
        url: `${gateway.url}/chain/files/${largest.objectKey.slice('chain/'.length)}`,
        headers: { authorization: `Bearer ${key}` },
        connections: READERS,
      },
    ],
    [`${READERS} blocks of 2 MB`, { kind: 'hold', url: large, body: block(1, '1{n}'), connections: READERS }],
    [
      `${BATCHES} batches of ${CALLS} blocks`,
      {
        kind: 'hold',
        url: large,
        connections: BATCHES,
        body: `[${Array.from({ length: CALLS }, (_, at) => block(at, `2{n}${at.toString(16).padStart(3, '0')}`)).join(',')}]`,
      },
    ],
  ];
  const findings: Finding[] = [];
  for (const [what, client] of variants) {
    options.say(`  ${what}`);
    const seen = await measureBeside({
      probes: getProbes(gateway.url, `${gateway.url}/main/v1/${ground.keys.victim}`),
      clients: [client],
      seconds: (seconds * 3) / 4,
      attacked: gateway.process,
    });
    findings.push(
      ...victims('readers', `${what}, unread`, seen),
      memory('readers', `${what}, unread`, seen),
      counted('readers', `${what}, unread: begun`, {
        got: seen.clients.map(getStatuses).join(),
        bound: 'some',
        held: seen.clients.every(({ statuses }) => Object.keys(statuses).length > 0),
      }),
    );
  }
  return findings;
};
