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
