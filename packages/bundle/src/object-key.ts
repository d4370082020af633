import { type BlockRange, isKind, KINDS, type Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { fileName, parseFileName } from './file-name.js';

/** What a key of the object store names. */
export interface ObjectName extends BlockRange {
  network: string;
  kind: Kind;
  /** 1 (also where absent), or more where the bundle was published again. Reading gives it only where it is not 1. */
  version?: number;
}

/** Versions are stored in 16 bits. */
const MAX_VERSION = 32_767;
const NETWORK = /^[a-z0-9-]+$/;
const SUFFIX = '.json.gz';
const VERSIONED = /^(.*)\.v([1-9]\d{0,4})\.json\.gz$/;

function invalid(shown: string, wrong: string): PackhouseError {
  return new PackhouseError({
    code: 'NAME_INVALID',
    message: `${JSON.stringify(shown.slice(0, 200))} is not the key of a bundle, expected ${wrong} in <network>/<kind>/<start>-<end>.json.gz or <network>/<kind>/<start>-<end>.v<version>.json.gz.`,
  });
}

function check(network: string, kind: string, shown: string): asserts kind is Kind {
  if (!NETWORK.test(network)) throw invalid(shown, 'a network id of a-z, 0-9 and -');
  if (!isKind(kind)) throw invalid(shown, `one of the kinds ${KINDS.join(', ')}`);
}

/**
 * The key under which a bundle is kept: `<network>/<kind>/<start>-<end>.json.gz`, and from version 2 on
 * `<network>/<kind>/<start>-<end>.v<version>.json.gz`. Throws NAME_INVALID.
 */
export function objectKey({ network, kind, start, end, version = 1 }: ObjectName): string {
  const name = fileName({ start, end });
  const file = version === 1 ? name : `${name.slice(0, -SUFFIX.length)}.v${version}${SUFFIX}`;
  const key = `${network}/${kind}/${file}`;
  check(network, kind, key);
  if (!Number.isInteger(version) || version < 1 || version > MAX_VERSION) {
    throw invalid(key, `a version of 1 to ${MAX_VERSION}`);
  }
  return key;
}

/** What a key names. Throws NAME_INVALID for any key that `objectKey` does not make. */
export function parseObjectKey(text: string): ObjectName {
  const [network = '', kind = '', ...rest] = text.split('/');
  check(network, kind, text);
  const file = rest.join('/');
  const [, name, digits] = VERSIONED.exec(file) ?? [];
  if (name === undefined) return { network, kind, ...parseFileName(file) };
  const version = Number(digits);
  if (version === 1 || version > MAX_VERSION) throw invalid(text, `a version of 2 to ${MAX_VERSION}`);
  return { network, kind, ...parseFileName(name + SUFFIX), version };
}
