import { type BlockRange, isKind, KINDS, type Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { fileName, parseFileName } from './file-name.js';

/** What a key of the object store names. */
export interface ObjectName extends BlockRange {
  network: string;
  kind: Kind;
}

const NETWORK = /^[a-z0-9-]+$/;

function check(network: string, kind: string, shown: string): asserts kind is Kind {
  const wrong = !NETWORK.test(network)
    ? 'a network id of a-z, 0-9 and -'
    : !isKind(kind)
      ? `one of the kinds ${KINDS.join(', ')}`
      : null;
  if (wrong === null) return;
  throw new PackhouseError({
    code: 'NAME_INVALID',
    message: `${JSON.stringify(shown.slice(0, 200))} is not the key of a bundle, expected ${wrong} in <network>/<kind>/<start>-<end>.json.gz.`,
  });
}

/** The key under which a bundle is kept: `<network>/<kind>/<start>-<end>.json.gz`. Throws NAME_INVALID. */
export function objectKey({ network, kind, start, end }: ObjectName): string {
  const key = `${network}/${kind}/${fileName({ start, end })}`;
  check(network, kind, key);
  return key;
}

/** What a key names. Throws NAME_INVALID for any key that `objectKey` does not make. */
export function parseObjectKey(text: string): ObjectName {
  const [network = '', kind = '', ...rest] = text.split('/');
  check(network, kind, text);
  return { network, kind, ...parseFileName(rest.join('/')) };
}
