import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useRead } from '../lib/hooks/use-read.js';
import { getRoute, toHref, useRoute } from '../lib/route.js';
import { useSelectedNetwork } from '../lib/selected-network.js';
import { NewBackfillButton } from './navigation.js';
import { Page } from './page.js';
import { findScreen, SCREENS } from './screens.js';
import { Empty, Read } from './states.js';

/** How often the networks are read. */
export const NETWORKS_EVERY_MS = 60_000;

/** The ids of all networks; empty until they are read. */
export const useNetworkIds = (): string[] =>
  (useRead('networks', {}, NETWORKS_EVERY_MS).value ?? []).map(({ id }) => id);

/** A screen of one network: that of the address, else the selected one, else the first. */
export function NetworkScreen(given: {
  title: string;
  /** Its path. */
  path: string;
  children: (network: string) => ComponentChildren;
}) {
  const { title, path, children } = given;
  const { query } = useRoute();
  const selected = useSelectedNetwork();
  const named = query.network;
  return (
    <Page
      title={named === undefined ? title : `${title} of ${named}`}
      actions={<NewBackfillButton query={{ network: named }} />}
    >
      <Read name="networks" everyMs={NETWORKS_EVERY_MS}>
        {(all) => {
          const network = named ?? selected ?? all[0]?.id;
          if (network === undefined) return <NoNetworks />;
          return named === undefined ? (
            <GoTo from={path} href={toHref(path, { ...query, network })} />
          ) : (
            children(network)
          );
        }}
      </Read>
    </Page>
  );
}

/**
 * Goes on from a screen at another address, which can be sent to others; not if somebody has left the screen: the
 * address changes before the screen is told so.
 */
export function GoTo({ from, href }: { from: string; href: string }) {
  useEffect(() => {
    const shown = findScreen(getRoute(location.hash).parts[0]) ?? SCREENS[0];
    if (shown?.path === from) location.replace(href);
  }, [from, href]);
  return <p class="waiting">Loading…</p>;
}

export function NoNetworks() {
  return (
    <Empty>
      No networks yet. They appear once an ingester has a node.{' '}
      <a class="button" href={toHref('start')}>
        Get started
      </a>
    </Empty>
  );
}
