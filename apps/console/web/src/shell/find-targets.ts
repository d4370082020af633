import { formatCount } from '../lib/format.js';
import { toHref } from '../lib/route.js';
import type { IconName } from '../parts/icon.js';
import { SCREENS } from '../parts/screens.js';

/** Something that can be gone to. */
export interface Target {
  href: string;
  icon: IconName;
  title: string;
  /** What it is. */
  note: string;
}

/** What is known of the installation. */
export interface Known {
  networks: readonly string[];
  /** The selected network; undefined: all. */
  network: string | undefined;
  nodes: readonly { network: string; upstream: string }[];
  /** The ID that was typed, if there is such a backfill. */
  backfill: number | null;
  applications: readonly { name: string; owner: string | null }[];
  keys: readonly { prefix: string; application: string }[];
}

/** Targets of each sort that are listed. */
const MAX_EACH = 6;
/** Networks for which a block is offered, if none is selected. */
const MAX_BLOCK_NETWORKS = 3;

/** The targets of a text, the likeliest first: a number is a block or a backfill, anything else part of a name. */
export function findTargets(text: string, known: Known): Target[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (...names: string[]): boolean => {
    const all = names.join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const number = getNumber(text);
  return [
    ...(number === null ? [] : findBlock(number, words, known)),
    ...(known.backfill === null
      ? []
      : [
          {
            href: toHref(`backfills/${known.backfill}`),
            icon: 'backfills',
            title: `Backfill ${known.backfill}`,
            note: 'Backfill',
          } as const,
        ]),
    ...SCREENS.filter(({ title, group }) => has(title, group)).map(
      ({ href, path, title, icon, byNetwork }): Target => ({
        href: href ?? toHref(path, byNetwork ? { network: known.network } : {}),
        icon,
        title,
        note: 'Screen',
      }),
    ),
    ...known.networks
      .filter((network) => words.length > 0 && has(network))
      .slice(0, MAX_EACH)
      .map((network): Target => {
        return { href: toHref('coverage', { network }), icon: 'network', title: network, note: 'Network' };
      }),
    ...known.nodes
      .filter(({ network, upstream }) => words.length > 0 && has(upstream, network))
      .slice(0, MAX_EACH)
      .map(({ network, upstream }): Target => {
        const href = toHref('nodes', { network, search: upstream });
        return { href, icon: 'nodes', title: upstream, note: `Node of ${network}` };
      }),
    ...known.applications.slice(0, MAX_EACH).map(({ name, owner }): Target => {
      const note = owner === null ? 'Application' : `Application of ${owner}`;
      return { href: toHref('keys', { application: name }), icon: 'keys', title: name, note };
    }),
    ...known.keys.slice(0, MAX_EACH).map(({ prefix, application }): Target => {
      return { href: toHref(`keys/${prefix}`), icon: 'keys', title: application, note: `Key ${prefix}` };
    }),
    ...(has('new backfill', 'create')
      ? [
          {
            href: toHref('backfills/new', { network: known.network }),
            icon: 'plus',
            title: 'New backfill',
            note: 'Action',
          } as const,
        ]
      : []),
  ];
}

/** The number among the words of a text; null: there is none. */
export function getNumber(text: string): number | null {
  const word = text.split(/\s+/).find((each) => /^\d/.test(each)) ?? '';
  return /^\d[\d,_]*$/.test(word) ? Number(word.replace(/[,_]/g, '')) : null;
}

function findBlock(number: number, words: readonly string[], known: Known): Target[] {
  const named = known.networks.filter((network) => words.includes(network.toLowerCase()));
  const chosen = named.length > 0 ? named : known.network === undefined ? known.networks : [known.network];
  return chosen.slice(0, MAX_BLOCK_NETWORKS).flatMap((network): Target[] => [
    {
      href: toHref('coverage', { network, from: number, to: number }),
      icon: 'block',
      title: `Block ${formatCount(number)} of ${network}`,
      note: 'Coverage',
    },
    {
      href: toHref('files', { network, block: number }),
      icon: 'files',
      title: `Files with block ${formatCount(number)} of ${network}`,
      note: 'Files',
    },
  ]);
}
