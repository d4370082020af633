import { isKind, KINDS, type Kind } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import { Problem } from '../http/problem.js';

/** The kind that a path names. Throws `network-without-bundles`, `kind-unknown`, `kind-not-enabled`. */
export function chosenKind(network: Network, text: string): Kind {
  if (!network.bundles.enabled) {
    throw new Problem('network-without-bundles', { detail: `The network ${network.id} has no bundles.` });
  }
  if (!isKind(text)) {
    throw new Problem('kind-unknown', {
      detail: `There is no such kind of data; the kinds are ${KINDS.join(', ')}.`,
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

/** As `chosenKind`, for a kind that a query must name; `what` is asked for. Throws `query-invalid` without one. */
export function queriedKind(network: Network, text: string | undefined, what: string): Kind {
  if (text !== undefined) return chosenKind(network, text);
  const { kinds } = network.bundles;
  throw new Problem('query-invalid', {
    detail: `Say which kind's ${what}: ?kind= with one of ${kinds.join(', ')}.`,
    members: { parameter: 'kind', kinds },
  });
}
