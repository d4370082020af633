import { isKind, KINDS, type Kind } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import { Problem } from '../../http/problem.js';

/** The kind that a path names. Throws `network-without-bundles`, `kind-unknown`, `kind-not-enabled`. */
export function readKind(network: Network, text: string): Kind {
  requireBundles(network);
  if (!isKind(text)) {
    throw new Problem('kind-unknown', {
      detail: `Unknown kind of data; expected one of ${KINDS.join(', ')}.`,
      members: { kinds: KINDS },
    });
  }
  if (!network.bundles.kinds.includes(text)) {
    throw new Problem('kind-not-enabled', {
      detail: `The network ${network.id} does not have ${text}; it has ${network.bundles.kinds.join(', ')}.`,
      members: { kinds: network.bundles.kinds },
    });
  }
  return text;
}

/** Throws the problem `network-without-bundles`. */
export function requireBundles({ id, bundles }: Network): void {
  if (bundles.enabled) return;
  throw new Problem('network-without-bundles', { detail: `The network ${id} has no bundles.` });
}

/** As `readKind`, for a kind that a query must name. Throws `query-invalid` without one. */
export function readQueryKind(network: Network, text: string | undefined): Kind {
  if (text !== undefined) return readKind(network, text);
  const { kinds } = network.bundles;
  throw new Problem('query-invalid', {
    detail: `The query parameter "kind" is required: one of ${kinds.join(', ')}.`,
    members: { parameter: 'kind', kinds },
  });
}
