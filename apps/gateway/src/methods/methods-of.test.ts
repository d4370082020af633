import { expect, it } from 'vitest';
import { METHODS_OF_FAMILY } from '../rpc/method-families.js';
import type { MethodParts } from './filter-methods.js';
import { methodsOf } from './methods-of.js';

it.each(['evm', 'core', 'cell', 'registry'] as const)(
  'the table has the methods of the family %s',
  (family) => {
    const network = { family, rpc: { allow: [] } } as unknown as Parameters<typeof methodsOf>[0];
    const names = [...methodsOf(network, {} as MethodParts).keys()];
    expect([...METHODS_OF_FAMILY[family]].sort()).toEqual(names.sort());
  },
);
