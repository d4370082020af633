import type { ComponentChildren } from 'preact';
import { toHref, useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { Select } from './fields.js';
import { Empty, Read } from './states.js';

/** How often the networks are read. */
export const NETWORKS_EVERY_MS = 60_000;

/** The ids of all networks; empty until they are read. */
export const useNetworkIds = (): string[] =>
  (useRead('networks', {}, NETWORKS_EVERY_MS).value ?? []).map(({ id }) => id);

/** A screen of one network: that of the address, or the first one; it has a select to change it. */
export function NetworkScreen(given: {
  title: string;
  /** Its path. */
  path: string;
  children: (network: string) => ComponentChildren;
}) {
  const { title, path, children } = given;
  const named = useRoute().query.network;
  const choose = (id: string): void => {
    location.hash = toHref(path, { network: id });
  };
  return (
    <>
      <h1>{title}</h1>
      <Read name="networks" everyMs={NETWORKS_EVERY_MS}>
        {(all) => {
          const network = named ?? all[0]?.id;
          if (network === undefined) return <NoNetworks />;
          const ids = [...new Set([network, ...all.map(({ id }) => id)])].sort();
          return (
            <>
              <Select label="Network" value={network} options={ids} choose={choose} />
              {children(network)}
            </>
          );
        }}
      </Read>
    </>
  );
}

export function NoNetworks() {
  return (
    <Empty>
      No networks yet. Start <code>packhouse ingester</code> with a networks file, or{' '}
      <code>packhouse local --rpc URL</code> to run everything on one machine.
    </Empty>
  );
}
