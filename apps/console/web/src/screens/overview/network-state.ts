import type { Answer } from '../../lib/answers.js';
import type { Tone } from '../../parts/chip.js';
import { FINDINGS, type Finding } from './finding-kinds.js';

export type Network = Answer<'overview'>[number];

/** What a network is at, the worst first. */
export type NetworkState = 'broken' | 'held' | 'behind' | 'complete' | 'empty';

/** How the networks of a state are called together, and their colour of the map. */
export const NETWORK_STATES: Readonly<Record<NetworkState, { label: string; part: string }>> = {
  broken: { label: 'Needs action', part: 'broken' },
  held: { label: 'Held', part: 'held' },
  behind: { label: 'In progress', part: 'working' },
  complete: { label: 'Up to date', part: 'published' },
  empty: { label: 'No backfills', part: 'quiet' },
};

export interface NetworkStanding {
  state: NetworkState;
  tone: Tone;
  /** The worst that is known of it, in a few words; its finding says more. */
  words: string;
}

/** Of a network and the worst of its findings; undefined: it has none. */
function getStanding(network: Network, finding: Pick<Finding, 'kind'> | undefined): NetworkStanding {
  const { alarms, completeThrough, finalized, firstRequested } = network;
  const [tone, words] = finding === undefined ? [undefined, ''] : FINDINGS[finding.kind];
  if (tone === 'bad') return { state: 'broken', tone, words };
  // One that is open in many networks is a finding of the first.
  if (alarms.length > 0) return { state: 'broken', tone: 'bad', words: FINDINGS.alarm[1] };
  if (tone === 'wait') return { state: 'held', tone, words };
  if (firstRequested === null) return { state: 'empty', tone: 'off', words: NETWORK_STATES.empty.label };
  if (completeThrough !== null && finalized !== null && completeThrough >= finalized)
    return { state: 'complete', tone: 'good', words: NETWORK_STATES.complete.label };
  return { state: 'behind', tone: 'info', words: NETWORK_STATES.behind.label };
}

/** The standings of networks, by network; of findings the worst come first. */
export function getStandings(
  networks: readonly Network[],
  findings: readonly Finding[],
): ReadonlyMap<string, NetworkStanding> {
  const worst = new Map<string, Finding>();
  for (const finding of findings) if (!worst.has(finding.network)) worst.set(finding.network, finding);
  return new Map(networks.map((each) => [each.network, getStanding(each, worst.get(each.network))]));
}
